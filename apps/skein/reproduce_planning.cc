// The paper's planning study (section VI-C, appendix A): thresholds and baselines, sensitivity, drift that
// moves, and what the paper lacks: other geometries, strong baselines, the published agent in our
// environment.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>

#include "figure.h"
#include "plan.h"
#include "reproduce.h"
#include "skein/base/file.h"
#include "skein/base/interval.h"
#include "skein/learning/curve.h"
#include "skein/planning/evaluation.h"

namespace skein::app {
namespace {

namespace fs = std::filesystem;
using Rows = std::vector<std::vector<std::string>>;

// As published: mean of the last 2000 epochs of three environments; baselines in one of them.
struct Threshold {
  const char* name;
  double kilojoules;
  double reward;
  double objective;
  double battery_kj;
  double recharges;
  const char* colour;
};
constexpr std::array<Threshold, 3> thresholds{{{"RT Low", 16.88, 406, 618, 35.3, 0.125, blue},
                                               {"RT Medium", 25.32, 355, 549, 39.1, 0.163, orange},
                                               {"RT High", 33.76, 289, 426, 42.6, 0.228, green}}};
struct Baseline {
  const char* name;
  const char* title;
  double reward;  // published
  double objective;
  const char* colour;
};
constexpr std::array<Baseline, 4> baselines{
    {{"sequential", "S.H.", 213.3, 241.7, "#888888"},
     {"nearest", "G.M.D.", 252.3, 283.2, "#E69F00"},
     {"threshold_random", "T.M.D., 90 % random", 268.7, 313.7, purple},
     {"threshold_nearest", "T.M.D., 10 % random", 0, 0, "#56B4E9"}}};

class PlanningStudy {
 public:
  PlanningStudy(const ReproduceOptions& options, fs::path directory)
      : options_(options),
        directory_(std::move(directory)),
        pool_(options.common.threads),
        progress_(options.common, "reproduce") {
    plan_.common = options.common;
    plan_.common.scenario = (scenario_directory() / "paper" / "planning.toml").string();
    plan_.environment = (scenario_directory() / "paper" / "planning-environment.json").string();
    if (options.quick) {
      plan_.common.settings.emplace_back("planning.learner.steps=1500");
      plan_.common.settings.emplace_back("planning.learner.flat_steps=400");
    }
  }

  std::string run();

 private:
  [[nodiscard]] std::size_t seeds() const {
    return options_.seeds > 0 ? options_.seeds : options_.quick ? 1 : 3;
  }
  [[nodiscard]] MissionOptions missions(std::uint64_t seed) const {
    return {.starts = options_.quick ? std::size_t{2} : std::size_t{8},
            .epochs = options_.quick ? std::size_t{150} : std::size_t{400},
            .seed = 1000 + 100 * seed};
  }
  // Where agents differ more than missions: shorter ones, so that there is time for more seeds.
  [[nodiscard]] MissionOptions drift_missions(std::uint64_t seed, std::size_t sequence) const {
    return {.starts = options_.quick ? std::size_t{2} : std::size_t{4},
            .epochs = options_.quick ? std::size_t{150} : std::size_t{300},
            .seed = 1000 + 100 * seed,
            .sequence = sequence};
  }
  [[nodiscard]] PlanSetup setup(double threshold_kj, const std::vector<std::string>& settings) const {
    PlanOptions options = plan_;
    options.threshold_kj = threshold_kj;
    options.common.settings.insert(options.common.settings.end(), settings.begin(), settings.end());
    return plan_setup(options);
  }
  // One score per seed.
  std::vector<MissionScore> scores(const PlanSetup& setup,
                                   const std::shared_ptr<const Environment>& environment,
                                   const std::string& planner) {
    return scores(setup, environment, planner, [&](std::uint64_t seed) { return missions(seed); });
  }
  std::vector<MissionScore> scores(const PlanSetup& setup,
                                   const std::shared_ptr<const Environment>& environment,
                                   const std::string& planner,
                                   const std::function<MissionOptions(std::uint64_t)>& missions) {
    std::vector<MissionScore> list;
    for (std::uint64_t seed = 1; seed <= seeds(); ++seed) {
      const Agents agents = agents_for(planner, plan_, setup, environment, seed, directory_, pool_, crew(),
                                       [&](double fraction) { progress_.show(planner, fraction); });
      list.push_back(mean_of(evaluate(*environment,
                                      planner_factory(planner, environment, setup.scenario.planning, agents),
                                      missions(seed), pool_, crew())));
      progress_.show(planner, 1.0);
    }
    return list;
  }
  // Mean over seeds of a column of the training curves.
  [[nodiscard]] Curve training_curve(const PlanSetup& setup, std::string_view column) const {
    std::vector<Curve> curves;
    for (std::uint64_t seed = 1; seed <= seeds(); ++seed) {
      curves.push_back(
          read_curve(agent_directory(setup, *setup.environment, seed, directory_) / "curve.csv", column));
    }
    return skein::mean_of(std::span<const Curve>(curves));
  }

  void picture(const Figure& figure, const std::string& name) const {
    if (crew().is_first()) {
      draw(figure, directory_, name);
    }
  }

  std::string threshold_part();
  std::string sensitivity_part();
  std::string drift_part();
  std::string geometry_part();

  const ReproduceOptions& options_;
  fs::path directory_;
  ThreadPool pool_;
  Progress progress_;
  PlanOptions plan_;
};

std::string with_spread(const std::vector<MissionScore>& scores, double MissionScore::*member,
                        double unit = 1.0) {
  std::vector<double> values;
  for (const MissionScore& one : scores) {
    values.push_back(one.*member / unit);
  }
  const MeanInterval interval = mean_interval(values);
  return values.size() > 1 ? fmt::format("{:.1f} ± {:.1f}", interval.mean, interval.half_width)
                           : fmt::format("{:.1f}", interval.mean);
}

std::string PlanningStudy::threshold_part() {
  Rows rows{{"threshold", "planner", "reward", "learning objective", "battery (kJ)", "recharges",
             "violations", "published reward", "published objective"}};
  Figure figure{.title = "Planning while it learns, and baselines",
                .x_label = "training sequences",
                .y_label = "mean per sequence",
                .panels = {{.title = "reward", .series = {}},
                           {.title = "learning objective", .series = {}},
                           {.title = "battery (kJ)", .series = {}}}};
  for (const Threshold& threshold : thresholds) {
    const PlanSetup setup = this->setup(threshold.kilojoules, {});
    const auto add = [&](const std::string& name, const std::string& title, double reward, double objective) {
      const std::vector<MissionScore> list = scores(setup, setup.environment, name);
      const MissionScore mean = skein::mean_of(list);
      rows.push_back({threshold.name, title, with_spread(list, &MissionScore::reward),
                      with_spread(list, &MissionScore::learning_objective),
                      fmt::format("{:.1f}", mean.battery_j / 1e3), fmt::format("{:.3f}", mean.recharges),
                      fmt::format("{:.4f}", mean.violations), reward > 0 ? fmt::format("{:.0f}", reward) : "",
                      objective > 0 ? fmt::format("{:.0f}", objective) : ""});
      return mean;
    };
    add("guided", "guided beam", 0, 0);
    add("learned", "recurrent Q-learning", threshold.reward, threshold.objective);
    add("beam", "beam", 0, 0);
    add("myopic", "myopic", 0, 0);
    add("flat", "published flat agent", threshold.reward, threshold.objective);
    add("threshold_nearest_best", "T.M.D., 10 % random, best timing", 0, 0);
    add("threshold_random_best", "T.M.D., 90 % random, best timing", 0, 0);
    const std::array<const char*, 3> columns{"reward", "learning_objective", "battery_J"};
    for (std::size_t i = 0; i < columns.size(); ++i) {
      Series series{
          .title = threshold.name, .curve = training_curve(setup, columns[i]), .colour = threshold.colour};
      for (double& value : series.curve.values) {
        value /= i == 2 ? 1e3 : 1.0;
      }
      figure.panels[i].series.push_back(std::move(series));
    }
    for (const Baseline& baseline : baselines) {
      const MissionScore mean = add(baseline.name, baseline.title, baseline.reward, baseline.objective);
      if (&threshold == &thresholds.front()) {
        const std::array<double, 3> values{mean.reward, mean.learning_objective, mean.battery_j / 1e3};
        const double last = figure.panels[0].series[0].curve.iterations.back();
        for (std::size_t i = 0; i < values.size(); ++i) {
          figure.panels[i].series.push_back({.title = fmt::format("{}, RT Low", baseline.title),
                                             .curve = {{0.0, last}, {values[i], values[i]}},
                                             .colour = baseline.colour,
                                             .dashed = true});
        }
      }
    }
  }
  picture(figure, "thresholds");
  return "## Thresholds and baselines\n\nRewards are means over seeds of greedy missions; ± is the 95 % "
         "interval. "
         "Recharges are visits to stations per swarm and sequence (published: 0.125, 0.163, 0.228); "
         "violations are "
         "swarms below their threshold per sequence. Published numbers come from other environments: compare "
         "orders, not values.\n\n" +
         markdown_table(rows) + "\n";
}

std::string PlanningStudy::sensitivity_part() {
  Rows rows{{"epsilon", "gamma", "reward", "learning objective", "published reward"}};
  struct Setting {
    double epsilon;
    double gamma;
    double published;
  };
  std::vector<Setting> settings{{0.65, 0.7, 299}, {0.7, 0.7, 382}, {0.75, 0.7, 302}, {0.7, 0.65, 260},
                                {0.7, 0.75, 369}, {0.7, 0.9, 0},   {0.7, 0.95, 0}};
  if (options_.quick) {
    settings = {{0.7, 0.7, 382}, {0.7, 0.95, 0}};
  }
  Figure figure{.title = "Sensitivity of recurrent Q-learning, RT Low",
                .x_label = "training sequences",
                .y_label = "reward, with exploration",
                .panels = {{.title = "epsilon, gamma 0.7", .series = {}},
                           {.title = "gamma, epsilon 0.7", .series = {}}}};
  constexpr std::array colours{blue, orange, green, purple, "#E69F00"};
  for (const Setting& one : settings) {
    const PlanSetup setup =
        this->setup(thresholds[0].kilojoules, {fmt::format("planning.exploration={}", one.epsilon),
                                               fmt::format("planning.discount={}", one.gamma)});
    const std::vector<MissionScore> list = scores(setup, setup.environment, "learned");
    rows.push_back({fmt::format("{:g}", one.epsilon), fmt::format("{:g}", one.gamma),
                    with_spread(list, &MissionScore::reward),
                    with_spread(list, &MissionScore::learning_objective),
                    one.published > 0 ? fmt::format("{:.0f}", one.published) : ""});
    const auto add = [&](Panel& panel, std::string title) {
      panel.series.push_back({.title = std::move(title),
                              .curve = training_curve(setup, "reward"),
                              .colour = colours[panel.series.size() % colours.size()]});
    };
    if (one.gamma == 0.7) {
      add(figure.panels[0], fmt::format("epsilon {:g}", one.epsilon));
    }
    if (one.epsilon == 0.7) {
      add(figure.panels[1], fmt::format("gamma {:g}", one.gamma));
    }
  }
  picture(figure, "sensitivity");
  return "## Sensitivity\n\n" + markdown_table(rows) + "\n";
}

// From the first list to the second, seed by seed.
template <class Number>
std::string change_of(const std::array<std::vector<MissionScore>, 2>& ends, int digits,
                      const Number& number) {
  std::vector<double> changes;
  for (std::size_t seed = 0; seed < ends[0].size(); ++seed) {
    changes.push_back(number(ends[1][seed]) - number(ends[0][seed]));
  }
  const MeanInterval interval = mean_interval(changes);
  return changes.size() > 1
             ? fmt::format("{:+.{}f} ± {:.{}f}", interval.mean, digits, interval.half_width, digits)
             : fmt::format("{:+.{}f}", interval.mean, digits);
}

std::string PlanningStudy::drift_part() {
  constexpr std::size_t sequences = 30000;  // as published
  Rows rows{
      {"planner", "drift at its", "reward", "C:1", "C:2", "C:3", "C:4", "C:5", "C:6", "C:7", "C:8",
       "stations"},
      {"published", "start", "", "0.20", "0.19", "0.22", "0.24", "0.32", "0.22", "0.33", "0.34", "0.94"},
      {"published", "end", "", "0.27", "0.24", "0.43", "0.16", "0.23", "0.13", "0.28", "0.17", "1.09"}};
  Rows changes{
      {"planner", "change of reward", "of visits to C:3", "of visits to C:4", "of all visits to clusters"}};
  Panel panel{.title = "C:3 (full) and C:4 (dashed)", .series = {}};
  constexpr std::array colours{blue, orange, green, purple};
  const PlanSetup moving =
      setup(thresholds[0].kilojoules, {fmt::format("planning.drift.sequences={}", sequences)});
  const Environment& e = *moving.environment;
  for (const std::string planner : {"guided", "learned", "beam", "myopic"}) {
    const char* colour = colours[panel.series.size() / 2];
    std::array<std::vector<MissionScore>, 2> ends;
    const std::array<std::size_t, 2> moments{0, sequences};
    Series third{.title = planner, .curve = {}, .colour = colour};
    Series fourth{.title = "", .curve = {}, .colour = colour, .dashed = true};
    for (std::size_t end = 0; end < moments.size(); ++end) {
      ends[end] = scores(moving, moving.environment, planner,
                         [&](std::uint64_t seed) { return drift_missions(seed, moments[end]); });
      const MissionScore mean = skein::mean_of(ends[end]);
      for (auto* series : {&third, &fourth}) {
        series->curve.iterations.push_back(static_cast<double>(moments[end]));
        series->curve.values.push_back(mean.visits[series == &third ? 2 : 3]);
      }
      std::vector<std::string> row{planner, end == 0 ? "start" : "end", fmt::format("{:.1f}", mean.reward)};
      for (std::size_t c = 0; c < e.num_clusters; ++c) {
        row.push_back(fmt::format("{:.3f}", mean.visits[c]));
      }
      row.push_back(fmt::format("{:.2f}", mean.recharges * static_cast<double>(e.num_swarms)));
      rows.push_back(std::move(row));
    }
    const auto visits_to = [](std::size_t cluster) {
      return [=](const MissionScore& score) { return score.visits[cluster]; };
    };
    const auto visits_to_clusters = [&](const MissionScore& score) {
      return std::accumulate(score.visits.begin(),
                             score.visits.begin() + static_cast<std::ptrdiff_t>(e.num_clusters), 0.0);
    };
    changes.push_back({planner, change_of(ends, 1, [](const MissionScore& score) { return score.reward; }),
                       change_of(ends, 3, visits_to(2)), change_of(ends, 3, visits_to(3)),
                       change_of(ends, 3, visits_to_clusters)});
    panel.series.push_back(std::move(third));
    panel.series.push_back(std::move(fourth));
  }
  picture({.title = "Drift from [2, 4, .., 16] to [15, 15, 21, 11, 12, 17, 19, 17]",
           .x_label = "training sequences",
           .y_label = "visits per sequence",
           .panels = {panel}},
          "drift");
  return "## Drift that moves\n\nVisits per sequence in missions at the start and at the end of the drift, "
         "RT Low. "
         "Agents are trained with starts at any moment of it.\n\n" +
         markdown_table(rows) + "\nFrom start to end, seed by seed; ± is the 95 % interval:\n\n" +
         markdown_table(changes) + "\n";
}

std::string PlanningStudy::geometry_part() {
  const std::size_t geometries = options_.quick ? 2 : 5;
  Rows rows{{"geometry", "threshold", "guided", "learned", "beam", "myopic", "best baseline, best timing",
             "best baseline, random timing"}};
  for (const Threshold& threshold : thresholds) {
    if (options_.quick && &threshold != &thresholds.front()) {
      break;
    }
    const PlanSetup setup = this->setup(threshold.kilojoules, {});
    for (std::size_t g = 1; g <= geometries; ++g) {
      const auto environment = geometry_of(setup.environment, g);
      std::vector<std::string> row{fmt::format("{}", g), threshold.name};
      for (const char* planner : {"guided", "learned", "beam", "myopic"}) {
        row.push_back(fmt::format("{:.1f}", skein::mean_of(scores(setup, environment, planner)).reward));
      }
      for (const bool best_timing : {true, false}) {
        double best = -1e300;
        for (const Baseline& baseline : baselines) {
          const std::string name = best_timing ? fmt::format("{}_best", baseline.name) : baseline.name;
          best = std::max(best, skein::mean_of(scores(setup, environment, name)).reward);
        }
        row.push_back(fmt::format("{:.1f}", best));
      }
      rows.push_back(std::move(row));
    }
  }
  return "## Other geometries\n\nMean reward over seeds with the sites placed anew.\n\n" +
         markdown_table(rows) + "\n";
}

std::string PlanningStudy::run() {
  const std::vector<std::pair<std::string, std::string (PlanningStudy::*)()>> parts{
      {"thresholds", &PlanningStudy::threshold_part},
      {"sensitivity", &PlanningStudy::sensitivity_part},
      {"drift", &PlanningStudy::drift_part},
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

}  // namespace

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
