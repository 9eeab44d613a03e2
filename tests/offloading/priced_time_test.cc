// Problem P where time has a price: what a round lasts is decided, too.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "skein/offloading/condensed_offloader.h"
#include "skein/offloading/instance_json.h"
#include "skein/offloading/newton_offloader.h"
#include "skein/offloading/offloaders.h"
#include "skein/offloading/worker_selection.h"
#include "tests/offloading/random_instance.h"

namespace skein {
namespace {

// The 20 instances come with the best values of a search over the time limit of P without a price.
TEST(PricedTime, ReferenceInstancesAreAsGoodAsTheBestKnown) {
  const std::vector<NamedInstance> instances =
      read_instances(SKEIN_SOURCE_DIR "/tests/reference/offloading_time_instances.jsonl");
  ASSERT_EQ(instances.size(), 20U);
  for (const NamedInstance& named : instances) {
    const OffloadingInstance& p = named.instance;
    SCOPED_TRACE(p.name);
    ASSERT_GT(p.hover_power, 0.0);
    const OffloadResult result = NewtonOffloader().solve({&p, 1}, nullptr);
    ASSERT_EQ(result.status, OffloadStatus::solved);
    EXPECT_LE(result.objective(), named.best_known.value() * (1.0 + 1e-4));
    EXPECT_LE(evaluate(p, result.decisions.front()).violation, 1e-9);
    EXPECT_GE(result.certificate.least_reduced_cost, -1e-6);
    EXPECT_LE(result.certificate.complementarity, 1e-6);
  }
}

TEST(PricedTime, AThousandRandomInstancesEndInACertificateOrACulprit) {
  const NewtonOffloader offloader;
  std::size_t infeasible = 0;
  for (std::uint64_t seed = 5000; seed < 6000; ++seed) {
    RandomInstanceOptions options{.impossible = 0.15};
    if (seed % 25 == 0) {
      options = {.least_devices = 30, .most_devices = 50, .least_workers = 3, .most_workers = 4};
    }
    const OffloadingInstance p = random_priced_instance(seed, options);
    const OffloadResult result = offloader.solve({&p, 1}, nullptr);
    if (is_impossible(p)) {
      ++infeasible;
      EXPECT_EQ(result.status, OffloadStatus::infeasible) << seed;
      EXPECT_FALSE(result.culprit.empty()) << seed;
    } else {
      EXPECT_EQ(result.status, OffloadStatus::solved) << seed << ": " << result.certificate.kkt_residual;
    }
  }
  EXPECT_GT(infeasible, 100U);
  EXPECT_LT(infeasible, 400U);
}

// One device, two workers and a coordinator, in round numbers.
OffloadingInstance small_instance() {
  OffloadingInstance p;
  p.learning_weight = 0.5;
  p.bound = {.a = 1.0, .b = 2.0, .c = 0.5, .d = 3.0, .gradient_error_weight = 1.0, .mismatch_weight = 2.0};
  p.point_bits = 1e3;
  p.local_period = 2.0;
  p.local_time_limit = 10.0;
  p.device_data = {100.0};
  p.device_power = {0.5};
  p.device_rate = Table<double>(1, 3);
  p.device_rate.values = {1e5, 2e5, 1e5};
  p.coordinator_power = {0.25};
  p.coordinator_rate = Table<double>(1, 2);
  p.coordinator_rate.values = {1e5, 1e5};
  p.capacitance_cycles = {2e-16, 2e-16};
  p.cycles = {1e6, 1e6};
  p.least_clock = {1e7, 1e7};
  p.most_clock = {1e9, 1e9};
  p.energy_budget = {1e3, 1e3, 1e3};
  p.buffer = {1e3, 1e3, 1e3};
  return p;
}

TEST(PricedTime, HoveringIsPaidForAsLongAsTheLastUavTakes) {
  OffloadingInstance p = small_instance();
  OffloadDecision x;
  x.rho = Table<double>(1, 3);
  x.rho.values = {0.5, 0.25, 0.25};
  x.varrho = Table<double>(1, 2);
  x.varrho.values = {1.0, 0.0};
  x.alpha = {{0.5, 0.5, 0.5}, {1.0, 1.0, 1.0}};
  x.clock = {1e9, 1e8};
  const OffloadEvaluation free = evaluate(p, x);
  // Worker 1: 50 points of a device and 25 of the coordinator at 100 a second, then 2 x 112.5 of 1e6 cycles.
  // Worker 2: 25 points at 200 a second, then 2 x 75 of them at a tenth of the speed.
  EXPECT_NEAR(free.gathering_time[0] + free.processing_time[0], 0.75 + 0.225, 1e-12);
  EXPECT_NEAR(free.round_time, 0.125 + 1.5, 1e-12);
  EXPECT_EQ(free.hovering_energy, 0.0);
  p.hover_power = 40.0;
  p.uav_hover_power = {10.0, 20.0, 30.0};
  const OffloadEvaluation priced = evaluate(p, x);
  EXPECT_NEAR(priced.hovering_energy, 100.0 * 1.625, 1e-12);
  EXPECT_NEAR(priced.objective, free.objective + 0.5 * 100.0 * 1.625, 1e-12);
  EXPECT_EQ(priced.energy(), free.energy());
  EXPECT_NEAR(priced.uav_energy[2], free.uav_energy[2] + 30.0 * 1.625, 1e-12) << "out of its own battery";
  // An idle UAV lands. So its time does not count either.
  x.rho.values = {0.5, 0.0, 0.25};
  x.alpha[1] = {0.0, 0.0, 0.0};
  x.idle = {false, true, false};
  const OffloadEvaluation landed = evaluate(p, x);
  EXPECT_NEAR(landed.hovering_energy, 80.0 * 0.975, 1e-12);
  EXPECT_EQ(landed.uav_energy[1], 0.0);
}

TEST(PricedTime, TheRoundEndsSoonerTheMoreItCosts) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    OffloadingInstance p = random_instance(seed, {.least_devices = 5, .most_workers = 2, .tight = 0.0});
    double time = HUGE_VAL;
    double learning = 0.0;
    for (const double power : {1e-3, 0.1, 10.0, 1000.0}) {
      p.hover_power = power;
      const OffloadResult result = NewtonOffloader().solve({&p, 1}, nullptr);
      ASSERT_EQ(result.status, OffloadStatus::solved) << seed << " " << power;
      const OffloadEvaluation& e = result.evaluations.front();
      EXPECT_LE(e.round_time, time * 1.02) << seed << " " << power;
      EXPECT_GE(e.learning, learning * 0.98) << seed << " " << power;
      time = e.round_time;
      learning = e.learning;
    }
    EXPECT_LT(time, 0.5 * p.local_time_limit);
  }
}

// The clock that costs least by itself, (P_F / a)^(1/3): joules of a cycle are a g^2 / 2 and P_F / g.
TEST(PricedTime, OneWorkersClockIsThatOfTheClosedForm) {
  std::size_t inside = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    OffloadingInstance p =
        random_instance(seed, {.least_devices = 5, .most_workers = 1, .most_coordinators = 0, .tight = 0.0});
    const double capacitance = p.capacitance_cycles[0] / p.cycles[0];
    p.hover_power = capacitance * std::pow(0.3 * p.most_clock[0], 3.0);
    const OffloadResult result = NewtonOffloader().solve({&p, 1}, nullptr);
    ASSERT_EQ(result.status, OffloadStatus::solved) << seed;
    if (result.evaluations.front().round_time < 0.99 * p.local_time_limit) {
      EXPECT_NEAR(result.decisions.front().clock[0], 0.3 * p.most_clock[0], 1e-4 * p.most_clock[0]) << seed;
      ++inside;
    }
  }
  EXPECT_GE(inside, 5U);
}

// Algorithm 1 on the same problem: it never rises, and Newton's method is not above it.
TEST(PricedTime, NewtonIsNeverWorseThanAlgorithm1) {
  double worst = 0.0;
  std::size_t near = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const OffloadingInstance p = random_priced_instance(seed, {.most_devices = 6});
    const OffloadResult ours = NewtonOffloader().solve({&p, 1}, nullptr);
    const OffloadResult published = CondensedOffloader({.max_condensations = 40}).solve({&p, 1}, nullptr);
    EXPECT_EQ(published.increases, 0U) << seed;
    if (published.status != OffloadStatus::infeasible) {
      EXPECT_LE(evaluate(p, published.decisions.front()).violation, 1e-9) << seed;
      const double gap = ours.objective() / published.objective() - 1.0;
      worst = std::max(worst, gap);
      near += gap > -0.01 ? 1 : 0;
    }
  }
  EXPECT_LE(worst, 1e-4);
  EXPECT_GE(near, 10U) << "it solves the same problem";
}

// All sets of UAVs, one by one, each with all of it up.
TEST(PricedTime, WhoeverIsNotWorthItsHoveringIsIdle) {
  std::size_t fewer = 0;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE(seed);
    OffloadingInstance p = random_priced_instance(
        seed,
        {.least_devices = 4, .most_devices = 6, .least_workers = 2, .most_coordinators = 2, .tight = 0.0});
    p.uav_hover_power.assign(p.num_uavs(), 50.0 + 10.0 * static_cast<double>(seed));
    double best = HUGE_VAL;
    for (std::size_t set = 1; set < (std::size_t{1} << p.num_uavs()); ++set) {
      std::vector<std::size_t> workers;
      std::vector<std::size_t> coordinators;
      for (std::size_t u = 0; u < p.num_uavs(); ++u) {
        if ((set >> u & 1U) != 0) {
          (u < p.num_workers() ? workers : coordinators)
              .push_back(u < p.num_workers() ? u : u - p.num_workers());
        }
      }
      if (!workers.empty()) {
        const OffloadingInstance q = with_uavs(p, workers, coordinators);
        best = std::min(best, NewtonOffloader().solve({&q, 1}, nullptr).objective());
      }
    }
    const OffloadResult result = WorkerSelection().solve({&p, 1}, nullptr);
    ASSERT_EQ(result.status, OffloadStatus::solved);
    EXPECT_LE(result.objective(), best * (1.0 + 1e-3));
    const OffloadDecision& x = result.decisions.front();
    double power = p.hover_power;
    for (std::size_t u = 0; u < p.num_uavs(); ++u) {
      power += x.is_idle(u) ? 0.0 : p.uav_hover_power[u];
      fewer += x.is_idle(u) ? 1 : 0;
      if (x.is_idle(u)) {
        EXPECT_EQ(result.evaluations.front().data[u], 0.0);
        EXPECT_EQ(result.evaluations.front().uav_energy[u], 0.0);
      }
    }
    EXPECT_NEAR(result.evaluations.front().hovering_energy, power * result.evaluations.front().round_time,
                1e-9 * result.objective());
  }
  EXPECT_GE(fewer, 10U);
}

// A coordinator without any battery cannot hover: it is left aside from the start.
TEST(PricedTime, ACoordinatorWithoutBatteryLands) {
  OffloadingInstance p = random_priced_instance(7, {.least_devices = 6, .tight = 0.0});
  for (std::uint64_t seed = 8; p.num_coordinators() < 2; ++seed) {
    p = random_priced_instance(seed, {.least_devices = 6, .tight = 0.0});
  }
  p.uav_hover_power.assign(p.num_uavs(), 20.0);
  p.energy_budget[p.num_workers()] = 0.0;
  for (const std::string_view name : {"newton", "algorithm_1", "worker_selection"}) {
    const OffloadResult result = build_offloader(name)->solve({&p, 1}, nullptr);
    ASSERT_NE(result.status, OffloadStatus::infeasible) << name << " " << result.culprit;
    EXPECT_TRUE(result.decisions.front().is_idle(p.num_workers())) << name;
  }
}

TEST(PricedTime, ALineOfJsonHasThePrice) {
  OffloadingInstance p = random_priced_instance(3);
  std::ranges::fill(p.most_clock, p.most_clock.front());
  const std::string line = instance_line(p);
  const std::vector<NamedInstance> read = parse_instances(line + "\n", "file");
  ASSERT_EQ(read.size(), 1U);
  EXPECT_EQ(read[0].instance.hover_power, p.hover_power);
  EXPECT_EQ(read[0].instance.uav_hover_power, p.uav_hover_power);
  p.hover_power = -1.0;
  EXPECT_THROW(parse_instances(instance_line(p) + "\n", "file"), InputError);
}

// ---- predicted accuracy in the bound's place

// Where all workers have the same mini-batches: e_n (n_0 / (K tau A D))^q + e_d (d_0 / D)^p of one of them.
TEST(PredictedAccuracy, IsTheFormulaOfOneWorkerWhereAllAreAlike) {
  OffloadingInstance p = small_instance();
  p.accuracy = AccuracyLoss{.training_loss = 10.0,
                            .training_points = 900.0,
                            .training_exponent = 0.5,
                            .data_loss = 4.0,
                            .data_points = 400.0,
                            .data_exponent = 0.5};
  p.local_rounds = 3.0;
  OffloadDecision x;
  x.rho = Table<double>(1, 3);
  x.rho.values = {0.5, 0.5, 0.0};
  x.varrho = Table<double>(1, 2);
  x.alpha = {{0.5, 0.5, 0.5}, {0.5, 0.5, 0.5}};
  x.clock = {1e9, 1e9};
  // 50 points each: 3 rounds of 2 iterations of 75 points.
  EXPECT_NEAR(evaluate(p, x).learning, 10.0 * std::sqrt(900.0 / 450.0) + 4.0 * std::sqrt(400.0 / 50.0),
              1e-12);
  x.rho.values = {1.0, 0.0, 0.0};
  EXPECT_NEAR(evaluate(p, x).learning, 10.0 * std::sqrt(900.0 / 900.0) + 4.0 * std::sqrt(400.0 / 100.0),
              1e-12)
      << "whoever has no data has no part in the mean";
}

TEST(PredictedAccuracy, RandomInstancesEndInACertificateOrACulprit) {
  std::size_t pooled = 0;
  std::size_t several = 0;
  for (std::uint64_t seed = 7000; seed < 7300; ++seed) {
    SCOPED_TRACE(seed);
    const OffloadingInstance p = with_accuracy(random_priced_instance(seed, {.impossible = 0.15}));
    const OffloadResult result = NewtonOffloader().solve({&p, 1}, nullptr);
    if (is_impossible(p)) {
      EXPECT_EQ(result.status, OffloadStatus::infeasible);
      continue;
    }
    EXPECT_EQ(result.status, OffloadStatus::solved) << result.certificate.kkt_residual;
    EXPECT_LE(result.certificate.violation, 1e-9);
    const std::vector<double>& processed = result.evaluations.front().processed;
    const double all = std::accumulate(processed.begin(), processed.end(), 0.0);
    several += processed.size() > 1 ? 1 : 0;
    pooled += processed.size() > 1 && std::ranges::max(processed) > 0.9 * all ? 1 : 0;
  }
  EXPECT_GT(pooled, several / 2) << "points of several workers do not add up: one does most";
}

TEST(PredictedAccuracy, NewtonIsNeverWorseThanAlgorithm1) {
  double worst = 0.0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const OffloadingInstance p = with_accuracy(random_priced_instance(seed, {.most_devices = 6}));
    const OffloadResult ours = NewtonOffloader().solve({&p, 1}, nullptr);
    const OffloadResult published = CondensedOffloader({.max_condensations = 40}).solve({&p, 1}, nullptr);
    EXPECT_EQ(published.increases, 0U) << seed;
    if (published.status != OffloadStatus::infeasible) {
      worst = std::max(worst, ours.objective() / published.objective() - 1.0);
    }
  }
  EXPECT_LE(worst, 1e-4);
}

}  // namespace
}  // namespace skein
