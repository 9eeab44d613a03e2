// A number that is not negative, kept as its logarithm: sums, products and quotients of numbers far beyond
// the range of `double`. Formulas written for any number type run on these where they would overflow.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "skein/base/expect.h"

namespace skein {

class LogNumber {
 public:
  LogNumber() = default;    // zero
  LogNumber(double number)  // NOLINT(google-explicit-constructor): a constant in a formula
      : log_(std::log(number)) {
    expect(number >= 0.0, "only numbers that are not negative have a logarithm");
  }
  static LogNumber from_log(double log) {
    LogNumber result;
    result.log_ = log;
    return result;
  }

  // Minus infinity for zero.
  [[nodiscard]] double log() const { return log_; }
  [[nodiscard]] double log10() const { return log_ / std::log(10.0); }
  // Infinite, or zero, where `double` does not reach.
  [[nodiscard]] double value() const { return std::exp(log_); }

  friend LogNumber operator+(LogNumber a, LogNumber b) {
    const double larger = std::max(a.log_, b.log_);
    const double smaller = std::min(a.log_, b.log_);
    // Not the difference of two infinities.
    return std::isfinite(smaller) ? from_log(larger + std::log1p(std::exp(smaller - larger)))
                                  : from_log(larger);
  }
  friend LogNumber operator*(LogNumber a, LogNumber b) {
    return a.is_zero() || b.is_zero() ? LogNumber() : from_log(a.log_ + b.log_);
  }
  friend LogNumber operator/(LogNumber a, LogNumber b) {
    expect(!b.is_zero(), "division by zero");
    return a.is_zero() ? LogNumber() : from_log(a.log_ - b.log_);
  }
  LogNumber& operator+=(LogNumber other) { return *this = *this + other; }
  friend bool operator==(LogNumber a, LogNumber b) = default;
  friend bool operator<(LogNumber a, LogNumber b) { return a.log_ < b.log_; }

 private:
  [[nodiscard]] bool is_zero() const { return log_ == -std::numeric_limits<double>::infinity(); }

  double log_ = -std::numeric_limits<double>::infinity();
};

}  // namespace skein
