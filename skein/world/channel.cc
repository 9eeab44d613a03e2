#include "skein/world/channel.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string_view>

#include "skein/base/expect.h"
#include "skein/base/portable_math.h"

namespace skein {
namespace {

// (4 pi f d / c)^exponent: free space for exponent 2.
double spreading_loss(const Radio& radio, Length distance) {
  expect(isfinite(distance) && distance >= Length(0.0), "a link needs a finite distance >= 0");
  const Length d = std::max(distance, minimum_link_distance);
  return std::pow(4.0 * std::numbers::pi * radio.carrier * d / speed_of_light, radio.path_loss_exponent);
}

}  // namespace

// Every value has a stream of its own, so that making one of them a distribution leaves the others as they
// were.
Radio sample_radio(const RadioOptions& options, std::uint64_t seed) {
  const auto draw = [seed](const auto& distribution, std::string_view purpose) {
    RandomStream stream(seed, purpose);
    return distribution.sample(stream);
  };
  return {.noise_density = draw(options.noise_density, "radio.noise_density"),
          .path_loss_exponent = draw(options.path_loss_exponent, "radio.path_loss_exponent"),
          .los_excess = draw(options.los_excess, "radio.los_excess"),
          .nlos_excess = draw(options.nlos_excess, "radio.nlos_excess"),
          .carrier = draw(options.carrier, "radio.carrier"),
          .los_psi = draw(options.los_psi, "radio.los_psi"),
          .los_beta = draw(options.los_beta, "radio.los_beta"),
          .bandwidth = draw(options.bandwidth, "radio.bandwidth"),
          .shadowing_deviation = draw(options.shadowing_deviation, "radio.shadowing_deviation")};
}

double line_of_sight_probability(const Radio& radio, double elevation_in_degrees) {
  expect(elevation_in_degrees >= 0.0 && elevation_in_degrees <= 90.0, "elevation must be in [0, 90] degrees");
  const double psi = radio.los_psi;
  return 1.0 / (1.0 + psi * std::exp(-radio.los_beta * (elevation_in_degrees - psi)));
}

double air_to_air_loss(const Radio& radio, Length distance) {
  return std::max(1.0, radio.los_excess * spreading_loss(radio, distance));
}

double air_to_ground_loss(const Radio& radio, const Position& a, const Position& b) {
  const double p = line_of_sight_probability(radio, elevation_degrees(a, b));
  const double excess = p * radio.los_excess + (1.0 - p) * radio.nlos_excess;
  return std::max(1.0, excess * spreading_loss(radio, distance(a, b)));
}

double shadowing(const Radio& radio, std::uint64_t seed, const LinkInSequence& link) {
  if (radio.shadowing_deviation == 0.0) {
    return 1.0;
  }
  const auto [low, high] = std::minmax(link.node, link.other_node);
  RandomStream stream(seed, "shadowing", link.sequence, low, high);
  return portable_exp(radio.shadowing_deviation * stream.normal());
}

// log1p keeps a weak link's rate above 0, where log2(1 + snr) would round to it.
DataRate data_rate(const Transmission& transmission) {
  const auto& [power, loss, bandwidth, noise_density] = transmission;
  expect(isfinite(power) && power >= Power(0.0), "transmit power must be finite and >= 0");
  expect(std::isfinite(loss) && loss > 0.0, "loss must be finite and > 0");
  expect(isfinite(bandwidth) && bandwidth > Frequency(0.0), "bandwidth must be finite and > 0");
  expect(isfinite(noise_density) && noise_density > PowerDensity(0.0), "noise must be finite and > 0");
  const Power noise = noise_density * bandwidth;
  const double snr = power / std::max(loss, 1.0) / noise;
  return DataSize(1.0) * bandwidth * (std::log1p(snr) / std::numbers::ln2);
}

}  // namespace skein
