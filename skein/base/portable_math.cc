#include "skein/base/portable_math.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include "skein/base/expect.h"

namespace skein {
namespace {

constexpr double ln2_high = 6.93147180369123816490e-01;  // 33 significant bits: k * ln2_high is exact
constexpr double ln2_low = 1.90821492927058770002e-10;

// c[0] + c[1] x + ... by Horner's rule.
template <std::size_t N>
double polynomial(const std::array<double, N>& coefficients, double x) {
  double value = 0.0;
  for (std::size_t i = N; i-- > 0;) {
    value = value * x + coefficients[i];
  }
  return value;
}

}  // namespace

// x = m 2^k with m in [sqrt(1/2), sqrt(2)); log m = 2 atanh(s), s = (m - 1) / (m + 1).
double portable_log(double x) {
  expect(x > 0.0 && std::isfinite(x), "portable_log needs a positive, finite argument");
  int exponent = 0;
  double m = std::frexp(x, &exponent);
  if (m < 0.70710678118654752440) {
    m *= 2.0;
    --exponent;
  }
  const double s = (m - 1.0) / (m + 1.0);
  static constexpr std::array<double, 12> series = {2.0,        2.0 / 3.0,  2.0 / 5.0,  2.0 / 7.0,
                                                    2.0 / 9.0,  2.0 / 11.0, 2.0 / 13.0, 2.0 / 15.0,
                                                    2.0 / 17.0, 2.0 / 19.0, 2.0 / 21.0, 2.0 / 23.0};
  return exponent * ln2_high + (s * polynomial(series, s * s) + exponent * ln2_low);
}

// x = k ln 2 + r with |r| <= ln(2) / 2; Taylor's series in r.
double portable_exp(double x) {
  expect(!std::isnan(x), "portable_exp needs a number");
  if (x > 709.782712893384) {
    return std::numeric_limits<double>::infinity();
  }
  if (x < -745.2) {
    return 0.0;
  }
  const double k = std::nearbyint(x * 1.44269504088896340736);
  const double r = (x - k * ln2_high) - k * ln2_low;
  double sum = 1.0;
  for (int n = 14; n >= 1; --n) {
    sum = 1.0 + sum * r / n;
  }
  return std::ldexp(sum, static_cast<int>(k));
}

double normal_quantile(double p) {
  expect(p > 0.0 && p < 1.0, "normal_quantile needs 0 < p < 1");
  static constexpr std::array<double, 8> a = {
      3.3871328727963666080e0,  1.3314166789178437745e+2, 1.9715909503065514427e+3, 1.3731693765509461125e+4,
      4.5921953931549871457e+4, 6.7265770927008700853e+4, 3.3430575583588128105e+4, 2.5090809287301226727e+3};
  static constexpr std::array<double, 8> b = {1.0,
                                              4.2313330701600911252e+1,
                                              6.8718700749205790830e+2,
                                              5.3941960214247511077e+3,
                                              2.1213794301586595867e+4,
                                              3.9307895800092710610e+4,
                                              2.8729085735721942674e+4,
                                              5.2264952788528545610e+3};
  static constexpr std::array<double, 8> c = {1.42343711074968357734e0,  4.63033784615654529590e0,
                                              5.76949722146069140550e0,  3.64784832476320460504e0,
                                              1.27045825245236838258e0,  2.41780725177450611770e-1,
                                              2.27238449892691845833e-2, 7.74545014278341407640e-4};
  static constexpr std::array<double, 8> d = {1.0,
                                              2.05319162663775882187e0,
                                              1.67638483018380384940e0,
                                              6.89767334985100004550e-1,
                                              1.48103976427480074590e-1,
                                              1.51986665636164571966e-2,
                                              5.47593808499534494600e-4,
                                              1.05075007164441684324e-9};
  static constexpr std::array<double, 8> e = {6.65790464350110377720e0,  5.46378491116411436990e0,
                                              1.78482653991729133580e0,  2.96560571828504891230e-1,
                                              2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                              2.71155556874348757815e-5, 2.01033439929228813265e-7};
  static constexpr std::array<double, 8> f = {1.0,
                                              5.99832206555887937690e-1,
                                              1.36929880922735805310e-1,
                                              1.48753612908506148525e-2,
                                              7.86869131145613259100e-4,
                                              1.84631831751005468180e-5,
                                              1.42151175831644588870e-7,
                                              2.04426310338993978564e-15};
  const double q = p - 0.5;
  if (std::abs(q) <= 0.425) {
    const double r = 0.180625 - q * q;
    return q * polynomial(a, r) / polynomial(b, r);
  }
  const double r = std::sqrt(-portable_log(q < 0.0 ? p : 1.0 - p));
  const double tail = r <= 5.0 ? polynomial(c, r - 1.6) / polynomial(d, r - 1.6)
                               : polynomial(e, r - 5.0) / polynomial(f, r - 5.0);
  return q < 0.0 ? -tail : tail;
}

}  // namespace skein
