#include "skein/learning/training_record.h"

#include <fmt/format.h>

#include "skein/base/csv.h"
#include "skein/base/expect.h"

namespace skein {

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
  using Row = const TrainingRecord&;
  using Maybe = std::optional<double>;
  Columns<TrainingRecord> columns{
      {"iteration", [](Row r) { return r.iteration; }},
      {"simulated_s", [](Row r) { return r.elapsed.si(); }},
      {"energy_J", [](Row r) { return r.total_energy().si(); }},
  };
  for (std::size_t kind = 0; kind < all_energy_kinds.size(); ++kind) {
    columns.add(fmt::format("{}_J", to_string(all_energy_kinds[kind])),
                [kind](Row r) { return r.energy[kind].si(); });
  }
  columns.add("accuracy_percent", [](Row r) { return 100.0 * r.global.accuracy; });
  columns.add("loss_nats", [](Row r) { return r.global.loss; });
  columns.add("training_loss_nats", [](Row r) { return r.training_loss; });
  columns.add("squared_meta_gradient", [](Row r) { return r.squared_meta_gradient; });
  const auto add_evaluation = [&](const std::string& whose, const auto& of) {
    columns.add(whose + "_accuracy_percent", [of](Row r) {
      const std::optional<Evaluation> own = of(r);
      return own ? Maybe(100.0 * own->accuracy) : Maybe();
    });
    columns.add(whose + "_loss_nats", [of](Row r) {
      const std::optional<Evaluation> own = of(r);
      return own ? Maybe(own->loss) : Maybe();
    });
  };
  add_evaluation("personalised", [](Row r) { return r.mean_personalised(); });
  for (std::size_t swarm = 0; swarm < num_swarms; ++swarm) {
    add_evaluation(fmt::format("swarm_{}", swarm + 1), [swarm](Row r) {
      return swarm < r.personalised.size() ? std::optional(r.personalised[swarm]) : std::nullopt;
    });
  }
  return columns.table(records);
}

}  // namespace skein
