#include "skein/planning/wished_price.h"

#include <algorithm>
#include <cmath>

#include "skein/planning/forecast.h"

namespace skein {

// Visits come at the end of what lies between two observations.
void WishedPrice::remember(const Observation& o) {
  for (const ClusterForecast& f : seen_) {
    const AccuracyPath path{.accuracy = f.accuracy,
                            .loss_per_s = std::max(0.0, f.loss_per_s),
                            .floor = std::min(f.accuracy, least_accuracy_share * f.visited_accuracy)};
    accuracy_seconds_ += path.integral(o.now_s - seen_s_);
  }
  seen_s_ = o.now_s;
  seen_ = o.forecasts;
}

bool WishedPrice::may_be_higher(const Observation& o, const MissionForecast& forecast) const {
  if (options_.objective == Objective::energy_budget) {
    return o.spent_j + forecast.energy_j > options_.energy_budget_kj * 1e3;
  }
  const double whole_s = (o.now_s + o.left_s) * static_cast<double>(o.forecasts.size());
  return accuracy_seconds_ + forecast.accuracy_seconds > 0.01 * options_.wanted_accuracy_percent * whole_s;
}

double WishedPrice::find(const Observation& o, const ForecastAtPrice& forecast) {
  constexpr double least = 2e-4;  // accuracy-seconds per J
  constexpr double most = 1e1;
  constexpr int first_steps = 12;
  constexpr double step = 2.0;  // between decisions at most
  constexpr int steps = 4;
  const bool is_first = price_ == 0.0;
  double low = std::log(is_first ? least : std::max(least, price_ / step));
  double high = std::log(is_first ? most : std::min(most, price_ * step));
  for (int i = 0; i < (is_first ? first_steps : steps); ++i) {
    const double middle = 0.5 * (low + high);
    (may_be_higher(o, forecast(std::exp(middle))) ? low : high) = middle;
  }
  price_ = std::exp(0.5 * (low + high));
  return price_;
}

}  // namespace skein
