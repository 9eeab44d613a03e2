// What makes one composition better than another, under planners by the clock: what the scenario wants.
#pragma once

#include <limits>
#include <string>

#include "skein/scenario/scenario.h"

namespace skein {

// A mission, predicted or flown.
struct MissionNumbers {
  double accuracy_percent = 0.0;  // mean over clusters and time
  double energy_j = 0.0;
  double hours = 0.0;
};

// The greater the better.
struct Rank {
  bool reaches = true;  // what is wanted
  double worth = 0.0;
  friend bool operator>(const Rank& a, const Rank& b) {
    return a.reaches == b.reaches ? a.worth > b.worth : a.reaches;
  }
};
// Of a mission that was not flown.
constexpr Rank no_rank{.reaches = false, .worth = -std::numeric_limits<double>::infinity()};

class DimensioningGoal {
 public:
  explicit DimensioningGoal(const Scenario& scenario);

  [[nodiscard]] bool by_the_clock() const { return by_the_clock_; }
  // With a price, the mean accuracy less the energy at it, in percentage points. For a wanted accuracy the
  // least energy of those that reach it, else the accuracy. For a budget of energy the accuracy of those that
  // stay within it, else the energy. By the paper's objective, the accuracy.
  [[nodiscard]] Rank rank(const MissionNumbers& mission) const;
  // Whether rank goes by percentage points that are neither the accuracy nor the energy.
  [[nodiscard]] bool has_price() const;
  // Why a mission that does not reach it is no answer.
  [[nodiscard]] std::string shortfall() const;

 private:
  bool by_the_clock_;
  HorizonOptions options_;
  double clusters_;
};

}  // namespace skein
