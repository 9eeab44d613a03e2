#include "skein/world/channel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "skein/base/expect.h"

namespace skein {
namespace {

Radio paper_radio() { return sample_radio(RadioOptions{}, 1); }

Position at(double x, double y, double z) { return {Length(x), Length(y), Length(z)}; }

// Worked by hand: 4 pi 2e9 100 / 299792458 = 8383.38; squared 7.02811e7; times 10^0.3 = 1.40229e8.
// 0.1 W / 1.40229e8 = 7.1312e-10 W over 10^-17.4 mW/Hz 2 MHz = 7.9621e-15 W: 89564; log2(89565) = 16.4506.
TEST(Channel, hundred_metres_between_uavs_by_hand) {
  const Radio radio = paper_radio();
  const double loss = air_to_air_loss(radio, 100_m);
  EXPECT_NEAR(loss, 1.40229e8, 0.00001e8);
  const DataRate rate = data_rate(radio, unit::dbm.to_si(20), loss);
  EXPECT_NEAR(unit::megabit_per_second.from_si(rate), 32.9013, 0.0001);
}

// The same in decibels: 92.45 + 20 log10(2 GHz) + 20 log10(0.1 km) = 78.47 dB of free space, and 3 dB.
TEST(Channel, free_space_agrees_with_the_textbook_formula_in_decibels) {
  const double loss = air_to_air_loss(paper_radio(), 100_m);
  EXPECT_NEAR(10.0 * std::log10(loss), 92.4478 + 20.0 * std::log10(2.0) + 20.0 * std::log10(0.1) + 3.0, 1e-4);
}

// At 30 degrees: 1 / (1 + 11.95 exp(-0.14 (30 - 11.95))) = 1 / (1 + 11.95 * 0.079898) = 0.51157.
TEST(Channel, line_of_sight_probability_by_hand) {
  const Radio radio = paper_radio();
  EXPECT_NEAR(line_of_sight_probability(radio, 30.0), 0.51157, 1e-5);
  EXPECT_NEAR(line_of_sight_probability(radio, 0.0), 1.0 / (1.0 + 11.95 * std::exp(1.673)), 1e-12);
  EXPECT_NEAR(line_of_sight_probability(radio, 90.0), 0.999785, 1e-6);
}

TEST(Channel, elevation_is_the_angle_above_the_horizon_from_either_end) {
  EXPECT_NEAR(elevation_degrees(at(0, 0, 0), at(30 * std::sqrt(3.0), 0, 30)), 30.0, 1e-12);
  EXPECT_NEAR(elevation_degrees(at(3, 4, 30), at(3, 4, 2)), 90.0, 1e-12);
  EXPECT_EQ(elevation_degrees(at(0, 0, 25), at(40, 9, 25)), 0.0);
  EXPECT_EQ(elevation_degrees(at(0, 0, 0), at(10, 20, 30)), elevation_degrees(at(10, 20, 30), at(0, 0, 0)));
}

// The air-to-ground loss lies between the loss with and the loss without line of sight.
TEST(Channel, air_to_ground_loss_mixes_the_two_excesses) {
  RandomStream stream(11, "geometry");
  const Radio radio = paper_radio();
  for (int trial = 0; trial < 1000; ++trial) {
    const Position device = at(stream.uniform(-500, 500), stream.uniform(-500, 500), 0);
    const Position uav = at(stream.uniform(-500, 500), stream.uniform(-500, 500), stream.uniform(5, 120));
    const double loss = air_to_ground_loss(radio, device, uav);
    const double with_line_of_sight = air_to_air_loss(radio, distance(device, uav));
    EXPECT_GE(loss, with_line_of_sight);
    EXPECT_LE(loss, with_line_of_sight * radio.nlos_excess / radio.los_excess);
    EXPECT_EQ(loss, air_to_ground_loss(radio, uav, device));
  }
}

TEST(Channel, loss_grows_with_distance_and_rate_falls_with_loss) {
  RandomStream stream(12, "monotone");
  const Radio radio = paper_radio();
  for (int trial = 0; trial < 1000; ++trial) {
    const Length near(stream.uniform(1, 3000));
    const Length far = near * stream.uniform(1.01, 3);
    EXPECT_LT(air_to_air_loss(radio, near), air_to_air_loss(radio, far));
    EXPECT_GT(data_rate(radio, 0.1_W, air_to_air_loss(radio, near)),
              data_rate(radio, 0.1_W, air_to_air_loss(radio, far)));
  }
}

TEST(Channel, degenerate_geometry_gives_finite_numbers) {
  const Radio radio = paper_radio();
  const Position here = at(7, 7, 7);
  EXPECT_EQ(elevation_degrees(here, here), 90.0);
  EXPECT_EQ(air_to_air_loss(radio, 0_m), air_to_air_loss(radio, 1_m));
  EXPECT_EQ(air_to_air_loss(radio, 0.5_m), air_to_air_loss(radio, 1_m));
  EXPECT_TRUE(std::isfinite(air_to_ground_loss(radio, here, here)));
  EXPECT_TRUE(isfinite(data_rate(radio, 0.1_W, air_to_ground_loss(radio, here, here))));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(air_to_air_loss(radio, Length(nan)), ProgrammingError);
  EXPECT_THROW(air_to_ground_loss(radio, here, at(nan, 0, 0)), ProgrammingError);
  EXPECT_THROW(data_rate(radio, 0.1_W, nan), ProgrammingError);
  EXPECT_THROW(data_rate(radio, Power(-1), 10.0), ProgrammingError);
}

// 3 MHz: 4 pi f / c = 0.126 per metre, so the formula alone would amplify over the first metres.
TEST(Channel, no_link_amplifies) {
  Radio radio = paper_radio();
  radio.carrier = Frequency(3e6);
  EXPECT_EQ(air_to_air_loss(radio, 1_m), 1.0);
  EXPECT_EQ(air_to_ground_loss(radio, at(0, 0, 0), at(0, 0, 1)), 1.0);
  EXPECT_EQ(data_rate(radio, 0.1_W, 0.25), data_rate(radio, 0.1_W, 1.0));
}

// log2(1 + x) would be 0 for x below 1e-16.
TEST(Channel, a_very_weak_link_still_has_a_rate) {
  const DataRate rate = data_rate(paper_radio(), 0.1_W, 1e35);
  EXPECT_NEAR(rate.si() / (0.1 / 1e35 / std::pow(10.0, -20.4) / std::log(2.0)), 1.0, 1e-12);
}

TEST(Channel, the_published_code_values_are_expressible) {
  RadioOptions options;
  options.bandwidth.spread = constant(10);
  options.noise_density.spread = constant(-170);
  options.los_excess.spread = constant(10.0 * std::log10(2.0));
  options.nlos_excess.spread = constant(10.0 * std::log10(200.0));
  const Radio radio = sample_radio(options, 1);
  EXPECT_NEAR((radio.noise_density * radio.bandwidth).si(), 1e-13, 1e-25);
  // Published rates for the two distances between coordinators and workers: 128.0 and 174.4 Mbit/s.
  EXPECT_NEAR(unit::megabit_per_second.from_si(data_rate(radio, 0.1_W, air_to_air_loss(radio, 100_m))), 128.0,
              0.05);
  EXPECT_NEAR(unit::megabit_per_second.from_si(data_rate(radio, 0.1_W, air_to_air_loss(radio, 20_m))), 174.4,
              0.05);
}

TEST(Channel, making_one_value_a_distribution_leaves_the_others) {
  RadioOptions options;
  options.carrier.spread = uniform(1, 5);
  options.bandwidth.spread = uniform(1, 20);
  const Radio both = sample_radio(options, 5);
  options.carrier.spread = constant(2);
  const Radio one = sample_radio(options, 5);
  EXPECT_EQ(both.bandwidth, one.bandwidth);
  EXPECT_NE(both.carrier, one.carrier);
  EXPECT_NE(sample_radio(options, 6).bandwidth, one.bandwidth);
}

TEST(Shadowing, is_absent_by_default) {
  EXPECT_EQ(shadowing(paper_radio(), 3, {.sequence = 4, .node = 1, .other_node = 2}), 1.0);
}

TEST(Shadowing, is_reciprocal_and_depends_on_link_sequence_and_seed) {
  RadioOptions options;
  options.shadowing_deviation.spread = constant(4);
  const Radio radio = sample_radio(options, 1);
  const double factor = shadowing(radio, 9, {.sequence = 2, .node = 17, .other_node = 5});
  EXPECT_EQ(factor, shadowing(radio, 9, {.sequence = 2, .node = 5, .other_node = 17}));
  EXPECT_NE(factor, shadowing(radio, 9, {.sequence = 3, .node = 5, .other_node = 17}));
  EXPECT_NE(factor, shadowing(radio, 9, {.sequence = 2, .node = 5, .other_node = 18}));
  EXPECT_NE(factor, shadowing(radio, 8, {.sequence = 2, .node = 5, .other_node = 17}));
}

// 40,000 links: the mean of the decibels is within 4 standard errors of 0, their deviation within 4 of 6 dB.
TEST(Shadowing, has_the_given_deviation_in_decibels_and_mean_zero) {
  RadioOptions options;
  options.shadowing_deviation.spread = constant(6);
  const Radio radio = sample_radio(options, 1);
  constexpr int count = 40000;
  double sum = 0.0;
  double squares = 0.0;
  for (int i = 0; i < count; ++i) {
    const double decibels = 10.0 * std::log10(shadowing(radio, 7,
                                                        {.sequence = static_cast<std::uint64_t>(i % 40),
                                                         .node = static_cast<std::uint64_t>(i / 40),
                                                         .other_node = 2000}));
    sum += decibels;
    squares += decibels * decibels;
  }
  EXPECT_NEAR(sum / count, 0.0, 4.0 * 6.0 / std::sqrt(count));
  EXPECT_NEAR(std::sqrt(squares / count), 6.0, 4.0 * 6.0 / std::sqrt(2.0 * count));
}

}  // namespace
}  // namespace skein
