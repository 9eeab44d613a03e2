// A number in a scenario that may be a distribution, sampled once per entity.
//
//   12            { uniform = [8, 10] }      { normal = [2500, 250] }      { choice = [1, 2] }
//   [12, 13, 15]  one value per entity, in order
//
// Numbers are kept as written, in their key's unit, so that a saved scenario reads back to the same run;
// sampling converts them to SI. A uniform power in dBm is therefore uniform in dBm.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "skein/base/random.h"
#include "skein/base/unit.h"

namespace skein {

// What a number may be, ends included unless open.
struct Range {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool low_open = false;   // low itself is not allowed
  bool high_open = false;  // high itself is not allowed
  bool whole = false;      // whole numbers only

  [[nodiscard]] bool contains(double value) const;
};

inline constexpr Range any_number{};
inline constexpr Range positive{.low = 0.0, .low_open = true};
inline constexpr Range non_negative{.low = 0.0};
inline constexpr Range ratio{.low = 0.0, .high = 1.0};
inline constexpr Range positive_ratio{.low = 0.0, .high = 1.0, .low_open = true};

// "a number > 0", "a whole number in [1, 64]": for error messages.
std::string to_string(const Range& range);

// The shape and its numbers, without unit.
struct Spread {
  enum class Shape { constant, uniform, normal, choice, list };
  Shape shape = Shape::constant;
  std::vector<double> numbers{0.0};

  // The value of entity `index`. A normal is truncated to `allowed` (drawn again); uniform and normal
  // round to whole numbers where `allowed` says so (uniform = [1, 3] gives 1, 2 and 3 equally often).
  double sample(RandomStream& stream, std::size_t index, const Range& allowed) const;
  // What is wrong with it for `allowed`, if anything; empty if nothing.
  [[nodiscard]] std::string fault(const Range& allowed) const;
  // As TOML: 12, [12, 13], { uniform = [8, 10] }.
  [[nodiscard]] std::string to_toml() const;

  friend bool operator==(const Spread&, const Spread&) = default;
};

inline Spread constant(double value) { return {Spread::Shape::constant, {value}}; }
inline Spread uniform(double low, double high) { return {Spread::Shape::uniform, {low, high}}; }
inline Spread normal(double mean, double deviation) { return {Spread::Shape::normal, {mean, deviation}}; }
inline Spread choice(std::vector<double> values) { return {Spread::Shape::choice, std::move(values)}; }
inline Spread list(std::vector<double> values) { return {Spread::Shape::list, std::move(values)}; }

// A Spread with its unit and allowed range: Distribution<Length> altitude{uniform(25, 30), unit::metre,
// positive}.
template <class Q>
struct Distribution {
  Spread spread{};
  Unit<Q> unit{};
  Range allowed{};

  // The number in the key's unit.
  [[nodiscard]] double sample_number(RandomStream& stream, std::size_t index) const {
    return spread.sample(stream, index, allowed);
  }
  [[nodiscard]] Q sample(RandomStream& stream, std::size_t index = 0) const {
    return unit.to_si(sample_number(stream, index));
  }
  // If it is a list, one value per entity: how many there are.
  [[nodiscard]] std::optional<std::size_t> list_size() const {
    return spread.shape == Spread::Shape::list ? std::optional(spread.numbers.size()) : std::nullopt;
  }
};

// The shortest decimal text that reads back to the same double; a whole number has no point: 12.
std::string to_toml(double value);

}  // namespace skein
