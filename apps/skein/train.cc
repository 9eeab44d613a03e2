#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <memory>

#include "command.h"
#include "progress.h"
#include "skein/data/data_source.h"
#include "skein/mission/training_run.h"
#include "text_table.h"

namespace skein::app {
namespace {

namespace fs = std::filesystem;

struct TrainOptions {
  CommonOptions common;
  std::size_t repeat = 1;
};

std::string number_or_dash(const std::optional<double>& number, std::string_view format) {
  return number ? fmt::format(fmt::runtime(format), *number) : "-";
}

// At most so many rows, evenly spread, the first and the last among them.
std::string record_table(const std::vector<TrainingRecord>& records) {
  constexpr std::size_t most_rows = 21;
  TextTable table({"iteration", "time (s)", "energy (kJ)", "accuracy (%)", "loss (nats)", "personalised (%)",
                   "squared meta-gradient"});
  const std::size_t rows = std::min(most_rows, records.size());
  for (std::size_t row = 0; row < rows; ++row) {
    const TrainingRecord& record = records[rows == 1 ? 0 : row * (records.size() - 1) / (rows - 1)];
    const auto own = record.mean_personalised();
    table.add({fmt::format("{}", record.iteration), fmt::format("{:.1f}", record.elapsed.si()),
               fmt::format("{:.2f}", record.total_energy().si() / 1e3),
               fmt::format("{:.2f}", 100.0 * record.global.accuracy),
               fmt::format("{:.4f}", record.global.loss),
               own ? fmt::format("{:.2f}", 100.0 * own->accuracy) : "-",
               number_or_dash(record.squared_meta_gradient, "{:.3g}")});
  }
  return table.text();
}

std::string title(const Scenario& scenario, const TrainingOutcome& outcome) {
  return fmt::format("{}: {} on {}, {} swarms with {} workers, {} parameters", scenario.run.name,
                     scenario.learning.algorithm.title, scenario.data.source.name, outcome.num_swarms,
                     outcome.num_workers, outcome.num_parameters);
}

void print_run(const Scenario& scenario, const TrainingOutcome& outcome, const fs::path& directory) {
  const TrainingRecord& last = outcome.records.back();
  fmt::print("{}, seed {}\n\n{}\n", title(scenario, outcome), scenario.run.seed,
             record_table(outcome.records));
  TextTable table({"<model", "accuracy (%)", "loss (nats)"});
  const auto add = [&](const std::string& name, const Evaluation& evaluation) {
    table.add(
        {name, fmt::format("{:.2f}", 100.0 * evaluation.accuracy), fmt::format("{:.4f}", evaluation.loss)});
  };
  const bool alone = scenario.learning.algorithm.shared == Sharing::nothing;
  add(alone ? "swarms, all labels, mean" : "global, all labels", last.global);
  for (std::size_t u = 0; u < last.personalised.size(); ++u) {
    add(fmt::format("swarm {}, its own labels", u + 1), last.personalised[u]);
  }
  if (const auto mean = last.mean_personalised()) {
    add("swarms, their own labels, mean", *mean);
  }
  TextTable energy({"<energy", "J"});
  for (std::size_t i = 0; i < all_energy_kinds.size(); ++i) {
    if (last.energy[i] > Energy(0.0)) {
      std::string name(to_string(all_energy_kinds[i]));
      std::ranges::replace(name, '_', ' ');
      energy.add({name, fmt::format("{:.6g}", last.energy[i].si())});
    }
  }
  energy.add({"all", fmt::format("{:.6g}", last.total_energy().si())});
  fmt::print("{}\n{}\n{:.1f} s on the simulated clock, {:.1f} s to compute\n", table.text(), energy.text(),
             last.elapsed.si(), outcome.wall_s);
  fmt::print("Wrote metrics.csv, summary.json, scenario.toml and models to {}\n", directory.string());
}

void train_once(const TrainOptions& options, const Scenario& scenario, ThreadPool& pool,
                const fs::path& directory) {
  const TrainingOutcome outcome = with_file_named(options.common, [&] {
    Progress progress(options.common, scenario.run.name);
    auto data = std::make_shared<const DataSplit>(load_data(scenario.data.source, scenario.run.seed));
    return train_into(scenario, std::move(data), directory, pool,
                      [&](double fraction) { progress.show("training", fraction); });
  });
  if (options.common.json()) {
    fmt::print("{}", training_summary(scenario, outcome, directory));
  } else if (options.common.talks()) {
    print_run(scenario, outcome, directory);
  }
}

void print_repeats(const Scenario& scenario, const RepeatedTraining& training, const fs::path& directory) {
  TextTable table({"<after the last iteration", "mean", "deviation", "95 % interval"});
  for (const TrainingNumber& number : training_numbers()) {
    const auto text = [&](double value) { return fmt::format(fmt::runtime(number.format), value); };
    if (const auto interval = training.over_seeds(number)) {
      table.add({std::string(number.title), text(interval->mean), text(interval->deviation),
                 "± " + text(interval->half_width)});
    }
  }
  const std::size_t diverged = training.num_diverged();
  fmt::print("{}, seeds {} to {}{}\n\n{}\nWrote repeats.csv, summary.json and a directory per seed to {}\n",
             title(scenario, training.one), scenario.run.seed, scenario.run.seed + training.repeats - 1,
             diverged > 0 ? fmt::format(", without {} that diverged", diverged) : "", table.text(),
             directory.string());
}

void train_often(const TrainOptions& options, const Scenario& scenario, ThreadPool& pool,
                 const fs::path& directory) {
  const RepeatedTraining training = with_file_named(options.common, [&] {
    Progress progress(options.common, scenario.run.name);
    return train_repeatedly(scenario, options.repeat, directory, pool,
                            [&](double fraction) { progress.show("training", fraction); });
  });
  if (options.common.json()) {
    fmt::print("{}", training_summary(scenario, training, directory));
  } else if (options.common.talks()) {
    print_repeats(scenario, training, directory);
  }
  if (training.divergence) {
    std::rethrow_exception(training.divergence);
  }
}

}  // namespace

void add_train_command(Command& program) {
  auto options = std::make_shared<TrainOptions>();
  Command* command = program.add_subcommand(
      "train", "Train a scenario's network on its swarms; exit code 3 if training diverges");
  add_scenario(*command, options->common);
  command->add_option("--repeat", options->repeat, "Train with so many seeds in turn; report mean and spread")
      ->type_name("N")
      ->check(within(1, 10000))
      ->capture_default_str();
  add_common_options(*command, options->common,
                     "skein train scenarios/smoke.toml --set learning.algorithm=h_fl --repeat 3");
  command->callback([options] {
    const Scenario scenario = load(options->common);
    ThreadPool pool(options->common.threads);
    const fs::path directory = output_directory(options->common, scenario);
    if (options->repeat == 1) {
      train_once(*options, scenario, pool, directory);
    } else {
      train_often(*options, scenario, pool, directory);
    }
  });
}

}  // namespace skein::app
