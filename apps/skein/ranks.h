// The processes that share this command's work: this one alone, or those that mpirun has started.
#pragma once

#include <exception>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "skein/base/crew.h"
#include "skein/data/dataset.h"
#include "skein/scenario/scenario.h"

namespace skein::app {

Crew& crew();
// Each process gives its own, and has the sum.
double sum_over_processes(double value);

// Runs the program as one of its processes. Only the first one tells what went wrong: `tell` prints it and
// returns the exit code.
int with_crew(int argc, char** argv, const std::function<int()>& program,
              const std::function<int(const std::exception_ptr&)>& tell);

// Throws InputError saying what differs between the processes: each gives a name and its value.
void refuse_differences(Crew& crew, const std::vector<std::pair<std::string, std::string>>& values);

// Of this program's file: two builds of one version are two programs.
std::string program_digest();
// Of all samples and labels, in hexadecimal.
std::string digest_of(const DataSplit& data);
// Of a scenario's data; "missing" where it cannot be read.
std::string digest_of_data(const Scenario& scenario);

}  // namespace skein::app
