#include "mission_run.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <fstream>
#include <thread>

#include "report.h"
#include "skein/base/bytes.h"
#include "skein/base/digest.h"
#include "skein/base/expect.h"
#include "skein/base/file.h"
#include "skein/data/data_source.h"
#include "skein/mission/agents.h"
#include "skein/mission/agreement.h"
#include "skein/nn/kernels.h"
#include "skein/nn/safetensors.h"
#include "skein/planning/planners.h"
#include "skein/version.h"

namespace skein::app {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::string_view checkpoint_name = "Skein mission checkpoint 5\n";

// A checkpoint belongs to one scenario, and says if it is damaged: a digest of its body is at the end. It is
// written as it is made, for the models of all clusters are the most that a mission has.
void write_checkpoint(const fs::path& file, const std::string& scenario, const CoreNetwork& core,
                      const MissionRecorder& recorder) {
  write_file(file, [&](std::ostream& stream) {
    stream << checkpoint_name << sha256(scenario) << "\n";
    Sha256 digest;
    ByteWriter body([&](std::string_view bytes) {
      digest.add(bytes);
      stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    });
    core.save(body);
    body.put_text(recorder.save());
    stream << digest.finish();
  });
}

void read_checkpoint(const fs::path& file, const std::string& scenario, CoreNetwork& core,
                     MissionRecorder& recorder) {
  const std::string text = read_file(file, std::size_t{1} << 36U);
  const std::size_t digest = sha256("").size();
  const std::size_t header = checkpoint_name.size() + digest + 1;
  const auto refuse = [&](const char* why) { throw InputError({file.string(), "", "", why}); };
  if (text.size() < header + digest || !text.starts_with(checkpoint_name)) {
    refuse("is no checkpoint of a mission");
  }
  if (text.substr(checkpoint_name.size(), digest) != sha256(scenario)) {
    refuse("is of another scenario than scenario.toml beside it");
  }
  const std::string_view body = std::string_view(text).substr(header, text.size() - header - digest);
  if (text.substr(text.size() - digest) != sha256(body)) {
    refuse("is damaged");
  }
  ByteCursor cursor(body);
  core.restore(cursor);
  recorder.restore(cursor.get_text());
  expect(cursor.at_end(), "a checkpoint is of the same mission");
}

Json machine() {
  std::string processor;
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; processor.empty() && std::getline(info, line);) {
    if (line.starts_with("model name") && line.find(": ") != std::string::npos) {
      processor = line.substr(line.find(": ") + 2);
    }
  }
  utsname system{};
  ::uname(&system);
  return {{"processor", processor},
          {"cores", std::thread::hardware_concurrency()},
          {"kernels", nn::kernels<float>().name},
          {"system", fmt::format("{} {} {}", system.sysname, system.release, system.machine)}};
}

}  // namespace

nlohmann::ordered_json summary_of(const Scenario& scenario, const Headline& h) {
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
          {"visits_without_training", h.idle_visits},
          {"recharges", h.recharges},
          {"distance_m", h.distance_m},
          {"energy_J", h.energy_j},
          {"energy_by_kind", energy},
          {"recharged_J", h.recharged_j},
          {"data_Mbit", h.data_bits / 1e6},
          {"model_Mbit", h.model_bits / 1e6},
          {"swarms_below_threshold", h.below_threshold},
          {"shortfall_J", h.shortfall_j},
          {"messages", h.messages},
          {"refused_messages", h.refused_messages},
          {"faults", h.faults},
          {"rejected_updates", h.rejected_updates},
          {"updates_without_access_point", h.unreachable_updates}};
}

MissionRun::MissionRun(const CommonOptions& options, Scenario scenario, fs::path directory, Crew& crew)
    : options_(options),
      scenario_(std::move(scenario)),
      resolved_(resolved_scenario(scenario_)),
      directory_(std::move(directory)),
      crew_(crew),
      pool_(options.threads),
      progress_(options, scenario_.run.name),
      data_(shared_data()),
      prepared_(scenario_, data_, pool_, crew_,
                [this](double fraction) { progress_.show("solving configurations", fraction); }),
      ranks_(crew_, prepared_.field(), prepared_.fleet()),
      recorder_(prepared_.world()) {
  if (crew_.is_first()) {
    planner_ = make_planner();
    core_.emplace(prepared_.start(*planner_, ranks_.field(), ranks_.fleet()));
  }
}

std::shared_ptr<const DataSplit> MissionRun::shared_data() const {
  auto data = std::make_shared<const DataSplit>(load_data(scenario_.data.source, scenario_.run.seed));
  if (crew_.size() > 1) {
    // Other kernels round otherwise, and the files would tell who trained where.
    refuse_differences(crew_, {{"scenario", sha256(resolved_)},
                               {"data", digest_of(*data)},
                               {"processor", nn::kernels<float>().name}});
  }
  return data;
}

void MissionRun::run(bool resume) {
  if (crew_.is_first()) {
    fly(resume);
  } else {
    ranks_.serve();
  }
}

void MissionRun::fly(bool resume) {
  const auto start = std::chrono::steady_clock::now();
  const std::clock_t processor_start = std::clock();
  fs::create_directories(directory_);
  remove_unfinished_files(directory_);
  const fs::path checkpoint = directory_ / "checkpoint.bin";
  if (resume) {
    read_checkpoint(checkpoint, resolved_, *core_, recorder_);
  } else {
    fs::remove(checkpoint);
    fs::remove(directory_ / "summary.json");
    fs::remove(directory_ / "report.html");
    write_file(directory_ / "scenario.toml", resolved_);
  }
  while (!core_->done()) {
    const std::size_t sequence = core_->state().sequence;
    const SequenceRecord record = core_->step([&](double fraction) {
      progress_.show(
          "training sequences",
          (static_cast<double>(sequence) + fraction) / static_cast<double>(scenario_.run.sequences),
          situation());
    });
    recorder_.record(record, core_->state());
    for (const auto& [name, content] : recorder_.files()) {
      write_file(directory_ / name, content);
    }
    write_checkpoint(checkpoint, resolved_, *core_, recorder_);
  }
  const fs::path models = directory_ / "models";
  fs::create_directories(models);
  save_model(models / "global.safetensors", core_->global_model());
  for (std::size_t c = 0; c < prepared_.world().clusters.size(); ++c) {
    save_model(models / fmt::format("cluster-{}.safetensors", c + 1), core_->cluster_model(c));
  }
  ranks_.finish();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  Json manifest{{"version", version},
                {"name", scenario_.run.name},
                {"seed", scenario_.run.seed},
                {"scenario_sha256", sha256(resolved_)},
                {"data", scenario_.data.source.name},
                {"data_sha256", digest_of(*data_)},
                {"planner", scenario_.planning.planner},
                {"machine", machine()},
                {"threads", pool_.num_threads()},
                {"seconds", seconds},
                {"processor_seconds",
                 static_cast<double>(std::clock() - processor_start) / static_cast<double>(CLOCKS_PER_SEC)}};
  const MissionTraffic& traffic = ranks_.traffic();
  manifest["messages"] = traffic.messages;
  manifest["message_bytes"] = traffic.bytes;
  manifest["processes"] = Json::array();
  for (const RankReport& rank : traffic.ranks) {
    manifest["processes"].push_back({{"busy_s", rank.busy_s},
                                     {"waiting_s", rank.waiting_s},
                                     {"processor_s", rank.processor_s},
                                     {"peak_memory_MB", rank.peak_memory_bytes / 1e6}});
  }
  write_file(directory_ / "manifest.json", manifest.dump(1) + "\n");
  write_file(directory_ / "summary.json",
             summary_of(scenario_, recorder_.headline(core_->state())).dump(1) + "\n");
  write_report(directory_);
}

std::string MissionRun::situation() const {
  const State& state = core_->state();
  const World& world = prepared_.world();
  std::string text = fmt::format("{} of {}", state.sequence + 1, scenario_.run.sequences);
  if (state.sequence > 0) {
    text += fmt::format(" | {:.1f} % right", 100.0 * recorder_.headline(state).last_accuracy);
  }
  text += " | battery";
  for (std::size_t s = 0; s < world.swarms.size(); ++s) {
    double least = 1.0;
    for (std::size_t id = world.swarms[s].leader; id < world.swarms[s].coordinators.end(); ++id) {
      least = std::min(least, state.ledger.level(State::account_of_uav(id)) / world.uavs[id].battery);
    }
    text += fmt::format(" {} {:.0f} %", world.site_name(state.swarm_sites[s]), 100.0 * least);
  }
  return text;
}

void MissionRun::save_model(const fs::path& file, const Model& model) const {
  nn::save_network(file,
                   {.architecture = prepared_.network().architecture(), .parameters = model, .notes = {}});
}

std::unique_ptr<Planner> MissionRun::make_planner() {
  const std::string& name = scenario_.planning.planner;
  const Agents agents = agents_for(
      name,
      {.environment = prepared_.environment(),
       .planning = scenario_.planning,
       .seed = scenario_.run.seed,
       .directory = "runs"},
      pool_, alone(), [this](double fraction) { progress_.show("training the planner", fraction); });
  return planner_factory(name, prepared_.environment(), scenario_.planning, agents)();
}

}  // namespace skein::app
