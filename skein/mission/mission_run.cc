#include "skein/mission/mission_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "skein/base/digest.h"
#include "skein/base/file.h"
#include "skein/base/thread_pool.h"
#include "skein/data/data_source.h"
#include "skein/mission/agents.h"
#include "skein/mission/agreement.h"
#include "skein/mission/checkpoint.h"
#include "skein/mission/headline_numbers.h"
#include "skein/mission/manifest.h"
#include "skein/mission/prepare_mission.h"
#include "skein/mission/report.h"
#include "skein/mission/world_files.h"
#include "skein/nn/kernels.h"
#include "skein/nn/safetensors.h"
#include "skein/planning/planners.h"
#include "skein/simulation/mission_files.h"
#include "skein/simulation/mission_ranks.h"

namespace skein {

namespace fs = std::filesystem;

class MissionRun::Run {
 public:
  Run(Scenario scenario, fs::path directory, MissionRunOptions options)
      : options_(std::move(options)),
        scenario_(std::move(scenario)),
        resolved_(resolved_scenario(scenario_)),
        directory_(std::move(directory)),
        pool_(options_.num_threads),
        data_(shared_data()),
        prepared_(scenario_, data_, pool_, options_.crew,
                  [this](double fraction) { tell("solving configurations", fraction); }),
        ranks_(options_.crew, prepared_.field(), prepared_.fleet()),
        recorder_(prepared_.world()) {
    if (options_.crew.is_first()) {
      planner_ = make_planner();
      core_.emplace(prepared_.start(*planner_, ranks_.field(), ranks_.fleet()));
      if (scenario_.run.oracle) {
        oracle_.emplace(prepared_.oracle());
      }
    }
  }

  void run() {
    if (!options_.crew.is_first()) {
      ranks_.serve();
      return;
    }
    const Stopwatch watch;
    clear();
    fly(watch);
  }

  void resume() {
    if (!options_.crew.is_first()) {
      ranks_.serve();
      return;
    }
    const Stopwatch watch;
    read_checkpoint(directory_ / mission_file::checkpoint, resolved_, *core_, recorder_, oracle());
    remove_unfinished_files(directory_);
    fly(watch);
  }

  [[nodiscard]] const Scenario& scenario() const { return scenario_; }
  [[nodiscard]] const World& world() const { return prepared_.world(); }
  [[nodiscard]] const CoreNetwork& core() const { return *core_; }
  [[nodiscard]] Headline headline() const { return recorder_.headline(core_->state()); }

 private:
  [[nodiscard]] std::shared_ptr<const DataSplit> shared_data() const;
  std::unique_ptr<Planner> make_planner();
  void clear();
  void fly(const Stopwatch& watch);
  // Of each cluster now; empty without an oracle.
  std::vector<double> ask_oracle();
  Oracle* oracle() { return oracle_ ? &*oracle_ : nullptr; }
  void save_models() const;
  // Where the swarms are, their batteries and the accuracy, for whoever waits; empty if nobody does.
  [[nodiscard]] std::string situation() const;
  // The share of the mission that is over after so many sequences more, at least.
  [[nodiscard]] double done(double sequences) const;
  void tell(std::string_view stage, double fraction, std::string_view detail = "") const {
    if (options_.progress) {
      options_.progress(stage, fraction, detail);
    }
  }

  MissionRunOptions options_;
  Scenario scenario_;
  std::string resolved_;
  fs::path directory_;
  ThreadPool pool_;
  std::shared_ptr<const DataSplit> data_;
  PreparedMission prepared_;
  MissionRanks ranks_;
  std::unique_ptr<Planner> planner_;
  std::optional<CoreNetwork> core_;
  std::optional<Oracle> oracle_;
  MissionRecorder recorder_;
};

std::shared_ptr<const DataSplit> MissionRun::Run::shared_data() const {
  auto data = std::make_shared<const DataSplit>(load_data(scenario_.data.source, scenario_.run.seed));
  if (options_.crew.size() > 1) {
    // Other kernels round otherwise, and the files would tell who trained where.
    refuse_differences(options_.crew, {{"scenario", sha256(resolved_)},
                                       {"data", digest_of(*data)},
                                       {"processor", nn::kernels<float>().name}});
  }
  return data;
}

std::unique_ptr<Planner> MissionRun::Run::make_planner() {
  const std::shared_ptr<const Environment>& environment = prepared_.environment();
  if (options_.planner) {
    return options_.planner(environment);
  }
  const std::string& name = scenario_.planning.planner;
  const Agents agents =
      agents_for(name,
                 {.environment = environment,
                  .planning = scenario_.planning,
                  .seed = scenario_.run.seed,
                  .directory = options_.agents},
                 pool_, alone(), [this](double fraction) { tell("training the planner", fraction); });
  return planner_factory(name, environment, scenario_.planning, agents)();
}

// Of a mission before; the checkpoint and the summary are of that one.
void MissionRun::Run::clear() {
  write_world(world(), first_links(world(), pool_), scenario_, directory_);
  remove_unfinished_files(directory_);
  for (const char* name : {mission_file::checkpoint, mission_file::summary, mission_file::report}) {
    fs::remove(directory_ / name);
  }
}

void MissionRun::Run::fly(const Stopwatch& watch) {
  while (!core_->done()) {
    const std::vector<double> possible = ask_oracle();
    const double before = done(0.0);
    const double after = done(1.0);
    SequenceRecord record = core_->step([&](double fraction) {
      tell("training sequences", before + (after - before) * fraction, situation());
    });
    for (std::size_t c = 0; c < possible.size(); ++c) {
      record.clusters[c].oracle_accuracy = possible[c];
    }
    recorder_.record(record, core_->state());
    for (const auto& [name, content] : recorder_.files()) {
      write_file(directory_ / name, content);
    }
    write_checkpoint(directory_ / mission_file::checkpoint, resolved_, *core_, recorder_, oracle());
  }
  save_models();
  ranks_.finish();
  write_file(directory_ / mission_file::manifest,
             manifest_of(scenario_, *data_, pool_.num_threads(), watch, ranks_.traffic()).dump(1) + "\n");
  write_file(directory_ / mission_file::summary, summary_of(scenario_, headline()).dump(1) + "\n");
  write_report(directory_);
}

std::vector<double> MissionRun::Run::ask_oracle() {
  if (!oracle_) {
    return {};
  }
  return oracle_->accuracies(prepared_.field(),
                             [&](double fraction) { tell("the oracle learns", fraction); });
}

void MissionRun::Run::save_models() const {
  const auto save = [&](const std::string& name, const Model& model) {
    nn::save_network(directory_ / "models" / (name + ".safetensors"),
                     {.architecture = prepared_.network().architecture(), .parameters = model, .notes = {}});
  };
  save("global", core_->global_model());
  for (std::size_t c = 0; c < world().clusters.size(); ++c) {
    save(fmt::format("cluster-{}", c + 1), core_->cluster_model(c));
  }
}

double MissionRun::Run::done(double sequences) const {
  const RunOptions& run = scenario_.run;
  const State& state = core_->state();
  double done = 0.0;
  if (run.sequences > 0) {
    done = (static_cast<double>(state.sequence) + sequences) / static_cast<double>(run.sequences);
  }
  if (run.hours > 0.0) {
    done = std::max(done, state.clock.now().si() / 3600.0 / run.hours);
  }
  return std::min(done, 1.0);
}

std::string MissionRun::Run::situation() const {
  if (!options_.progress) {
    return "";
  }
  const State& state = core_->state();
  const RunOptions& run = scenario_.run;
  std::string text = fmt::format("{}", state.sequence + 1);
  if (run.sequences > 0) {
    text += fmt::format(" of {}", run.sequences);
  }
  if (run.hours > 0.0) {
    text += fmt::format(" | {:.2f} of {:g} h", state.clock.now().si() / 3600.0, run.hours);
  }
  if (state.sequence > 0) {
    text += fmt::format(" | {:.1f} % right", 100.0 * recorder_.headline(state).last_accuracy);
  }
  text += " | battery";
  for (std::size_t s = 0; s < world().swarms.size(); ++s) {
    double least = 1.0;
    for (std::size_t id = world().swarms[s].leader; id < world().swarms[s].coordinators.end(); ++id) {
      least = std::min(least, state.ledger.level(State::account_of_uav(id)) / world().uavs[id].battery);
    }
    text += fmt::format(" {} {:.0f} %", world().site_name(state.swarm_sites[s]), 100.0 * least);
  }
  return text;
}

MissionRun::MissionRun(Scenario scenario, fs::path directory, MissionRunOptions options)
    : run_(std::make_unique<Run>(std::move(scenario), std::move(directory), std::move(options))) {}

MissionRun::~MissionRun() = default;

void MissionRun::run() { run_->run(); }

void MissionRun::resume() { run_->resume(); }

const Scenario& MissionRun::scenario() const { return run_->scenario(); }

const World& MissionRun::world() const { return run_->world(); }

Headline MissionRun::headline() const { return run_->headline(); }

const Model& MissionRun::global_model() const { return run_->core().global_model(); }

Model MissionRun::cluster_model(std::size_t cluster) const { return run_->core().cluster_model(cluster); }

}  // namespace skein
