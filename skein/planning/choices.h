// The legal plans of a state, with the model's one-step reward of each.
//
// Legal: no two swarms at one site, every flight within the battery, and whoever is above a cluster can still
// reach some station. With the environment's battery mask also: no swarm ends below its threshold, and there
// are stations enough for the swarms that could not go on without one. Where no plan keeps all of this, the
// last condition is dropped, then the mask; staying where one is always counts as within reach. A lost swarm
// stays where it is, and others may go there.
//
// Entries of the tables that are solved on demand are asked for where their bounds leave something open: the
// plans are those that complete tables would give, by the same usual timing.
//
// Of each set of destinations there is one plan, with the timing of the least one-step cost: energies of
// training hardly depend on the timing beside a flight's (docs/results.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "skein/planning/environment.h"

namespace skein {

struct Choices {
  std::size_t num_swarms = 0;
  std::vector<Site> destinations;
  std::vector<std::uint16_t> timings;
  std::vector<double> rewards;  // what step() would give

  [[nodiscard]] std::size_t size() const { return timings.size(); }
  [[nodiscard]] std::span<const Site> of(std::size_t plan) const {
    return {&destinations[plan * num_swarms], num_swarms};
  }
  // The plan with the highest one-step reward, the first of equals.
  [[nodiscard]] std::size_t best() const;
};

// The choices of the highest values, best first, the first of equals first.
std::vector<Alternative> best_alternatives(const Choices& choices, std::span<const double> values,
                                           std::size_t most);

struct ChoiceOptions {
  std::size_t most_plans = 5000;      // more than these are not enumerated
  std::size_t assignment_width = 64;  // instead, so many are kept while swarm after swarm is assigned
};

class ChoiceFinder {
 public:
  explicit ChoiceFinder(const Environment& environment, const ChoiceOptions& options = {});

  // Never empty. Replaces what was in `choices`, whose memory is used again.
  void find(std::span<const double> state, Choices& choices) const;

  enum class Rule { careful, masked, reachable };
  // Whether the swarm may go there.
  [[nodiscard]] bool may_go(std::span<const double> state, std::size_t swarm, std::size_t site,
                            Rule rule) const;
  // Whether the swarm, once there, will have nowhere to go but a station.
  [[nodiscard]] bool will_need_station(std::span<const double> state, std::size_t swarm,
                                       std::size_t site) const;

 private:
  struct Search;
  struct Partial;
  [[nodiscard]] std::size_t entry(std::size_t swarm, std::size_t cluster) const {
    return swarm * environment_.num_clusters + cluster;
  }
  // With so much for training, if the site is a cluster.
  [[nodiscard]] double battery_after(std::span<const double> state, std::size_t swarm, std::size_t site,
                                     double training_j) const;
  // Whether a battery that trains at the cluster has so much left.
  [[nodiscard]] bool leaves(std::span<const double> state, std::size_t swarm, std::size_t cluster,
                            double battery_j) const;
  [[nodiscard]] double training_j(std::size_t swarm, std::size_t cluster) const;  // most of all timings
  [[nodiscard]] double to_go_on_j(std::size_t swarm, std::size_t from) const;
  bool find_with(std::span<const double> state, Rule rule, Choices& choices) const;
  void enumerate(Search& search, Choices& choices) const;
  void assign(Search& search, Choices& choices) const;
  [[nodiscard]] std::vector<Partial> grown(const Search& search, std::size_t swarm,
                                           std::span<const Partial> kept,
                                           std::span<const std::uint64_t> taken, std::size_t timing) const;
  // All timings of them are asked for.
  void prepare(const std::vector<std::vector<Site>>& sites_of_swarms) const;
  void add_plan(const Search& search, std::span<const Site> sites, double cost, const double* objectives,
                Choices& choices) const;

  const Environment& environment_;
  StateLayout at_;
  ChoiceOptions options_;
  std::vector<double> to_station_j_;  // swarm x site: to the nearest station
  // At least and at most: these are equal where entries are solved.
  std::vector<double> least_training_j_, most_training_j_;  // swarm x cluster: most of all timings
  std::vector<double> least_go_on_j_, most_go_on_j_;  // swarm x site: least flight and training from there
};

}  // namespace skein
