#include "skein/bounds/bounds.h"

#include <fmt/format.h>

#include <algorithm>

namespace skein {
namespace {

double variability(const BoundConstants& constants, double inner_step, double gradients, double hessians) {
  const double moved = constants.gradient_bound * inner_step;
  return 3.0 * moved * moved * hessians + 192.0 * gradients;
}

// Xi for the same error in every update, theta_1 times; without the start's gap.
GradientBound<LogNumber> steady_bound(const SwarmBoundSetting& setting, LogNumber error,
                                      LogNumber swarm_variability, LogNumber network_variability) {
  const auto inputs = steady_inputs(setting.steps, error, swarm_variability, network_variability);
  return gradient_bound<LogNumber>(
      setting.steps, setting.constants,
      {.error = error,
       .parameters = parameter_variability(setting.steps, setting.constants, inputs).total(),
       .swarm_variability = swarm_variability});
}

double tempered_log(double log_growth, double limit) {
  const double excess = log_growth - std::log(limit);
  return excess > 0.0 ? std::log(limit) + std::log(2.0 - 1.0 / (1.0 + excess)) : log_growth;
}

}  // namespace

BoundSteps bound_steps(const LearningOptions& options) {
  return {.inner_step = options.inner_step,
          .meta_step = options.meta_step,
          .local_period = options.local_period,
          .global_period = options.global_period};
}

bool gradient_bound_holds(const BoundSteps& steps, const BoundConstants& constants) {
  return 6.0 * steps.meta_step * constants.meta_lipschitz < 1.0;
}

std::vector<InputFault> bound_faults(const LearningOptions& learning) {
  if (gradient_bound_holds(bound_steps(learning), learning.bound)) {
    return {};
  }
  return {
      {.key = "learning.meta_step",
       .value = fmt::format("{:g}", learning.meta_step),
       .message = fmt::format("is not below 1 / (6 learning.bound.meta_lipschitz) = {:g}: the convergence "
                              "bounds do not hold",
                              1.0 / (6.0 * learning.bound.meta_lipschitz))}};
}

BoundConstants within_conditions(const BoundSteps& steps, BoundConstants constants) {
  constexpr double share = 0.9;  // of the largest allowed
  constexpr double least = 1e-9;
  constants.meta_lipschitz = std::clamp(constants.meta_lipschitz, least, share / (6.0 * steps.meta_step));
  constants.gradient_lipschitz = std::clamp(constants.gradient_lipschitz, least, share / steps.inner_step);
  for (double BoundConstants::*value :
       {&BoundConstants::gradient_bound, &BoundConstants::gradient_variance,
        &BoundConstants::hessian_variance, &BoundConstants::swarm_gradient_variability,
        &BoundConstants::swarm_hessian_variability, &BoundConstants::network_gradient_variability,
        &BoundConstants::network_hessian_variability}) {
    constants.*value = std::max(constants.*value, least);
  }
  return constants;
}

std::vector<std::string> unmet_conditions(const BoundSteps& steps, const BoundConstants& constants) {
  std::vector<std::string> unmet;
  if (!gradient_bound_holds(steps, constants)) {
    unmet.push_back(fmt::format(
        "meta_step = {:g} is not below 1 / (6 mu^F) = {:g}: there is no bound of the global meta-gradient",
        steps.meta_step, 1.0 / (6.0 * constants.meta_lipschitz)));
  }
  if (!(steps.inner_step * constants.gradient_lipschitz <= 1.0)) {
    unmet.push_back(
        fmt::format("inner_step = {:g} is above 1 / mu^G = {:g}: the proofs of mini-batch error, "
                    "variability and mu^F do not hold",
                    steps.inner_step, 1.0 / constants.gradient_lipschitz));
  }
  if (constants.meta_lipschitz < 4.0 * constants.gradient_lipschitz) {
    unmet.push_back(
        fmt::format("mu^F = {:g} is below 4 mu^G = {:g}, which the formula mu^F = 4 mu^G + eta_1 mu^H B "
                    "gives at least",
                    constants.meta_lipschitz, 4.0 * constants.gradient_lipschitz));
  }
  return unmet;
}

double meta_lipschitz(double gradient_lipschitz, double hessian_lipschitz, double gradient_bound,
                      double inner_step) {
  return 4.0 * gradient_lipschitz + inner_step * hessian_lipschitz * gradient_bound;
}

ErrorCoefficients error_coefficients(const BoundConstants& constants, double inner_step) {
  const double square = inner_step * inner_step;
  const double moved = inner_step * constants.gradient_lipschitz;
  return {
      .a = 3.0 * square * constants.hessian_variance * constants.gradient_bound * constants.gradient_bound,
      .b = 3.0 * square * constants.hessian_variance * constants.gradient_variance,
      .c = moved * moved,
      .d = 12.0 * constants.gradient_variance};
}

double swarm_variability(const BoundConstants& constants, double inner_step) {
  return variability(constants, inner_step, constants.swarm_gradient_variability,
                     constants.swarm_hessian_variability);
}

double network_variability(const BoundConstants& constants, double inner_step) {
  return variability(constants, inner_step, constants.network_gradient_variability,
                     constants.network_hessian_variability);
}

double growth_ratio(const BoundSteps& steps, const BoundConstants& constants) {
  const double moved = steps.meta_step * constants.meta_lipschitz;
  return 8.0 + 48.0 * moved * moved;
}

double log_growth_sum(double growth, double num_updates) {
  const double log_power = num_updates * std::log(growth);
  return log_power + std::log1p(-std::exp(-log_power)) - std::log(growth - 1.0);
}

std::optional<SwarmBoundCoefficients> swarm_bound_coefficients(const SwarmBoundSetting& setting) {
  if (!gradient_bound_holds(setting.steps, setting.constants)) {
    return std::nullopt;
  }
  expect(setting.growth_limit >= 1.0 && setting.gradient_weight >= 0.0,
         "growth is limited to 1 or more, and weights are not negative");
  const double inner_step = setting.steps.inner_step;
  const auto repeats = static_cast<double>(setting.variability_repeats);
  const double within = setting.swarm_variability.value_or(swarm_variability(setting.constants, inner_step));
  const double between =
      setting.network_variability.value_or(network_variability(setting.constants, inner_step));

  // Xi is affine in the error: its slope, and its value without error.
  const GradientBound<LogNumber> slope = steady_bound(setting, 1.0, 0.0, 0.0);
  const GradientBound<LogNumber> rest = steady_bound(setting, 0.0, within, between);

  const ErrorCoefficients error = error_coefficients(setting.constants, inner_step);
  SwarmBoundCoefficients result{.a = error.a, .b = error.b, .c = error.c, .d = error.d};
  result.log_growth = (slope.total() / slope.error).log();
  result.log_scale = result.log_growth - tempered_log(result.log_growth, setting.growth_limit);
  const LogNumber scale = LogNumber::from_log(result.log_scale);
  result.gradient_error_weight = setting.gradient_weight * (slope.total() / scale).value();
  result.mismatch_weight = setting.mismatch_weight;
  result.constant =
      setting.gradient_weight * (rest.variability.value() + repeats * (rest.parameters / scale).value());
  return result;
}

std::string growth_report(const SwarmBoundCoefficients& coefficients, const BoundSteps& steps) {
  if (!coefficients.tempered()) {
    return {};
  }
  return fmt::format(
      "the bound of the global meta-gradient grows by a factor of 10^{:.1f} with tau_L = {}, tau_G = {}; "
      "it counts as a factor of {:.3g}, so that energy keeps its weight",
      coefficients.log_growth / std::log(10.0), steps.local_period, steps.global_period,
      std::exp(coefficients.log_growth - coefficients.log_scale));
}

}  // namespace skein
