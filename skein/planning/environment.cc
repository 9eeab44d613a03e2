#include "skein/planning/environment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "skein/base/expect.h"

namespace skein {
namespace {

void check_sizes(const Environment& e, InputFaults& faults) {
  const std::size_t sites = e.num_sites();
  const auto size = [&](const auto& list, std::string_view key, std::size_t expected) {
    if (list.size() != expected) {
      faults.add({.key = std::string(key),
                  .message = fmt::format("has {} numbers instead of {}", list.size(), expected)});
    }
  };
  size(e.travel_j, "distance_m", e.num_swarms * sites * sites);
  size(e.distance_m, "distance_m", sites * sites);
  size(e.capacity_j, "battery_capacity_j", e.num_swarms);
  size(e.threshold_j, "threshold_j", e.num_swarms);
  size(e.drift.start, "drift", e.num_clusters);
  size(e.drift.end, "drift", e.num_clusters);
  for (const double distance : e.travel_j) {
    if (!(std::isfinite(distance) && distance >= 0.0)) {
      faults.add({.key = "distance_m",
                  .value = fmt::format("{:g}", distance),
                  .message = "must be a number of at least 0"});
      break;
    }
  }
  for (const auto* drifts : {&e.drift.start, &e.drift.end}) {
    for (const double drift : *drifts) {
      if (!(std::isfinite(drift) && drift >= 0.0)) {
        faults.add({.key = "drift",
                    .value = fmt::format("{:g}", drift),
                    .message = "must be a number of at least 0"});
      }
    }
  }
}

// Sizes are right.
void check_reach(const Environment& e, InputFaults& faults) {
  for (std::size_t u = 0; u < e.num_swarms; ++u) {
    for (std::size_t r = e.num_clusters; r < e.num_sites(); ++r) {
      double least = e.travel(u, 0, r);
      for (std::size_t c = 1; c < e.num_clusters; ++c) {
        least = std::min(least, e.travel(u, c, r));
      }
      if (least > e.capacity_j[u]) {
        faults.add(
            {.key = "distance_m",
             .message = fmt::format("station {} is out of reach of every cluster: swarm {} needs {:.1f} kJ "
                                    "from the nearest, its full battery has {:.1f} kJ",
                                    e.site_name(r), u + 1, least / 1e3, e.capacity_j[u] / 1e3)});
      }
    }
    bool can_work = false;
    for (std::size_t r = e.num_clusters; r < e.num_sites(); ++r) {
      for (std::size_t c = 0; c < e.num_clusters; ++c) {
        const double left =
            e.capacity_j[u] - e.travel(u, r, c) - e.tables.training_j_at(e.tables.index(0, u, c));
        can_work = can_work || (left >= e.threshold_j[u] && left >= e.travel(u, c, r));
      }
    }
    if (!can_work) {
      faults.add(
          {.key = "threshold_j",
           .value = fmt::format("{:g}", e.threshold_j[u]),
           .message = fmt::format("swarm {} cannot fly from any station to any cluster, train there and stay "
                                  "above its threshold with a full battery of {:.1f} kJ",
                                  u + 1, e.capacity_j[u] / 1e3)});
    }
  }
}

}  // namespace

std::string Environment::site_name(std::size_t site) const {
  return is_station(site) ? fmt::format("R:{}", site - num_clusters + 1) : fmt::format("C:{}", site + 1);
}

std::vector<InputFault> faults_of(const Environment& e) {
  InputFaults faults;
  if (e.num_swarms == 0 || e.num_clusters < e.num_swarms || e.num_stations == 0 || e.num_sites() > 10000) {
    faults.add(
        {.key = "sites",
         .message = fmt::format("{} swarms, {} clusters, {} stations: there must be a swarm, a station, at "
                                "least as many clusters as swarms, and at most 10000 sites",
                                e.num_swarms, e.num_clusters, e.num_stations)});
    return faults.list();
  }
  check_sizes(e, faults);
  faults.add_all(faults_of(e.tables));
  if (e.tables.num_swarms != e.num_swarms || e.tables.num_clusters != e.num_clusters) {
    faults.add(
        {.key = "objective",
         .message = fmt::format("is for {} swarms and {} clusters instead of {} and {}", e.tables.num_swarms,
                                e.tables.num_clusters, e.num_swarms, e.num_clusters)});
  }
  if (!faults.empty()) {
    return faults.list();
  }
  bool thresholds_fit = true;
  for (std::size_t u = 0; u < e.num_swarms; ++u) {
    if (!(std::isfinite(e.capacity_j[u]) && e.threshold_j[u] >= 0.0 && e.threshold_j[u] < e.capacity_j[u])) {
      faults.add(
          {.key = "threshold_j",
           .value = fmt::format("{:g}", e.threshold_j[u]),
           .message = fmt::format("must be at least 0 and below the battery's capacity of {:g} J: swarm {} "
                                  "could never leave a station",
                                  e.capacity_j[u], u + 1)});
      thresholds_fit = false;
    }
  }
  if (thresholds_fit) {
    check_reach(e, faults);
  }
  return faults.list();
}

Outcome step(const Environment& e, std::span<double> state, std::span<const Site> destinations,
             std::size_t timing) {
  const StateLayout at(e);
  double* const position = &state[at.position()];
  double* const battery = &state[at.battery()];
  double* const age = &state[at.age()];
  double* const drift = &state[at.drift()];
  double* const drift_sum = &state[at.drift_sum()];
  double* const left = &state[at.gradient()];
  for (std::size_t c = 0; c < e.num_clusters; ++c) {
    age[c] += 1.0;
    drift_sum[c] += drift[c];
  }
  SequenceCosts costs;
  for (std::size_t u = 0; u < e.num_swarms; ++u) {
    const Site to = destinations[u];
    if (is_lost(at, state, u)) {
      continue;
    }
    const double flight = e.travel(u, static_cast<std::size_t>(position[u]), to);
    costs.travel_j += flight;
    battery[u] -= flight;
    position[u] = to;
    if (e.is_station(to)) {
      battery[u] =
          e.recharge_j > 0.0 ? std::min(e.capacity_j[u], battery[u] + e.recharge_j) : e.capacity_j[u];
      ++costs.recharging;
    } else {
      const std::size_t entry = e.tables.index(timing, u, to);
      battery[u] -= e.tables.training_j_at(entry);
      costs.objective_sum += e.tables.objective_at(entry);
      age[to] = 0.0;
      drift_sum[to] = 0.0;
      left[to] = e.reward.visited_gradient;
    }
    costs.below_threshold += battery[u] < e.threshold_j[u] ? 1 : 0;
  }
  for (std::size_t c = 0; c < e.num_clusters; ++c) {
    costs.gradient_sum += age[c] > 0.0 ? e.gradient(age[c], drift[c], drift_sum[c], left[c]) : 0.0;
  }
  const Outcome outcome{.reward = reward(e.reward, costs),
                        .learning_objective = worth(e.reward, learning_cost(e.reward, costs)),
                        .travel_j = costs.travel_j,
                        .below_threshold = costs.below_threshold};
  state[at.timing()] = static_cast<double>(timing);
  state[at.sequence()] += 1.0;
  if (e.drift.sequences > 0) {
    for (std::size_t c = 0; c < e.num_clusters; ++c) {
      drift[c] = e.drift.at(c, state[at.sequence()]);
    }
  }
  return outcome;
}

void step_all(const Environment& e, States& states, std::span<const Site> destinations,
              std::span<const std::size_t> timings, std::span<Outcome> outcomes, ThreadPool& pool) {
  constexpr std::size_t chunk = 256;  // states that one call takes on
  const std::size_t count = states.size();
  expect(destinations.size() == count * e.num_swarms && timings.size() == count && outcomes.size() == count,
         "a plan and an outcome for each state");
  pool.parallel_for((count + chunk - 1) / chunk, [&](std::size_t part) {
    for (std::size_t i = part * chunk; i < std::min(count, (part + 1) * chunk); ++i) {
      outcomes[i] = step(e, states[i], destinations.subspan(i * e.num_swarms, e.num_swarms), timings[i]);
    }
  });
}

void start_at(const Environment& e, std::span<const Site> positions, std::span<double> state) {
  const StateLayout at(e);
  std::ranges::fill(state, 0.0);
  for (std::size_t c = 0; c < e.num_clusters; ++c) {
    state[at.age() + c] = e.start_age;
    state[at.drift() + c] = e.drift.at(c, 0.0);
    state[at.drift_sum() + c] = e.start_age * e.drift.at(c, 0.0);
    state[at.gradient() + c] = e.reward.visited_gradient;
  }
  for (std::size_t u = 0; u < e.num_swarms; ++u) {
    state[at.position() + u] = positions[u];
    state[at.battery() + u] = e.capacity_j[u];
    if (!e.is_station(positions[u])) {
      state[at.age() + positions[u]] = 0.0;
      state[at.drift_sum() + positions[u]] = 0.0;
    }
  }
}

void start_anywhere(const Environment& e, RandomStream& stream, std::span<double> state) {
  std::vector<Site> positions;
  for (const std::size_t cluster : stream.choose(e.num_clusters, e.num_swarms)) {
    positions.push_back(static_cast<Site>(cluster));
  }
  start_at(e, positions, state);
}

void start_later(const Environment& e, std::size_t sequence, std::span<double> state) {
  const StateLayout at(e);
  state[at.sequence()] = static_cast<double>(sequence);
  for (std::size_t c = 0; c < e.num_clusters; ++c) {
    state[at.drift() + c] = e.drift.at(c, static_cast<double>(sequence));
    state[at.drift_sum() + c] = state[at.age() + c] * state[at.drift() + c];
  }
}

Observation observe(const Environment& e, std::span<const double> state) {
  const StateLayout at(e);
  Observation observation{.sequence = static_cast<std::size_t>(state[at.sequence()]),
                          .timing = e.tables.timings[static_cast<std::size_t>(state[at.timing()])]};
  for (std::size_t u = 0; u < e.num_swarms; ++u) {
    const Site site = static_cast<Site>(state[at.position() + u]);
    observation.positions.push_back(site);
    observation.active.push_back(!e.is_station(site));
    observation.batteries.emplace_back(state[at.battery() + u]);
  }
  const auto numbers = [&](std::size_t first) {
    return std::vector<double>(&state[first], &state[first] + e.num_clusters);
  };
  observation.ages = numbers(at.age());
  observation.drifts = numbers(at.drift());
  observation.drift_sums = numbers(at.drift_sum());
  observation.gradients = numbers(at.gradient());
  return observation;
}

void restore(const Environment& e, const Observation& observation, std::span<double> state) {
  expect(observation.positions.size() == e.num_swarms && observation.batteries.size() == e.num_swarms &&
             observation.ages.size() == e.num_clusters && observation.drifts.size() == e.num_clusters &&
             observation.drift_sums.size() == e.num_clusters &&
             observation.gradients.size() == e.num_clusters,
         "an observation of another environment");
  const StateLayout at(e);
  for (std::size_t u = 0; u < e.num_swarms; ++u) {
    state[at.position() + u] = observation.positions[u];
    state[at.battery() + u] = observation.batteries[u].si();
  }
  std::ranges::copy(observation.ages, &state[at.age()]);
  std::ranges::copy(observation.drifts, &state[at.drift()]);
  std::ranges::copy(observation.drift_sums, &state[at.drift_sum()]);
  std::ranges::copy(observation.gradients, &state[at.gradient()]);
  state[at.timing()] = static_cast<double>(timing_index(e, observation.timing));
  state[at.sequence()] = static_cast<double>(observation.sequence);
}

std::size_t timing_index(const Environment& e, const Timing& timing) {
  const auto found = std::ranges::find(e.tables.timings, timing);
  expect(found != e.tables.timings.end(), "a timing that is not in the tables");
  return static_cast<std::size_t>(found - e.tables.timings.begin());
}

Plan make_plan(const Environment& e, std::span<const Site> destinations, std::size_t timing) {
  Plan plan{.destinations = {destinations.begin(), destinations.end()}, .timing = e.tables.timings[timing]};
  for (const Site site : destinations) {
    plan.active.push_back(!e.is_station(site));
  }
  return plan;
}

}  // namespace skein
