// The data sets by name: one table of all that the rest of the system knows about each.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "skein/data/dataset.h"
#include "skein/data/modulation.h"
#include "skein/data/package.h"
#include "skein/data/radioml.h"
#include "skein/data/synthetic.h"

namespace skein {

struct DataSourceOptions {
  std::string name = "fashion-mnist";  // one of data_sources()
  // A directory of the set's files; for "radioml" the official pickle as well. Empty: where they are usually
  // found.
  std::filesystem::path path;
  RadiomlOptions radioml;         // for "radioml"
  ModulationOptions modulations;  // for "modulations"
  SyntheticOptions synthetic;     // for "synthetic"
};

// All that is known of a source: to add one is a row of this and its loader.
struct DataSource {
  std::string_view name;
  std::string_view description;
  std::string_view how_to_get;  // what to do if it is not there; empty for a generated set
  std::string_view network;     // the preset for it: the paper's (section VI-A)
  // Name, shape, classes and normalisation, without loading it: a set without samples.
  Dataset (*describe)(const DataSourceOptions& options);
  // From its place, which is empty for a generated set.
  DataSplit (*load)(const DataSourceOptions& options, const std::filesystem::path& place, std::uint64_t seed);
  std::size_t bits_per_value = 8;      // as a device stores and sends it
  bool has_its_own_split = false;      // into training and test data, so that the seed changes nothing
  std::string_view system_place{};     // where the system's package puts it
  DataPackage (*package)() = nullptr;  // that it is fetched from
};

std::span<const DataSource> data_sources();
// Throws InputError if there is none of this name.
const DataSource& data_source(std::string_view name);

// The classes of a source, without loading it.
std::size_t num_classes(const DataSourceOptions& source);
// The shape of its samples, likewise.
SampleShape sample_shape(const DataSourceOptions& source);
// What a device sends of a sample: its values, and a byte for the label.
std::size_t sample_bits(const DataSourceOptions& source);

// Where fetched data sets are kept: $SKEIN_DATA, else $XDG_DATA_HOME/skein, else $HOME/.local/share/skein.
// Throws InputError if none of the three is set.
std::filesystem::path data_directory();

// Where load_data finds a set if no path is given; nothing if it is not there, or generated.
std::optional<std::filesystem::path> find_data(std::string_view name);

// Throws InputError where load_data would not find the set; reads nothing.
void require_data(const DataSourceOptions& options);

// The seed decides what a generator makes and how a set that comes in one piece is split. Throws InputError
// naming every file that is missing or wrong, and how to get the set.
DataSplit load_data(const DataSourceOptions& options, std::uint64_t seed);

}  // namespace skein
