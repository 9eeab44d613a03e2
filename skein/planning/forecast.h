// How a cluster's accuracy goes on, as predicted: it falls in a line from visit to visit.
#pragma once

#include <algorithm>

namespace skein {

// It does not fall below this share of what it was when the model was handed over.
constexpr double least_accuracy_share = 0.5;

// A model's accuracy from some moment on: accuracy - loss_per_s x, but not below the floor.
struct AccuracyPath {
  double accuracy = 0.0;
  double loss_per_s = 0.0;
  double floor = 0.0;

  [[nodiscard]] double after(double seconds) const {
    return std::max(accuracy - loss_per_s * seconds, std::min(accuracy, floor));
  }
  // Its integral over the next `seconds`, in accuracy-seconds.
  [[nodiscard]] double integral(double seconds) const {
    const double fall = std::max(0.0, accuracy - floor);
    if (loss_per_s * seconds <= fall) {
      return seconds * (accuracy - 0.5 * loss_per_s * seconds);
    }
    const double falling_s = fall / loss_per_s;
    return falling_s * (accuracy - 0.5 * fall) + (seconds - falling_s) * (accuracy - fall);
  }
};

// Of a model that was handed over with this accuracy.
[[nodiscard]] inline AccuracyPath path_of_visit(double accuracy, double loss_per_s) {
  return {.accuracy = accuracy, .loss_per_s = loss_per_s, .floor = least_accuracy_share * accuracy};
}

}  // namespace skein
