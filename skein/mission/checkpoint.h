// A mission between two training sequences, in a file.
#pragma once

#include <filesystem>
#include <string>

#include "skein/simulation/core_network.h"
#include "skein/simulation/oracle.h"
#include "skein/simulation/recorder.h"

namespace skein {

// A checkpoint belongs to one resolved scenario. It is written as it is made, for the models of all clusters
// are the most that a mission has. `oracle` is nullptr where there is none.
void write_checkpoint(const std::filesystem::path& file, const std::string& scenario, const CoreNetwork& core,
                      const MissionRecorder& recorder, const Oracle* oracle);

// Into a core network and a recorder of the same mission. Throws InputError if the file is damaged or of
// another scenario.
void read_checkpoint(const std::filesystem::path& file, const std::string& scenario, CoreNetwork& core,
                     MissionRecorder& recorder, Oracle* oracle);

}  // namespace skein
