// Thresholds and baselines, sensitivity, and other geometries.

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "apps/skein/reproduce/planning_study.h"

namespace skein::app {
namespace {

// As published, in one of three environments.
struct Baseline {
  const char* name;
  const char* title;
  double reward;
  double objective;
  const char* colour;
};
constexpr std::array<Baseline, 4> baselines{
    {{"sequential", "S.H.", 213.3, 241.7, "#888888"},
     {"nearest", "G.M.D.", 252.3, 283.2, "#E69F00"},
     {"threshold_random", "T.M.D., 90 % random", 268.7, 313.7, purple},
     {"threshold_nearest", "T.M.D., 10 % random", 0, 0, "#56B4E9"}}};

std::string with_spread(const std::vector<MissionScore>& scores, double MissionScore::*member) {
  std::vector<double> values;
  for (const MissionScore& one : scores) {
    values.push_back(one.*member);
  }
  return mean_with_spread(values, 1);
}

}  // namespace

std::string PlanningStudy::threshold_part() {
  Rows rows{{"threshold", "planner", "reward", "learning objective", "battery (kJ)", "recharges",
             "violations", "published reward", "published objective"}};
  Figure figure{.title = "Planning while it learns, and baselines",
                .x_label = "training sequences",
                .y_label = "mean per sequence",
                .panels = {{.title = "reward", .series = {}},
                           {.title = "learning objective", .series = {}},
                           {.title = "battery (kJ)", .series = {}}}};
  for (const PublishedThreshold& threshold : published_thresholds) {
    const PlanSetup setup = this->setup(threshold.kilojoules, {});
    const auto add = [&](const std::string& name, const std::string& title, double reward, double objective) {
      const Scores list = scores(setup, name);
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
      if (&threshold == &published_thresholds.front()) {
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
         table(rows, "thresholds");
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
        this->setup(published_thresholds[0].kilojoules, {fmt::format("planning.exploration={}", one.epsilon),
                                                         fmt::format("planning.discount={}", one.gamma)});
    const Scores list = scores(setup, "learned");
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
  return "## Sensitivity\n\n" + table(rows, "sensitivity");
}

std::string PlanningStudy::geometry_part() {
  const std::size_t geometries = options_.quick ? 2 : 5;
  Rows rows{{"geometry", "threshold", "guided", "learned", "beam", "myopic", "best baseline, best timing",
             "best baseline, random timing"}};
  for (const PublishedThreshold& threshold : published_thresholds) {
    if (options_.quick && &threshold != &published_thresholds.front()) {
      break;
    }
    const PlanSetup setup = this->setup(threshold.kilojoules, {});
    for (std::size_t g = 1; g <= geometries; ++g) {
      const auto environment = geometry_of(setup.environment, g);
      const auto fly = [&](const std::string& planner) {
        return scores(setup, environment, planner, [&](std::uint64_t seed) { return short_missions(seed); });
      };
      std::vector<std::string> row{fmt::format("{}", g), threshold.name};
      for (const char* planner : {"guided", "learned", "beam", "myopic"}) {
        row.push_back(with_spread(fly(planner), &MissionScore::reward));
      }
      for (const bool best_timing : {true, false}) {
        Scores best;
        for (const Baseline& baseline : baselines) {
          const Scores list = fly(best_timing ? fmt::format("{}_best", baseline.name) : baseline.name);
          if (best.empty() || skein::mean_of(list).reward > skein::mean_of(best).reward) {
            best = list;
          }
        }
        row.push_back(with_spread(best, &MissionScore::reward));
      }
      rows.push_back(std::move(row));
    }
  }
  return "## Other geometries\n\nReward with the sites placed anew; ± is the 95 % interval over seeds.\n\n" +
         table(rows, "geometries");
}

}  // namespace skein::app
