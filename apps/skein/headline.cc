#include "headline.h"

#include <fmt/format.h>

namespace skein::app {

std::string HeadlineNumber::text(double value) const {
  return fmt::format("{:.{}f}", factor * value, digits);
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
