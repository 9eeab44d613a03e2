// What a data set holds and where it is, with digests to tell it from others; for people and programs.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "skein/data/data_source.h"
#include "skein/data/dataset.h"

namespace skein {

struct PartInfo {
  std::size_t samples = 0;
  std::vector<std::size_t> class_counts;
  std::string sha256;  // of everything in memory: features, then labels
};

struct FileInfo {
  std::filesystem::path file;
  std::string sha256;
};

struct DataInfo {
  PartInfo train;
  PartInfo test;
  std::vector<FileInfo> files;  // that it was read from, by name
};

// `place` is the directory or the file that the data was read from, if it was.
DataInfo data_info(const DataSplit& data, const std::optional<std::filesystem::path>& place);

// All that is known of the data: its shape, classes and normalisation too.
std::string data_info_json(const DataSplit& data, const DataInfo& info);

// Writes samples.svg, a sheet of samples, and data.json.
void write_data_info(const DataSplit& data, const DataInfo& info, const std::filesystem::path& directory);

// Every known data set: what it is, whether it is here, and how to get it.
std::string data_sources_json();

}  // namespace skein
