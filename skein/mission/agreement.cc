#include "skein/mission/agreement.h"

#include <fmt/format.h>

#include "skein/base/bytes.h"
#include "skein/base/digest.h"
#include "skein/base/input_fault.h"
#include "skein/data/data_source.h"

namespace skein {
namespace {

// Of a digest, its beginning.
std::string shown(const std::string& value) {
  const bool is_digest = value.size() == 64 && value.find_first_not_of("0123456789abcdef") == value.npos;
  return is_digest ? value.substr(0, 16) : value;
}

}  // namespace

void refuse_differences(Crew& crew, const std::vector<std::pair<std::string, std::string>>& values) {
  ByteWriter own;
  for (const auto& [name, value] : values) {
    own.put_text(value);
  }
  const std::vector<std::string> all = said_by_all(crew, own.take());
  std::vector<InputFault> faults;
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    ByteCursor first(all[0]);
    ByteCursor other(all[rank]);
    for (const auto& [name, value] : values) {
      const std::string here = first.get_text();
      const std::string there = other.get_text();
      if (here != there) {
        faults.push_back({.file = fmt::format("process {}", rank),
                          .key = name,
                          .value = shown(there),
                          .message = fmt::format("differs from {} of process 0: those who share a command "
                                                 "must have the same",
                                                 shown(here))});
      }
    }
  }
  if (!faults.empty()) {
    throw InputError(std::move(faults));
  }
}

std::string program_digest() { return sha256_of_file("/proc/self/exe"); }

std::string digest_of_data(const Scenario& scenario) {
  try {
    return digest_of(load_data(scenario.data.source, scenario.run.seed));
  } catch (const InputError&) {
    return "missing";
  }
}

}  // namespace skein
