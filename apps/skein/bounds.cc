#include <fmt/format.h>

#include <array>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "command.h"
#include "progress.h"
#include "skein/base/file.h"
#include "skein/bounds/bound_study.h"
#include "skein/data/data_source.h"
#include "skein/mission/prepare_training.h"
#include "text_table.h"

namespace skein::app {
namespace {

using nlohmann::ordered_json;

struct BoundsOptions {
  CommonOptions common;
  std::string model{};
  BoundStudySetup study{};
};

// A constant of the bounds as the scenario has it, if it does, and as measured.
struct ConstantRow {
  std::string_view name;
  std::string_view title;
  std::string_view symbol;
  std::string_view unit;
  std::optional<double> scenario;
  double measured;
};

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

std::string text(double number) { return fmt::format("{:.4g}", number); }

std::string text(const std::optional<double>& number) { return number ? text(*number) : ""; }

std::string text(const std::optional<LogNumber>& number) {
  if (!number) {
    return "none";
  }
  return std::abs(number->log10()) < 100.0 || std::isinf(number->log())
             ? text(number->value())
             : fmt::format("10^{:.1f}", number->log10());
}

// How many times the measured value a bound is, or that it is below it.
std::string slack(const BoundTerm& term, const std::optional<LogNumber>& bound) {
  if (!term.measured || !bound || *term.measured <= 0.0) {
    return "";
  }
  return text(std::optional(*bound / *term.measured));
}

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

ordered_json to_json(const Scenario& scenario, const BoundStudy& study) {
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
  return json;
}

void print(const Scenario& scenario, const BoundsOptions& options, const BoundStudy& study) {
  TextTable constants({"<constant", "<symbol", "<unit", "scenario", "measured"});
  for (const ConstantRow& row : constant_rows(scenario.learning.bound, study.estimates)) {
    constants.add({std::string(row.title), std::string(row.symbol), std::string(row.unit), text(row.scenario),
                   text(row.measured)});
  }
  TextTable terms(
      {"<term", "<symbol", "<unit", "measured", "bound, scenario's", "times", "bound, measured", "times"});
  for (const BoundTerm& term : study.terms) {
    terms.add({std::string(term.title), std::string(term.symbol), std::string(term.unit), text(term.measured),
               text(term.by_scenario), slack(term, term.by_scenario), text(term.by_measurement),
               slack(term, term.by_measurement)});
  }
  TextTable drift({"<cluster", "drift (nat^2 a sequence)", "at the visit (nat^2)", "measured (nat^2)",
                   "bound (nat^2)", "sharper (nat^2)"});
  for (const ClusterDriftStudy& row : study.drift) {
    drift.add({fmt::format("{}", row.cluster + 1), text(row.drift), text(row.gradient), text(row.measured),
               text(row.bound), text(row.triangle)});
  }
  fmt::print(
      "{}, seed {}: {} global rounds of {} x {} updates, eta_1 = {:g}, eta_2 = {:g}\n\n{}\n"
      "Bounds with the scenario's constants and with measured ones, and how many times the measured value\n"
      "they are\n\n{}\n"
      "Squared meta-gradient of each swarm's cluster {} sequences after the last visit, by drift\n\n{}",
      scenario.run.name, scenario.run.seed, options.study.num_rounds, scenario.learning.global_period,
      scenario.learning.local_period, scenario.learning.inner_step, scenario.learning.meta_step,
      constants.text(), terms.text(), options.study.num_sequences, drift.text());
  for (const std::string& note : study.notes) {
    fmt::print("\nNote: {}", note);
  }
  const auto warn = [](std::string_view whose, const std::string& warning) {
    fmt::print("\nWarning, {} constants: {}", whose, warning);
  };
  for (const std::string& unmet : study.unmet_by_scenario) {
    warn("scenario's", unmet);
  }
  for (const std::string& exceeded : study.exceeded) {
    warn("scenario's", exceeded);
  }
  for (const std::string& unmet : study.unmet_by_measurement) {
    warn("measured", unmet);
  }
  if (!study.growth.empty()) {
    warn("scenario's", study.growth);
  }
  fmt::print("\n");
}

void bounds(const BoundsOptions& options) {
  Scenario scenario = load(options.common);
  if (!options.model.empty()) {
    scenario.learning.initial_model = options.model;
  }
  // The study has its own length.
  Scenario studied = scenario;
  studied.learning.iterations =
      options.study.num_rounds * scenario.learning.local_period * scenario.learning.global_period;
  ThreadPool pool(options.common.threads);
  const BoundStudy study = with_file_named(options.common, [&] {
    auto data = std::make_shared<const DataSplit>(load_data(scenario.data.source, scenario.run.seed));
    PreparedTraining prepared(studied, std::move(data), pool);
    BoundStudySetup setup = options.study;
    setup.training = prepared.setup();
    setup.drift = scenario.drift;
    setup.num_clusters = prepared.world().clusters.size();
    Progress progress(options.common, scenario.run.name);
    return study_bounds(setup, pool,
                        [&](std::string_view stage, double done) { progress.show(stage, done); });
  });
  const std::string json = to_json(scenario, study).dump(1) + "\n";
  if (!options.common.out.empty()) {
    const std::filesystem::path directory = output_directory(options.common, scenario);
    write_file(directory / "scenario.toml", resolved_scenario(scenario));
    write_file(directory / "bounds.json", json);
    Scenario measured = scenario;
    measured.learning.bound = study.estimates.constants;
    write_file(directory / "measured.toml", resolved_scenario(measured));
  }
  if (options.common.json()) {
    fmt::print("{}", json);
  } else if (options.common.talks()) {
    print(scenario, options, study);
  }
}

}  // namespace

void add_bounds_command(CLI::App& program) {
  auto options = std::make_shared<BoundsOptions>();
  CLI::App* command = program.add_subcommand(
      "bounds",
      "Train a little, measure the constants of the convergence bounds, and print every bound beside what it "
      "bounds. With --out: bounds.json, and measured.toml, the scenario with the measured constants");
  add_scenario(*command, options->common);
  command->add_option("--model", options->model, "A model to begin with (safetensors)")->type_name("FILE");
  const auto number = [&](const std::string& name, std::size_t& value, const std::string& help) {
    command->add_option(name, value, help)
        ->type_name("N")
        ->check(CLI::Range(1, 100000))
        ->capture_default_str();
  };
  BoundStudySetup& study = options->study;
  number("--rounds", study.num_rounds, "Global rounds of training");
  command
      ->add_option("--data", study.most_points,
                   "Points that a worker has at most; 0: all. Time grows with them")
      ->type_name("N")
      ->capture_default_str();
  number("--points", study.estimator.points, "Points of each worker, for what is measured point by point");
  number("--probes", study.estimator.probes, "Random directions, for norms of Hessians");
  number("--draws", study.num_draws, "Draws of mini-batches, for their error");
  number("--sequences", study.num_sequences, "Sequences of drift after the last visit");
  add_common_options(*command, options->common,
                     "skein bounds scenarios/smoke.toml --set learning.local_period=2 --rounds 3");
  command->callback([options] { bounds(*options); });
}

}  // namespace skein::app
