#include "skein/scenario/toml_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>
#include <utility>

namespace skein {
namespace {

constexpr std::size_t longest_value_shown = 60;
// A file of junk should be refused at once: beyond these, no nearest key is looked for.
constexpr std::size_t longest_key_matched = 80;
constexpr std::size_t most_faults_matched = 50;

// A number as double; whole numbers count as reals.
std::optional<double> number_of(const toml::node& node) {
  if (const auto* integer = node.as_integer()) {
    return static_cast<double>(integer->get());
  }
  if (const auto* real = node.as_floating_point()) {
    return real->get();
  }
  return std::nullopt;
}

std::string_view last_part(std::string_view path) {
  const std::size_t dot = path.rfind('.');
  return dot == std::string_view::npos ? path : path.substr(dot + 1);
}

}  // namespace

std::string place_of(const toml::node& node, const std::string& file) {
  const toml::source_region& source = node.source();
  const std::string& name = source.path ? *source.path : file;
  return source.begin.line > 0 && !name.starts_with("--set") ? fmt::format("{}:{}", name, source.begin.line)
                                                             : name;
}

std::string value_of(const toml::node& node) {
  std::ostringstream stream;
  if (node.is_table()) {
    stream << toml::toml_formatter(*node.as_table(), toml::format_flags::none);
    if (!node.as_table()->is_inline()) {
      return "a table";
    }
  }
  if (!node.is_table()) {
    node.visit([&](const auto& concrete) {
      if constexpr (!toml::is_table<decltype(concrete)>) {
        stream << concrete;
      }
    });
  }
  std::string text = stream.str();
  std::ranges::replace(text, '\n', ' ');
  if (text.size() > longest_value_shown) {
    text = text.substr(0, longest_value_shown) + "...";
  }
  return text;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        cost[i][j] = i + j;
        continue;
      }
      cost[i][j] = std::min(
          {cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + (a[i - 1] != b[j - 1] ? 1U : 0U)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
      }
    }
  }
  return cost[a.size()][b.size()];
}

TomlReader::TomlReader(const toml::table& root, std::string file, InputFaults& faults)
    : table_(&root), file_(std::move(file)), faults_(&faults) {}

std::string TomlReader::path_of(std::string_view key) const {
  return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
}

const toml::node* TomlReader::find(std::string_view key) {
  known_.push_back(path_of(key));
  return table_ == nullptr ? nullptr : table_->get(key);
}

void TomlReader::fault(std::string_view key, const toml::node& node, std::string message) {
  faults_->add({.file = place_of(node, file_),
                .key = path_of(key),
                .value = value_of(node),
                .message = std::move(message)});
}

void TomlReader::section(std::string_view name, std::string_view /*help*/, const std::function<void()>& keys,
                         bool /*counts*/) {
  const toml::node* node = find(name);
  const toml::table* inner = node == nullptr ? nullptr : node->as_table();
  if (node != nullptr && inner == nullptr) {
    fault(name, *node, fmt::format("must be a section: [{}] and its keys", path_of(name)));
  }
  const toml::table* outer = std::exchange(table_, inner);
  std::string path = std::exchange(path_, path_of(name));
  keys();
  path_ = std::move(path);
  table_ = outer;
}

void TomlReader::named_sections(std::string_view name, std::string_view help,
                                const std::vector<std::string>& known,
                                const std::function<void(const std::string&)>& keys) {
  std::vector<std::string> names = known;
  if (const toml::node* node = table_ == nullptr ? nullptr : table_->get(name);
      node != nullptr && node->is_table()) {
    for (const auto& [key, value] : *node->as_table()) {
      const std::string entry(key.str());
      if (std::ranges::find(names, entry) == names.end()) {
        names.push_back(entry);
      }
    }
  }
  const auto bind_each = [&] {
    for (const std::string& entry : names) {
      section(
          entry, "", [&] { keys(entry); }, true);
    }
  };
  section(name, help, bind_each, true);
}

void TomlReader::spread(std::string_view key, Spread& value, const Range& allowed,
                        std::string_view /*help*/) {
  const toml::node* node = find(key);
  if (node == nullptr) {
    return;
  }
  Spread read;
  if (const std::optional<double> number = number_of(*node)) {
    read = constant(*number);
  } else if (const toml::array* array = node->as_array()) {
    read.shape = Spread::Shape::list;
    if (!read_numbers(key, *node, *array, any_number, read.numbers)) {
      return;
    }
  } else if (const toml::table* table = node->as_table(); table != nullptr && table->size() == 1) {
    using Shape = Spread::Shape;
    const auto entry = table->begin();
    constexpr std::array<std::pair<std::string_view, Shape>, 3> shapes{
        {{"uniform", Shape::uniform}, {"normal", Shape::normal}, {"choice", Shape::choice}}};
    const auto* found =
        std::ranges::find(shapes, entry->first.str(), [](const auto& known) { return known.first; });
    if (found == shapes.end() || !entry->second.is_array()) {
      fault(key, *node,
            "must be a number, a list, or { uniform = [low, high] }, { normal = [mean, deviation] }, { "
            "choice = [...] }");
      return;
    }
    read.shape = found->second;
    if (!read_numbers(key, *node, *entry->second.as_array(), any_number, read.numbers)) {
      return;
    }
  } else {
    fault(key, *node,
          "must be a number, a list, or { uniform = [low, high] }, { normal = [mean, deviation] }, { choice "
          "= [...] }");
    return;
  }
  if (std::string message = read.fault(allowed); !message.empty()) {
    fault(key, *node, std::move(message));
    return;
  }
  value = std::move(read);
}

void TomlReader::real(std::string_view key, double& value, const Range& allowed, std::string_view /*help*/) {
  const toml::node* node = find(key);
  if (node == nullptr) {
    return;
  }
  const std::optional<double> number = number_of(*node);
  if (!number || !allowed.contains(*number)) {
    fault(key, *node, "must be " + to_string(allowed));
    return;
  }
  value = *number;
}

void TomlReader::integer(std::string_view key, std::int64_t& value, const Range& allowed,
                         std::string_view /*help*/) {
  const toml::node* node = find(key);
  if (node == nullptr) {
    return;
  }
  const auto* number = node->as_integer();
  if (number == nullptr || !allowed.contains(static_cast<double>(number->get()))) {
    fault(key, *node, "must be " + to_string(allowed));
    return;
  }
  value = number->get();
}

void TomlReader::flag(std::string_view key, bool& value, std::string_view /*help*/) {
  const toml::node* node = find(key);
  if (node == nullptr) {
    return;
  }
  if (const auto* boolean = node->as_boolean()) {
    value = boolean->get();
  } else {
    fault(key, *node, "must be true or false");
  }
}

void TomlReader::text(std::string_view key, std::string& value, std::string_view /*help*/) {
  const toml::node* node = find(key);
  if (node == nullptr) {
    return;
  }
  if (const auto* string = node->as_string()) {
    value = string->get();
  } else {
    fault(key, *node, "must be a text in quotes");
  }
}

void TomlReader::texts(std::string_view key, std::vector<std::string>& values, std::string_view /*help*/) {
  const toml::node* node = find(key);
  if (node == nullptr) {
    return;
  }
  const toml::array* array = node->as_array();
  if (array == nullptr || !(array->empty() || array->is_homogeneous(toml::node_type::string))) {
    fault(key, *node, "must be a list of texts in quotes: [\"a\", \"b\"]");
    return;
  }
  values.clear();
  for (const toml::node& element : *array) {
    values.push_back(element.as_string()->get());
  }
}

void TomlReader::one_of(std::string_view key, std::size_t& value, std::span<const std::string_view> names,
                        std::string_view /*help*/) {
  const toml::node* node = find(key);
  if (node == nullptr) {
    return;
  }
  const auto* string = node->as_string();
  const auto found =
      string == nullptr ? names.end() : std::ranges::find(names, std::string_view(string->get()));
  if (found == names.end()) {
    std::string message = fmt::format("must be one of \"{}\"", fmt::join(names, "\", \""));
    if (string != nullptr && string->get().size() <= longest_key_matched) {
      const auto distance = [&](std::string_view name) { return edit_distance(string->get(), name); };
      const std::string_view nearest = *std::ranges::min_element(names, {}, distance);
      if (distance(nearest) <= std::max<std::size_t>(2, nearest.size() / 3)) {
        message += fmt::format("; did you mean \"{}\"?", nearest);
      }
    }
    fault(key, *node, std::move(message));
    return;
  }
  value = static_cast<std::size_t>(found - names.begin());
}

bool TomlReader::read_numbers(std::string_view key, const toml::node& node, const toml::array& array,
                              const Range& allowed, std::vector<double>& out) {
  std::vector<double> numbers;
  numbers.reserve(array.size());
  for (const toml::node& element : array) {
    const std::optional<double> number = number_of(element);
    if (!number || !allowed.contains(*number)) {
      fault(key, node,
            fmt::format("has {} in its list; each must be {}", value_of(element), to_string(allowed)));
      return false;
    }
    numbers.push_back(*number);
  }
  out = std::move(numbers);
  return true;
}

void TomlReader::reals(std::string_view key, std::vector<double>& values, const Range& allowed,
                       std::string_view /*help*/) {
  const toml::node* node = find(key);
  if (node == nullptr) {
    return;
  }
  if (const toml::array* array = node->as_array()) {
    read_numbers(key, *node, *array, allowed, values);
  } else {
    fault(key, *node, "must be a list of numbers: [1, 2, 3]");
  }
}

void TomlReader::fixed_reals(std::string_view key, std::vector<double>& values, std::size_t size,
                             const Range& allowed, std::string_view /*help*/) {
  const toml::node* node = find(key);
  if (node == nullptr) {
    return;
  }
  const toml::array* array = node->as_array();
  if (array == nullptr || array->size() != size) {
    fault(key, *node, fmt::format("must be a list of {} numbers", size));
    return;
  }
  read_numbers(key, *node, *array, allowed, values);
}

void TomlReader::lists(std::string_view key, std::vector<std::vector<double>>& values, std::size_t size,
                       const Range& allowed, std::string_view /*help*/) {
  const toml::node* node = find(key);
  if (node == nullptr) {
    return;
  }
  const std::string wanted = size == 2 ? "must be a list of pairs: [[1, 2], [3, 4]]"
                                       : "must be a list of lists: [[1, 2, 3], [4, 5]]";
  const toml::array* array = node->as_array();
  if (array == nullptr) {
    fault(key, *node, wanted);
    return;
  }
  std::vector<std::vector<double>> read;
  for (const toml::node& element : *array) {
    const toml::array* inner = element.as_array();
    if (inner == nullptr || (size != 0 && inner->size() != size)) {
      fault(key, *node, wanted);
      return;
    }
    if (!read_numbers(key, *node, *inner, allowed, read.emplace_back())) {
      return;
    }
  }
  values = std::move(read);
}

void TomlReader::report_unknown() {
  std::ranges::sort(known_);
  report_unknown_in(*table_, "");
}

void TomlReader::report_unknown_in(const toml::table& table, const std::string& path) {
  for (const auto& [key, node] : table) {
    const std::string full = path.empty() ? std::string(key.str()) : fmt::format("{}.{}", path, key.str());
    if (!std::ranges::binary_search(known_, full)) {
      // The nearest known key: by the whole path, or by its last part alone where the section is wrong.
      const auto distance = [&, last = key.str()](const std::string& candidate) {
        return std::min(edit_distance(full, candidate), edit_distance(last, last_part(candidate)) + 1);
      };
      const bool worth_it =
          full.size() <= longest_key_matched && faults_->list().size() < most_faults_matched;
      const auto nearest = worth_it ? std::ranges::min_element(known_, {}, distance) : known_.end();
      const bool near =
          nearest != known_.end() && distance(*nearest) <= std::max<std::size_t>(2, full.size() / 3);
      faults_->add({.file = place_of(node, file_),
                    .key = full,
                    .value = value_of(node),
                    .message = near ? fmt::format("is not a known key; did you mean {}?", *nearest)
                                    : "is not a known key; `skein new` writes a file with all of them"});
    } else if (const bool is_section = std::ranges::any_of(
                   known_, [&](const std::string& k) { return k.starts_with(full + "."); });
               is_section && node.is_table()) {
      report_unknown_in(*node.as_table(), full);
    }
  }
}

}  // namespace skein
