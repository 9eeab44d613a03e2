// The price of energy with which a whole mission is as people wish: a mean accuracy with the least energy, or
// the most accuracy for a budget of energy.
//
// What is past is known, what is left is predicted by a coarse schedule at each price tried; accuracy and
// energy both fall with the price, so that it is found by bisection, from the last decision's on.
#pragma once

#include <functional>
#include <vector>

#include "skein/planning/options.h"
#include "skein/planning/plan.h"

namespace skein {

// Of what is left of a mission.
struct MissionForecast {
  double accuracy_seconds = 0.0;  // of all clusters
  double energy_j = 0.0;
};
using ForecastAtPrice = std::function<MissionForecast(double)>;

class WishedPrice {
 public:
  explicit WishedPrice(const HorizonOptions& options) : options_(options) {}

  void begin() { *this = WishedPrice(options_); }
  // In the order of time.
  void remember(const Observation& observation);
  // Accuracy-seconds per J.
  double find(const Observation& observation, const ForecastAtPrice& forecast);

 private:
  [[nodiscard]] bool may_be_higher(const Observation& observation, const MissionForecast& forecast) const;

  HorizonOptions options_;
  double price_ = 0.0;             // of the last decision; 0: there was none
  double accuracy_seconds_ = 0.0;  // so far, of all clusters
  double seen_s_ = 0.0;
  std::vector<ClusterForecast> seen_;
};

}  // namespace skein
