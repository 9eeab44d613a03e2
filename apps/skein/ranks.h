// The processes that share this command's work: this one alone, or those that mpirun has started.
#pragma once

#include <exception>
#include <functional>

#include "skein/base/crew.h"

namespace skein::app {

Crew& crew();

// Runs the program as one of its processes. Only the first one tells what went wrong: `tell` prints it and
// returns the exit code.
int with_crew(int argc, char** argv, const std::function<int()>& program,
              const std::function<int(const std::exception_ptr&)>& tell);

}  // namespace skein::app
