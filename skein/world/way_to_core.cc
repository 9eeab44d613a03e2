#include "skein/world/way_to_core.h"

#include <algorithm>
#include <array>
#include <numbers>

#include "skein/base/expect.h"
#include "skein/world/timing.h"

namespace skein {
namespace {

constexpr int num_parts = 48;  // of the distance, to see every valley

// Golden section between two distances.
Way refined(const WayProblem& problem, const RateAt& rate, Length low, Length high) {
  constexpr int steps = 50;
  constexpr double part = 1.0 / std::numbers::phi;
  Way left = way_of(problem, rate, high - part * (high - low));
  Way right = way_of(problem, rate, low + part * (high - low));
  for (int i = 0; i < steps && high - low > Length(1e-4); ++i) {
    if (is_better(right, left, problem.most)) {
      low = left.flown;
      left = right;
      right = way_of(problem, rate, low + part * (high - low));
    } else {
      high = right.flown;
      right = left;
      left = way_of(problem, rate, high - part * (high - low));
    }
  }
  return is_better(right, left, problem.most) ? right : left;
}

}  // namespace

bool landing_pays(const Waiter& who, Time duration) {
  return who.may_land && who.takeoff + who.landed * duration < who.hover * duration;
}

Energy waiting_energy(const Waiter& who, Time duration) {
  return landing_pays(who, duration) ? who.takeoff + who.landed * duration : who.hover * duration;
}

Way way_of(const WayProblem& problem, const RateAt& rate, Length flown) {
  const Time flight = 2.0 * flight_time({.distance = flown, .speed = problem.speed});
  const Time transfer = transfer_time(problem.model, rate(problem.distance - flown));
  Way way{.flown = flown, .duration = flight + 2.0 * transfer};
  way.leader = problem.cruise * flight + 2.0 * (problem.hover * transfer) + problem.transmit * transfer;
  Energy all = way.leader + problem.time_price * way.duration;
  for (const Waiter& other : problem.others) {
    all += waiting_energy(other, way.duration);
  }
  way.cost = all.si();
  return way;
}

bool is_better(const Way& a, const Way& b, Energy most) {
  const bool a_fits = a.leader <= most;
  const bool b_fits = b.leader <= most;
  if (a_fits != b_fits) {
    return a_fits;
  }
  return a_fits ? a.cost < b.cost : a.leader < b.leader;
}

Way best_way(const WayProblem& problem, const RateAt& rate) {
  expect(isfinite(problem.distance) && problem.distance >= Length(0.0), "a way has a finite length");
  std::array<Way, num_parts + 1> tried;
  for (int i = 0; i <= num_parts; ++i) {
    const Length flown = i == num_parts ? problem.distance : (i / double{num_parts}) * problem.distance;
    tried[static_cast<std::size_t>(i)] = way_of(problem, rate, flown);
  }
  const auto better = [&](const Way& a, const Way& b) { return is_better(a, b, problem.most); };
  Way best = better(tried.back(), tried.front()) ? tried.back() : tried.front();
  for (std::size_t i = 0; i < tried.size(); ++i) {
    const Way& before = tried[i > 0 ? i - 1 : 0];
    const Way& after = tried[std::min(i + 1, tried.size() - 1)];
    if (better(before, tried[i]) || better(after, tried[i])) {
      continue;
    }
    const Way valley = refined(problem, rate, before.flown, after.flown);
    best = better(valley, best) ? valley : best;
  }
  return best;
}

}  // namespace skein
