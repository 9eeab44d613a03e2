#include "skein/mission/scenario_bounds.h"

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "skein/base/file.h"
#include "skein/data/data_source.h"
#include "skein/mission/prepare_training.h"

namespace skein {
namespace {

using nlohmann::ordered_json;

ordered_json bound_json(const std::optional<LogNumber>& number) {
  if (!number) {
    return nullptr;
  }
  const double value = number->value();
  const double log10 = number->log10();
  return {{"value", std::isfinite(value) ? ordered_json(value) : ordered_json(nullptr)},
          {"log10", std::isfinite(log10) ? ordered_json(log10) : ordered_json(nullptr)}};
}

ordered_json number_json(const std::optional<double>& number) {
  return number ? ordered_json(*number) : ordered_json(nullptr);
}

}  // namespace

BoundStudy study_bounds(const Scenario& scenario, BoundStudySetup setup, ThreadPool& pool,
                        const StudyProgress& progress) {
  // The study has its own length.
  Scenario studied = scenario;
  studied.learning.iterations =
      setup.num_rounds * scenario.learning.local_period * scenario.learning.global_period;
  auto data = std::make_shared<const DataSplit>(load_data(scenario.data.source, scenario.run.seed));
  PreparedTraining prepared(studied, std::move(data), pool);
  setup.training = prepared.setup();
  setup.drift = scenario.drift;
  setup.num_clusters = prepared.world().clusters.size();
  return study_bounds(setup, pool, progress);
}

std::vector<ConstantRow> constant_rows(const BoundConstants& guessed, const LossEstimates& found) {
  const BoundConstants& c = found.constants;
  return {
      {"gradient_bound", "norm of a gradient", "B", "nat", guessed.gradient_bound, c.gradient_bound},
      {"gradient_lipschitz", "Lipschitz, gradient", "mu^G", "nat", guessed.gradient_lipschitz,
       c.gradient_lipschitz},
      {"hessian_lipschitz", "Lipschitz, Hessian", "mu^H", "nat", std::nullopt, found.hessian_lipschitz},
      {"meta_lipschitz", "Lipschitz, meta-gradient, by formula", "mu^F", "nat", guessed.meta_lipschitz,
       c.meta_lipschitz},
      {"meta_lipschitz_on_path", "the same, along the path", "mu^F", "nat", std::nullopt,
       found.meta_quotient},
      {"gradient_variance", "variance of a sample's gradient", "sigma^G", "nat^2", guessed.gradient_variance,
       c.gradient_variance},
      {"hessian_variance", "variance of a sample's Hessian", "sigma^H", "nat^2", guessed.hessian_variance,
       c.hessian_variance},
      {"swarm_gradient_variability", "gradients in a swarm", "gamma_u^G", "nat^2",
       guessed.swarm_gradient_variability, c.swarm_gradient_variability},
      {"swarm_hessian_variability", "Hessians in a swarm", "gamma_u^H", "nat^2",
       guessed.swarm_hessian_variability, c.swarm_hessian_variability},
      {"network_gradient_variability", "gradients between swarms", "gamma^G", "nat^2",
       guessed.network_gradient_variability, c.network_gradient_variability},
      {"network_hessian_variability", "Hessians between swarms", "gamma^H", "nat^2",
       guessed.network_hessian_variability, c.network_hessian_variability},
  };
}

std::string bound_study_json(const Scenario& scenario, const BoundStudy& study) {
  ordered_json json{{"scenario", scenario.run.name}, {"seed", scenario.run.seed}};
  for (const ConstantRow& row : constant_rows(scenario.learning.bound, study.estimates)) {
    json["constants"][std::string(row.name)] = {{"symbol", row.symbol},
                                                {"unit", row.unit},
                                                {"scenario", number_json(row.scenario)},
                                                {"measured", row.measured}};
  }
  for (const BoundTerm& term : study.terms) {
    json["terms"][std::string(term.name)] = {{"symbol", term.symbol},
                                             {"unit", term.unit},
                                             {"measured", number_json(term.measured)},
                                             {"bound_by_scenario", bound_json(term.by_scenario)},
                                             {"bound_by_measurement", bound_json(term.by_measurement)}};
  }
  json["drift"] = ordered_json::array();
  for (const ClusterDriftStudy& drift : study.drift) {
    json["drift"].push_back({{"cluster", drift.cluster + 1},
                             {"squared_gradient_at_visit_nat2", drift.gradient},
                             {"drift_nat2_per_sequence", drift.drift},
                             {"squared_gradient_nat2", drift.measured},
                             {"bound_nat2", drift.bound},
                             {"sharper_bound_nat2", drift.triangle}});
  }
  json["unmet_by_scenario"] = study.unmet_by_scenario;
  json["unmet_by_measurement"] = study.unmet_by_measurement;
  json["exceeded"] = study.exceeded;
  json["growth"] = study.growth;
  json["notes"] = study.notes;
  return json.dump(1) + "\n";
}

void write_bound_study(const Scenario& scenario, const BoundStudy& study,
                       const std::filesystem::path& directory) {
  write_file(directory / "scenario.toml", resolved_scenario(scenario));
  write_file(directory / "bounds.json", bound_study_json(scenario, study));
  Scenario measured = scenario;
  measured.learning.bound = study.estimates.constants;
  write_file(directory / "measured.toml", resolved_scenario(measured));
}

}  // namespace skein
