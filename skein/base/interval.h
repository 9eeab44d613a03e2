// What a few repeated measurements say: mean, deviation, and how sure the mean is.
#pragma once

#include <cstddef>
#include <span>

namespace skein {

struct MeanInterval {
  double mean = 0.0;
  double deviation = 0.0;   // of one measurement, from a sample; 0 for a single one
  double half_width = 0.0;  // the true mean is in mean +- half_width in 95 % of all cases; 0 for a single one
};

// Student's interval: half_width = t deviation / sqrt(n), for measurements that are about normal. At least
// one value.
MeanInterval mean_interval(std::span<const double> values);

// The 97.5 % quantile of Student's t distribution, to 1e-3; at least 1 degree of freedom.
double student_quantile(std::size_t degrees_of_freedom);

}  // namespace skein
