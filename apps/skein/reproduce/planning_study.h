// The paper's planning study (section VI-C, appendix A): thresholds and baselines, sensitivity, drift that
// moves, and what the paper lacks: other geometries, strong baselines, the published agent in our
// environment.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "apps/skein/plan.h"
#include "apps/skein/reproduce/figure.h"
#include "apps/skein/reproduce/reproduce.h"
#include "skein/planning/planner_evaluation.h"

namespace skein::app {

// Agents and flown missions are kept in the directory, so that the study can be stopped and continued.
class PlanningStudy {
 public:
  PlanningStudy(const ReproduceOptions& options, std::filesystem::path directory);

  // The parts that are asked for, in Markdown; their tables, numbers and pictures are in the directory.
  std::string run();

 private:
  using Rows = std::vector<std::vector<std::string>>;
  using Scores = std::vector<MissionScore>;  // one per seed
  using Missions = std::function<MissionOptions(std::uint64_t seed)>;

  std::string threshold_part();
  std::string sensitivity_part();
  std::string drift_part();
  std::string tracking_part();
  std::string geometry_part();

  [[nodiscard]] std::size_t seeds() const;
  [[nodiscard]] MissionOptions missions(std::uint64_t seed) const;
  // Where agents differ more than missions: shorter ones, so that there is time for more seeds.
  [[nodiscard]] MissionOptions short_missions(std::uint64_t seed, std::size_t sequence = 0) const;
  [[nodiscard]] PlanSetup setup(double threshold_kj, const std::vector<std::string>& settings) const;

  Scores scores(const PlanSetup& setup, const std::shared_ptr<const Environment>& environment,
                const std::string& planner, const Missions& missions);
  Scores scores(const PlanSetup& setup, const std::string& planner);
  // Mean over the missions, flown now if they were not before. `agents` is asked for what the planner needs;
  // `trained` says after how many steps of the training, 0: at its end.
  MissionScore kept_score(const PlanSetup& setup, const std::shared_ptr<const Environment>& environment,
                          const std::string& planner, std::uint64_t seed, const MissionOptions& missions,
                          const std::function<Agents()>& agents, std::size_t trained = 0);
  // Mean over seeds of a column of the training curves.
  [[nodiscard]] Curve training_curve(const PlanSetup& setup, std::string_view column) const;

  void picture(const Figure& figure, const std::string& name) const;
  // In Markdown; NAME-table.csv has it too.
  [[nodiscard]] std::string table(const Rows& rows, const std::string& name) const;

  const ReproduceOptions& options_;
  std::filesystem::path directory_;
  ThreadPool pool_;
  Progress progress_;
  PlanOptions plan_;
};

// "12.3", of several values with their 95 % interval: "12.3 ± 0.4".
std::string mean_with_spread(std::span<const double> values, int digits, bool sign = false);

// As published: mean of the last 2000 epochs of three environments.
struct PublishedThreshold {
  const char* name;
  double kilojoules;
  double reward;
  double objective;
  const char* colour;
};
inline constexpr std::array<PublishedThreshold, 3> published_thresholds{
    {{"RT Low", 16.88, 406, 618, blue},
     {"RT Medium", 25.32, 355, 549, orange},
     {"RT High", 33.76, 289, 426, green}}};

}  // namespace skein::app
