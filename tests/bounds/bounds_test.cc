#include "skein/bounds/bounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "skein/base/file.h"
#include "skein/base/random.h"
#include "skein/bounds/drift.h"

namespace skein {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

constexpr double infinity = std::numeric_limits<double>::infinity();

// The constants of the published code.
SwarmBoundSetting published(std::size_t local_period, std::size_t global_period) {
  return {.constants = {.gradient_bound = 500.0,
                        .gradient_lipschitz = 10.0,
                        .meta_lipschitz = 20.0,
                        .gradient_variance = 50.0,
                        .hessian_variance = 50.0},
          .steps = {.inner_step = 1e-3,
                    .meta_step = 1e-4,
                    .local_period = local_period,
                    .global_period = global_period},
          .swarm_variability = 10.0,
          .network_variability = 10.0};
}

// Against tests/reference/bounds_reference.py, which writes out every sum of the paper in decimals.
class BoundsReference : public ::testing::Test {
 protected:
  static json cases() {
    return json::parse(read_file(SKEIN_SOURCE_DIR "/tests/reference/bounds_reference.json", 1U << 22U));
  }
  struct Case {
    BoundConstants constants;
    BoundConstants cluster;
    BoundSteps steps;

    explicit Case(const json& data)
        : constants{.gradient_bound = data["constants"]["B"],
                    .gradient_lipschitz = data["constants"]["mu"],
                    .meta_lipschitz = data["constants"]["muF"],
                    .gradient_variance = data["constants"]["sG"],
                    .hessian_variance = data["constants"]["sH"],
                    .swarm_gradient_variability = data["constants"]["gGu"],
                    .swarm_hessian_variability = data["constants"]["gHu"],
                    .network_gradient_variability = data["constants"]["gG"],
                    .network_hessian_variability = data["constants"]["gH"]},
          cluster(constants),
          steps{.inner_step = data["constants"]["eta1"],
                .meta_step = data["constants"]["eta2"],
                .local_period = data["tau_L"],
                .global_period = data["tau_G"]} {
      cluster.gradient_variance = data["cluster"]["sG"];
      cluster.hessian_variance = data["cluster"]["sH"];
    }
  };

  static MiniBatches<LogNumber> batches(const json& worker) {
    MiniBatches<LogNumber> result{.points = worker["points"].get<double>()};
    for (std::size_t i = 0; i < 3; ++i) {
      result.ratios[i] = worker["alpha"][i].get<double>();
    }
    return result;
  }
};

TEST_F(BoundsReference, EveryBoundAgrees) {
  const json all = cases();
  ASSERT_GE(all.size(), 100U);
  for (const json& data : all) {
    const Case c(data);
    const ErrorCoefficients own = error_coefficients(c.constants, c.steps.inner_step);
    const ErrorCoefficients cluster = error_coefficients(c.cluster, c.steps.inner_step);
    const auto num_swarms = static_cast<double>(data["workers"].size());
    LogNumber error;
    LogNumber mismatch;
    for (std::size_t u = 0; u < data["workers"].size(); ++u) {
      std::vector<LogNumber> weights;
      std::vector<LogNumber> errors;
      std::vector<LogNumber> sampling;
      for (std::size_t j = 0; j < data["workers"][u].size(); ++j) {
        const MiniBatches<LogNumber> b = batches(data["workers"][u][j]);
        weights.push_back((b.ratios[0] + b.ratios[1] + b.ratios[2]) * b.points);
        errors.push_back(mini_batch_error(own, b));
        sampling.push_back(sampling_error(cluster, b.points));
        EXPECT_NEAR(errors.back().log(), data["log_sigma"][u][j].get<double>(), 1e-13);
      }
      error += weighted_mean<LogNumber>(weights, errors) / num_swarms;
      mismatch += weighted_mean<LogNumber>(weights, sampling) / num_swarms;
    }
    const double within = swarm_variability(c.constants, c.steps.inner_step);
    const double between = network_variability(c.constants, c.steps.inner_step);
    const auto parameters = parameter_variability(c.steps, c.constants,
                                                  steady_inputs<LogNumber>(c.steps, error, within, between));
    const GradientBound<LogNumber> gradient =
        gradient_bound<LogNumber>(c.steps, c.constants,
                                  {.start_gap = data["gap"].get<double>(),
                                   .num_updates = c.steps.global_updates() * data["K_G"].get<double>(),
                                   .error = error,
                                   .parameters = parameters.total(),
                                   .swarm_variability = within});
    const auto compare = [&](const char* name, LogNumber ours) {
      // Logarithms of up to 800.
      EXPECT_NEAR(ours.log(), data["log"][name].get<double>(), 1e-12) << name << data.dump();
    };
    compare("gamma_u", within);
    compare("gamma", between);
    compare("within", parameters.within);
    compare("between", parameters.between);
    compare("xi", gradient.total());
    compare("xi_hat", mismatch);
    compare("drift", drifted_gradient<LogNumber>(
                         data["drift"][0].get<double>(),
                         data["drift"][2].get<double>() * data["drift"][1].get<double>(), data["drift"][2]));
  }
}

// The instances of problem P that the published study solved have these numbers.
TEST(Bounds, CoefficientsOfThePublishedStudy) {
  SwarmBoundSetting setting = published(2, 2);
  const auto found = swarm_bound_coefficients(setting);
  ASSERT_TRUE(found);
  EXPECT_DOUBLE_EQ(found->a, 37.5);
  EXPECT_DOUBLE_EQ(found->b, 7.5e-3);
  EXPECT_DOUBLE_EQ(found->c, 1e-4);
  EXPECT_DOUBLE_EQ(found->d, 600.0);
  EXPECT_NEAR(found->gradient_error_weight, 2.336791628487189, 1e-14);
  EXPECT_EQ(found->mismatch_weight, 1.0);
  EXPECT_FALSE(found->tempered());
  EXPECT_EQ(growth_report(*found, setting.steps), "");
  // By hand: 24 eta_2^2 muF^2 (9.000192 + 585.0...) 10 * 2.0304, and 3 eta_2 muF 10 / 0.494.
  EXPECT_NEAR(found->constant, 1.1578735712732735 + 0.12145748987854253, 1e-14);
  // The published code adds the variability of models once for each worker.
  for (const auto& [workers, constant] :
       {std::pair{2, 2.437204632425089}, {4, 4.752951774971636}, {8, 9.384446060064729}}) {
    setting.variability_repeats = static_cast<std::size_t>(workers);
    EXPECT_NEAR(swarm_bound_coefficients(setting)->constant, constant, 1e-13);
  }
}

TEST(Bounds, BlowUpWithLongPeriodsIsReportedAndTempered) {
  struct Row {
    std::size_t local, global;
    double weight;  // as the formula has it, to the digits shown
    double within;  // of that, relatively
  };
  for (const Row& row : {Row{1, 1, 2.03, 3e-3},
                         {4, 1, 2.64, 2e-3},
                         {4, 2, 2.5e3, 2e-2},
                         {4, 4, 8.4e10, 1e-2},
                         {8, 4, 4.7e25, 1e-2},
                         {8, 8, 7.5e54, 1e-2}}) {
    SwarmBoundSetting setting = published(row.local, row.global);
    setting.growth_limit = infinity;
    const auto plain = swarm_bound_coefficients(setting);
    EXPECT_NEAR(plain->gradient_error_weight / row.weight, 1.0, row.within) << row.local << row.global;
    EXPECT_EQ(plain->log_scale, 0.0);

    setting.growth_limit = 2.0;
    const auto tempered = swarm_bound_coefficients(setting);
    EXPECT_NEAR(std::log(tempered->gradient_error_weight) + tempered->log_scale,
                std::log(plain->gradient_error_weight), 1e-12);
    EXPECT_EQ(tempered->tempered(), row.weight > 2.0 * 2.1);
    EXPECT_LT(tempered->gradient_error_weight, 2.0 * 2.0 * 2.03)
        << "twice the limit, of the weight at (1, 1)";
  }
  const SwarmBoundSetting longest = published(8, 8);
  const auto found = swarm_bound_coefficients(longest);
  EXPECT_THAT(growth_report(*found, longest.steps), HasSubstr("10^54.6"));
}

TEST(Bounds, NoPeriodOverflows) {
  double last = 0.0;
  for (const std::size_t period : {1, 2, 4, 8, 20, 100, 1000, 10000}) {
    const auto found = swarm_bound_coefficients(published(period, period));
    ASSERT_TRUE(found);
    for (const double number : {found->gradient_error_weight, found->constant, found->log_growth}) {
      EXPECT_TRUE(std::isfinite(number)) << period;
    }
    EXPECT_GT(found->gradient_error_weight, last) << "longer periods stay worse";
    last = found->gradient_error_weight;
  }
}

// Without a jump where it begins: growth 2 is reached at some weight of the model's error.
TEST(Bounds, TemperingIsContinuous) {
  double last_weight = 0.0;
  double last_plain = 0.0;
  bool both[2] = {false, false};
  for (double step = 1e-5; step < 0.008; step *= 1.001) {
    SwarmBoundSetting setting = published(2, 2);
    setting.steps.meta_step = step;
    const auto found = swarm_bound_coefficients(setting);
    const double plain = found->gradient_error_weight * std::exp(found->log_scale);
    both[found->tempered() ? 1 : 0] = true;
    if (last_weight > 0.0) {
      EXPECT_LE(found->gradient_error_weight - last_weight, (plain - last_plain) * (1.0 + 1e-9));
      EXPECT_GT(found->gradient_error_weight, last_weight);
    }
    last_weight = found->gradient_error_weight;
    last_plain = plain;
  }
  EXPECT_TRUE(both[0] && both[1]);
}

// What problem P minimises is theta_1 Xi + theta_2 Xi^ of one swarm.
TEST(Bounds, CoefficientsAreTheBoundsThemselves) {
  RandomStream stream(7, "decisions");
  for (int trial = 0; trial < 200; ++trial) {
    SwarmBoundSetting setting = published(1 + stream.below(2), 1 + stream.below(2));
    setting.gradient_weight = stream.uniform(0.1, 3.0);
    setting.mismatch_weight = stream.uniform(0.1, 3.0);
    setting.growth_limit = infinity;
    const auto found = swarm_bound_coefficients(setting);
    std::vector<double> data;
    std::vector<double> errors;
    std::vector<double> sampling;
    for (std::uint64_t j = 0; j < 1 + stream.below(4); ++j) {
      MiniBatches<double> b{.points = stream.uniform(1.0, 5000.0)};
      for (double& part : b.ratios) {
        part = stream.uniform(1e-3, 1.0);
      }
      data.push_back((b.ratios[0] + b.ratios[1] + b.ratios[2]) * b.points);
      errors.push_back(mini_batch_error(found->error(), b));
      sampling.push_back(sampling_error(found->error(), b.points));
    }
    const auto error = weighted_mean<double>(data, errors);
    const auto mismatch = weighted_mean<double>(data, sampling);
    const auto parameters = parameter_variability(setting.steps, setting.constants,
                                                  steady_inputs(setting.steps, error, 10.0, 10.0));
    const double xi =
        gradient_bound<double>(setting.steps, setting.constants,
                               {.error = error, .parameters = parameters.total(), .swarm_variability = 10.0})
            .total();
    const double expected = setting.gradient_weight * xi + setting.mismatch_weight * mismatch;
    EXPECT_NEAR((found->gradient_error_weight * error + found->mismatch_weight * mismatch + found->constant) /
                    expected,
                1.0, 1e-12);
  }
}

// A number with its derivative.
struct Slope {
  double value = 0.0;
  double slope = 0.0;

  Slope() = default;
  Slope(double v, double s = 0.0) : value(v), slope(s) {}
  friend Slope operator+(Slope a, Slope b) { return {a.value + b.value, a.slope + b.slope}; }
  friend Slope operator*(Slope a, Slope b) {
    return {a.value * b.value, a.slope * b.value + a.value * b.slope};
  }
  friend Slope operator/(Slope a, Slope b) {
    return {a.value / b.value, (a.slope - a.value / b.value * b.slope) / b.value};
  }
};

TEST(Bounds, DerivativesComeFromTheSameFormulas) {
  SwarmBoundSetting setting = published(2, 2);
  setting.steps.inner_step = 0.05;  // large enough for the first batch to count
  const ErrorCoefficients k = error_coefficients(setting.constants, setting.steps.inner_step);
  const auto bound = [&]<class S>(const MiniBatches<S>& batches) {
    const S error = mini_batch_error(k, batches);
    const S models = parameter_variability(setting.steps, setting.constants,
                                           steady_inputs<S>(setting.steps, error, S(10.0), S(10.0)))
                         .total();
    return gradient_bound<S>(setting.steps, setting.constants,
                             {.start_gap = S(1.0),
                              .num_updates = 40.0,
                              .error = error,
                              .parameters = models,
                              .swarm_variability = S(10.0)})
        .total();
  };
  MiniBatches<double> at{.points = 700.0, .ratios = {0.2, 0.4, 0.1}};
  for (int which = 0; which < 4; ++which) {
    MiniBatches<Slope> dual{.points = at.points, .ratios = {at.ratios[0], at.ratios[1], at.ratios[2]}};
    (which < 3 ? dual.ratios[static_cast<std::size_t>(which)] : dual.points).slope = 1.0;
    double& place = which < 3 ? at.ratios[static_cast<std::size_t>(which)] : at.points;
    const double middle = place;
    const double h = 1e-5 * middle;
    place = middle + h;
    const double above = bound(at);
    place = middle - h;
    const double below = bound(at);
    place = middle;
    EXPECT_NEAR(bound(dual).slope / ((above - below) / (2.0 * h)), 1.0, 1e-6) << which;
    EXPECT_LT(bound(dual).slope, 0.0) << "more data, smaller error";
    EXPECT_NEAR(bound(dual).value, bound(at), 1e-12);
  }
}

TEST(Bounds, ConditionsAreNamed) {
  const BoundConstants constants{.gradient_lipschitz = 10.0, .meta_lipschitz = 40.0};
  EXPECT_TRUE(unmet_conditions({.inner_step = 1e-3, .meta_step = 1e-4}, constants).empty());
  const auto unmet = unmet_conditions({.inner_step = 0.2, .meta_step = 1.0 / 240.0},
                                      {.gradient_lipschitz = 10.0, .meta_lipschitz = 39.0 + 1.0});
  ASSERT_EQ(unmet.size(), 2U);
  EXPECT_THAT(unmet[0], HasSubstr("1 / (6 mu^F) = 0.0041"));
  EXPECT_THAT(unmet[1], HasSubstr("1 / mu^G = 0.1"));
  EXPECT_THAT(unmet_conditions({}, {.meta_lipschitz = 20.0}).front(), HasSubstr("below 4 mu^G = 40"));
  SwarmBoundSetting setting = published(1, 1);
  setting.steps.meta_step = 1.0 / 120.0;
  EXPECT_FALSE(swarm_bound_coefficients(setting));
  EXPECT_EQ(meta_lipschitz(10.0, 3.0, 500.0, 1e-3), 41.5);
}

// Gradients that move at random by at most sqrt(Lambda) in a step.
TEST(Bounds, DriftedGradientsStayBelow) {
  RandomStream stream(3, "drift");
  for (int trial = 0; trial < 500; ++trial) {
    std::array<double, 5> gradient{};
    for (double& x : gradient) {
      x = stream.normal();
    }
    const auto squared = [](const std::array<double, 5>& v) {
      double sum = 0.0;
      for (const double x : v) {
        sum += x * x;
      }
      return sum;
    };
    const double start = squared(gradient);
    const double drift = stream.uniform(0.0, 2.0);
    // Often in the same direction, where the triangle inequality is tight.
    const bool straight = trial % 2 == 0;
    const std::array<double, 5> first = gradient;
    const auto steps = static_cast<int>(1 + stream.below(20));
    for (int t = 0; t < steps; ++t) {
      std::array<double, 5> move = first;
      for (double& x : move) {
        x = straight ? x : stream.normal();
      }
      const double scale = std::sqrt(drift / squared(move)) * (straight ? 1.0 : stream.uniform());
      for (std::size_t i = 0; i < 5; ++i) {
        gradient[i] += scale * move[i];
      }
    }
    const double triangle = drifted_gradient_triangle(start, drift, steps);
    EXPECT_LE(squared(gradient), triangle * (1.0 + 1e-12));
    EXPECT_LE(triangle, drifted_gradient(start, steps * drift, steps) * (1.0 + 1e-12));
  }
  EXPECT_EQ(drifted_gradient_triangle(4.0, 0.0, 7.0), 4.0);
  EXPECT_EQ(drifted_gradient(4.0, 3.0 * 0.5, 3.0), 4.0 * 4.0 + 4.0 * 3.0 * 0.5);
}

}  // namespace
}  // namespace skein
