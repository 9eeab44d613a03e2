#include "skein/scenario/sizes.h"

#include <algorithm>

#include "skein/learning/network_choice.h"

namespace skein {
namespace {

constexpr double bits_per_parameter = 32.0;
constexpr double passes_per_gradient = 3.0;  // forwards, and twice that backwards

bool is_open(const Spread& spread) { return spread == constant(0.0); }

}  // namespace

Scenario with_sizes(Scenario scenario) {
  OffloadingOptions& offloading = scenario.offloading;
  if (is_open(offloading.point_size.spread)) {
    offloading.point_size.spread = constant(static_cast<double>(sample_bits(scenario.data.source)) / 1000.0);
  }
  const bool open_cycles = std::ranges::any_of(
      scenario.swarms.types, [](const UavType& type) { return is_open(type.cycles_per_point.spread); });
  if (!open_cycles && !is_open(offloading.model_size.spread)) {
    return scenario;
  }
  const nn::Architecture network = build_architecture(scenario.learning.network, scenario.data.source);
  if (is_open(offloading.model_size.spread)) {
    offloading.model_size.spread =
        constant(bits_per_parameter * static_cast<double>(nn::num_parameters(network)) / 1000.0);
  }
  const double operations = passes_per_gradient * nn::forward_operations(network);
  for (UavType& type : scenario.swarms.types) {
    if (is_open(type.cycles_per_point.spread)) {
      type.cycles_per_point.spread = constant(operations / type.operations_per_cycle);
    }
  }
  return scenario;
}

}  // namespace skein
