#include "skein/mission/dimensioning_goal.h"

#include <fmt/format.h>

#include "skein/planning/planners.h"

namespace skein {
namespace {

// Planners aim at just what is wanted, and come out a little on either side of it.
constexpr double near_points = 0.5;
constexpr double near_share = 0.02;

}  // namespace

DimensioningGoal::DimensioningGoal(const Scenario& scenario)
    : by_the_clock_(is_by_the_clock(scenario.planning.planner)),
      options_(scenario.planning.horizon),
      clusters_(static_cast<double>(scenario.world.clusters.sites.count)) {}

Rank DimensioningGoal::rank(const MissionNumbers& m) const {
  const double energy_kj = m.energy_j / 1e3;
  switch (options_.objective) {
    case Objective::price:
      // A point of one cluster over an hour is 1 / (clusters hours) of a point of the mean.
      return {.worth = m.accuracy_percent - options_.energy_price * energy_kj / (clusters_ * m.hours)};
    case Objective::wanted_accuracy: {
      const bool reaches = m.accuracy_percent >= options_.wanted_accuracy_percent - near_points;
      return {.reaches = reaches, .worth = reaches ? -energy_kj : m.accuracy_percent};
    }
    case Objective::energy_budget: {
      const bool reaches = energy_kj <= (1.0 + near_share) * options_.energy_budget_kj;
      return {.reaches = reaches, .worth = reaches ? m.accuracy_percent : -energy_kj};
    }
    case Objective::reward:
      break;
  }
  return {.worth = m.accuracy_percent};
}

bool DimensioningGoal::has_price() const { return options_.objective == Objective::price; }

std::string DimensioningGoal::shortfall() const {
  return options_.objective == Objective::wanted_accuracy
             ? fmt::format("below {:g} %", options_.wanted_accuracy_percent)
         : options_.objective == Objective::energy_budget
             ? fmt::format("over {:g} kJ", options_.energy_budget_kj)
             : "";
}

}  // namespace skein
