// Drift that moves, [2, 4, .., 16] to [15, 15, 21, 11, 12, 17, 19, 17]: where planners go before and after.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "apps/skein/reproduce/planning_study.h"
#include "skein/base/expect.h"
#include "skein/learning/curve.h"

namespace skein::app {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t third = 2;  // C:3 and C:4: the largest drift at the end, and the smallest
constexpr std::size_t fourth = 3;
constexpr const char* between = "From start to end, seed by seed; ± is the 95 % interval:\n\n";
constexpr std::array colours{blue, orange, green, purple, "#E69F00"};

// Before and after, one score per seed each.
struct Ends {
  std::array<std::vector<MissionScore>, 2> scores;
};

// From before to after, seed by seed.
template <class Number>
std::string change_of(const Ends& ends, int digits, const Number& number) {
  const auto& [before, after] = ends.scores;
  std::vector<double> changes;
  for (std::size_t seed = 0; seed < before.size(); ++seed) {
    changes.push_back(number(after[seed]) - number(before[seed]));
  }
  return mean_with_spread(changes, digits, true);
}

// Visits before and after of each planner, and how they change.
class VisitTables {
 public:
  explicit VisitTables(const Environment& e) : e_(e) {
    rows_.push_back({"planner", "drift at its", "reward"});
    for (std::size_t c = 0; c < e.num_clusters; ++c) {
      rows_.front().push_back(e.site_name(c));
    }
    rows_.front().emplace_back("stations");
    // Epochs 800 to 1,800 and 28,800 to 29,800 of one training, in its own environment.
    rows_.push_back(
        {"published", "start", "", "0.20", "0.19", "0.22", "0.24", "0.32", "0.22", "0.33", "0.34", "0.94"});
    rows_.push_back(
        {"published", "end", "", "0.27", "0.24", "0.43", "0.16", "0.23", "0.13", "0.28", "0.17", "1.09"});
    changes_.push_back(
        {"planner", "change of reward", "of visits to C:3", "of visits to C:4", "of all visits to clusters"});
  }

  void add(const std::string& planner, const Ends& ends) {
    for (std::size_t end = 0; end < ends.scores.size(); ++end) {
      const MissionScore mean = mean_of(ends.scores[end]);
      std::vector<std::string> row{planner, end == 0 ? "start" : "end", fmt::format("{:.1f}", mean.reward)};
      for (std::size_t c = 0; c < e_.num_clusters; ++c) {
        row.push_back(fmt::format("{:.3f}", mean.visits[c]));
      }
      row.push_back(fmt::format("{:.2f}", mean.recharges * static_cast<double>(e_.num_swarms)));
      rows_.push_back(std::move(row));
    }
    const auto visits_to = [](std::size_t cluster) {
      return [=](const MissionScore& score) { return score.visits[cluster]; };
    };
    const auto visits_to_clusters = [&](const MissionScore& score) {
      return std::accumulate(score.visits.begin(),
                             score.visits.begin() + static_cast<std::ptrdiff_t>(e_.num_clusters), 0.0);
    };
    changes_.push_back({planner, change_of(ends, 1, [](const MissionScore& score) { return score.reward; }),
                        change_of(ends, 3, visits_to(third)), change_of(ends, 3, visits_to(fourth)),
                        change_of(ends, 3, visits_to_clusters)});
  }

  [[nodiscard]] const std::vector<std::vector<std::string>>& visits() const { return rows_; }
  [[nodiscard]] const std::vector<std::vector<std::string>>& changes() const { return changes_; }

 private:
  const Environment& e_;
  std::vector<std::vector<std::string>> rows_;
  std::vector<std::vector<std::string>> changes_;
};

// Some steps of a training: after `begin`, up to `end`.
struct Window {
  std::size_t begin = 0;
  std::size_t end = 0;
};

// What the training's curve says of them.
MissionScore score_of(const Environment& e, const fs::path& file, const Window& window) {
  const auto mean = [&](const std::string& column) {
    const Curve curve = read_curve(file, column);
    double sum = 0.0;
    double count = 0.0;
    for (std::size_t i = 0; i < curve.values.size(); ++i) {
      const double step = curve.iterations[i];
      if (step > static_cast<double>(window.begin) && step <= static_cast<double>(window.end)) {
        sum += curve.values[i];
        count += 1.0;
      }
    }
    expect(count > 0.0, "a window of the training");
    return sum / count;
  };
  MissionScore score{.reward = mean("reward"),
                     .learning_objective = mean("learning_objective"),
                     .battery_j = mean("battery_J"),
                     .violations = mean("violations_per_epoch")};
  for (std::size_t site = 0; site < e.num_sites(); ++site) {
    score.visits.push_back(mean(fmt::format("visits_{}", e.site_name(site))));
    score.recharges += e.is_station(site) ? score.visits.back() / static_cast<double>(e.num_swarms) : 0.0;
  }
  return score;
}

}  // namespace

std::string PlanningStudy::drift_part() {
  constexpr std::size_t sequences = 30000;  // as published
  const PlanSetup moving =
      setup(published_thresholds[0].kilojoules, {fmt::format("planning.drift.sequences={}", sequences)});
  VisitTables tables(*moving.environment);
  Panel panel{.title = "C:3 (full) and C:4 (dashed)", .series = {}};
  for (const std::string planner : {"guided", "learned", "beam", "myopic"}) {
    const char* colour = colours[panel.series.size() / 2];
    const std::array<std::size_t, 2> moments{0, sequences};
    Ends ends;
    std::array<Series, 2> series{{{.title = planner, .curve = {}, .colour = colour},
                                  {.title = "", .curve = {}, .colour = colour, .dashed = true}}};
    for (std::size_t end = 0; end < moments.size(); ++end) {
      ends.scores[end] = scores(moving, moving.environment, planner,
                                [&](std::uint64_t seed) { return short_missions(seed, moments[end]); });
      const MissionScore mean = skein::mean_of(ends.scores[end]);
      for (std::size_t i = 0; i < series.size(); ++i) {
        series[i].curve.iterations.push_back(static_cast<double>(moments[end]));
        series[i].curve.values.push_back(mean.visits[i == 0 ? third : fourth]);
      }
    }
    tables.add(planner, ends);
    panel.series.insert(panel.series.end(), series.begin(), series.end());
  }
  picture({.title = "Drift from [2, 4, .., 16] to [15, 15, 21, 11, 12, 17, 19, 17]",
           .x_label = "training sequences",
           .y_label = "visits per sequence",
           .panels = {panel}},
          "drift");
  return "## Drift that moves: missions at its start and its end\n\nVisits per sequence, RT Low. Agents are "
         "trained with starts at any moment of the drift.\n\n" +
         table(tables.visits(), "drift") + between + table(tables.changes(), "drift-changes");
}

// As the paper does it: the drift moves while the agent learns, and visits are counted in windows of the
// training itself, exploration included. Beside it what planners do in the same windows without exploration,
// with the agent as it was at the window's end. The agent forgets sooner and learns longer than the default
// one, which holds on to the drift of the beginning: a short replay, a step that does not shrink.
std::string PlanningStudy::tracking_part() {
  const std::size_t steps = options_.quick ? 800 : 6000;
  const std::size_t point = steps / 40;  // of the training's curve
  const std::array<Window, 2> windows{{{7 * point, 10 * point}, {37 * point, 40 * point}}};
  const PlanSetup moving = setup(
      published_thresholds[0].kilojoules,
      {fmt::format("planning.drift.sequences={}", steps), fmt::format("planning.learner.steps={}", steps),
       "planning.learner.online=true", "planning.discount=0.8", "planning.learner.replay_steps=1500",
       "planning.learner.batch=48", "planning.learner.last_step=1e-3"});
  const Environment& e = *moving.environment;
  VisitTables tables(e);
  const std::vector<std::string> planners{"learned", "guided", "beam", "myopic"};
  Ends training;
  std::vector<Ends> flown(planners.size());
  std::vector<std::vector<Curve>> curves(e.num_clusters);
  for (std::uint64_t seed = 1; seed <= seeds(); ++seed) {
    const AgentSetup agent = agent_setup(plan_, moving, moving.environment, seed, directory_);
    const auto agents = agents_along(agent, {windows[0].end, windows[1].end}, pool_, crew(),
                                     [&](double fraction) { progress_.show("tracking", fraction); });
    const fs::path curve = agent_directory(agent) / "curve.csv";
    for (std::size_t c = 0; c < e.num_clusters; ++c) {
      curves[c].push_back(read_curve(curve, fmt::format("visits_{}", e.site_name(c))));
    }
    for (std::size_t end = 0; end < windows.size(); ++end) {
      const auto& [begin, last] = windows[end];
      training.scores[end].push_back(score_of(e, curve, windows[end]));
      for (std::size_t p = 0; p < planners.size(); ++p) {
        const MissionOptions missions{
            .starts = 2, .epochs = last - begin, .seed = 1000 + 100 * seed, .sequence = begin};
        flown[p].scores[end].push_back(kept_score(
            moving, moving.environment, planners[p], seed, missions,
            [&] { return Agents{.recurrent = agents[end]}; }, last));
        progress_.show(planners[p], 1.0);
      }
    }
  }
  tables.add("the training itself", training);
  for (std::size_t p = 0; p < planners.size(); ++p) {
    tables.add(planners[p], flown[p]);
  }
  Figure figure{.title = "Visits while the drift moves and the agent learns",
                .x_label = "training sequences",
                .y_label = "visits per sequence",
                .panels = {{.title = "C:1 to C:4", .series = {}}, {.title = "C:5 to C:8", .series = {}}}};
  for (std::size_t c = 0; c < e.num_clusters; ++c) {
    figure.panels[c / 4].series.push_back({.title = e.site_name(c),
                                           .curve = skein::mean_of(std::span<const Curve>(curves[c])),
                                           .colour = colours[c % 4]});
  }
  picture(figure, "tracking");
  return fmt::format(
             "## Drift that moves while the agent learns\n\nVisits per sequence in sequences {} to {} "
             "(start) "
             "and {} to {} (end) of {}, over which the drift moves, RT Low. The training itself explores; "
             "the "
             "planners below it do not, and have the agent as it was at the window's end.\n\n",
             windows[0].begin + 1, windows[0].end, windows[1].begin + 1, windows[1].end, steps) +
         table(tables.visits(), "tracking") + between + table(tables.changes(), "tracking-changes");
}

}  // namespace skein::app
