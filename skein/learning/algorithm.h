// The learning algorithms: each is a row of parts, which are chosen apart.
//
// Who trains asks the parts, never which algorithm it is. So a method of one's own is a row, and at most one
// more value of one part:
//
//   options.algorithm = {.name = "h_fl_by_data", .title = "H-FL, weighted by data",
//                        .local_update = LocalUpdate::gradient, .weights = MergeWeights::by_data,
//                        .personal_step = PersonalStep::step};
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace skein {

// What a local update is.
enum class LocalUpdate { meta_gradient, gradient };

// What swarms have in common after a global round.
enum class Sharing {
  model,    // all of it
  nothing,  // swarms learn alone
};

// Who averages with whom. Within a swarm, workers are weighted by the data that they have processed.
enum class Topology {
  hierarchy,  // workers in their swarm every tau_L iterations, swarms every tau_L tau_G
  star,       // all workers every tau_L tau_G iterations; nothing in between
  pooled,     // one worker has the data of all
};

// Of swarms, in the core network's average.
enum class MergeWeights {
  equal,    // no bias towards those with more data
  by_data,  // points processed: as if all workers had sent their models straight to the core network
};

// How long the gradient step is that makes a model the swarm's own.
enum class PersonalStep {
  inner_step,  // that of meta-gradients, which prepare for it
  step,        // that of plain gradient steps
};

// HN-PFL's parts, unless others are said.
struct Algorithm {
  std::string name = "hn_pfl";   // as in scenarios
  std::string title = "HN-PFL";  // for people
  LocalUpdate local_update = LocalUpdate::meta_gradient;
  Sharing shared = Sharing::model;
  Topology topology = Topology::hierarchy;
  MergeWeights weights = MergeWeights::equal;
  PersonalStep personal_step = PersonalStep::inner_step;

  friend bool operator==(const Algorithm&, const Algorithm&) = default;
};

// Those that a scenario can choose.
std::span<const Algorithm> algorithms();
// The name must be one of theirs.
const Algorithm& algorithm(std::string_view name);

}  // namespace skein
