#include "skein/data/split_preview.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <numeric>
#include <vector>

namespace skein {

std::size_t GroupSplit::total() const {
  return std::accumulate(quantities.begin(), quantities.end(), std::size_t{0});
}

std::size_t GroupSplit::least() const { return quantities.empty() ? 0 : std::ranges::min(quantities); }

std::size_t GroupSplit::most() const { return quantities.empty() ? 0 : std::ranges::max(quantities); }

double GroupSplit::mean() const {
  return quantities.empty() ? 0.0 : static_cast<double>(total()) / static_cast<double>(quantities.size());
}

std::size_t SplitPreview::total() const {
  std::size_t sum = 0;
  for (const GroupSplit& group : groups) {
    sum += group.total();
  }
  return sum;
}

std::size_t SplitPreview::num_members() const {
  std::size_t sum = 0;
  for (const GroupSplit& group : groups) {
    sum += group.quantities.size();
  }
  return sum;
}

SplitPreview preview(const Partition& partition, const ClassPools& pools, const SplitWords& words) {
  SplitPreview result{.words = words, .class_names = pools.class_names()};
  for (std::size_t label = 0; label < pools.num_classes(); ++label) {
    result.available.push_back(pools.of(label).size());
  }
  const char letter = words.group.empty() ? 'G' : words.group.front();
  const char initial = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  std::vector<bool> given(pools.size(), false);
  for (const GroupShare& share : partition.groups) {
    GroupSplit group{.name = fmt::format("{}:{}", initial, result.groups.size() + 1),
                     .class_counts = std::vector<std::size_t>(pools.num_classes(), 0)};
    for (const std::vector<SampleIndex>& samples : share.members) {
      group.quantities.push_back(samples.size());
      for (const SampleIndex sample : samples) {
        ++group.class_counts[pools.label(sample)];
        given[sample] = true;
      }
    }
    result.groups.push_back(std::move(group));
  }
  result.num_distinct = static_cast<std::size_t>(std::ranges::count(given, true));
  return result;
}

std::string to_text(const SplitPreview& preview) {
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> head{preview.words.group};
  head.insert(head.end(), preview.class_names.begin(), preview.class_names.end());
  for (const std::string& title : {std::string("all"), preview.words.member + "s", std::string("least"),
                                   std::string("mean"), std::string("most")}) {
    head.push_back(title);
  }
  rows.push_back(std::move(head));
  std::vector<std::size_t> totals(preview.class_names.size(), 0);
  for (const GroupSplit& group : preview.groups) {
    std::vector<std::string> row{group.name};
    for (std::size_t label = 0; label < totals.size(); ++label) {
      const std::size_t count = group.class_counts[label];
      totals[label] += count;
      row.push_back(count == 0 ? "." : fmt::format("{}", count));
    }
    row.push_back(fmt::format("{}", group.total()));
    row.push_back(fmt::format("{}", group.quantities.size()));
    row.push_back(fmt::format("{}", group.least()));
    row.push_back(fmt::format("{:.1f}", group.mean()));
    row.push_back(fmt::format("{}", group.most()));
    rows.push_back(std::move(row));
  }
  std::vector<std::string> sum{"all"};
  std::vector<std::string> available{"in the set"};
  for (std::size_t label = 0; label < totals.size(); ++label) {
    sum.push_back(fmt::format("{}", totals[label]));
    available.push_back(fmt::format("{}", preview.available[label]));
  }
  sum.push_back(fmt::format("{}", preview.total()));
  sum.push_back(fmt::format("{}", preview.num_members()));
  available.push_back(
      fmt::format("{}", std::accumulate(preview.available.begin(), preview.available.end(), std::size_t{0})));
  rows.push_back(std::move(sum));
  rows.push_back(std::move(available));

  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (const auto& row : rows) {
    for (std::size_t column = 0; column < row.size(); ++column) {
      widths[column] = std::max(widths[column], row[column].size());
    }
  }
  std::string text =
      fmt::format("Data points of {} by {} and class: {} in all, {} different samples.\n\n",
                  preview.words.data, preview.words.group, preview.total(), preview.num_distinct);
  for (const auto& row : rows) {
    std::string line = fmt::format("{:<{}}", row.front(), widths.front());
    for (std::size_t column = 1; column < row.size(); ++column) {
      line += fmt::format("  {:>{}}", row[column], widths[column]);
    }
    text += line + "\n";
  }
  return text;
}

std::string to_json(const SplitPreview& preview) {
  nlohmann::ordered_json json;
  json["data"] = preview.words.data;
  json["unit"] = "data points";
  json["classes"] = preview.class_names;
  json["available"] = preview.available;
  json["total"] = preview.total();
  json["distinct_samples"] = preview.num_distinct;
  json["group"] = preview.words.group;
  json["member"] = preview.words.member;
  json["groups"] = nlohmann::ordered_json::array();
  for (const GroupSplit& group : preview.groups) {
    json["groups"].push_back({{"name", group.name},
                              {"total", group.total()},
                              {"class_counts", group.class_counts},
                              {"quantities", group.quantities},
                              {"least", group.least()},
                              {"mean", group.mean()},
                              {"most", group.most()}});
  }
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace skein
