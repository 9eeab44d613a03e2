// The bound grows with the periods beyond all numbers; problem P must stay a trade-off with energy.

#include <gtest/gtest.h>

#include <cmath>

#include "skein/learning/bounds.h"
#include "skein/offloading/newton_offloader.h"
#include "tests/offloading/random_instance.h"

namespace skein {
namespace {

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

TEST(LongPeriods, NeitherOverflowNorForgetEnergy) {
  for (const auto& [local, global] : {std::pair<std::size_t, std::size_t>{8, 8}, {20, 18}}) {
    const SwarmBoundSetting setting = published(local, global);
    const std::optional<SwarmBoundCoefficients> bound = swarm_bound_coefficients(setting);
    ASSERT_TRUE(bound.has_value());
    EXPECT_TRUE(std::isfinite(bound->gradient_error_weight));
    EXPECT_TRUE(bound->tempered());
    EXPECT_FALSE(growth_report(*bound, setting.steps).empty()) << "the blow-up is reported";
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      OffloadingInstance p = random_instance(seed, {.least_devices = 5, .tight = 0.0});
      p.bound = *bound;
      double processed_before = 0.0;
      double energy_before = 0.0;
      for (const double weight : {1e-5, 0.5}) {
        p.learning_weight = weight;
        const OffloadResult result = NewtonOffloader().solve({&p, 1}, nullptr);
        ASSERT_EQ(result.status, OffloadStatus::solved) << seed << " " << weight;
        double processed = 0.0;
        for (const double points : result.evaluations.front().processed) {
          processed += points;
        }
        EXPECT_TRUE(std::isfinite(result.objective()));
        const double energy = result.evaluations.front().energy();
        EXPECT_GT(processed, 1.05 * processed_before) << seed << ": the weight still decides";
        EXPECT_GT(energy, 1.05 * energy_before) << seed;
        processed_before = processed;
        energy_before = energy;
      }
    }
  }
}

}  // namespace
}  // namespace skein
