#include "skein/base/expect.h"

#include <fmt/format.h>

namespace skein {

void fail_expectation(std::string_view message, const std::source_location& where) {
  throw ProgrammingError(fmt::format("{}:{}: {}", where.file_name(), where.line(), message));
}

}  // namespace skein
