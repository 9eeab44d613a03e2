// The network that [learning.network] asks for, for samples of a data source.
#pragma once

#include <string_view>
#include <vector>

#include "skein/base/input_fault.h"
#include "skein/data/data_source.h"
#include "skein/learning/options.h"
#include "skein/nn/architecture.h"

namespace skein {

// What a scenario may call its network: automatic, the presets, layers.
std::vector<std::string_view> network_names();
// Throws InputError with every fault under the scenario's keys.
nn::Architecture build_architecture(const NetworkOptions& options, const DataSourceOptions& source);
// Why there is no such network; empty if there is.
std::vector<InputFault> network_faults(const NetworkOptions& options, const DataSourceOptions& source);
// A source's shape and classes are known by its name; files given by path may have others. Then this throws.
void check_fit(const DataSourceOptions& source, const Dataset& data);

}  // namespace skein
