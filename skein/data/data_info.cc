#include "skein/data/data_info.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>
#include <variant>

#include "skein/base/digest.h"
#include "skein/base/file.h"
#include "skein/data/class_pools.h"
#include "skein/data/sample_sheet.h"

namespace skein {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

std::string dump(const ordered_json& json) {
  return json.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

// Features, then labels.
std::string digest_of(const Dataset& dataset) {
  Sha256 digest;
  std::visit(
      [&](const auto& values) {
        // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): any object may be seen as characters.
        digest.add({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(values[0])});
      },
      dataset.features);
  digest.add(std::string(dataset.labels.begin(), dataset.labels.end()));
  return digest.finish();
}

// The regular files of a directory by name, or the file itself.
std::vector<fs::path> files_at(const fs::path& place) {
  std::error_code error;
  if (!fs::is_directory(place, error)) {
    return {place};
  }
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(place, error)) {
    if (entry.is_regular_file(error)) {
      files.push_back(entry.path());
    }
  }
  std::ranges::sort(files);
  return files;
}

PartInfo part_info(const Dataset& dataset) {
  const ClassPools pools(dataset);
  PartInfo info{.samples = dataset.size(), .class_counts = {}, .sha256 = digest_of(dataset)};
  for (std::size_t label = 0; label < pools.num_classes(); ++label) {
    info.class_counts.push_back(pools.of(label).size());
  }
  return info;
}

ordered_json part_json(const PartInfo& part) {
  return {{"samples", part.samples}, {"class_counts", part.class_counts}, {"sha256", part.sha256}};
}

}  // namespace

DataInfo data_info(const DataSplit& data, const std::optional<fs::path>& place) {
  DataInfo info{.train = part_info(data.train), .test = part_info(data.test), .files = {}};
  if (place) {
    for (const fs::path& file : files_at(*place)) {
      info.files.push_back({.file = file, .sha256 = sha256_of_file(file)});
    }
  }
  return info;
}

std::string data_info_json(const DataSplit& data, const DataInfo& info) {
  const Dataset& train = data.train;
  ordered_json json{{"name", train.name},
                    {"shape", {train.shape.height, train.shape.width, train.shape.channels}},
                    {"classes", train.class_names},
                    {"scale", train.scale},
                    {"mean", train.mean},
                    {"deviation", train.deviation},
                    {"train", part_json(info.train)},
                    {"test", part_json(info.test)},
                    {"files", ordered_json::array()}};
  for (const FileInfo& file : info.files) {
    json["files"].push_back({{"file", file.file.string()}, {"sha256", file.sha256}});
  }
  return dump(json);
}

void write_data_info(const DataSplit& data, const DataInfo& info, const fs::path& directory) {
  write_file(directory / "samples.svg", sample_sheet_svg(data.train));
  write_file(directory / "data.json", data_info_json(data, info));
}

std::string data_sources_json() {
  ordered_json json = ordered_json::array();
  for (const DataSource& source : data_sources()) {
    const bool generated = source.how_to_get.empty();
    const std::optional<fs::path> place = find_data(source.name);
    json.push_back({{"name", source.name},
                    {"description", source.description},
                    {"generated", generated},
                    {"present", generated || place.has_value()},
                    {"path", place ? place->string() : ""},
                    {"how_to_get", source.how_to_get}});
  }
  return dump(json);
}

}  // namespace skein
