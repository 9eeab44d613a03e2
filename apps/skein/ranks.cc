#include "ranks.h"

#include <cstdio>
#include <cstdlib>
#include <memory>

#include "skein/base/input_fault.h"
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

}  // namespace

Crew& crew() { return joined != nullptr ? *joined : alone(); }

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

}  // namespace skein::app
