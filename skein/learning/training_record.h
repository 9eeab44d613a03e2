// What a training run records, and the table of it.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "skein/base/quantity.h"
#include "skein/learning/evaluation.h"
#include "skein/world/ledger.h"

namespace skein {

// The state of a run after a global aggregation, or before the first.
struct TrainingRecord {
  std::size_t iteration = 0;                             // local iterations done
  Time elapsed{};                                        // on the clock of the simulated world
  std::array<Energy, all_energy_kinds.size()> energy{};  // spent since the start, by kind
  // Of the global model on the whole test set; where swarms learn alone, the mean over their models.
  Evaluation global{};
  // Of each swarm's personalised model on the test samples of the swarm's own labels. Empty if not measured.
  std::vector<Evaluation> personalised{};
  std::optional<double> squared_meta_gradient{};  // norm of the global meta-gradient
  std::optional<double> training_loss{};          // mean over workers in the last local round

  [[nodiscard]] Energy total_energy() const;
  // Over swarms, with equal weight; nothing if not measured.
  [[nodiscard]] std::optional<Evaluation> mean_personalised() const;
};

Evaluation mean_of(std::span<const Evaluation> evaluations);

// A header with units in its names and a row per record; what was not measured is empty.
std::string metrics_csv(std::span<const TrainingRecord> records, std::size_t num_swarms);

}  // namespace skein
