// The bound grows with the periods beyond all numbers; problem P must stay a trade-off with energy.

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numeric>

#include "skein/bounds/bounds.h"
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
    constexpr std::array weights{0.01, 0.1, 0.9};
    std::array<double, 3> processed{};  // by weight, over all instances
    std::array<double, 3> clocks{};
    std::array<double, 3> energy{};
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      OffloadingInstance p = random_instance(seed, {.least_devices = 5, .tight = 0.0});
      p.bound = *bound;
      p.local_period = static_cast<double>(local);
      double before = 0.0;
      for (std::size_t w = 0; w < weights.size(); ++w) {
        p.learning_weight = weights[w];
        const OffloadResult result = NewtonOffloader().solve({&p, 1}, nullptr);
        ASSERT_EQ(result.status, OffloadStatus::solved) << seed << " " << weights[w];
        ASSERT_TRUE(std::isfinite(result.objective()));
        const OffloadEvaluation& found = result.evaluations.front();
        const double points = std::accumulate(found.processed.begin(), found.processed.end(), 0.0);
        EXPECT_GE(points, before * (1.0 - 1e-6)) << seed << " " << weights[w];
        before = points;
        processed[w] += points;
        for (const double clock : result.decisions.front().clock) {
          clocks[w] += clock;
        }
        energy[w] += found.energy();
      }
    }
    for (std::size_t w = 1; w < weights.size(); ++w) {
      EXPECT_GT(processed[w], 1.3 * processed[w - 1]) << weights[w] << ": the weight decides";
      EXPECT_GT(clocks[w], 1.3 * clocks[w - 1]) << weights[w];
      EXPECT_GT(energy[w], 1.3 * energy[w - 1]) << weights[w];
    }
    EXPECT_LT(energy.front(), 0.2 * energy.back()) << "most of the energy is saved, as with short periods";
  }
}

}  // namespace
}  // namespace skein
