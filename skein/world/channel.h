// Radio links (section IV-A of the paper): line-of-sight probability, path loss and data rate.
//
// Scope and limits. UAV to UAV is line of sight. Between the air and the ground (device to UAV, leader to
// access point) the loss is the mean over line of sight and none, weighted by the probability of each. Links
// use orthogonal bands: there is no interference. A rate is Shannon's capacity, without modulation, coding or
// protocol. Losses are linear factors (transmitted over received power), not decibels.
//
// The model is one of the far field. Two nodes closer than `minimum_link_distance` are treated as that far
// apart, and no loss is below 1: a passive link does not amplify.
#pragma once

#include <cstdint>

#include "skein/base/distribution.h"
#include "skein/base/quantity.h"
#include "skein/world/position.h"

namespace skein {

inline constexpr Speed speed_of_light{299792458.0};
inline constexpr Length minimum_link_distance{1.0};

// A standard deviation given in dB, kept as the deviation of the natural logarithm of a factor: ln(10) / 10.
inline constexpr Unit<double> decibel_deviation{"dB", 0.23025850929940457};

// Defaults: appendix A of the paper. The published code differs in four: bandwidth 10 MHz, noise 1e-13 W in
// it
// (-170 dBm/Hz), excess factors 2 and 200 (3.0103 and 23.0103 dB).
struct RadioOptions {
  Distribution<PowerDensity> noise_density{constant(-174), unit::dbm_per_hertz, {.low = -300, .high = 0}};
  Distribution<double> path_loss_exponent{constant(2), unit::number, {.low = 1, .high = 8}};
  // On top of free space, with and without line of sight. The paper asks for 1 < with < without.
  Distribution<double> los_excess{constant(3), unit::decibel, {.low = 0, .high = 100}};
  Distribution<double> nlos_excess{constant(23), unit::decibel, {.low = 0, .high = 100}};
  Distribution<Frequency> carrier{constant(2), unit::gigahertz, {.low = 0, .high = 1000, .low_open = true}};
  // Shape of the line-of-sight probability over the elevation in degrees; they depend on the environment.
  Distribution<double> los_psi{constant(11.95), unit::number, {.low = 0, .high = 1000}};
  Distribution<double> los_beta{constant(0.14), unit::number, {.low = 0, .high = 100}};
  Distribution<Frequency> bandwidth{constant(2), unit::megahertz, {.low = 0, .high = 1e6, .low_open = true}};
  // Variation of a link from one training sequence to the next; 0: none, as in the paper's figures.
  Distribution<double> shadowing_deviation{constant(0), decibel_deviation, {.low = 0, .high = 30}};
};

// What the options come to in one world.
struct Radio {
  PowerDensity noise_density;
  double path_loss_exponent = 0.0;
  double los_excess = 0.0;   // factor
  double nlos_excess = 0.0;  // factor
  Frequency carrier;
  double los_psi = 0.0;
  double los_beta = 0.0;  // 1 / degree
  Frequency bandwidth;
  double shadowing_deviation = 0.0;  // of the natural logarithm of the loss
};

Radio sample_radio(const RadioOptions& options, std::uint64_t seed);

// Probability that nothing stands between the ground and a UAV at this elevation (0 to 90 degrees):
// 1 / (1 + psi exp(-beta (elevation - psi))).
double line_of_sight_probability(const Radio& radio, double elevation_in_degrees);

// Between two UAVs: los_excess (4 pi f d / c)^exponent.
double air_to_air_loss(const Radio& radio, Length distance);

// Between a UAV and the ground, either way: (4 pi f d / c)^exponent (p los_excess + (1 - p) nlos_excess) with
// the line-of-sight probability p.
double air_to_ground_loss(const Radio& radio, const Position& a, const Position& b);

// Which link, in which training sequence. Node numbers are unique in a world.
struct LinkInSequence {
  std::uint64_t sequence = 0;
  std::uint64_t node = 0;
  std::uint64_t other_node = 0;
};

// The paper writes rates as R(s), "as the channel conditions may change over time", and gives no law. Ours is
// log-normal shadowing: a factor on the loss whose decibels are normal with mean 0 and the radio's deviation,
// constant during a sequence, independent between links and sequences, the same in both directions.
// Exactly 1 where the deviation is 0.
double shadowing(const Radio& radio, std::uint64_t seed, const LinkInSequence& link);

struct Transmission {
  Power power;
  double loss = 1.0;  // all of it: path loss times shadowing; below 1 counts as 1
  Frequency bandwidth;
  PowerDensity noise_density;
};

// bandwidth log2(1 + (power / loss) / (noise_density bandwidth)).
DataRate data_rate(const Transmission& transmission);

// In the radio's own bandwidth and noise.
inline DataRate data_rate(const Radio& radio, Power power, double loss) {
  return data_rate(
      {.power = power, .loss = loss, .bandwidth = radio.bandwidth, .noise_density = radio.noise_density});
}

}  // namespace skein
