// The convergence bounds of HN-PFL (the paper, section III-C).
//
// Each formula is written once, for any number type: `double` in the simulator, LogNumber where it overflows,
// dual numbers for derivatives, anything with + * / for a decision's mini-batches. Constants of the loss are
// plain numbers. None has a unit that people use: losses are in nats, gradients in nats per parameter.
//
// What the paper leaves unsaid, or says wrong (docs/notation.md has the whole list):
//  - Mini-batch error and variability need eta_1 mu^G <= 1, as in the source of their proofs.
//  - The left side of its proposition on parameter variability is zero for any models: a weighted sum of
//    deviations from the mean with the same weights. Its proof bounds the mean of squared deviations, and
//    that is what Upsilon bounds here.
//  - sigma and gamma are bounds of squared norms already; the appendix squares them again.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "skein/base/expect.h"
#include "skein/base/input_fault.h"
#include "skein/base/log_number.h"
#include "skein/learning/options.h"

namespace skein {

// Step sizes and periods.
struct BoundSteps {
  double inner_step = 1e-3;       // eta_1
  double meta_step = 1e-4;        // eta_2
  std::size_t local_period = 1;   // tau^L: updates between local aggregations
  std::size_t global_period = 1;  // tau^G: local aggregations between global ones

  [[nodiscard]] double local_updates() const { return static_cast<double>(local_period); }
  [[nodiscard]] double global_updates() const { return static_cast<double>(local_period * global_period); }
};
BoundSteps bound_steps(const LearningOptions& options);

// What a bound needs and the numbers do not give, in words; empty if all holds.
std::vector<std::string> unmet_conditions(const BoundSteps& steps, const BoundConstants& constants);
// eta_2 < 1 / (6 mu^F): what the bound of the global meta-gradient needs.
bool gradient_bound_holds(const BoundSteps& steps, const BoundConstants& constants);
// Where it does not, under the scenario's keys. Training does not need it: only who uses a bound must refuse.
std::vector<InputFault> bound_faults(const LearningOptions& learning);

// The same constants, with mu^F and mu^G no larger than the bounds allow, and none below what makes sense:
// measured ones may break either.
BoundConstants within_conditions(const BoundSteps& steps, BoundConstants constants);

// mu^F = 4 mu^G + eta_1 mu^H B: Lipschitz constant of the meta-gradient, for eta_1 mu^G <= 1.
double meta_lipschitz(double gradient_lipschitz, double hessian_lipschitz, double gradient_bound,
                      double inner_step);

// A worker's data and the parts of it in its three mini-batches: inner gradient, outer gradient, Hessian.
template <class Scalar>
struct MiniBatches {
  Scalar points{};                 // D_j
  std::array<Scalar, 3> ratios{};  // alpha_j,1 alpha_j,2 alpha_j,3
};

// The mini-batch error in the form that problem P uses.
struct ErrorCoefficients {
  double a = 0.0;  // 3 eta_1^2 sigma^H B^2
  double b = 0.0;  // 3 eta_1^2 sigma^H sigma^G
  double c = 0.0;  // (eta_1 mu^G)^2
  double d = 0.0;  // 12 sigma^G
};
ErrorCoefficients error_coefficients(const BoundConstants& constants, double inner_step);

// Mini-batch against full-batch meta-gradient (lemma 1), sigma_j^F:
//
//   E |grad F~_j - grad F_j|^2 <= a / (alpha_3 D) + b (1/alpha_2 + c/alpha_1) / (alpha_3 D^2)
//                                 + d (1/alpha_2 + c/alpha_1) / D
//
// for batches drawn independently, with replacement.
template <class Scalar>
Scalar mini_batch_error(const ErrorCoefficients& k, const MiniBatches<Scalar>& batches) {
  const auto& [points, ratios] = batches;
  const Scalar gradients = 1.0 / ratios[1] + k.c / ratios[0];
  return k.a / (ratios[2] * points) + k.b * gradients / (ratios[2] * points * points) +
         k.d * gradients / points;
}

// A worker's part of the mismatch between swarm and cluster (lemma 3): all of its data as each mini-batch,
// and the constants of the cluster's devices. The paper treats the three uses of the same data as
// independent.
template <class Scalar>
Scalar sampling_error(const ErrorCoefficients& cluster, const Scalar& points) {
  return mini_batch_error(cluster, MiniBatches<Scalar>{points, {Scalar(1.0), Scalar(1.0), Scalar(1.0)}});
}

// sum_j Delta_j e_j / sum_j Delta_j: a swarm's mean of its workers' errors by the data they process. The
// mismatch Xi^ of one swarm is this mean of sampling errors.
template <class Scalar>
Scalar weighted_mean(std::span<const Scalar> weights, std::span<const Scalar> values) {
  expect(weights.size() == values.size() && !weights.empty(), "a mean needs a weight per value");
  Scalar total = weights[0];
  Scalar sum = weights[0] * values[0];
  for (std::size_t i = 1; i < weights.size(); ++i) {
    total = total + weights[i];
    sum = sum + weights[i] * values[i];
  }
  return sum / total;
}

// Variability of meta-gradients (lemma 2): gamma_u^F between the workers of a swarm, and gamma^F between
// swarms, from that of gradients and Hessians:
//
//   3 B^2 eta_1^2 gamma^H + 192 gamma^G
double swarm_variability(const BoundConstants& constants, double inner_step);
double network_variability(const BoundConstants& constants, double inner_step);

// r = 8 + 48 (eta_2 mu^F)^2: by so much the deviations of models may grow in an update. The paper's proof
// gives half of it: it drops a factor 2 when it solves its recursion.
double growth_ratio(const BoundSteps& steps, const BoundConstants& constants);
// log((r^n - 1) / (r - 1)), for any n. The paper writes (1 - r^n) / (1 - r), both parts negative.
double log_growth_sum(double growth, double num_updates);
template <class Scalar>
Scalar growth_sum(double growth, double num_updates) {
  const double log = log_growth_sum(growth, num_updates);
  if constexpr (requires { Scalar::from_log(log); }) {
    return Scalar::from_log(log);
  } else {
    return Scalar(std::exp(log));
  }
}

// Means over the active swarms, over their workers weighted by data: sigma^F summed over the last tau^L, and
// the last tau^L tau^G updates; gamma_u^F and gamma^F.
template <class Scalar>
struct VariabilityInputs {
  Scalar local_error_sum{};
  Scalar global_error_sum{};
  Scalar swarm_variability{};
  Scalar network_variability{};
};
// With the same error in every update.
template <class Scalar>
VariabilityInputs<Scalar> steady_inputs(const BoundSteps& steps, const Scalar& error,
                                        const Scalar& swarm_variability, const Scalar& network_variability) {
  return {steps.local_updates() * error, steps.global_updates() * error, swarm_variability,
          network_variability};
}

// Parameter variability across workers (proposition 1), Upsilon = within + between:
//
//   (1/U) sum_u sum_j Delta_j / Delta-bar_u E |w_j - w-bar|^2
//     <= (16 eta_2^2 sum_{y=1..tau^L} sigma^F + 24 eta_2^2 gamma_u^F) (r^tau^L - 1) / (r - 1)
//      + (16 eta_2^2 sum_{y=1..tau^L tau^G} sigma^F + 24 eta_2^2 gamma^F) (r^(tau^L tau^G) - 1) / (r - 1)
//
// just before a global aggregation. The first part is what models deviate from their swarm's.
template <class Scalar>
struct ParameterVariability {
  Scalar within{};
  Scalar between{};

  [[nodiscard]] Scalar total() const { return within + between; }
};
template <class Scalar>
ParameterVariability<Scalar> parameter_variability(const BoundSteps& steps, const BoundConstants& constants,
                                                   const VariabilityInputs<Scalar>& inputs) {
  const double r = growth_ratio(steps, constants);
  const double square = steps.meta_step * steps.meta_step;
  return {(16.0 * square * inputs.local_error_sum + 24.0 * square * inputs.swarm_variability) *
              growth_sum<Scalar>(r, steps.local_updates()),
          (16.0 * square * inputs.global_error_sum + 24.0 * square * inputs.network_variability) *
              growth_sum<Scalar>(r, steps.global_updates())};
}

// Global meta-gradient over a training sequence (theorem 1), Xi = start + error + parameters + variability:
//
//   (1/T) sum_t E |grad F-bar(w(t))|^2
//     <= 1 / (eta_2/2 - 3 eta_2^2 mu^F) [ (F(w(0)) - F*) / T
//        + (3 eta_2^2 mu^F / 2 + eta_2) (mean_t sigma^F + (mu^F)^2 mean_k' Upsilon)
//        + 3 eta_2^2 mu^F mean_u gamma_u^F ]
//
// for eta_2 < 1 / (6 mu^F).
template <class Scalar>
struct GradientBound {
  Scalar start{};        // from F(w(0)) - F*
  Scalar error{};        // of mini-batches, in the updates themselves
  Scalar parameters{};   // from Upsilon
  Scalar variability{};  // from gamma_u^F

  [[nodiscard]] Scalar total() const { return start + error + parameters + variability; }
};
template <class Scalar>
struct GradientInputs {
  Scalar start_gap{};          // F(w(0)) - F*, or more
  double num_updates = 1.0;    // T
  Scalar error{};              // mean sigma^F
  Scalar parameters{};         // mean Upsilon
  Scalar swarm_variability{};  // mean gamma_u^F
};
// Only where gradient_bound_holds.
template <class Scalar>
GradientBound<Scalar> gradient_bound(const BoundSteps& steps, const BoundConstants& constants,
                                     const GradientInputs<Scalar>& inputs) {
  expect(gradient_bound_holds(steps, constants), "the bound of the meta-gradient needs a smaller meta_step");
  const double eta = steps.meta_step;
  const double mu = constants.meta_lipschitz;
  const double scale = 1.0 / (eta / 2.0 - 3.0 * eta * eta * mu);
  const double weight = scale * (1.5 * eta * eta * mu + eta);
  return {scale / inputs.num_updates * inputs.start_gap, weight * inputs.error,
          weight * mu * mu * inputs.parameters, scale * 3.0 * eta * eta * mu * inputs.swarm_variability};
}

// What problem P has of the bounds, for a swarm.
struct SwarmBoundSetting {
  BoundConstants constants{};
  BoundSteps steps{};
  double gradient_weight = 1.0;  // theta_1
  double mismatch_weight = 1.0;  // theta_2
  // gamma_u^F and gamma^F; by the constants if not given.
  std::optional<double> swarm_variability{};
  std::optional<double> network_variability{};
  // The published code adds both once for each worker.
  std::size_t variability_repeats = 1;
  // Growth of the bound beyond this is tempered; infinity leaves it as it is. See below.
  double growth_limit = 2.0;
};

// theta_1 Xi + theta_2 Xi^ as a function of what a swarm's workers process, where the same decision holds for
// all updates. Xi is affine in the mean error of mini-batches, also through Upsilon:
//
//   gradient_error_weight * mean_j(mini-batch error) + mismatch_weight * mean_j(sampling error) + constant
//
// without the term of F(w(0)) - F*, which no decision changes.
//
// Xi grows with r^(tau^L tau^G), r > 8: at (8, 8) by a factor of 10^54. In P a weight of that size leaves
// nothing of energy, whatever theta. So with
//
//   growth g = gradient_error_weight / its value for Upsilon = 0
//
// a growth above `growth_limit` L counts as L (2 - 1 / (1 + log(g / L))): unchanged up to L, without a jump
// in value or slope, larger for longer periods still, and never more than 2 L, so that a weight of learning
// means about the same for all periods. The constant's share of Upsilon is divided by the same factor.
// `log_scale` is the logarithm of that factor: 0 where nothing was tempered.
struct SwarmBoundCoefficients {
  double a = 0.0, b = 0.0, c = 0.0, d = 0.0;  // ErrorCoefficients
  double gradient_error_weight = 0.0;
  double mismatch_weight = 0.0;
  double constant = 0.0;
  double log_growth = 0.0;  // of the bound as it is
  double log_scale = 0.0;   // true weight = gradient_error_weight * e^log_scale

  [[nodiscard]] bool tempered() const { return log_scale > 0.0; }
  [[nodiscard]] ErrorCoefficients error() const { return {a, b, c, d}; }
};
// Nothing where gradient_bound_holds does not.
std::optional<SwarmBoundCoefficients> swarm_bound_coefficients(const SwarmBoundSetting& setting);

// "grows by a factor of 10^54.6 ... ": what was tempered, for people; empty if nothing was.
std::string growth_report(const SwarmBoundCoefficients& coefficients, const BoundSteps& steps);

}  // namespace skein
