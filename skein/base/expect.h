// expect(condition, message): a programmer's fault, checked in every build.
#pragma once

#include <source_location>
#include <stdexcept>
#include <string_view>

namespace skein {

class ProgrammingError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

[[noreturn]] void fail_expectation(std::string_view message, const std::source_location& where);

inline void expect(bool condition, std::string_view message,
                   const std::source_location& where = std::source_location::current()) {
  if (!condition) [[unlikely]] {
    fail_expectation(message, where);
  }
}

}  // namespace skein
