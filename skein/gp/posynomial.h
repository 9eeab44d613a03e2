// Monomials and posynomials of positive variables (the paper's appendix on geometric programming).
//
// A monomial is c x1^a1 x2^a2 ... with c > 0 and real exponents; a posynomial is a sum of monomials. With
// y = log x a monomial's logarithm is affine and a posynomial's is convex. Points are given as logarithms.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace skein::gp {

struct Factor {
  std::size_t variable = 0;
  double exponent = 1.0;
};

class Monomial {
 public:
  Monomial() = default;          // 1
  Monomial(double coefficient);  // NOLINT(google-explicit-constructor): numbers are monomials
  Monomial(double coefficient, std::vector<Factor> factors);
  static Monomial of(std::size_t variable, double exponent = 1.0) { return {1.0, {{variable, exponent}}}; }
  static Monomial with_log_coefficient(double log_coefficient, std::vector<Factor> factors);

  [[nodiscard]] double log_coefficient() const { return log_coefficient_; }
  [[nodiscard]] const std::vector<Factor>& factors() const { return factors_; }  // by variable, each once
  [[nodiscard]] double log_value(std::span<const double> log_point) const;

  Monomial& operator*=(const Monomial& other);
  friend Monomial operator*(Monomial a, const Monomial& b) { return a *= b; }
  friend Monomial operator/(Monomial a, const Monomial& b) { return a *= b.power(-1.0); }
  [[nodiscard]] Monomial power(double exponent) const;

 private:
  double log_coefficient_ = 0.0;
  std::vector<Factor> factors_;
};

class Posynomial {
 public:
  Posynomial() = default;                                         // empty: 0
  Posynomial(Monomial monomial) : terms_{std::move(monomial)} {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] const std::vector<Monomial>& terms() const { return terms_; }
  [[nodiscard]] double log_value(std::span<const double> log_point) const;

  Posynomial& operator+=(const Posynomial& other);
  Posynomial& operator*=(const Posynomial& other);
  Posynomial& operator/=(const Monomial& other);
  friend Posynomial operator+(Posynomial a, const Posynomial& b) { return a += b; }
  friend Posynomial operator*(Posynomial a, const Posynomial& b) { return a *= b; }
  friend Posynomial operator/(Posynomial a, const Monomial& b) { return a /= b; }

 private:
  std::vector<Monomial> terms_;
};

// The best monomial near a point: the same value and the same gradient of the logarithm there, and nowhere
// above the posynomial (the inequality between arithmetic and geometric means).
Monomial condense(const Posynomial& posynomial, std::span<const double> log_point);

}  // namespace skein::gp
