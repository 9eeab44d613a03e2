#include "skein/learning/training_record.h"

#include <fmt/format.h>

#include <iterator>

#include "skein/base/expect.h"

namespace skein {
namespace {

std::string percent(double share) { return fmt::format("{}", 100.0 * share); }

}  // namespace

Energy TrainingRecord::total_energy() const {
  Energy sum;
  for (const Energy part : energy) {
    sum += part;
  }
  return sum;
}

std::optional<Evaluation> TrainingRecord::mean_personalised() const {
  return personalised.empty() ? std::nullopt : std::optional(mean_of(personalised));
}

Evaluation mean_of(std::span<const Evaluation> evaluations) {
  expect(!evaluations.empty(), "a mean needs something");
  Evaluation sum;
  for (const Evaluation& evaluation : evaluations) {
    sum.accuracy += evaluation.accuracy;
    sum.loss += evaluation.loss;
  }
  const auto count = static_cast<double>(evaluations.size());
  return {.accuracy = sum.accuracy / count, .loss = sum.loss / count};
}

std::string metrics_csv(std::span<const TrainingRecord> records, std::size_t num_swarms) {
  std::string text = "iteration,simulated_s,energy_J";
  auto out = std::back_inserter(text);
  for (const EnergyKind kind : all_energy_kinds) {
    fmt::format_to(out, ",{}_J", to_string(kind));
  }
  text +=
      ",accuracy_percent,loss_nats,training_loss_nats,squared_meta_gradient,personalised_accuracy_percent,"
      "personalised_loss_nats";
  for (std::size_t u = 1; u <= num_swarms; ++u) {
    fmt::format_to(out, ",swarm_{0}_accuracy_percent,swarm_{0}_loss_nats", u);
  }
  text += '\n';
  const auto number_or_nothing = [](const std::optional<double>& number) {
    return number ? fmt::format("{}", *number) : "";
  };
  for (const TrainingRecord& record : records) {
    fmt::format_to(out, "{},{},{}", record.iteration, record.elapsed.si(), record.total_energy().si());
    for (const Energy part : record.energy) {
      fmt::format_to(out, ",{}", part.si());
    }
    fmt::format_to(out, ",{},{},{},{}", percent(record.global.accuracy), record.global.loss,
                   number_or_nothing(record.training_loss), number_or_nothing(record.squared_meta_gradient));
    std::vector<Evaluation> own;
    if (const auto mean = record.mean_personalised()) {
      own.push_back(*mean);
    }
    own.insert(own.end(), record.personalised.begin(), record.personalised.end());
    for (std::size_t i = 0; i <= num_swarms; ++i) {
      text += i < own.size() ? fmt::format(",{},{}", percent(own[i].accuracy), own[i].loss) : ",,";
    }
    text += '\n';
  }
  return text;
}

}  // namespace skein
