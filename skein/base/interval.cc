#include "skein/base/interval.h"

#include <array>
#include <cmath>
#include <numeric>

#include "skein/base/expect.h"

namespace skein {

// A table, and from 10 on Fisher's expansion about the normal quantile z.
double student_quantile(std::size_t degrees_of_freedom) {
  static constexpr std::array table{12.70620, 4.30265, 3.18245, 2.77645, 2.57058,
                                    2.44691,  2.36462, 2.30600, 2.26216};
  expect(degrees_of_freedom > 0, "Student's t needs a degree of freedom");
  if (degrees_of_freedom <= table.size()) {
    return table[degrees_of_freedom - 1];
  }
  constexpr double z = 1.959964;
  constexpr double z3 = z * z * z;
  constexpr double z5 = z3 * z * z;
  constexpr double z7 = z5 * z * z;
  const auto n = static_cast<double>(degrees_of_freedom);
  return z + (z3 + z) / (4.0 * n) + (5.0 * z5 + 16.0 * z3 + 3.0 * z) / (96.0 * n * n) +
         (3.0 * z7 + 19.0 * z5 + 17.0 * z3 - 15.0 * z) / (384.0 * n * n * n);
}

MeanInterval mean_interval(std::span<const double> values) {
  expect(!values.empty(), "a mean needs values");
  const auto n = static_cast<double>(values.size());
  MeanInterval result{.mean = std::accumulate(values.begin(), values.end(), 0.0) / n};
  if (values.size() > 1) {
    double squares = 0.0;
    for (const double value : values) {
      squares += (value - result.mean) * (value - result.mean);
    }
    result.deviation = std::sqrt(squares / (n - 1.0));
    result.half_width = student_quantile(values.size() - 1) * result.deviation / std::sqrt(n);
  }
  return result;
}

}  // namespace skein
