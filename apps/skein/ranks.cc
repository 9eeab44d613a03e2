#include "ranks.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <variant>

#include "skein/base/digest.h"
#include "skein/base/input_fault.h"
#include "skein/data/data_source.h"
#ifdef SKEIN_MPI
#include "adapters/mpi/mpi_crew.h"
#endif

namespace skein::app {
namespace {

Crew* joined = nullptr;

int guarded(const std::function<int()>& program, const std::function<int(const std::exception_ptr&)>& tell) {
  try {
    return program();
  } catch (...) {
    return tell(std::current_exception());
  }
}

// Of a digest, its beginning.
std::string shown(const std::string& value) {
  const bool is_digest = value.size() == 64 && value.find_first_not_of("0123456789abcdef") == value.npos;
  return is_digest ? value.substr(0, 16) : value;
}

}  // namespace

Crew& crew() { return joined != nullptr ? *joined : alone(); }

double sum_over_processes(double value) {
  ByteWriter own;
  own.put(value);
  double sum = 0.0;
  for (const std::string& one : said_by_all(crew(), own.take())) {
    sum += ByteCursor(one).get<double>();
  }
  return sum;
}

int with_crew([[maybe_unused]] int argc, [[maybe_unused]] char** argv, const std::function<int()>& program,
              const std::function<int(const std::exception_ptr&)>& tell) {
#ifdef SKEIN_MPI
  if (started_by_mpi()) {
    std::unique_ptr<MpiCrew> processes;
    try {
      processes = std::make_unique<MpiCrew>(argc, argv);
    } catch (...) {
      return tell(std::current_exception());
    }
    joined = processes.get();
    // The first one speaks for all.
    if (!processes->is_first() && std::freopen("/dev/null", "w", stdout) == nullptr) {
      return 1;
    }
    int code = 0;
    std::exception_ptr failure;
    try {
      code = program();
    } catch (...) {
      failure = std::current_exception();
      code = processes->is_first() ? tell(failure) : 0;
    }
    processes->leave(failure, code);
    joined = nullptr;
    return code;
  }
#else
  const char* size = std::getenv("OMPI_COMM_WORLD_SIZE");
  if (size != nullptr && std::atoi(size) > 1) {
    return guarded(
        []() -> int {
          throw InputError(InputFault{.key = "mpirun",
                                      .message =
                                          "this skein was built without MPI, so its processes would do the "
                                          "same work and write the same files"});
        },
        tell);
  }
#endif
  return guarded(program, tell);
}

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

std::string digest_of(const DataSplit& data) {
  std::string digests;
  for (const Dataset* part : {&data.train, &data.test}) {
    std::visit(
        [&](const auto& values) {
          digests +=
              sha256({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(values[0])});
        },
        part->features);
    digests += sha256({reinterpret_cast<const char*>(part->labels.data()), part->labels.size()});
  }
  return sha256(digests);
}

std::string digest_of_data(const Scenario& scenario) {
  try {
    return digest_of(load_data(scenario.data.source, scenario.run.seed));
  } catch (const InputError&) {
    return "missing";
  }
}

}  // namespace skein::app
