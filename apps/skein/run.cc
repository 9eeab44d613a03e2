#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "command.h"
#include "plan.h"
#include "progress.h"
#include "skein/base/bytes.h"
#include "skein/base/file.h"
#include "skein/learning/data_source.h"
#include "skein/learning/digest.h"
#include "skein/nn/safetensors.h"
#include "skein/scenario/build.h"
#include "skein/scenario/build_planner.h"
#include "skein/scenario/prepare_mission.h"
#include "skein/simulation/recorder.h"
#include "text_table.h"
#include "world_view.h"

namespace skein::app {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::string_view checkpoint_name = "Skein mission checkpoint 1\n";

// A checkpoint belongs to one scenario, and says if it is damaged.
void write_checkpoint(const fs::path& file, const std::string& scenario, const CoreNetwork& core,
                      const MissionRecorder& recorder) {
  ByteWriter body;
  body.put_text(core.save());
  body.put_text(recorder.save());
  const std::string bytes = body.take();
  write_file(file, std::string(checkpoint_name) + sha256(scenario) + "\n" + sha256(bytes) + "\n" + bytes);
}

void read_checkpoint(const fs::path& file, const std::string& scenario, CoreNetwork& core,
                     MissionRecorder& recorder) {
  const std::string text = read_file(file, std::size_t{1} << 36U);
  const std::size_t digest = sha256("").size();
  const std::size_t header = checkpoint_name.size() + 2 * (digest + 1);
  const auto refuse = [&](const char* why) { throw InputError({file.string(), "", "", why}); };
  if (text.size() < header || !text.starts_with(checkpoint_name)) {
    refuse("is no checkpoint of a mission");
  }
  if (text.substr(checkpoint_name.size(), digest) != sha256(scenario)) {
    refuse("is of another scenario than scenario.toml beside it");
  }
  const std::string body = text.substr(header);
  if (text.substr(checkpoint_name.size() + digest + 1, digest) != sha256(body)) {
    refuse("is damaged");
  }
  ByteCursor cursor(body);
  const std::string core_bytes = cursor.get_text();
  const std::string recorder_bytes = cursor.get_text();
  core.restore(core_bytes);
  recorder.restore(recorder_bytes);
}

std::string percent(double share) { return fmt::format("{:.1f}", 100.0 * share); }

Json summary_of(const Scenario& scenario, const Headline& h) {
  Json energy;
  for (const auto& [kind, joules] : h.energy_by_kind_j) {
    energy[kind + "_J"] = joules;
  }
  return {{"name", scenario.run.name},
          {"seed", scenario.run.seed},
          {"sequences", h.sequences},
          {"duration_s", h.duration_s},
          {"mean_accuracy_percent", 100.0 * h.mean_accuracy},
          {"worst_cluster_accuracy_percent", 100.0 * h.worst_accuracy},
          {"last_accuracy_percent", 100.0 * h.last_accuracy},
          {"mean_age_sequences", h.mean_age},
          {"mean_reward", h.mean_reward},
          {"visits", h.visits},
          {"recharges", h.recharges},
          {"distance_m", h.distance_m},
          {"energy_J", h.energy_j},
          {"energy_by_kind", energy},
          {"recharged_J", h.recharged_j},
          {"data_Mbit", h.data_bits / 1e6},
          {"model_Mbit", h.model_bits / 1e6},
          {"swarms_below_threshold", h.below_threshold},
          {"shortfall_J", h.shortfall_j}};
}

void print_headline(const Headline& h) {
  TextTable table({"<headline", "value", "<unit"});
  table.add({"accuracy of clusters' models, mean over time", percent(h.mean_accuracy), "%"});
  table.add({"of the worst cluster", percent(h.worst_accuracy), "%"});
  table.add({"at the end", percent(h.last_accuracy), "%"});
  table.add({"age of models, mean", fmt::format("{:.2f}", h.mean_age), "sequences"});
  table.add({"energy", fmt::format("{:.1f}", h.energy_j / 1e3), "kJ"});
  for (const auto& [kind, joules] : h.energy_by_kind_j) {
    table.add({"  " + kind,
               joules < 100.0 ? fmt::format("{:.4f}", joules / 1e3) : fmt::format("{:.1f}", joules / 1e3),
               "kJ"});
  }
  table.add({"visits to clusters", fmt::format("{}", h.visits), ""});
  table.add({"visits to stations", fmt::format("{}", h.recharges), ""});
  table.add({"flown by swarms", fmt::format("{:.1f}", h.distance_m / 1e3), "km"});
  table.add({"data sent", fmt::format("{:.1f}", h.data_bits / 8e6), "MB"});
  table.add({"models sent", fmt::format("{:.1f}", h.model_bits / 8e6), "MB"});
  table.add({"simulated time", fmt::format("{:.0f}", h.duration_s), "s"});
  table.add({"swarms below their threshold", fmt::format("{}", h.below_threshold), ""});
  fmt::print("{}", table.text());
}

class Mission {
 public:
  Mission(const CommonOptions& options, Scenario scenario, fs::path directory)
      : options_(options),
        scenario_(std::move(scenario)),
        resolved_(resolved_scenario(scenario_)),
        directory_(std::move(directory)),
        pool_(options.threads),
        progress_(options, scenario_.run.name),
        prepared_(scenario_,
                  std::make_shared<const DataSplit>(load_data(scenario_.data.source, scenario_.run.seed)),
                  pool_, [this](double fraction) { progress_.show("solving configurations", fraction); }),
        planner_(make_planner()),
        core_(prepared_.start(*planner_)),
        recorder_(prepared_.world()) {}

  void run(bool resume) {
    const auto start = std::chrono::steady_clock::now();
    fs::create_directories(directory_);
    const fs::path checkpoint = directory_ / "checkpoint.bin";
    if (resume) {
      read_checkpoint(checkpoint, resolved_, core_, recorder_);
    } else {
      fs::remove(checkpoint);
      fs::remove(directory_ / "summary.json");
      write_file(directory_ / "scenario.toml", resolved_);
    }
    while (!core_.done()) {
      const std::size_t sequence = core_.state().sequence;
      const SequenceRecord record = core_.step([&](double fraction) {
        progress_.show("training sequences", (static_cast<double>(sequence) + fraction) /
                                                 static_cast<double>(scenario_.run.sequences));
      });
      recorder_.record(record, core_.state());
      for (const auto& [name, content] : recorder_.files()) {
        write_file(directory_ / name, content);
      }
      write_checkpoint(checkpoint, resolved_, core_, recorder_);
    }
    const fs::path models = directory_ / "models";
    fs::create_directories(models);
    save_model(models / "global.safetensors", core_.global_model());
    for (std::size_t c = 0; c < prepared_.world().clusters.size(); ++c) {
      save_model(models / fmt::format("cluster-{}.safetensors", c + 1), core_.cluster_model(c));
    }
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    write_file(directory_ / "manifest.json", Json{{"version", SKEIN_VERSION},
                                                  {"name", scenario_.run.name},
                                                  {"seed", scenario_.run.seed},
                                                  {"scenario_sha256", sha256(resolved_)},
                                                  {"planner", scenario_.planning.planner},
                                                  {"threads", pool_.num_threads()},
                                                  {"seconds", seconds}}
                                                     .dump(1) +
                                                 "\n");
    write_file(directory_ / "summary.json",
               summary_of(scenario_, recorder_.headline(core_.state())).dump(1) + "\n");
  }

  [[nodiscard]] Headline headline() const { return recorder_.headline(core_.state()); }
  [[nodiscard]] const Scenario& scenario() const { return scenario_; }

 private:
  void save_model(const fs::path& file, const Model& model) const {
    nn::save_network(file,
                     {.architecture = prepared_.network().architecture(), .parameters = model, .notes = {}});
  }

  std::unique_ptr<Planner> make_planner() {
    const std::string& name = scenario_.planning.planner;
    const PlanOptions options{.common = options_};
    const PlanSetup setup{.scenario = scenario_, .environment = prepared_.environment()};
    const Agents agents =
        agents_for(name, options, setup, prepared_.environment(), scenario_.run.seed, fs::path("runs"), pool_,
                   [this](double fraction) { progress_.show("training the planner", fraction); });
    return planner_factory(name, prepared_.environment(), scenario_.planning, agents)();
  }

  const CommonOptions& options_;
  Scenario scenario_;
  std::string resolved_;
  fs::path directory_;
  ThreadPool pool_;
  Progress progress_;
  PreparedMission prepared_;
  std::unique_ptr<Planner> planner_;
  CoreNetwork core_;
  MissionRecorder recorder_;
};

void report(const CommonOptions& options, const Mission& mission, const fs::path& directory) {
  if (options.json()) {
    Json summary = summary_of(mission.scenario(), mission.headline());
    summary["directory"] = directory.string();
    fmt::print("{}\n", summary.dump(1));
  } else if (options.talks()) {
    fmt::print("{}, seed {}: {} training sequences, planner {}\n\n", mission.scenario().run.name,
               mission.scenario().run.seed, mission.headline().sequences,
               mission.scenario().planning.planner);
    print_headline(mission.headline());
    fmt::print(
        "\nWrote scenario.toml, sequences.csv, clusters.csv, swarms.csv, energy.csv, events.jsonl,\n"
        "trajectory.geojson, summary.json, manifest.json, models and a checkpoint to {}\n",
        directory.string());
  }
}

void run(const CommonOptions& options) {
  const Scenario scenario = load(options);
  const fs::path directory = output_directory(options, scenario);
  with_file_named(options, [&] {
    Mission mission(options, scenario, directory);  // refuses what is wrong before anything is written
    write_world(sample(scenario, options), scenario, directory);
    mission.run(false);
    report(options, mission, directory);
  });
}

struct ResumeOptions {
  CommonOptions common;
  std::string directory;
};

void resume(const ResumeOptions& options) {
  const fs::path directory = options.directory;
  if (!fs::exists(directory / "checkpoint.bin")) {
    throw InputError({directory.string(), "", "",
                      "has no checkpoint yet: start again with `skein run " +
                          (directory / "scenario.toml").string() + "`"});
  }
  CommonOptions common = options.common;
  common.scenario = (directory / "scenario.toml").string();
  with_file_named(common, [&] {
    Mission mission(common, load(common), directory);
    mission.run(true);
    report(common, mission, directory);
  });
}

}  // namespace

void add_run_command(CLI::App& program) {
  auto options = std::make_shared<CommonOptions>();
  CLI::App* command = program.add_subcommand("run", "Run a mission: plan, fly, offload, train, recharge");
  add_scenario(*command, *options);
  add_common_options(*command, *options, "skein run scenarios/smoke.toml --set run.sequences=5");
  command->callback([options] { run(*options); });
}

void add_resume_command(CLI::App& program) {
  auto options = std::make_shared<ResumeOptions>();
  CLI::App* command =
      program.add_subcommand("resume", "Continue a mission from its last checkpoint, to the same end");
  command->add_option("run", options->directory, "The mission's directory")->required()->type_name("RUN");
  add_common_options(*command, options->common, "skein resume runs/mission");
  command->callback([options] { resume(*options); });
}

}  // namespace skein::app
