// Processes that share a command's work must have the same program, scenario and data.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "skein/base/crew.h"
#include "skein/scenario/scenario.h"

namespace skein {

// Throws InputError saying what differs between the processes: each gives a name and its value.
void refuse_differences(Crew& crew, const std::vector<std::pair<std::string, std::string>>& values);

// Of this program's file: two builds of one version are two programs.
std::string program_digest();
// Of a scenario's data; "missing" where it cannot be read.
std::string digest_of_data(const Scenario& scenario);

}  // namespace skein
