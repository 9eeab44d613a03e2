#include "skein/data/cifar.h"

#include <fmt/format.h>

#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "skein/data/data_file.h"

namespace skein {
namespace {

Dataset read_batches(const std::filesystem::path& directory, const std::vector<std::string>& names,
                     Dataset description) {
  InputFaults faults;
  auto& values = description.features.emplace<std::vector<std::uint8_t>>();
  values.reserve(names.size() * cifar_batch_images * cifar_image_bytes);
  for (const std::string& name : names) {
    const std::filesystem::path path = directory / name;
    try {
      append_cifar_batch(read_data_file(path), path.string(), cifar_batch_images, description);
    } catch (const InputError& error) {
      faults.add_all(error.faults());
    }
  }
  faults.throw_if_any();
  return description;
}

}  // namespace

void append_cifar_batch(std::string_view bytes, std::string_view file, std::size_t images, Dataset& data) {
  if (bytes.size() != images * cifar_record_bytes) {
    throw_data_fault(file, "length", fmt::format("{}", bytes.size()),
                     fmt::format("a batch of {} images has {} bytes", images, images * cifar_record_bytes));
  }
  for (std::size_t i = 0; i < images; ++i) {
    const auto label = static_cast<std::uint8_t>(bytes[i * cifar_record_bytes]);
    if (label >= data.num_classes()) {
      throw_data_fault(file, fmt::format("label {}", i), fmt::format("{}", label),
                       fmt::format("labels are below {}", data.num_classes()));
    }
  }
  data.shape = {.height = cifar_side, .width = cifar_side, .channels = 3};
  auto& values = std::get<std::vector<std::uint8_t>>(data.features);
  constexpr std::size_t plane = cifar_side * cifar_side;
  for (std::size_t i = 0; i < images; ++i) {
    const std::string_view record = bytes.substr(i * cifar_record_bytes, cifar_record_bytes);
    data.labels.push_back(static_cast<std::uint8_t>(record[0]));
    const std::size_t start = values.size();
    values.resize(start + cifar_image_bytes);
    for (std::size_t p = 0; p < plane; ++p) {
      for (std::size_t c = 0; c < 3; ++c) {
        values[start + 3 * p + c] = static_cast<std::uint8_t>(record[1 + c * plane + p]);
      }
    }
  }
}

DataSplit read_cifar10(const std::filesystem::path& directory, const Dataset& description) {
  std::filesystem::path place = directory / "cifar-10-batches-bin";
  std::error_code error;
  if (!std::filesystem::is_directory(place, error)) {
    place = directory;
  }
  InputFaults faults;
  std::optional<Dataset> train = read_or_note(faults, [&] {
    return read_batches(
        place,
        {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin", "data_batch_5.bin"},
        description);
  });
  std::optional<Dataset> test =
      read_or_note(faults, [&] { return read_batches(place, {"test_batch.bin"}, description); });
  faults.throw_if_any();
  return {.train = std::move(*train), .test = std::move(*test)};
}

}  // namespace skein
