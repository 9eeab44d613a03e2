#include "skein/gp/posynomial.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "skein/base/expect.h"

namespace skein::gp {
namespace {

std::vector<Factor> collected(std::vector<Factor> factors) {
  std::ranges::sort(factors, {}, &Factor::variable);
  std::vector<Factor> result;
  for (const Factor& factor : factors) {
    if (!result.empty() && result.back().variable == factor.variable) {
      result.back().exponent += factor.exponent;
    } else {
      result.push_back(factor);
    }
  }
  return result;
}

}  // namespace

Monomial::Monomial(double coefficient) : Monomial(coefficient, {}) {}

Monomial::Monomial(double coefficient, std::vector<Factor> factors)
    : log_coefficient_(std::log(coefficient)), factors_(collected(std::move(factors))) {
  expect(coefficient > 0.0 && std::isfinite(coefficient), "a monomial's coefficient is positive and finite");
}

Monomial Monomial::with_log_coefficient(double log_coefficient, std::vector<Factor> factors) {
  Monomial result;
  result.log_coefficient_ = log_coefficient;
  result.factors_ = collected(std::move(factors));
  return result;
}

double Monomial::log_value(std::span<const double> log_point) const {
  double sum = log_coefficient_;
  for (const Factor& factor : factors_) {
    sum += factor.exponent * log_point[factor.variable];
  }
  return sum;
}

Monomial& Monomial::operator*=(const Monomial& other) {
  log_coefficient_ += other.log_coefficient_;
  if (!other.factors_.empty()) {
    factors_.insert(factors_.end(), other.factors_.begin(), other.factors_.end());
    factors_ = collected(std::move(factors_));
  }
  return *this;
}

Monomial Monomial::power(double exponent) const {
  Monomial result = *this;
  result.log_coefficient_ *= exponent;
  for (Factor& factor : result.factors_) {
    factor.exponent *= exponent;
  }
  return result;
}

double Posynomial::log_value(std::span<const double> log_point) const {
  double most = -std::numeric_limits<double>::infinity();
  std::vector<double> logs;
  logs.reserve(terms_.size());
  for (const Monomial& term : terms_) {
    logs.push_back(term.log_value(log_point));
    most = std::max(most, logs.back());
  }
  if (!std::isfinite(most)) {
    return most;
  }
  double sum = 0.0;
  for (const double value : logs) {
    sum += std::exp(value - most);
  }
  return most + std::log(sum);
}

Posynomial& Posynomial::operator+=(const Posynomial& other) {
  terms_.insert(terms_.end(), other.terms_.begin(), other.terms_.end());
  return *this;
}

Posynomial& Posynomial::operator*=(const Posynomial& other) {
  std::vector<Monomial> products;
  products.reserve(terms_.size() * other.terms_.size());
  for (const Monomial& a : terms_) {
    for (const Monomial& b : other.terms_) {
      products.push_back(a * b);
    }
  }
  terms_ = std::move(products);
  return *this;
}

Posynomial& Posynomial::operator/=(const Monomial& other) {
  const Monomial inverse = other.power(-1.0);
  for (Monomial& term : terms_) {
    term *= inverse;
  }
  return *this;
}

Monomial condense(const Posynomial& posynomial, std::span<const double> log_point) {
  expect(!posynomial.terms().empty(), "there is no monomial near 0");
  // With shares p_k of the terms at the point: prod_k (term_k / p_k)^p_k.
  const double log_sum = posynomial.log_value(log_point);
  double log_coefficient = 0.0;
  std::vector<Factor> factors;
  for (const Monomial& term : posynomial.terms()) {
    const double log_share = term.log_value(log_point) - log_sum;
    const double share = std::exp(log_share);
    if (share > 0.0) {
      log_coefficient += share * (term.log_coefficient() - log_share);
    }
    for (const Factor& factor : term.factors()) {
      factors.push_back({factor.variable, share * factor.exponent});
    }
  }
  return Monomial::with_log_coefficient(log_coefficient, std::move(factors));
}

}  // namespace skein::gp
