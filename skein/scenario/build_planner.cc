#include "skein/scenario/build_planner.h"

#include <algorithm>
#include <array>
#include <utility>

#include "skein/base/expect.h"
#include "skein/planning/beam.h"
#include "skein/planning/heuristics.h"

namespace skein {
namespace {

using EnvironmentPointer = std::shared_ptr<const Environment>;
using AgentPointer = std::shared_ptr<const Agent>;
using Maker = std::unique_ptr<Planner> (*)(const EnvironmentPointer&, const PlanningOptions&,
                                           const AgentPointer&);

struct NamedPlanner {
  std::string_view name;
  std::string_view description;
  bool needs_agent;
  Maker make;
};

template <Route route, int random_percent, bool best_timing>
std::unique_ptr<Planner> make_heuristic(const EnvironmentPointer& environment, const PlanningOptions&,
                                        const AgentPointer&) {
  return std::make_unique<HeuristicPlanner>(
      environment,
      HeuristicOptions{.route = route, .random_share = random_percent / 100.0, .best_timing = best_timing});
}

std::unique_ptr<Planner> make_guided(const EnvironmentPointer& environment, const PlanningOptions& options,
                                     const AgentPointer& agent) {
  return std::make_unique<BeamPlanner>(environment, affordable(options.guided, *environment),
                                       std::make_unique<AgentForesight>(environment, agent));
}
std::unique_ptr<Planner> make_learned(const EnvironmentPointer& environment, const PlanningOptions&,
                                      const AgentPointer& agent) {
  return std::make_unique<LearnedPlanner>(environment, agent);
}
std::unique_ptr<Planner> make_beam(const EnvironmentPointer& environment, const PlanningOptions& options,
                                   const AgentPointer&) {
  return std::make_unique<BeamPlanner>(environment, affordable(options.beam, *environment));
}
std::unique_ptr<Planner> make_myopic(const EnvironmentPointer& environment, const PlanningOptions&,
                                     const AgentPointer&) {
  return std::make_unique<MyopicPlanner>(environment);
}
std::unique_ptr<Planner> make_random(const EnvironmentPointer& environment, const PlanningOptions&,
                                     const AgentPointer&) {
  return std::make_unique<RandomPlanner>(environment);
}

constexpr std::array planners{
    NamedPlanner{"guided", "beam search with the learned Q as the value at its end", true, make_guided},
    NamedPlanner{"learned", "recurrent deep Q-learning, greedy", true, make_learned},
    NamedPlanner{"beam", "rolling-horizon beam search", false, make_beam},
    NamedPlanner{"myopic", "the best one-step reward", false, make_myopic},
    NamedPlanner{"sequential", "sequential heuristic, random timing", false,
                 make_heuristic<Route::sequential, 0, false>},
    NamedPlanner{"sequential_best", "sequential heuristic, best timing", false,
                 make_heuristic<Route::sequential, 0, true>},
    NamedPlanner{"nearest", "greedy minimum distance, random timing", false,
                 make_heuristic<Route::nearest, 0, false>},
    NamedPlanner{"nearest_best", "greedy minimum distance, best timing", false,
                 make_heuristic<Route::nearest, 0, true>},
    NamedPlanner{"threshold_nearest", "threshold minimum distance, 10 % random sites, random timing", false,
                 make_heuristic<Route::nearest, 10, false>},
    NamedPlanner{"threshold_nearest_best", "threshold minimum distance, 10 % random sites, best timing",
                 false, make_heuristic<Route::nearest, 10, true>},
    NamedPlanner{"threshold_random", "threshold minimum distance, 90 % random sites, random timing", false,
                 make_heuristic<Route::nearest, 90, false>},
    NamedPlanner{"threshold_random_best", "threshold minimum distance, 90 % random sites, best timing", false,
                 make_heuristic<Route::nearest, 90, true>},
    NamedPlanner{"random", "any legal plan", false, make_random},
};

const NamedPlanner& find(std::string_view name) {
  const auto found = std::ranges::find(planners, name, &NamedPlanner::name);
  expect(found != planners.end(), "no planner of this name");
  return *found;
}

}  // namespace

std::vector<std::string_view> planner_names() {
  std::vector<std::string_view> names;
  for (const NamedPlanner& planner : planners) {
    names.push_back(planner.name);
  }
  return names;
}

std::string_view planner_description(std::string_view name) { return find(name).description; }
bool needs_agent(std::string_view name) { return find(name).needs_agent; }

PlannerFactory planner_factory(std::string_view name, std::shared_ptr<const Environment> environment,
                               const PlanningOptions& options, std::shared_ptr<const Agent> agent) {
  const NamedPlanner& planner = find(name);
  expect(!planner.needs_agent || agent, "this planner needs an agent");
  return [&planner, environment = std::move(environment), options, agent = std::move(agent)] {
    return planner.make(environment, options, agent);
  };
}

}  // namespace skein
