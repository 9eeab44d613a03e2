// Statistics that tests of random numbers share. Streams are seeded, so a test passes always or never; the
// bounds are where a right generator would fail about once in a million.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <vector>

namespace skein {

// Pearson's statistic of counts that should be equal.
inline double chi_square(const std::vector<std::size_t>& counts) {
  std::size_t total = 0;
  for (const std::size_t count : counts) {
    total += count;
  }
  const double expected = static_cast<double>(total) / static_cast<double>(counts.size());
  double sum = 0.0;
  for (const std::size_t count : counts) {
    const double difference = static_cast<double>(count) - expected;
    sum += difference * difference / expected;
  }
  return sum;
}

// Wilson and Hilferty's normal approximation: chi-square as a number of standard deviations. Counts may
// also be too equal, so both signs matter.
inline double chi_square_deviations(const std::vector<std::size_t>& counts) {
  const auto freedom = static_cast<double>(counts.size() - 1);
  const double spread = 2.0 / (9.0 * freedom);
  return (std::cbrt(chi_square(counts) / freedom) - (1.0 - spread)) / std::sqrt(spread);
}

// Kolmogorov's sqrt(n) sup |F_n - F|: above 2.69 once in a million.
inline double kolmogorov(std::vector<double> values, const std::function<double(double)>& distribution) {
  std::ranges::sort(values);
  const auto n = static_cast<double>(values.size());
  double largest = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double f = distribution(values[i]);
    largest = std::max({largest, static_cast<double>(i + 1) / n - f, f - static_cast<double>(i) / n});
  }
  return std::sqrt(n) * largest;
}

inline constexpr double once_in_a_million = 4.9;              // standard deviations, both signs
inline constexpr double kolmogorov_once_in_a_million = 2.69;  // 2 exp(-2 x^2) = 1e-6

}  // namespace skein
