#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>

#include "command.h"
#include "progress.h"
#include "skein/base/file.h"
#include "skein/base/interval.h"
#include "skein/data/data_source.h"
#include "skein/learning/algorithm.h"
#include "text_table.h"
#include "training_run.h"

namespace skein::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

struct TrainOptions {
  CommonOptions common;
  std::size_t repeat = 1;
};

std::string dump(const ordered_json& json) { return json.dump(1) + "\n"; }

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

std::string title(const Scenario& scenario, const ordered_json& summary) {
  return fmt::format("{}: {} on {}, {} swarms with {} workers, {} parameters", scenario.run.name,
                     algorithm(scenario.learning.algorithm).title, scenario.data.source.name,
                     summary["swarms"].get<std::size_t>(), summary["workers"].get<std::size_t>(),
                     summary["parameters"].get<std::size_t>());
}

void print_run(const Scenario& scenario, const TrainingOutcome& outcome, const fs::path& directory) {
  const TrainingRecord& last = outcome.records.back();
  fmt::print("{}, seed {}\n\n{}\n", title(scenario, outcome.summary), scenario.run.seed,
             record_table(outcome.records));
  TextTable table({"<model", "accuracy (%)", "loss (nats)"});
  const auto add = [&](const std::string& name, const Evaluation& evaluation) {
    table.add(
        {name, fmt::format("{:.2f}", 100.0 * evaluation.accuracy), fmt::format("{:.4f}", evaluation.loss)});
  };
  const bool alone = algorithm(scenario.learning.algorithm).topology == Topology::swarms;
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
             last.elapsed.si(), outcome.summary["wall_s"].get<double>());
  fmt::print("Wrote metrics.csv, summary.json, scenario.toml and models to {}\n", directory.string());
}

TrainingOutcome train_one(const Scenario& scenario, const TrainOptions& options, const fs::path& directory,
                          ThreadPool& pool, const std::function<void(double)>& progress) {
  return with_file_named(options.common, [&] {
    auto data = std::make_shared<const DataSplit>(load_data(scenario.data.source, scenario.run.seed));
    return train_into(scenario, std::move(data), directory, pool, progress);
  });
}

void train_once(const TrainOptions& options, const Scenario& scenario) {
  ThreadPool pool(options.common.threads);
  const fs::path directory = output_directory(options.common, scenario);
  const TrainingOutcome outcome = [&] {
    Progress progress(options.common, scenario.run.name);
    return train_one(scenario, options, directory, pool,
                     [&](double fraction) { progress.show("training", fraction); });
  }();
  if (options.common.json()) {
    fmt::print("{}", dump(outcome.summary));
  } else if (options.common.talks()) {
    print_run(scenario, outcome, directory);
  }
}

// What is compared over repeats.
struct Measure {
  std::string_view name;    // a column of repeats.csv
  std::string_view title;   // for people
  std::string_view format;  // for people
  std::function<std::optional<double>(const TrainingRecord&)> value;
};

const std::vector<Measure>& measures() {
  static const std::vector<Measure> list{
      {"accuracy_percent", "accuracy (%)", "{:.2f}",
       [](const TrainingRecord& record) { return 100.0 * record.global.accuracy; }},
      {"loss_nats", "loss (nats)", "{:.4f}", [](const TrainingRecord& record) { return record.global.loss; }},
      {"personalised_accuracy_percent", "personalised accuracy (%)", "{:.2f}",
       [](const TrainingRecord& record) {
         const auto own = record.mean_personalised();
         return own ? std::optional(100.0 * own->accuracy) : std::nullopt;
       }},
      {"personalised_loss_nats", "personalised loss (nats)", "{:.4f}",
       [](const TrainingRecord& record) {
         const auto own = record.mean_personalised();
         return own ? std::optional(own->loss) : std::nullopt;
       }},
      {"squared_meta_gradient", "squared meta-gradient", "{:.4g}",
       [](const TrainingRecord& record) { return record.squared_meta_gradient; }},
      {"simulated_s", "simulated time (s)", "{:.1f}",
       [](const TrainingRecord& record) { return record.elapsed.si(); }},
      {"energy_J", "energy (J)", "{:.1f}",
       [](const TrainingRecord& record) { return record.total_energy().si(); }},
  };
  return list;
}

std::string repeats_csv(const std::vector<std::size_t>& seeds, const std::vector<TrainingRecord>& last) {
  std::string text = "seed";
  for (const Measure& measure : measures()) {
    text += fmt::format(",{}", measure.name);
  }
  text += '\n';
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    text += fmt::format("{}", seeds[i]);
    for (const Measure& measure : measures()) {
      const auto value = measure.value(last[i]);
      text += value ? fmt::format(",{}", *value) : ",";
    }
    text += '\n';
  }
  return text;
}

void train_repeatedly(const TrainOptions& options, const Scenario& scenario) {
  ThreadPool pool(options.common.threads);
  const fs::path directory = output_directory(options.common, scenario);
  std::vector<std::size_t> seeds;
  std::vector<TrainingRecord> last;
  std::exception_ptr divergence;  // the first; the other seeds go on
  ordered_json summary;
  for (const char* name : {"summary.json", "repeats.csv"}) {  // of runs before
    fs::remove(directory / name);
  }
  {
    Progress progress(options.common, scenario.run.name);
    for (std::size_t i = 0; i < options.repeat; ++i) {
      Scenario repeated = scenario;
      repeated.run.seed = scenario.run.seed + i;
      try {
        const TrainingOutcome outcome =
            train_one(repeated, options, directory / fmt::format("seed_{}", repeated.run.seed), pool,
                      [&](double fraction) {
                        progress.show("training", (static_cast<double>(i) + fraction) /
                                                      static_cast<double>(options.repeat));
                      });
        seeds.push_back(repeated.run.seed);
        last.push_back(outcome.records.back());
        summary = outcome.summary;
        write_file(directory / "repeats.csv", repeats_csv(seeds, last));
      } catch (const Divergence&) {
        divergence = divergence ? divergence : std::current_exception();
      }
    }
  }
  if (seeds.empty()) {
    std::rethrow_exception(divergence);
  }
  TextTable table({"<after the last iteration", "mean", "deviation", "95 % interval"});
  for (const std::string_view key : {"seed", "directory", "last", "wall_s"}) {
    summary.erase(std::string(key));
  }
  summary["directory"] = directory.string();
  summary["seeds"] = seeds;
  summary["diverged"] = options.repeat - seeds.size();
  for (const Measure& measure : measures()) {
    std::vector<double> values;
    for (const TrainingRecord& record : last) {
      if (const auto value = measure.value(record)) {
        values.push_back(*value);
      }
    }
    if (values.empty()) {
      continue;
    }
    const MeanInterval interval = mean_interval(values);
    summary["over_seeds"][std::string(measure.name)] = {
        {"mean", interval.mean}, {"deviation", interval.deviation}, {"half_width_95", interval.half_width}};
    const auto text = [&](double number) { return fmt::format(fmt::runtime(measure.format), number); };
    table.add({std::string(measure.title), text(interval.mean), text(interval.deviation),
               "± " + text(interval.half_width)});
  }
  write_file(directory / "scenario.toml", resolved_scenario(scenario));
  write_file(directory / "summary.json", dump(summary));
  if (options.common.json()) {
    fmt::print("{}", dump(summary));
  } else if (options.common.talks()) {
    fmt::print("{}, seeds {} to {}{}\n\n{}\nWrote repeats.csv, summary.json and a directory per seed to {}\n",
               title(scenario, summary), scenario.run.seed, scenario.run.seed + options.repeat - 1,
               divergence ? fmt::format(", without {} that diverged", options.repeat - seeds.size()) : "",
               table.text(), directory.string());
  }
  if (divergence) {
    std::rethrow_exception(divergence);
  }
}

}  // namespace

void add_train_command(CLI::App& program) {
  auto options = std::make_shared<TrainOptions>();
  CLI::App* command = program.add_subcommand(
      "train", "Train a scenario's network on its swarms; exit code 3 if training diverges");
  add_scenario(*command, options->common);
  command->add_option("--repeat", options->repeat, "Train with so many seeds in turn; report mean and spread")
      ->type_name("N")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  add_common_options(*command, options->common,
                     "skein train scenarios/smoke.toml --set learning.algorithm=h_fl --repeat 3");
  command->callback([options] {
    const Scenario scenario = load(options->common);
    if (options->repeat == 1) {
      train_once(*options, scenario);
    } else {
      train_repeatedly(*options, scenario);
    }
  });
}

}  // namespace skein::app
