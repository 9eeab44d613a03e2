#include "training_run.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <utility>

#include "skein/base/file.h"
#include "skein/learning/algorithm.h"
#include "skein/learning/training.h"
#include "skein/mission/prepare_training.h"
#include "skein/nn/safetensors.h"
#include "skein/version.h"

namespace skein::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;
using WallClock = std::chrono::steady_clock;

double seconds_since(WallClock::time_point start) {
  return std::chrono::duration<double>(WallClock::now() - start).count();
}

std::string dump(const ordered_json& json) { return json.dump(1) + "\n"; }

// Files of a run, rewritten as it goes on: a run that is killed leaves what it has recorded.
class RunFiles {
 public:
  RunFiles(fs::path directory, const Scenario& scenario, std::size_t num_swarms)
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
    if (records_.size() == 1 || seconds_since(last_written_) > least_interval_s) {
      write_metrics();
    }
  }
  void write_metrics() {
    write_file(directory_ / "metrics.csv", metrics_csv(records_, num_swarms_));
    last_written_ = WallClock::now();
  }

  [[nodiscard]] const fs::path& directory() const { return directory_; }
  [[nodiscard]] const std::vector<TrainingRecord>& records() const { return records_; }

 private:
  fs::path directory_;
  std::size_t num_swarms_;
  std::vector<TrainingRecord> records_;
  WallClock::time_point last_written_;
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

}  // namespace

TrainingOutcome train_into(const Scenario& scenario, std::shared_ptr<const DataSplit> data,
                           const fs::path& directory, ThreadPool& pool,
                           const std::function<void(double)>& progress) {
  const WallClock::time_point start = WallClock::now();
  PreparedTraining prepared(scenario, std::move(data), pool);
  const std::size_t num_swarms = prepared.partition().groups.size();
  RunFiles files(directory, scenario, num_swarms);
  std::size_t num_workers = 0;
  for (const GroupShare& swarm : prepared.partition().groups) {
    num_workers += swarm.members.size();
  }
  ordered_json summary{{"name", scenario.run.name},
                       {"version", version},
                       {"seed", scenario.run.seed},
                       {"directory", directory.string()},
                       {"algorithm", algorithm(scenario.learning.algorithm).name},
                       {"data", scenario.data.source.name},
                       {"swarms", num_swarms},
                       {"workers", num_workers},
                       {"parameters", prepared.network().num_parameters()},
                       {"iterations", scenario.learning.iterations},
                       {"threads", pool.num_threads()}};
  const auto finish = [&] {
    files.write_metrics();
    if (!files.records().empty()) {
      summary["last"] = record_json(files.records().back());
    }
    summary["wall_s"] = seconds_since(start);
    write_file(directory / "summary.json", dump(summary));
  };
  try {
    const TrainingResult result = run_training(
        prepared.setup(), pool,
        {.record = [&](const TrainingRecord& record) { files.add(record); }, .progress = progress});
    save_models(result, prepared.network().architecture(), directory);
  } catch (const Divergence& divergence) {
    const Divergence::Place& place = divergence.place();
    summary["diverged"] = {
        {"iteration", place.iteration + 1},
        {"swarm", place.swarm + 1},
        {"worker", place.worker + 1},
        {"loss_nats", std::isfinite(place.loss) ? ordered_json(place.loss) : ordered_json()},
        {"likely_cause", place.likely_cause}};
    finish();
    throw;
  }
  finish();
  return {.summary = std::move(summary), .records = files.records()};
}

}  // namespace skein::app
