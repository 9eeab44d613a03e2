// What a scenario says about offloading: the leader's problem P (section IV of the paper).
#pragma once

#include <string>

#include "skein/base/distribution.h"
#include "skein/base/names.h"
#include "skein/base/quantity.h"
#include "skein/offloading/accuracy_loss.h"

namespace skein {

// How local rounds of a global round share a battery.
enum class BatterySharing {
  even,   // each round may use as much
  joint,  // all rounds are one problem
};
constexpr auto names_of(BatterySharing) { return names_for<BatterySharing>("even", "joint"); }

// Where a mission's leaders have the constants of the bounds from.
enum class ConstantsSource {
  given,               // the scenario's learning.bound
  measured,            // by the core network, the same for all swarms; before that, the scenario's
  measured_per_swarm,  // by the core network, at each swarm's cluster by itself
};
constexpr auto names_of(ConstantsSource) {
  return names_for<ConstantsSource>("given", "measured", "measured_per_swarm");
}
// When they are measured.
enum class ConstantsMoment { sequence, aggregation };  // at the last global aggregation of each, or at each
constexpr auto names_of(ConstantsMoment) { return names_for<ConstantsMoment>("sequence", "aggregation"); }

// What problem P knows of a round's time.
enum class TimeChoice {
  limit,   // it is limited, and costs nothing
  priced,  // all who stay up hover as long as it takes: their energy is part of the objective
};
constexpr auto names_of(TimeChoice) { return names_for<TimeChoice>("limit", "priced"); }

// What its learning part is.
enum class LearningTerm {
  bound,     // the paper's convergence bounds
  accuracy,  // lost accuracy as predicted: AccuracyLoss
};
constexpr auto names_of(LearningTerm) { return names_for<LearningTerm>("bound", "accuracy"); }

struct OffloadingOptions {
  std::string method = "newton";  // one of offloader_names()
  BatterySharing battery = BatterySharing::even;
  TimeChoice time = TimeChoice::limit;
  LearningTerm learning_term = LearningTerm::bound;
  AccuracyLoss accuracy{};
  double learning_weight = 0.5;  // 1 - theta: of the learning part against energy
  double gradient_weight = 1.0;  // theta_1: of the global meta-gradient's bound
  double mismatch_weight = 1.0;  // theta_2: of the cluster mismatch's bound
  double growth_limit = 2.0;     // of the bound with the periods, before it is tempered
  ConstantsSource constants = ConstantsSource::measured;
  ConstantsMoment constants_moment = ConstantsMoment::sequence;
  // Bits of a data point and of a model; 0: what the data set and the network have.
  Distribution<DataSize> point_size{constant(80), unit::kilobit, non_negative};
  Distribution<DataSize> model_size{constant(10), unit::kilobit, non_negative};
  Distribution<Time> local_time_limit{constant(5), unit::second, positive};  // zeta^Local
};

}  // namespace skein
