// What a scenario says about learning: the algorithm, its steps and periods, and the constants of its bounds.
#pragma once

#include <array>
#include <cstddef>

namespace skein {

enum class LearningAlgorithm { hn_pfl, h_fl, fed_avg, per_fed_avg, local, central };
enum class MetaGradient { first_order, hessian_free, exact };
enum class LocalStep {
  mini_batch,  // one local iteration is one update, as in the paper's text
  epoch,       // one local iteration is a pass over the worker's data, as in the published study
};

// Constants of the paper's assumptions on the loss (section III-C); defaults from appendix A, and from the
// published code where the text gives none (the Lipschitz constants).
struct BoundConstants {
  double gradient_bound = 500.0;               // B: norm of a gradient
  double gradient_lipschitz = 10.0;            // mu^G
  double meta_lipschitz = 20.0;                // mu^F; the paper's own formula gives at least 4 mu^G
  double gradient_variance = 50.0;             // sigma^G: of a sample's gradient in a worker's data
  double hessian_variance = 50.0;              // sigma^H
  double swarm_gradient_variability = 0.05;    // gamma_u^G: between workers of a swarm
  double swarm_hessian_variability = 0.1;      // gamma_u^H
  double network_gradient_variability = 0.05;  // gamma^G: between swarms
  double network_hessian_variability = 0.1;    // gamma^H
};

struct LearningOptions {
  LearningAlgorithm algorithm = LearningAlgorithm::hn_pfl;
  MetaGradient meta_gradient = MetaGradient::first_order;
  LocalStep local_step = LocalStep::mini_batch;
  double inner_step = 1e-3;                           // eta_1
  double meta_step = 5e-3;                            // eta_2; the bounds need eta_2 < 1 / (6 mu^F)
  std::array<double, 3> batch_ratios{0.1, 0.1, 0.1};  // alpha_1, alpha_2, alpha_3
  std::size_t local_period = 1;                       // tau^L: local iterations between local aggregations
  std::size_t global_period = 1;                      // tau^G: local aggregations between global ones
  std::size_t iterations = 40;
  BoundConstants bound{};
};

}  // namespace skein
