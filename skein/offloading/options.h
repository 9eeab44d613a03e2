// What a scenario says about offloading: the leader's problem P (section IV of the paper).
#pragma once

#include "skein/base/distribution.h"
#include "skein/base/quantity.h"

namespace skein {

enum class OffloadingMethod { newton, algorithm_1, greedy, maximum_processing };

struct OffloadingOptions {
  OffloadingMethod method = OffloadingMethod::newton;
  double learning_weight = 0.5;  // 1 - theta: of the bounds against energy
  double gradient_weight = 1.0;  // theta_1: of the global meta-gradient's bound
  double mismatch_weight = 1.0;  // theta_2: of the cluster mismatch's bound
  Distribution<DataSize> point_size{constant(80), unit::kilobit, positive};  // bits of a data point
  Distribution<DataSize> model_size{constant(10), unit::kilobit, positive};  // bits of a model
  Distribution<Time> local_time_limit{constant(5), unit::second, positive};  // zeta^Local
};

}  // namespace skein
