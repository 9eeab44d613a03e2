#include "headline.h"

#include <fmt/format.h>

#include "skein/base/file.h"
#include "skein/base/input_fault.h"

namespace skein::app {

std::string HeadlineNumber::text(double value) const {
  return fmt::format("{:.{}f}", factor * value, digits);
}

nlohmann::ordered_json read_json(const std::filesystem::path& file) {
  nlohmann::ordered_json json =
      nlohmann::ordered_json::parse(read_file(file, std::size_t{1} << 28U), nullptr, false);
  if (!json.is_object()) {
    throw InputError({file.string(), "", "", "is not a JSON object"});
  }
  return json;
}

const std::vector<HeadlineNumber>& headline_numbers() {
  static const std::vector<HeadlineNumber> list{
      {"mean_accuracy_percent", "accuracy (%)", 1.0, 1},
      {"worst_cluster_accuracy_percent", "worst (%)", 1.0, 1},
      {"last_accuracy_percent", "end (%)", 1.0, 1},
      {"mean_age_sequences", "age (seq.)", 1.0, 2},
      {"mean_reward", "reward", 1.0, 1},
      {"energy_J", "energy (kJ)", 1e-3, 1},
      {"visits", "visits", 1.0, 1},
      {"recharges", "recharges", 1.0, 1},
      {"distance_m", "flown (km)", 1e-3, 1},
  };
  return list;
}

std::vector<std::pair<std::string, double>> numbers_of(const nlohmann::ordered_json& summary) {
  std::vector<std::pair<std::string, double>> numbers;
  for (const auto& [name, value] : summary.items()) {
    if (value.is_number() && name != "seed") {
      numbers.emplace_back(name, value.get<double>());
    } else if (value.is_object()) {
      for (const auto& [inner, number] : numbers_of(value)) {
        numbers.emplace_back(name + "." + inner, number);
      }
    }
  }
  return numbers;
}

}  // namespace skein::app
