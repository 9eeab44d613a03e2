#include "skein/base/distribution.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "skein/base/expect.h"

namespace skein {
namespace {

// A truncated normal whose allowed part is rarer than about 1 in 1e3 is refused by fault(), so this many
// draws fail with probability below 1e-43.
constexpr int max_draws = 100000;

std::string numbers_to_toml(const std::vector<double>& numbers) {
  std::string text = "[";
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    text += (i == 0 ? "" : ", ") + to_toml(numbers[i]);
  }
  return text + "]";
}

// The part of a normal distribution that lies in `allowed`, or rounds to a whole number in it.
double normal_mass(double mean, double deviation, const Range& allowed) {
  if (deviation == 0.0) {
    return allowed.contains(allowed.whole ? std::nearbyint(mean) : mean) ? 1.0 : 0.0;
  }
  double low = allowed.low;
  double high = allowed.high;
  if (allowed.whole) {
    const double first = allowed.low_open ? std::floor(low) + 1.0 : std::ceil(low);
    const double last = allowed.high_open ? std::ceil(high) - 1.0 : std::floor(high);
    low = first - 0.5;
    high = last + 0.5;
  }
  const auto below = [&](double x) { return 0.5 * std::erfc(-(x - mean) / (deviation * std::sqrt(2.0))); };
  return low < high ? below(high) - below(low) : 0.0;
}

}  // namespace

bool Range::contains(double value) const {
  const bool above = low_open ? value > low : value >= low;
  const bool below = high_open ? value < high : value <= high;
  return std::isfinite(value) && above && below && (!whole || value == std::floor(value));
}

std::string to_string(const Range& range) {
  std::string kind = range.whole ? "a whole number" : "a number";
  const bool has_low = std::isfinite(range.low);
  const bool has_high = std::isfinite(range.high);
  if (has_low && has_high) {
    return fmt::format("{} in {}{}, {}{}", kind, range.low_open ? "(" : "[", range.low, range.high,
                       range.high_open ? ")" : "]");
  }
  if (has_low) {
    return fmt::format("{} {} {}", kind, range.low_open ? ">" : ">=", range.low);
  }
  if (has_high) {
    return fmt::format("{} {} {}", kind, range.high_open ? "<" : "<=", range.high);
  }
  return kind;
}

double Spread::sample(RandomStream& stream, std::size_t index, const Range& allowed) const {
  switch (shape) {
    case Shape::constant:
      return numbers[0];
    case Shape::list:
      expect(index < numbers.size(), "a list needs one value per entity");
      return numbers[index];
    case Shape::choice:
      return stream.choice(numbers);
    case Shape::uniform:
      if (allowed.whole) {
        return static_cast<double>(
            stream.integer(static_cast<std::int64_t>(numbers[0]), static_cast<std::int64_t>(numbers[1])));
      }
      return stream.uniform(numbers[0], numbers[1]);
    case Shape::normal:
      for (int draw = 0; draw < max_draws; ++draw) {
        const double value = stream.normal(numbers[0], numbers[1]);
        const double rounded = allowed.whole ? std::nearbyint(value) : value;
        if (allowed.contains(rounded)) {
          return rounded;
        }
      }
      break;
  }
  expect(false, "a distribution's allowed part is too rare to sample");
  return 0.0;
}

std::string Spread::fault(const Range& allowed) const {
  if (std::ranges::any_of(numbers, [](double x) { return !std::isfinite(x); })) {
    return "must be finite: not nan or inf";
  }
  const auto outside = [&](double x) { return !allowed.contains(x); };
  switch (shape) {
    case Shape::constant:
    case Shape::list:
    case Shape::choice:
      if (numbers.empty()) {
        return "must not be empty";
      }
      return std::ranges::any_of(numbers, outside) ? "must be " + to_string(allowed) : "";
    case Shape::uniform:
      if (numbers.size() != 2 || numbers[0] > numbers[1]) {
        return "uniform takes [low, high] with low <= high";
      }
      return std::ranges::any_of(numbers, outside) ? "must be " + to_string(allowed) : "";
    case Shape::normal:
      if (numbers.size() != 2 || numbers[1] < 0.0) {
        return "normal takes [mean, deviation] with deviation >= 0";
      }
      return normal_mass(numbers[0], numbers[1], allowed) < 1e-3
                 ? "almost never gives what is allowed: " + to_string(allowed)
                 : "";
  }
  return "";
}

std::string Spread::to_toml() const {
  switch (shape) {
    case Shape::constant:
      return skein::to_toml(numbers[0]);
    case Shape::list:
      return numbers_to_toml(numbers);
    case Shape::choice:
      return fmt::format("{{ choice = {} }}", numbers_to_toml(numbers));
    case Shape::uniform:
      return fmt::format("{{ uniform = {} }}", numbers_to_toml(numbers));
    case Shape::normal:
      return fmt::format("{{ normal = {} }}", numbers_to_toml(numbers));
  }
  return "";
}

std::string to_toml(double value) {
  if (value == std::floor(value) && std::abs(value) < 1e15) {
    return fmt::format("{:.0f}", value);
  }
  std::string text = fmt::format("{}", value);
  // A whole number above 2^53 is not read as a real one.
  if (text.find_first_not_of("-0123456789") == std::string::npos) {
    text += ".0";
  }
  return text;
}

}  // namespace skein
