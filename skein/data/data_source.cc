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
#include "skein/data/fetch.h"
#include "skein/data/idx.h"

namespace skein {
namespace {

namespace fs = std::filesystem;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

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
Dataset describe_fashion_mnist(const DataSourceOptions&) {
  return {.name = "fashion-mnist",
          .shape = {.height = 28, .width = 28, .channels = 1},
          .class_names = {"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker",
                          "Bag", "Ankle boot"},
          .scale = 1.0F / 255.0F,
          .mean = {0.0F},
          .deviation = {1.0F}};
}

Dataset describe_mnist(const DataSourceOptions&) {
  return {.name = "mnist",
          .shape = {.height = 28, .width = 28, .channels = 1},
          .class_names = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"},
          .scale = 1.0F / 255.0F,
          .mean = {0.1307F},
          .deviation = {0.3081F}};
}

Dataset describe_cifar10(const DataSourceOptions&) {
  return {.name = "cifar10",
          .shape = {.height = cifar_side, .width = cifar_side, .channels = 3},
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

template <Dataset (*describe)(const DataSourceOptions&)>
DataSplit load_images(const DataSourceOptions& options, const fs::path& place, std::uint64_t) {
  return load_idx(place, describe(options));
}

constexpr std::array sources{
    DataSource{.name = "fashion-mnist",
               .description = "28 x 28 grey images of clothes, 10 classes, 60,000 + 10,000",
               .how_to_get = "apt-get install dataset-fashion-mnist",
               .network = "mnist_cnn",
               .describe = describe_fashion_mnist,
               .load = load_images<describe_fashion_mnist>,
               .has_its_own_split = true,
               .system_place = "/usr/share/datasets/fashion-mnist"},
    DataSource{.name = "mnist",
               .description = "28 x 28 grey images of digits, 10 classes, 60,000 + 10,000",
               .how_to_get = "skein data fetch mnist",
               .network = "mnist_cnn",
               .describe = describe_mnist,
               .load = load_images<describe_mnist>,
               .has_its_own_split = true,
               .package = mnist_package},
    DataSource{.name = "cifar10",
               .description = "32 x 32 colour images of animals and vehicles, 10 classes, 50,000 + 10,000",
               .how_to_get = "skein data fetch cifar10",
               .network = "cifar10_cnn",
               .describe = describe_cifar10,
               .load = [](const DataSourceOptions& options, const fs::path& place,
                          std::uint64_t) { return read_cifar10(place, describe_cifar10(options)); },
               .has_its_own_split = true,
               .package = cifar10_package},
    DataSource{
        .name = "radioml",
        .description = "radio waveforms of 4 modulations at 0 to 18 dB, 80 % + 20 %",
        .how_to_get =
            "give the path of the official RML2016.10b pickle, or of a directory of x_SNR.npy and y_SNR.npy "
            "pairs; or use the data set modulations instead",
        .network = "radioml_cnn",
        .describe = [](const DataSourceOptions&) { return describe_waveforms("radioml"); },
        .load = [](const DataSourceOptions& options, const fs::path& place,
                   std::uint64_t seed) { return read_radioml(place, options.radioml, seed); },
        .bits_per_value = 32},
    DataSource{.name = "modulations",
               .description = "radio waveforms like radioml's, made here",
               .how_to_get = "",
               .network = "radioml_cnn",
               .describe = [](const DataSourceOptions&) { return describe_waveforms("modulations"); },
               .load = [](const DataSourceOptions& options, const fs::path&,
                          std::uint64_t seed) { return make_modulations(options.modulations, seed); },
               .bits_per_value = 32},
    DataSource{
        .name = "synthetic",
        .description = "small made-up images for tests and first trials",
        .how_to_get = "",
        .network = "mlp",
        .describe = [](const DataSourceOptions& options) { return describe_synthetic(options.synthetic); },
        .load = [](const DataSourceOptions& options, const fs::path&,
                   std::uint64_t seed) { return make_synthetic(options.synthetic, seed); }},
};

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
  return data_source(source.name).describe(source).num_classes();
}

SampleShape sample_shape(const DataSourceOptions& source) {
  return data_source(source.name).describe(source).shape;
}

std::size_t sample_bits(const DataSourceOptions& source) {
  return sample_shape(source).size() * data_source(source.name).bits_per_value + 8;
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
  const DataSource& source = data_source(name);
  if (source.how_to_get.empty()) {
    return std::nullopt;
  }
  if (!source.system_place.empty() && is_there(source.system_place)) {
    return source.system_place;
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
  return source.load(options, source.how_to_get.empty() ? fs::path() : given_or_usual_place(options, source),
                     seed);
}

}  // namespace skein
