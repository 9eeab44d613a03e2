// expect(condition, message): a programmer's fault, checked in every build.
//
// The place comes from the compiler's builtins: clang 14 has no std::source_location.
#pragma once

#include <stdexcept>
#include <string_view>

namespace skein {

class ProgrammingError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

[[noreturn]] void fail_expectation(std::string_view message, const char* file, int line);

inline void expect(bool condition, std::string_view message, const char* file = __builtin_FILE(),
                   int line = __builtin_LINE()) {
  if (!condition) [[unlikely]] {
    fail_expectation(message, file, line);
  }
}

}  // namespace skein
