// The convergence bounds of a scenario studied, and what is kept of it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "skein/base/thread_pool.h"
#include "skein/bounds/bound_study.h"
#include "skein/scenario/scenario.h"

namespace skein {

// Trains the scenario for as many global rounds as `setup` says; its training, drift and clusters are the
// scenario's. Throws InputError and Divergence.
BoundStudy study_bounds(const Scenario& scenario, BoundStudySetup setup, ThreadPool& pool,
                        const StudyProgress& progress = {});

// A constant of the bounds as the scenario has it, if it does, and as measured.
struct ConstantRow {
  std::string_view name;    // for programs
  std::string_view title;   // for people
  std::string_view symbol;  // the paper's
  std::string_view unit;
  std::optional<double> scenario;
  double measured;
};
std::vector<ConstantRow> constant_rows(const BoundConstants& guessed, const LossEstimates& found);

// Constants, terms, drift, and what is not as it should be.
std::string bound_study_json(const Scenario& scenario, const BoundStudy& study);

// Writes bounds.json, scenario.toml, and measured.toml, the scenario with the measured constants.
void write_bound_study(const Scenario& scenario, const BoundStudy& study,
                       const std::filesystem::path& directory);

}  // namespace skein
