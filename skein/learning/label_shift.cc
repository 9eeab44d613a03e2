#include "skein/learning/label_shift.h"

#include <cmath>
#include <numeric>
#include <variant>

namespace skein {
namespace {

// pi_y
std::vector<double> smoothed_mix(const LabelCounts& counts, double smoothing) {
  expect(smoothing > 0.0, "a class without points has a mix above 0");
  const auto total = static_cast<double>(std::accumulate(counts.begin(), counts.end(), std::size_t{0}));
  const double all = total + static_cast<double>(counts.size()) * smoothing;
  std::vector<double> mix;
  for (const std::size_t count : counts) {
    mix.push_back((static_cast<double>(count) + smoothing) / all);
  }
  return mix;
}

}  // namespace

bool ends_with_biases(const nn::Architecture& architecture) {
  return std::holds_alternative<nn::Linear>(architecture.layers.back());
}

std::vector<double> label_shift(const LabelCounts& counts, double smoothing) {
  return lasting_label_shift(counts, {.smoothing = smoothing, .mix = 0.0});
}

std::vector<double> lasting_label_shift(const LabelCounts& counts, const LabelShiftOptions& options) {
  const auto classes = static_cast<double>(counts.size());
  std::vector<double> shift = smoothed_mix(counts, options.smoothing);
  for (double& value : shift) {
    value = std::log(classes * ((1.0 - options.mix) * value + options.mix / classes));
  }
  return shift;
}

}  // namespace skein
