// Names of an enum's values, which stand beside the enum:
//
//   enum class Role { leader, worker, coordinator };
//   constexpr auto names_of(Role) { return names_for<Role>("leader", "worker", "coordinator"); }
//
// A scenario then reads and writes the enum, and messages call its values, by these names. Values are
// 0, 1, 2, ...; one without a name, or a name too many, does not compile.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>
#include <vector>

#include "skein/base/expect.h"

namespace skein {

// The compiler writes "Role::leader" for a value that the enum has, and "(Role)7" for one that it has not.
template <auto value>
constexpr bool is_enumerator() {
  return std::string_view(__PRETTY_FUNCTION__).find("value = (") == std::string_view::npos;
}

template <class Enum, class... Names>
constexpr std::array<std::string_view, sizeof...(Names)> names_for(const Names&... names) {
  constexpr std::size_t count = sizeof...(Names);
  static_assert(is_enumerator<static_cast<Enum>(count - 1)>(), "a name without a value");
  static_assert(!is_enumerator<static_cast<Enum>(count)>(), "a value without a name");
  return {names...};
}

template <class Enum>
concept Named = std::is_enum_v<Enum> && requires(Enum value) {
  names_of(value);
};

template <Named Enum>
constexpr std::size_t num_values = names_of(Enum{}).size();

template <Named Enum>
constexpr auto all_values() {
  std::array<Enum, num_values<Enum>> values{};
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<Enum>(i);
  }
  return values;
}

template <Named Enum>
constexpr std::string_view name_of(Enum value) {
  const auto index = static_cast<std::size_t>(value);
  expect(index < num_values<Enum>, "an enum value without a name");
  return names_of(value)[index];
}

// Of the rows of a table.
template <class Rows>
std::vector<std::string_view> names_in(const Rows& rows) {
  std::vector<std::string_view> names;
  for (const auto& row : rows) {
    names.push_back(row.name);
  }
  return names;
}

}  // namespace skein
