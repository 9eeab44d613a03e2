#include "skein/data/data_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <system_error>
#include <utility>
#include <vector>

#include "skein/data/cifar.h"
#include "skein/data/data_file.h"
#include "skein/data/idx.h"

namespace skein {
namespace {

namespace fs = std::filesystem;

constexpr std::array sources{
    DataSource{"fashion-mnist", "28 x 28 grey images of clothes, 10 classes, 60,000 + 10,000",
               "apt-get install dataset-fashion-mnist", true},
    DataSource{"mnist", "28 x 28 grey images of digits, 10 classes, 60,000 + 10,000",
               "skein data fetch mnist", true},
    DataSource{"cifar10", "32 x 32 colour images of animals and vehicles, 10 classes, 50,000 + 10,000",
               "skein data fetch cifar10", true},
    DataSource{
        "radioml", "radio waveforms of 4 modulations at 0 to 18 dB, 80 % + 20 %",
        "give the path of the official RML2016.10b pickle, or of a directory of x_SNR.npy and y_SNR.npy "
        "pairs; or use the data set modulations instead"},
    DataSource{"modulations", "radio waveforms like radioml's, made here", ""},
    DataSource{"synthetic", "small made-up images for tests and first trials", ""},
};

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

constexpr std::string_view debian_fashion_mnist = "/usr/share/datasets/fashion-mnist";

// The IDX files are known by several names.
fs::path idx_file(const fs::path& directory, std::string_view stem, std::string_view kind) {
  fs::path plain = directory / fmt::format("{}-{}-ubyte", stem, kind);
  for (const char separator : {'-', '.'}) {
    for (const std::string_view ending : {"", ".gz"}) {
      fs::path path = directory / fmt::format("{}{}{}-ubyte{}", stem, separator, kind, ending);
      if (is_there(path)) {
        return path;
      }
    }
  }
  return plain;
}

// Names and normalisation as in the published study.
Dataset describe_fashion_mnist() {
  return {.name = "fashion-mnist",
          .class_names = {"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker",
                          "Bag", "Ankle boot"},
          .scale = 1.0F / 255.0F,
          .mean = {0.0F},
          .deviation = {1.0F}};
}

Dataset describe_mnist() {
  return {.name = "mnist",
          .class_names = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"},
          .scale = 1.0F / 255.0F,
          .mean = {0.1307F},
          .deviation = {0.3081F}};
}

Dataset describe_cifar10() {
  return {.name = "cifar10",
          .class_names = {"airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship",
                          "truck"},
          .scale = 1.0F / 255.0F,
          .mean = {0.5F, 0.5F, 0.5F},
          .deviation = {0.5F, 0.5F, 0.5F}};
}

DataSplit load_idx(const fs::path& directory, const Dataset& description) {
  const auto files = [&](std::string_view part) {
    return IdxFiles{.images = idx_file(directory, fmt::format("{}-images", part), "idx3"),
                    .labels = idx_file(directory, fmt::format("{}-labels", part), "idx1")};
  };
  InputFaults faults;
  std::optional<Dataset> train =
      read_or_note(faults, [&] { return read_idx_images(files("train"), description); });
  std::optional<Dataset> test =
      read_or_note(faults, [&] { return read_idx_images(files("t10k"), description); });
  faults.throw_if_any();
  if (train->shape != test->shape) {
    throw_data_fault(
        files("t10k").images.string(), "image size",
        fmt::format("{} x {}", test->shape.height, test->shape.width),
        fmt::format("the training images have {} x {}", train->shape.height, train->shape.width));
  }
  return {.train = std::move(*train), .test = std::move(*test)};
}

fs::path given_or_usual_place(const DataSourceOptions& options, const DataSource& source) {
  if (!options.path.empty()) {
    if (!is_there(options.path)) {
      throw_data_fault(options.path.string(), "data set", options.name,
                       fmt::format("no such file or directory; to get the set: {}", source.how_to_get));
    }
    return options.path;
  }
  if (std::optional<fs::path> place = find_data(options.name)) {
    return *place;
  }
  throw_data_fault("", "data set", options.name,
                   fmt::format("is not there (looked for {}); to get it: {}",
                               (data_directory() / options.name).string(), source.how_to_get));
}

}  // namespace

std::span<const DataSource> data_sources() { return sources; }

const DataSource& data_source(std::string_view name) {
  const auto* const found = std::find_if(sources.begin(), sources.end(),
                                         [&](const DataSource& source) { return source.name == name; });
  if (found == sources.end()) {
    std::string names;
    for (const DataSource& source : sources) {
      names += (names.empty() ? "" : ", ") + std::string(source.name);
    }
    throw_data_fault("", "data set", std::string(name), fmt::format("is not known; there are {}", names));
  }
  return *found;
}

std::size_t num_classes(const DataSourceOptions& source) {
  if (source.name == "synthetic") {
    return source.synthetic.classes;
  }
  return source.name == "radioml" || source.name == "modulations" ? 4 : 10;
}

SampleShape sample_shape(const DataSourceOptions& source) {
  if (source.name == "synthetic") {
    return source.synthetic.shape;
  }
  if (source.name == "radioml" || source.name == "modulations") {
    return {.height = 2, .width = 128, .channels = 1};
  }
  return source.name == "cifar10" ? SampleShape{.height = 32, .width = 32, .channels = 3}
                                  : SampleShape{.height = 28, .width = 28, .channels = 1};
}

fs::path data_directory() {
  if (const std::string directory = environment("SKEIN_DATA"); !directory.empty()) {
    return directory;
  }
  if (const std::string directory = environment("XDG_DATA_HOME"); !directory.empty()) {
    return fs::path(directory) / "skein";
  }
  if (const std::string directory = environment("HOME"); !directory.empty()) {
    return fs::path(directory) / ".local/share/skein";
  }
  throw_data_fault("", "SKEIN_DATA", "", "set this variable to the directory where data sets are kept");
}

std::optional<fs::path> find_data(std::string_view name) {
  if (data_source(name).how_to_get.empty()) {
    return std::nullopt;
  }
  if (name == "fashion-mnist" && is_there(debian_fashion_mnist)) {
    return debian_fashion_mnist;
  }
  fs::path kept = data_directory() / name;
  return is_there(kept) ? std::optional(std::move(kept)) : std::nullopt;
}

void require_data(const DataSourceOptions& options) {
  if (const DataSource& source = data_source(options.name); !source.how_to_get.empty()) {
    static_cast<void>(given_or_usual_place(options, source));
  }
}

DataSplit load_data(const DataSourceOptions& options, std::uint64_t seed) {
  const DataSource& source = data_source(options.name);
  if (options.name == "synthetic") {
    return make_synthetic(options.synthetic, seed);
  }
  if (options.name == "modulations") {
    return make_modulations(options.modulations, seed);
  }
  const fs::path place = given_or_usual_place(options, source);
  if (options.name == "radioml") {
    return read_radioml(place, options.radioml, seed);
  }
  if (options.name == "cifar10") {
    return read_cifar10(place, describe_cifar10());
  }
  return load_idx(place, options.name == "mnist" ? describe_mnist() : describe_fashion_mnist());
}

}  // namespace skein
