#include "skein/nn/tensor_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "skein/base/expect.h"
#include "skein/base/input_fault.h"

namespace skein::nn {
namespace {

using nlohmann::json;

constexpr std::size_t length_bytes = 8;
constexpr std::size_t max_header_bytes = std::size_t{16} << 20U;
constexpr std::string_view metadata_key = "__metadata__";

template <class Word>
void append_little_endian(std::string& bytes, Word word) {
  for (std::size_t i = 0; i < sizeof(Word); ++i) {
    bytes += static_cast<char>((word >> (8 * i)) & 0xffU);
  }
}

template <class Word>
Word read_little_endian(std::string_view bytes) {
  Word word = 0;
  for (std::size_t i = 0; i < sizeof(Word); ++i) {
    word |= static_cast<Word>(static_cast<Word>(static_cast<unsigned char>(bytes[i])) << (8 * i));
  }
  return word;
}

// Where a tensor says that it is.
struct Place {
  std::string name;
  std::vector<std::size_t> shape;
  std::size_t begin = 0;
  std::size_t end = 0;
};

class Parser {
 public:
  Parser(std::string_view bytes, std::string file) : bytes_(bytes), file_(std::move(file)) {}

  TensorFile parse() {
    const json header = parse_header();
    TensorFile content{.metadata = parse_metadata(header)};
    const std::vector<Place> places = parse_places(header);
    faults_.throw_if_any();
    check_cover(places);
    for (const Place& place : places) {
      content.tensors.push_back(read(place));
    }
    faults_.throw_if_any();
    return content;
  }

 private:
  void fault(std::string key, std::string value, std::string message) {
    faults_.add(
        {.file = file_, .key = std::move(key), .value = std::move(value), .message = std::move(message)});
  }

  // Also finds where the data begins.
  json parse_header() {
    if (bytes_.size() < length_bytes) {
      fault("", fmt::format("{} bytes", bytes_.size()), "is too short for a safetensors file");
      faults_.throw_if_any();
    }
    const auto length = read_little_endian<std::uint64_t>(bytes_);
    const std::size_t most = std::min(bytes_.size() - length_bytes, max_header_bytes);
    if (length > most) {
      fault("header length", fmt::format("{}", length), fmt::format("must be at most {} here", most));
      faults_.throw_if_any();
    }
    data_ = bytes_.substr(length_bytes + length);
    json header;
    try {
      header = json::parse(bytes_.substr(length_bytes, length), header_check());
    } catch (const json::exception& error) {
      fault("header", "", fmt::format("is not JSON: {}", error.what()));
    }
    if (faults_.empty() && !header.is_object()) {
      fault("header", "", "must be a JSON object");
    }
    faults_.throw_if_any();
    return header;
  }

  // Stops at once where objects and lists are nested deeper than in any header, and finds keys that stand
  // twice in an object, about which JSON keeps silent.
  json::parser_callback_t header_check() {
    constexpr int deepest = 2;
    return [this, keys = std::array<std::set<std::string>, deepest + 2>()](
               int depth, json::parse_event_t event, json& value) mutable {
      using Event = json::parse_event_t;
      if ((event == Event::object_start || event == Event::array_start) && depth > deepest) {
        fault("header", "", "is nested too deep");
        faults_.throw_if_any();
      }
      const auto level = static_cast<std::size_t>(depth);
      if (event == Event::object_start) {
        keys[level + 1].clear();
      } else if (event == Event::key && !keys[level].insert(value.get<std::string>()).second) {
        fault("header", value.get<std::string>(), "stands twice");
      }
      return true;
    };
  }

  std::map<std::string, std::string> parse_metadata(const json& header) {
    std::map<std::string, std::string> metadata;
    const auto found = header.find(metadata_key);
    if (found == header.end()) {
      return metadata;
    }
    if (!found->is_object()) {
      fault(std::string(metadata_key), "", "must be an object of texts");
      return metadata;
    }
    for (const auto& [key, value] : found->items()) {
      if (value.is_string()) {
        metadata[key] = value.get<std::string>();
      } else {
        fault(fmt::format("{}.{}", metadata_key, key), "", "must be a text");
      }
    }
    return metadata;
  }

  static std::optional<std::vector<std::size_t>> sizes(const json& entry, std::string_view key) {
    const auto found = entry.find(key);
    if (found == entry.end() || !found->is_array() ||
        !std::ranges::all_of(*found, [](const json& size) { return size.is_number_unsigned(); })) {
      return std::nullopt;
    }
    return found->get<std::vector<std::size_t>>();
  }

  std::vector<Place> parse_places(const json& header) {
    std::vector<Place> places;
    for (const auto& [name, entry] : header.items()) {
      if (name == metadata_key) {
        continue;
      }
      if (!entry.is_object() || entry.size() != 3 || !entry.contains("dtype")) {
        fault(name, "", "must have dtype, shape and data_offsets, and nothing else");
        continue;
      }
      if (const json& type = entry["dtype"]; type != "F32") {
        fault(name + ".dtype", type.is_string() ? type.get<std::string>() : "", "must be F32");
      }
      const auto shape = sizes(entry, "shape");
      const auto offsets = sizes(entry, "data_offsets");
      if (!shape) {
        fault(name + ".shape", "", "must be a list of whole numbers from 0");
      }
      if (!offsets || offsets->size() != 2 || (*offsets)[0] > (*offsets)[1] || (*offsets)[1] > data_.size()) {
        fault(name + ".data_offsets", offsets ? json(*offsets).dump() : "",
              fmt::format("must be [begin, end] with begin <= end <= {}, the bytes of data", data_.size()));
        continue;
      }
      if (shape) {
        const std::size_t bytes = (*offsets)[1] - (*offsets)[0];
        if (bytes_of(*shape) != bytes) {
          fault(name + ".shape", json(*shape).dump(), fmt::format("does not take {} bytes", bytes));
        }
        places.push_back({name, *shape, (*offsets)[0], (*offsets)[1]});
      }
    }
    return places;
  }

  // Nothing if there are too many to count.
  static std::optional<std::size_t> bytes_of(const std::vector<std::size_t>& shape) {
    std::size_t bytes = sizeof(float);
    for (const std::size_t size : shape) {
      if (__builtin_mul_overflow(bytes, size, &bytes)) {
        return std::nullopt;
      }
    }
    return bytes;
  }

  // Every byte of data belongs to one tensor.
  void check_cover(std::vector<Place> places) {
    std::ranges::sort(places, {}, [](const Place& place) { return std::pair(place.begin, place.end); });
    std::size_t covered = 0;
    for (const Place& place : places) {
      if (place.begin != covered) {
        fault(place.name + ".data_offsets", fmt::format("[{}, {}]", place.begin, place.end),
              place.begin < covered
                  ? "overlaps another tensor"
                  : fmt::format("leaves a gap: bytes {} to {} belong to no tensor", covered, place.begin));
      }
      covered = std::max(covered, place.end);
    }
    if (covered != data_.size()) {
      fault("header", "", fmt::format("leaves the last {} bytes to no tensor", data_.size() - covered));
    }
  }

  StoredTensor read(const Place& place) {
    StoredTensor tensor{.name = place.name, .shape = place.shape};
    const std::string_view data = data_.substr(place.begin, place.end - place.begin);
    tensor.values.reserve(data.size() / sizeof(float));
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < data.size(); i += sizeof(float)) {
      const auto value = std::bit_cast<float>(read_little_endian<std::uint32_t>(data.substr(i)));
      wrong += std::isfinite(value) ? 0U : 1U;
      tensor.values.push_back(value);
    }
    if (wrong > 0) {
      fault(place.name, "", fmt::format("has {} numbers that are not finite", wrong));
    }
    return tensor;
  }

  std::string_view bytes_;
  std::string_view data_;
  std::string file_;
  InputFaults faults_;
};

}  // namespace

std::string to_bytes(const TensorFile& content) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!content.metadata.empty()) {
    header[metadata_key] = content.metadata;
  }
  std::size_t offset = 0;
  for (const StoredTensor& tensor : content.tensors) {
    const std::size_t end = offset + tensor.values.size() * sizeof(float);
    header[tensor.name] = {{"dtype", "F32"}, {"shape", tensor.shape}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = header.dump(-1, ' ', false, json::error_handler_t::replace);
  text.resize((text.size() + 7) / 8 * 8, ' ');  // so that the numbers are aligned in memory

  std::string bytes;
  bytes.reserve(length_bytes + text.size() + offset);
  append_little_endian(bytes, std::uint64_t{text.size()});
  bytes += text;
  for (const StoredTensor& tensor : content.tensors) {
    for (const float value : tensor.values) {
      append_little_endian(bytes, std::bit_cast<std::uint32_t>(value));
    }
  }
  return bytes;
}

TensorFile parse_tensor_file(std::string_view bytes, const std::string& file) {
  return Parser(bytes, file).parse();
}

}  // namespace skein::nn
