#include "skein/planning/planners.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "skein/base/expect.h"
#include "skein/base/names.h"
#include "skein/planning/beam.h"
#include "skein/planning/heuristics.h"
#include "skein/planning/horizon_planner.h"

namespace skein {
namespace {

using EnvironmentPointer = std::shared_ptr<const Environment>;
using Maker = std::unique_ptr<Planner> (*)(const EnvironmentPointer&, const PlanningOptions&, const Agents&);

struct NamedPlanner {
  std::string_view name;
  std::string_view description;
  Training training;
  Maker make;
  bool by_the_clock = false;
};

template <Route route, int random_percent, bool best_timing>
std::unique_ptr<Planner> make_heuristic(const EnvironmentPointer& environment, const PlanningOptions&,
                                        const Agents&) {
  return std::make_unique<HeuristicPlanner>(
      environment,
      HeuristicOptions{.route = route, .random_share = random_percent / 100.0, .best_timing = best_timing});
}

std::unique_ptr<Planner> make_guided(const EnvironmentPointer& environment, const PlanningOptions& options,
                                     const Agents& agents) {
  return std::make_unique<BeamPlanner>(environment, affordable(options.guided, *environment),
                                       std::make_unique<AgentForesight>(environment, agents.recurrent));
}
std::unique_ptr<Planner> make_learned(const EnvironmentPointer& environment, const PlanningOptions&,
                                      const Agents& agents) {
  return std::make_unique<LearnedPlanner>(environment, agents.recurrent);
}
std::unique_ptr<Planner> make_flat(const EnvironmentPointer& environment, const PlanningOptions&,
                                   const Agents& agents) {
  return std::make_unique<FlatPlanner>(environment, agents.flat);
}
std::unique_ptr<Planner> make_beam(const EnvironmentPointer& environment, const PlanningOptions& options,
                                   const Agents&) {
  return std::make_unique<BeamPlanner>(environment, affordable(options.beam, *environment));
}
std::unique_ptr<Planner> make_myopic(const EnvironmentPointer& environment, const PlanningOptions&,
                                     const Agents&) {
  return std::make_unique<MyopicPlanner>(environment);
}
// Before a mission begins.
void refuse_impossible_age(const Environment& environment, double most_age_h) {
  const double least_h = least_possible_age_s(environment) / 3600.0;
  if (most_age_h > 0.0 && most_age_h < least_h) {
    throw InputError(InputFault{
        .key = "planning.most_age_h",
        .value = fmt::format("{:g}", most_age_h),
        .message = std::isfinite(least_h)
                       ? fmt::format("is not possible: to visit each of the {} clusters once, {} swarms need "
                                     "at least {:.3g} h with the shortest flights",
                                     environment.num_clusters, environment.num_swarms, least_h)
                       : std::string("is not possible: there is a cluster that no swarm can train at")});
  }
}

std::unique_ptr<Planner> make_horizon(const EnvironmentPointer& environment, const PlanningOptions& options,
                                      const Agents&) {
  return std::make_unique<HorizonPlanner>(environment, options.horizon);
}
std::unique_ptr<Planner> make_random(const EnvironmentPointer& environment, const PlanningOptions&,
                                     const Agents&) {
  return std::make_unique<RandomPlanner>(environment);
}

constexpr std::array planners{
    NamedPlanner{"guided", "beam search with the learned Q as the value at its end", Training::recurrent,
                 make_guided},
    NamedPlanner{"learned", "recurrent deep Q-learning, greedy", Training::recurrent, make_learned},
    NamedPlanner{"flat", "the published agent: an output per joint plan", Training::flat, make_flat},
    NamedPlanner{"beam", "rolling-horizon beam search", Training::none, make_beam},
    NamedPlanner{"horizon", "the best accuracy over time for its energy, in missions", Training::none,
                 make_horizon, true},
    NamedPlanner{"myopic", "the best one-step reward", Training::none, make_myopic},
    NamedPlanner{"sequential", "sequential heuristic, random timing", Training::none,
                 make_heuristic<Route::sequential, 0, false>},
    NamedPlanner{"sequential_best", "sequential heuristic, best timing", Training::none,
                 make_heuristic<Route::sequential, 0, true>},
    NamedPlanner{"nearest", "greedy minimum distance, random timing", Training::none,
                 make_heuristic<Route::nearest, 0, false>},
    NamedPlanner{"nearest_best", "greedy minimum distance, best timing", Training::none,
                 make_heuristic<Route::nearest, 0, true>},
    NamedPlanner{"threshold_nearest", "threshold minimum distance, 10 % random sites, random timing",
                 Training::none, make_heuristic<Route::nearest, 10, false>},
    NamedPlanner{"threshold_nearest_best", "threshold minimum distance, 10 % random sites, best timing",
                 Training::none, make_heuristic<Route::nearest, 10, true>},
    NamedPlanner{"threshold_random", "threshold minimum distance, 90 % random sites, random timing",
                 Training::none, make_heuristic<Route::nearest, 90, false>},
    NamedPlanner{"threshold_random_best", "threshold minimum distance, 90 % random sites, best timing",
                 Training::none, make_heuristic<Route::nearest, 90, true>},
    NamedPlanner{"random", "any legal plan", Training::none, make_random},
};

const NamedPlanner& find(std::string_view name) {
  const auto found = std::ranges::find(planners, name, &NamedPlanner::name);
  expect(found != planners.end(), "no planner of this name");
  return *found;
}

}  // namespace

std::vector<std::string_view> planner_names() { return names_in(planners); }

std::string_view planner_description(std::string_view name) { return find(name).description; }
Training training_of(std::string_view name) { return find(name).training; }
bool is_by_the_clock(std::string_view name) { return find(name).by_the_clock; }

PlannerFactory planner_factory(std::string_view name, std::shared_ptr<const Environment> environment,
                               const PlanningOptions& options, const Agents& agents) {
  const NamedPlanner& planner = find(name);
  expect(planner.training != Training::recurrent || agents.recurrent, "this planner needs an agent");
  expect(planner.training != Training::flat || agents.flat, "this planner needs a flat agent");
  if (planner.by_the_clock && !environment->visits) {
    throw InputError(InputFault{.key = "planning.planner",
                                .value = std::string(name),
                                .message = "goes by predicted accuracy and the clock, which the planner's "
                                           "environment alone does not have: fly a mission"});
  }
  if (planner.by_the_clock) {
    refuse_impossible_age(*environment, options.horizon.most_age_h);
  }
  return [&planner, environment = std::move(environment), options, agents] {
    return planner.make(environment, options, agents);
  };
}

}  // namespace skein
