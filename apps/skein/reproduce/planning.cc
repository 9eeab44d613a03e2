#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "apps/skein/reproduce/planning_study.h"
#include "skein/base/csv.h"
#include "skein/base/file.h"
#include "skein/base/interval.h"
#include "skein/learning/curve.h"
#include "skein/planning/checkpoint.h"

namespace skein::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr std::size_t most_bytes = 1 << 20;

std::string to_text(const MissionScore& score) {
  return ordered_json{{"reward", score.reward},       {"learning_objective", score.learning_objective},
                      {"battery_J", score.battery_j}, {"violations_per_epoch", score.violations},
                      {"recharges", score.recharges}, {"visits_per_epoch", score.visits}}
             .dump(1) +
         "\n";
}

MissionScore to_score(const std::string& text) {
  const ordered_json numbers = ordered_json::parse(text);
  return {.reward = numbers.at("reward"),
          .learning_objective = numbers.at("learning_objective"),
          .battery_j = numbers.at("battery_J"),
          .violations = numbers.at("violations_per_epoch"),
          .recharges = numbers.at("recharges"),
          .visits = numbers.at("visits_per_epoch")};
}

}  // namespace

PlanningStudy::PlanningStudy(const ReproduceOptions& options, fs::path directory)
    : options_(options),
      directory_(std::move(directory)),
      pool_(options.common.threads),
      progress_(options.common, "reproduce") {
  plan_.common = options.common;
  plan_.common.scenario = (scenario_directory() / "paper" / "planning.toml").string();
  plan_.environment = (scenario_directory() / "paper" / "planning-environment.json").string();
  if (options.quick) {
    plan_.common.settings.insert(plan_.common.settings.begin(),
                                 {"planning.learner.steps=1500", "planning.learner.flat_steps=400"});
  }
}

std::size_t PlanningStudy::seeds() const {
  return options_.seeds > 0 ? options_.seeds : options_.quick ? 1 : 5;
}

MissionOptions PlanningStudy::missions(std::uint64_t seed) const {
  return {.starts = options_.quick ? std::size_t{2} : std::size_t{8},
          .epochs = options_.quick ? std::size_t{150} : std::size_t{400},
          .seed = 1000 + 100 * seed};
}

MissionOptions PlanningStudy::short_missions(std::uint64_t seed, std::size_t sequence) const {
  return {.starts = options_.quick ? std::size_t{2} : std::size_t{4},
          .epochs = options_.quick ? std::size_t{150} : std::size_t{300},
          .seed = 1000 + 100 * seed,
          .sequence = sequence};
}

PlanSetup PlanningStudy::setup(double threshold_kj, const std::vector<std::string>& settings) const {
  PlanOptions options = plan_;
  options.threshold_kj = threshold_kj;
  options.common.settings.insert(options.common.settings.end(), settings.begin(), settings.end());
  return plan_setup(options);
}

MissionScore PlanningStudy::kept_score(const PlanSetup& setup,
                                       const std::shared_ptr<const Environment>& environment,
                                       const std::string& planner, std::uint64_t seed,
                                       const MissionOptions& missions, const std::function<Agents()>& agents,
                                       std::size_t trained) {
  const std::string what =
      fmt::format("{} {} {} {} {} {} {} {}", fingerprint(*environment, setup.scenario.planning, seed),
                  resolved_scenario(setup.scenario), planner, trained, missions.starts, missions.epochs,
                  missions.seed, missions.sequence);
  const fs::path file = directory_ / "missions" / fmt::format("{}-{}.json", planner, short_name(what));
  const std::string kept =
      said_by_first(crew(), crew().is_first() && fs::exists(file) ? read_file(file, most_bytes) : "");
  if (!kept.empty()) {
    return to_score(kept);
  }
  const MissionScore score =
      mean_of(evaluate(*environment, planner_factory(planner, environment, setup.scenario.planning, agents()),
                       missions, pool_, crew()));
  if (crew().is_first()) {
    write_file(file, to_text(score));
  }
  return score;
}

PlanningStudy::Scores PlanningStudy::scores(const PlanSetup& setup,
                                            const std::shared_ptr<const Environment>& environment,
                                            const std::string& planner, const Missions& missions) {
  Scores list;
  for (std::uint64_t seed = 1; seed <= seeds(); ++seed) {
    list.push_back(kept_score(setup, environment, planner, seed, missions(seed), [&] {
      return agents_for(planner, agent_setup(plan_, setup, environment, seed, directory_), pool_, crew(),
                        [&](double fraction) { progress_.show(planner, fraction); });
    }));
    progress_.show(planner, 1.0);
  }
  return list;
}

PlanningStudy::Scores PlanningStudy::scores(const PlanSetup& setup, const std::string& planner) {
  return scores(setup, setup.environment, planner, [&](std::uint64_t seed) { return missions(seed); });
}

Curve PlanningStudy::training_curve(const PlanSetup& setup, std::string_view column) const {
  std::vector<Curve> curves;
  for (std::uint64_t seed = 1; seed <= seeds(); ++seed) {
    curves.push_back(read_curve(
        agent_directory(agent_setup(plan_, setup, setup.environment, seed, directory_)) / "curve.csv",
        column));
  }
  return skein::mean_of(std::span<const Curve>(curves));
}

void PlanningStudy::picture(const Figure& figure, const std::string& name) const {
  if (crew().is_first()) {
    draw(figure, directory_, name);
  }
}

std::string PlanningStudy::table(const Rows& rows, const std::string& name) const {
  std::string text;
  for (const std::vector<std::string>& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      text += (i > 0 ? "," : "") + csv_cell(row[i]);
    }
    text += '\n';
  }
  if (crew().is_first()) {
    write_file(directory_ / (name + "-table.csv"), text);
  }
  return markdown_table(rows) + "\n";
}

std::string PlanningStudy::run() {
  const std::vector<std::pair<std::string, std::string (PlanningStudy::*)()>> parts{
      {"thresholds", &PlanningStudy::threshold_part},
      {"sensitivity", &PlanningStudy::sensitivity_part},
      {"drift", &PlanningStudy::drift_part},
      {"tracking", &PlanningStudy::tracking_part},
      {"geometries", &PlanningStudy::geometry_part}};
  std::string text = "# The paper's planning study\n\n";
  for (const auto& [name, part] : parts) {
    if (options_.parts.empty() || std::ranges::find(options_.parts, name) != options_.parts.end()) {
      const std::string section = (this->*part)();
      if (crew().is_first()) {
        write_file(directory_ / (name + ".md"), section);
      }
      text += section;
    }
  }
  return text;
}

std::string mean_with_spread(std::span<const double> values, int digits, bool sign) {
  const MeanInterval interval = mean_interval(values);
  const std::string mean =
      sign ? fmt::format("{:+.{}f}", interval.mean, digits) : fmt::format("{:.{}f}", interval.mean, digits);
  return values.size() > 1 ? fmt::format("{} ± {:.{}f}", mean, interval.half_width, digits) : mean;
}

fs::path reproduce_planning(const ReproduceOptions& options) {
  const fs::path out =
      options.common.out.empty() ? fs::path("runs") / "reproduce" / "planning" : fs::path(options.common.out);
  const fs::path directory = out / (options.quick ? "quick" : "full");
  const std::string text = PlanningStudy(options, directory).run();
  if (crew().is_first()) {
    write_file(directory / "report.md", text);
  }
  if (options.common.talks()) {
    fmt::print("{}\nWrote report.md, numbers and pictures to {}\n", text, directory.string());
  }
  return directory;
}

}  // namespace skein::app
