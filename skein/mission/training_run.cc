#include "skein/mission/training_run.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "skein/base/csv.h"
#include "skein/base/file.h"
#include "skein/base/stopwatch.h"
#include "skein/data/data_source.h"
#include "skein/learning/training.h"
#include "skein/mission/prepare_training.h"
#include "skein/nn/safetensors.h"
#include "skein/version.h"

namespace skein {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

std::string dump(const ordered_json& json) { return json.dump(1) + "\n"; }

// Files of a run, rewritten as it goes on: a run that is killed leaves what it has recorded.
class TrainingFiles {
 public:
  TrainingFiles(fs::path directory, const Scenario& scenario, std::size_t num_swarms)
      : directory_(std::move(directory)), num_swarms_(num_swarms) {
    // Of a run before; the summary, which marks a run as finished, is the first to go.
    for (const char* name : {"summary.json", "metrics.csv", "models"}) {
      fs::remove_all(directory_ / name);
    }
    write_file(directory_ / "scenario.toml", resolved_scenario(scenario));
  }

  void add(const TrainingRecord& record) {
    constexpr double least_interval_s = 0.5;  // of writing: a run may have thousands of records in a second
    records_.push_back(record);
    if (records_.size() == 1 || since_written_.seconds() > least_interval_s) {
      write_metrics();
    }
  }
  void write_metrics() {
    write_file(directory_ / "metrics.csv", metrics_csv(records_, num_swarms_));
    since_written_ = {};
  }

  [[nodiscard]] const fs::path& directory() const { return directory_; }
  [[nodiscard]] const std::vector<TrainingRecord>& records() const { return records_; }

 private:
  fs::path directory_;
  std::size_t num_swarms_;
  std::vector<TrainingRecord> records_;
  Stopwatch since_written_;
};

ordered_json evaluation_json(const Evaluation& evaluation) {
  return {{"accuracy_percent", 100.0 * evaluation.accuracy}, {"loss_nats", evaluation.loss}};
}

ordered_json record_json(const TrainingRecord& record) {
  ordered_json json{{"iteration", record.iteration},
                    {"global", evaluation_json(record.global)},
                    {"personalised", nullptr},
                    {"swarms", ordered_json::array()},
                    {"squared_meta_gradient", nullptr},
                    {"simulated_s", record.elapsed.si()},
                    {"energy_J", record.total_energy().si()},
                    {"energy_by_kind_J", ordered_json::object()}};
  if (const auto mean = record.mean_personalised()) {
    json["personalised"] = evaluation_json(*mean);
  }
  for (const Evaluation& evaluation : record.personalised) {
    json["swarms"].push_back(evaluation_json(evaluation));
  }
  if (record.squared_meta_gradient) {
    json["squared_meta_gradient"] = *record.squared_meta_gradient;
  }
  for (std::size_t i = 0; i < all_energy_kinds.size(); ++i) {
    json["energy_by_kind_J"][std::string(to_string(all_energy_kinds[i]))] = record.energy[i].si();
  }
  return json;
}

// What does not depend on the seed.
ordered_json facts_json(const Scenario& scenario, const TrainingOutcome& outcome) {
  return {{"algorithm", scenario.learning.algorithm.name},
          {"data", scenario.data.source.name},
          {"swarms", outcome.num_swarms},
          {"workers", outcome.num_workers},
          {"parameters", outcome.num_parameters},
          {"iterations", scenario.learning.iterations},
          {"threads", outcome.num_threads}};
}

ordered_json summary_json(const Scenario& scenario, const TrainingOutcome& outcome, const fs::path& directory,
                          const Divergence* divergence) {
  ordered_json summary{{"name", scenario.run.name},
                       {"version", version},
                       {"seed", scenario.run.seed},
                       {"directory", directory.string()}};
  summary.update(facts_json(scenario, outcome));
  if (divergence != nullptr) {
    const Divergence::Place& place = divergence->place();
    summary["diverged"] = {
        {"iteration", place.iteration + 1},
        {"swarm", place.swarm + 1},
        {"worker", place.worker + 1},
        {"loss_nats", std::isfinite(place.loss) ? ordered_json(place.loss) : ordered_json()},
        {"likely_cause", place.likely_cause}};
  }
  if (!outcome.records.empty()) {
    summary["last"] = record_json(outcome.records.back());
  }
  summary["wall_s"] = outcome.wall_s;
  return summary;
}

void save_models(const TrainingResult& result, const nn::Architecture& architecture,
                 const fs::path& directory) {
  const auto save = [&](const std::string& name, const Model& model) {
    nn::save_network(directory / "models" / (name + ".safetensors"),
                     {.architecture = architecture, .parameters = model, .notes = {}});
  };
  if (!result.global.empty()) {
    save("global", result.global);
  }
  for (std::size_t u = 0; u < result.personalised.size(); ++u) {
    save(fmt::format("swarm_{}", u + 1), result.personalised[u]);
  }
}

std::string repeats_csv(const std::vector<std::size_t>& seeds, const std::vector<TrainingRecord>& last) {
  using Row = const TrainingRecord&;
  Columns<TrainingRecord> columns{
      {"seed", [&](Row r) { return seeds[static_cast<std::size_t>(&r - last.data())]; }}};
  for (const TrainingNumber& number : training_numbers()) {
    columns.add(std::string(number.name), [&number](Row r) { return number.value(r); });
  }
  return columns.table(last);
}

}  // namespace

TrainingOutcome train_into(const Scenario& scenario, std::shared_ptr<const DataSplit> data,
                           const fs::path& directory, ThreadPool& pool, FractionListener progress) {
  const Stopwatch watch;
  PreparedTraining prepared(scenario, std::move(data), pool);
  TrainingOutcome outcome{.num_swarms = prepared.partition().groups.size(),
                          .num_parameters = prepared.network().num_parameters(),
                          .num_threads = pool.num_threads()};
  for (const GroupShare& swarm : prepared.partition().groups) {
    outcome.num_workers += swarm.members.size();
  }
  TrainingFiles files(directory, scenario, outcome.num_swarms);
  const auto finish = [&](const Divergence* divergence) {
    files.write_metrics();
    outcome.records = files.records();
    outcome.wall_s = watch.seconds();
    write_file(directory / "summary.json", dump(summary_json(scenario, outcome, directory, divergence)));
  };
  try {
    const TrainingResult result = run_training(
        prepared.setup(), pool,
        {.record = [&](const TrainingRecord& record) { files.add(record); }, .progress = progress});
    save_models(result, prepared.network().architecture(), directory);
  } catch (const Divergence& divergence) {
    finish(&divergence);
    throw;
  }
  finish(nullptr);
  return outcome;
}

std::string training_summary(const Scenario& scenario, const TrainingOutcome& outcome,
                             const fs::path& directory) {
  return dump(summary_json(scenario, outcome, directory, nullptr));
}

const std::vector<TrainingNumber>& training_numbers() {
  static const std::vector<TrainingNumber> list{
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

std::optional<MeanInterval> RepeatedTraining::over_seeds(const TrainingNumber& number) const {
  std::vector<double> values;
  for (const TrainingRecord& record : last) {
    if (const auto value = number.value(record)) {
      values.push_back(*value);
    }
  }
  return values.empty() ? std::nullopt : std::optional(mean_interval(values));
}

RepeatedTraining train_repeatedly(const Scenario& scenario, std::size_t repeats, const fs::path& directory,
                                  ThreadPool& pool, FractionListener progress) {
  RepeatedTraining result{.repeats = repeats};
  for (const char* name : {"summary.json", "repeats.csv"}) {  // of runs before
    fs::remove(directory / name);
  }
  for (std::size_t i = 0; i < repeats; ++i) {
    Scenario repeated = scenario;
    repeated.run.seed = scenario.run.seed + i;
    try {
      auto data = std::make_shared<const DataSplit>(load_data(repeated.data.source, repeated.run.seed));
      result.one =
          train_into(repeated, std::move(data), directory / fmt::format("seed_{}", repeated.run.seed), pool,
                     [&](double fraction) {
                       progress((static_cast<double>(i) + fraction) / static_cast<double>(repeats));
                     });
      result.seeds.push_back(repeated.run.seed);
      result.last.push_back(result.one.records.back());
      write_file(directory / "repeats.csv", repeats_csv(result.seeds, result.last));
    } catch (const Divergence&) {
      // The other seeds go on.
      result.divergence = result.divergence ? result.divergence : std::current_exception();
    }
  }
  if (result.seeds.empty()) {
    std::rethrow_exception(result.divergence);
  }
  write_file(directory / "scenario.toml", resolved_scenario(scenario));
  write_file(directory / "summary.json", training_summary(scenario, result, directory));
  return result;
}

std::string training_summary(const Scenario& scenario, const RepeatedTraining& training,
                             const fs::path& directory) {
  ordered_json summary{{"name", scenario.run.name}, {"version", version}};
  summary.update(facts_json(scenario, training.one));
  summary["directory"] = directory.string();
  summary["seeds"] = training.seeds;
  summary["diverged"] = training.num_diverged();
  for (const TrainingNumber& number : training_numbers()) {
    if (const auto interval = training.over_seeds(number)) {
      summary["over_seeds"][std::string(number.name)] = {{"mean", interval->mean},
                                                         {"deviation", interval->deviation},
                                                         {"half_width_95", interval->half_width}};
    }
  }
  return dump(summary);
}

}  // namespace skein
