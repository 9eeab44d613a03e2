#include "skein/base/expect.h"

#include <fmt/format.h>

namespace skein {

void fail_expectation(std::string_view message, const char* file, int line) {
  throw ProgrammingError(fmt::format("{}:{}: {}", file, line, message));
}

}  // namespace skein
