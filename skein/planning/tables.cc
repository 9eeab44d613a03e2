#include "skein/planning/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace skein {
namespace {

std::vector<double> values_of(const std::vector<Timing>& timings, double Timing::*member) {
  std::vector<double> values;
  for (const Timing& timing : timings) {
    values.push_back(timing.*member);
  }
  std::ranges::sort(values);
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

// The neighbours of `value` on an axis, and the weight of the upper one.
struct Place {
  std::array<double, 2> ends{};
  double weight = 0.0;
};
std::optional<Place> place_on(const std::vector<double>& axis, double value) {
  const auto upper = std::ranges::lower_bound(axis, value);
  if (upper == axis.end() || (upper == axis.begin() && *upper != value)) {
    return std::nullopt;
  }
  if (*upper == value) {
    return Place{.ends = {value, value}};
  }
  const double low = *(upper - 1);
  return Place{.ends = {low, *upper}, .weight = (value - low) / (*upper - low)};
}

}  // namespace

SolvedTables complete(SolvedTables tables) {
  if (tables.source) {
    std::vector<std::size_t> all(tables.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    tables.prepare(all);
    for (const std::size_t index : all) {
      const SolvedEntry entry = tables.source->entry(index);
      tables.objective.push_back(entry.objective);
      tables.training_energy_j.push_back(entry.training_energy_j);
    }
    tables.source = nullptr;
  }
  return tables;
}

std::size_t usual_timing(const SolvedTables& tables) {
  std::vector<double> sums(tables.timings.size(), 0.0);
  for (std::size_t i = 0; i < tables.size(); ++i) {
    sums[i / (tables.num_swarms * tables.num_clusters)] += tables.bounds_at(i).least_objective;
  }
  return static_cast<std::size_t>(std::ranges::min_element(sums) - sums.begin());
}

std::vector<InputFault> faults_of(const SolvedTables& tables) {
  std::vector<InputFault> faults;
  const std::size_t expected = tables.source ? 0 : tables.size();
  if (tables.timings.empty()) {
    faults.push_back({.key = "timings", .message = "must not be empty"});
  }
  for (const Timing& timing : tables.timings) {
    if (!(timing.duration >= 1.0 && timing.local_period >= 1.0 && timing.global_period >= 1.0)) {
      faults.push_back({.key = "timings",
                        .value = fmt::format("[{:g}, {:g}, {:g}]", timing.duration, timing.local_period,
                                             timing.global_period),
                        .message = "must be three numbers of at least 1"});
    }
  }
  for (const auto& [values, key] :
       {std::pair{&tables.objective, "objective"}, {&tables.training_energy_j, "training_energy_j"}}) {
    if (values->size() != expected) {
      faults.push_back({.key = key,
                        .message = fmt::format("has {} numbers; needs timings x swarms x clusters = {}",
                                               values->size(), expected)});
    }
    const auto bad = std::ranges::find_if(*values, [](double x) { return !(std::isfinite(x) && x >= 0.0); });
    if (bad != values->end()) {
      faults.push_back(
          {.key = key, .value = fmt::format("{:g}", *bad), .message = "must be a number of at least 0"});
    }
  }
  return faults;
}

std::optional<SolvedEntry> interpolated(const SolvedTables& tables, const Timing& timing, std::size_t swarm,
                                        std::size_t cluster) {
  const std::array places{place_on(values_of(tables.timings, &Timing::duration), timing.duration),
                          place_on(values_of(tables.timings, &Timing::local_period), timing.local_period),
                          place_on(values_of(tables.timings, &Timing::global_period), timing.global_period)};
  if (!std::ranges::all_of(places, [](const auto& place) { return place.has_value(); })) {
    return std::nullopt;
  }
  SolvedEntry sum;
  for (std::size_t corner = 0; corner < 8; ++corner) {
    std::array<double, 3> at{};
    double weight = 1.0;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const bool upper = (corner >> axis & 1U) != 0;
      at[axis] = places[axis]->ends[upper ? 1 : 0];
      weight *= upper ? places[axis]->weight : 1.0 - places[axis]->weight;
    }
    if (weight == 0.0) {
      continue;
    }
    const auto found = std::ranges::find(tables.timings, Timing{at[0], at[1], at[2]});
    if (found == tables.timings.end()) {
      return std::nullopt;
    }
    const std::size_t index =
        tables.index(static_cast<std::size_t>(found - tables.timings.begin()), swarm, cluster);
    sum.objective += weight * tables.objective_at(index);
    sum.training_energy_j += weight * tables.training_j_at(index);
  }
  return sum;
}

std::vector<Timing> timing_grid(const std::vector<double>& durations,
                                const std::vector<double>& local_periods,
                                const std::vector<double>& global_periods) {
  std::vector<Timing> timings;
  for (const double duration : durations) {
    for (const double local : local_periods) {
      for (const double global : global_periods) {
        timings.push_back({duration, local, global});
      }
    }
  }
  return timings;
}

SolvedTables closed_form_tables(const std::vector<Timing>& timings, const std::vector<double>& loads,
                                std::size_t num_clusters) {
  SolvedTables tables{.num_swarms = loads.size(), .num_clusters = num_clusters, .timings = timings};
  for (const Timing& timing : timings) {
    for (const double load : loads) {
      const double energy = load * (timing.duration / 4.0 + 0.3 * timing.duration / timing.local_period);
      const double objective = 2400.0 / std::sqrt(timing.duration) +
                               25.0 * (timing.local_period * timing.global_period - 1.0) + energy / 2.0;
      tables.objective.insert(tables.objective.end(), num_clusters, objective);
      tables.training_energy_j.insert(tables.training_energy_j.end(), num_clusters, energy);
    }
  }
  return tables;
}

}  // namespace skein
