#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "command.h"
#include "progress.h"
#include "skein/mission/scenario_bounds.h"
#include "text_table.h"

namespace skein::app {
namespace {

struct BoundsOptions {
  CommonOptions common;
  std::string model{};
  BoundStudySetup study{};
};

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
  ThreadPool pool(options.common.threads);
  const BoundStudy study = with_file_named(options.common, [&] {
    Progress progress(options.common, scenario.run.name);
    return study_bounds(scenario, options.study, pool,
                        [&](std::string_view stage, double done) { progress.show(stage, done); });
  });
  if (!options.common.out.empty()) {
    write_bound_study(scenario, study, output_directory(options.common, scenario));
  }
  if (options.common.json()) {
    fmt::print("{}", bound_study_json(scenario, study));
  } else if (options.common.talks()) {
    print(scenario, options, study);
  }
}

}  // namespace

void add_bounds_command(Command& program) {
  auto options = std::make_shared<BoundsOptions>();
  Command* command = program.add_subcommand(
      "bounds",
      "Train a little, measure the constants of the convergence bounds, and print every bound beside what it "
      "bounds. With --out: bounds.json, and measured.toml, the scenario with the measured constants");
  add_scenario(*command, options->common);
  command->add_option("--model", options->model, "A model to begin with (safetensors)")->type_name("FILE");
  const auto number = [&](const std::string& name, std::size_t& value, const std::string& help) {
    command->add_option(name, value, help)->type_name("N")->check(within(1, 100000))->capture_default_str();
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
