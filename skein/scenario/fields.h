// The keys of a scenario, each listed once.
//
// bind.h lists every section's keys by calling one of these functions per key, with the variable it stands
// for. A reader fills the variables from TOML; a writer prints them as TOML. So a key that can be read is
// always written, and the starter file always has every key with its unit, range and meaning.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "skein/base/distribution.h"
#include "skein/base/expect.h"
#include "skein/base/names.h"

namespace skein {

class Fields {
 public:
  Fields() = default;
  virtual ~Fields() = default;
  Fields(const Fields&) = delete;
  Fields& operator=(const Fields&) = delete;
  Fields(Fields&&) = delete;
  Fields& operator=(Fields&&) = delete;

  // [name] and its keys.
  // One that does not count (say, of a kind that is not chosen) may stand in a file, but is not written.
  virtual void section(std::string_view name, std::string_view help, const std::function<void()>& keys,
                       bool counts = true) = 0;
  // [section.X] for any X: `keys(X)` binds each; `known` are there without being named in the file.
  virtual void named_sections(std::string_view name, std::string_view help,
                              const std::vector<std::string>& known,
                              const std::function<void(const std::string&)>& keys) = 0;

  virtual void spread(std::string_view key, Spread& value, const Range& allowed, std::string_view help) = 0;
  virtual void real(std::string_view key, double& value, const Range& allowed, std::string_view help) = 0;
  virtual void integer(std::string_view key, std::int64_t& value, const Range& allowed,
                       std::string_view help) = 0;
  virtual void flag(std::string_view key, bool& value, std::string_view help) = 0;
  virtual void text(std::string_view key, std::string& value, std::string_view help) = 0;
  // A list of texts of any length.
  virtual void texts(std::string_view key, std::vector<std::string>& values, std::string_view help) = 0;
  virtual void one_of(std::string_view key, std::size_t& value, std::span<const std::string_view> names,
                      std::string_view help) = 0;
  // A list of numbers of any length.
  virtual void reals(std::string_view key, std::vector<double>& values, const Range& allowed,
                     std::string_view help) = 0;
  // A list of lists of numbers, each of `size` numbers unless that is 0.
  virtual void lists(std::string_view key, std::vector<std::vector<double>>& values, std::size_t size,
                     const Range& allowed, std::string_view help) = 0;

  template <class Q>
  void number(std::string_view key, Distribution<Q>& value, std::string_view help) {
    spread(key, value.spread, value.allowed, help);
  }
  // A list of exactly N numbers: [low, high]. Whole ones must have a whole range.
  template <class Number, std::size_t N>
  void tuple(std::string_view key, std::array<Number, N>& value, const Range& allowed,
             std::string_view help) {
    std::vector<double> values(value.begin(), value.end());
    fixed_reals(key, values, N, allowed, help);
    std::ranges::transform(values, value.begin(), [](double number) { return static_cast<Number>(number); });
  }
  // [[x, y], [x, y]]
  void pairs(std::string_view key, std::vector<std::array<double, 2>>& values, const Range& allowed,
             std::string_view help) {
    std::vector<std::vector<double>> lists_of_two;
    for (const std::array<double, 2>& value : values) {
      lists_of_two.emplace_back(value.begin(), value.end());
    }
    lists(key, lists_of_two, 2, allowed, help);
    values.clear();
    for (const std::vector<double>& value : lists_of_two) {
      values.push_back({value[0], value[1]});
    }
  }
  void whole(std::string_view key, std::size_t& value, const Range& allowed, std::string_view help) {
    auto number = static_cast<std::int64_t>(value);
    integer(key, number, allowed, help);
    value = static_cast<std::size_t>(number);
  }
  template <Named Enum>
  void choice(std::string_view key, Enum& value, std::string_view help) {
    auto index = static_cast<std::size_t>(value);
    expect(index < num_values<Enum>, "an enum value without a name");
    constexpr auto names = names_of(Enum{});
    one_of(key, index, names, help);
    value = static_cast<Enum>(index);
  }
  // The name of a row of a table.
  void name(std::string_view key, std::string& value, std::span<const std::string_view> names,
            std::string_view help) {
    auto index = static_cast<std::size_t>(std::ranges::find(names, value) - names.begin());
    expect(index < names.size(), "a name that is not in its table");
    one_of(key, index, names, help);
    value = names[index];
  }

 protected:
  // A list of exactly `size` numbers.
  virtual void fixed_reals(std::string_view key, std::vector<double>& values, std::size_t size,
                           const Range& allowed, std::string_view help) = 0;
};

}  // namespace skein
