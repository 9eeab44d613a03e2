#include "skein/data/radioml.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#include "skein/base/expect.h"
#include "skein/base/random.h"
#include "skein/data/data_file.h"
#include "skein/data/npy.h"

namespace skein {
namespace {

namespace fs = std::filesystem;
using Waveforms = std::map<WaveformKey, std::vector<float>>;

constexpr std::string_view official_name = "RML2016.10b.dat";

bool is_wanted(const WaveformKey& key, const RadiomlOptions& options) {
  return key.snr_db >= options.min_snr_db && key.snr_db <= options.max_snr_db &&
         std::find(radioml_modulations.begin(), radioml_modulations.end(), key.modulation) !=
             radioml_modulations.end();
}

// The SNR of a file x_SNR.npy.
std::optional<int> snr_of_name(const std::string& name) {
  constexpr std::string_view start = "x_";
  constexpr std::string_view end = ".npy";
  if (name.size() <= start.size() + end.size() || !name.starts_with(start) || !name.ends_with(end)) {
    return std::nullopt;
  }
  const char* const first = name.data() + start.size();
  const char* const last = name.data() + name.size() - end.size();
  int snr = 0;
  const auto [stop, status] = std::from_chars(first, last, snr);
  return status == std::errc{} && stop == last ? std::optional(snr) : std::nullopt;
}

std::vector<float> read_values(const fs::path& path) {
  NumpyArray array = read_npy(path);
  const std::vector<std::size_t> shape = array.shape;
  std::optional<std::vector<float>> values = to_floats(std::move(array));
  if (!values) {
    throw_data_fault(path.string(), "type", "integers", "waveforms are of type <f4 or <f8");
  }
  if (shape.size() != 3 || shape[0] == 0 || shape[1] != waveform_rows || shape[2] != waveform_samples) {
    throw_data_fault(path.string(), "shape", shape_text(shape),
                     fmt::format("waveforms have shape (n, {}, {})", waveform_rows, waveform_samples));
  }
  if (!std::all_of(values->begin(), values->end(), [](float value) { return std::isfinite(value); })) {
    throw_data_fault(path.string(), "", "", "has a value beyond the range of float");
  }
  return std::move(*values);
}

std::vector<std::int64_t> read_labels(const fs::path& path) {
  const NumpyArray array = read_npy(path);
  std::optional<std::vector<std::int64_t>> labels = to_integers(array);
  if (!labels) {
    throw_data_fault(path.string(), "", "", "labels are whole numbers");
  }
  if (array.shape.size() != 1) {
    throw_data_fault(path.string(), "shape", shape_text(array.shape), "labels have shape (n)");
  }
  const auto wrong = std::find_if(labels->begin(), labels->end(), [](std::int64_t label) {
    return label < 0 || label >= static_cast<std::int64_t>(radioml_modulations.size());
  });
  if (wrong != labels->end()) {
    throw_data_fault(path.string(), fmt::format("label {}", wrong - labels->begin()),
                     fmt::format("{}", *wrong),
                     fmt::format("labels are below {}", radioml_modulations.size()));
  }
  return std::move(*labels);
}

void read_pair(const fs::path& directory, int snr_db, Waveforms& waveforms) {
  const fs::path values_path = directory / fmt::format("x_{}.npy", snr_db);
  const fs::path labels_path = directory / fmt::format("y_{}.npy", snr_db);
  InputFaults faults;
  const std::optional<std::vector<float>> values =
      read_or_note(faults, [&] { return read_values(values_path); });
  const std::optional<std::vector<std::int64_t>> labels =
      read_or_note(faults, [&] { return read_labels(labels_path); });
  faults.throw_if_any();
  if (values->size() != labels->size() * waveform_values) {
    throw_data_fault(
        labels_path.string(), "labels", fmt::format("{}", labels->size()),
        fmt::format("{} has {} waveforms", values_path.string(), values->size() / waveform_values));
  }
  for (std::size_t i = 0; i < labels->size(); ++i) {
    const std::string_view modulation = radioml_modulations[static_cast<std::size_t>((*labels)[i])];
    std::vector<float>& of_key = waveforms[{.modulation = std::string(modulation), .snr_db = snr_db}];
    const auto first = values->begin() + static_cast<std::ptrdiff_t>(i * waveform_values);
    of_key.insert(of_key.end(), first, first + static_cast<std::ptrdiff_t>(waveform_values));
  }
}

Waveforms read_pairs(const fs::path& directory, const RadiomlOptions& options) {
  std::set<int> snrs;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    const std::optional<int> snr = snr_of_name(entry->path().filename().string());
    if (snr && *snr >= options.min_snr_db && *snr <= options.max_snr_db) {
      snrs.insert(*snr);
    }
  }
  if (error) {
    throw_data_fault(directory.string(), "", "", fmt::format("cannot be listed: {}", error.message()));
  }
  InputFaults faults;
  Waveforms waveforms;
  for (const int snr : snrs) {
    try {
      read_pair(directory, snr, waveforms);
    } catch (const InputError& fault) {
      faults.add_all(fault.faults());
    }
  }
  faults.throw_if_any();
  return waveforms;
}

void divide_by_maximum(Waveforms& waveforms) {
  std::map<int, float> maxima;
  for (const auto& [key, values] : waveforms) {
    const float maximum = *std::max_element(values.begin(), values.end());
    const auto [entry, is_new] = maxima.emplace(key.snr_db, maximum);
    entry->second = std::max(entry->second, maximum);
  }
  InputFaults faults;
  for (auto& [key, values] : waveforms) {
    const float maximum = maxima[key.snr_db];
    if (!(maximum > 0.0F)) {
      faults.add({.file = "",
                  .key = fmt::format("waveforms of {} at {} dB", key.modulation, key.snr_db),
                  .value = "",
                  .message = "no value of this SNR is above 0; these are no signals"});
      continue;
    }
    for (float& value : values) {
      value /= maximum;
    }
  }
  faults.throw_if_any();
}

void append(Dataset& data, const std::vector<float>& values, std::size_t waveform, std::size_t label,
            int snr_db) {
  data.labels.push_back(static_cast<std::uint8_t>(label));
  data.snr_db.push_back(static_cast<std::int8_t>(snr_db));
  auto& features = std::get<std::vector<float>>(data.features);
  const auto first = values.begin() + static_cast<std::ptrdiff_t>(waveform * waveform_values);
  features.insert(features.end(), first, first + static_cast<std::ptrdiff_t>(waveform_values));
}

void reserve(Dataset& data, std::size_t samples) {
  data.labels.reserve(samples);
  data.snr_db.reserve(samples);
  std::get<std::vector<float>>(data.features).reserve(samples * waveform_values);
}

}  // namespace

Dataset describe_waveforms(std::string name) {
  Dataset data{.name = std::move(name),
               .shape = {.height = waveform_rows, .width = waveform_samples, .channels = 1}};
  data.class_names.assign(radioml_modulations.begin(), radioml_modulations.end());
  data.mean = {0.0F};
  data.deviation = {1.0F};
  data.features.emplace<std::vector<float>>();
  return data;
}

DataSplit split_waveforms(Waveforms waveforms, std::uint64_t seed) {
  divide_by_maximum(waveforms);
  const auto num_test = [](std::size_t count) { return count / 5; };
  std::size_t total = 0;
  std::size_t total_test = 0;
  for (const auto& [key, values] : waveforms) {
    expect(std::in_range<std::int8_t>(key.snr_db), "an SNR is a small number of decibels");
    total += values.size() / waveform_values;
    total_test += num_test(values.size() / waveform_values);
  }
  DataSplit split{.train = describe_waveforms("radioml"), .test = describe_waveforms("radioml")};
  reserve(split.train, total - total_test);
  reserve(split.test, total_test);
  while (!waveforms.empty()) {
    const auto& [key, values] = *waveforms.begin();
    const auto* const modulation =
        std::find(radioml_modulations.begin(), radioml_modulations.end(), key.modulation);
    expect(modulation != radioml_modulations.end(), "only the four modulations are split");
    const auto label = static_cast<std::size_t>(modulation - radioml_modulations.begin());
    std::vector<std::size_t> order(values.size() / waveform_values);
    std::iota(order.begin(), order.end(), std::size_t{0});
    RandomStream(seed, "radioml split", key.snr_db, label).shuffle(order);
    const std::size_t num_train = order.size() - num_test(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      append(i < num_train ? split.train : split.test, values, order[i], label, key.snr_db);
    }
    waveforms.erase(waveforms.begin());
  }
  return split;
}

DataSplit read_radioml(const fs::path& path, const RadiomlOptions& options, std::uint64_t seed) {
  std::error_code error;
  Waveforms waveforms;
  const bool is_directory = fs::is_directory(path, error);
  const fs::path inside = path / official_name;
  if (is_directory && !fs::exists(inside, error)) {
    waveforms = read_pairs(path, options);
  } else {
    ByteReader reader(is_directory ? inside : path);
    waveforms = read_waveform_pickle(reader, [&](const WaveformKey& key) { return is_wanted(key, options); });
  }
  if (waveforms.empty()) {
    throw_data_fault(
        path.string(), "", "",
        fmt::format("has no waveforms of {} to {} dB; a directory has x_SNR.npy and y_SNR.npy for "
                    "each SNR, a file is the official RML2016.10b pickle",
                    options.min_snr_db, options.max_snr_db));
  }
  return split_waveforms(std::move(waveforms), seed);
}

}  // namespace skein
