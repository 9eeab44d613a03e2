// Posynomials written as text: words of a program, and sums, products and powers of them.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "skein/base/input_fault.h"
#include "skein/gp/posynomial.h"

namespace skein::gp {

struct Place {
  std::size_t line = 1;
  std::size_t column = 1;
};

struct Token {
  enum class Kind { number, name, sign, end };  // sign: one of + - * / ^ ( ) : <= >= =; end: of a statement
  Kind kind = Kind::end;
  std::string_view text{};
  double number = 0.0;
  Place place{};
};

// Faults of one text; reported in the order of their places.
class TextFaults {
 public:
  explicit TextFaults(std::string name) : name_(std::move(name)) {}
  void add(const Place& place, const std::string& message);
  void throw_if_any() const;

 private:
  struct Placed {
    Place place;
    InputFault fault;
  };
  std::string name_;
  std::vector<Placed> faults_;
};

// Statements of a text, each ended by a token `end`. Characters that mean nothing are faults.
std::vector<std::vector<Token>> statements_of(std::string_view text, TextFaults& faults);

// A posynomial whose equal terms are one. Exponents by variable, none 0; coefficients above 0 and finite.
class Terms {
 public:
  using Exponents = std::vector<std::pair<std::size_t, double>>;

  Terms() = default;
  Terms(Exponents exponents, double coefficient) { add(std::move(exponents), coefficient); }

  [[nodiscard]] bool is_monomial() const { return terms_.size() == 1; }
  [[nodiscard]] bool is_number() const { return is_monomial() && terms_.begin()->first.empty(); }
  [[nodiscard]] bool is_finite() const;
  [[nodiscard]] std::size_t size() const { return terms_.size(); }
  [[nodiscard]] double coefficient() const { return terms_.begin()->second; }  // of the first term
  [[nodiscard]] Posynomial posynomial() const;
  [[nodiscard]] Monomial monomial() const;

  Terms& operator+=(const Terms& other);
  [[nodiscard]] Terms times(const Terms& other) const;
  [[nodiscard]] Terms power(double exponent) const;  // of a monomial

 private:
  void add(Exponents exponents, double coefficient);
  std::map<Exponents, double> terms_;
};

// Variables in the order of their first use.
class VariableNames {
 public:
  std::size_t index_of(std::string_view name);
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

 private:
  std::vector<std::string> names_;
  std::map<std::string, std::size_t, std::less<>> indices_;
};

// Reads expressions from a statement, from left to right.
class ExpressionReader {
 public:
  ExpressionReader(const std::vector<Token>& statement, VariableNames& variables, TextFaults& faults)
      : statement_(statement), variables_(variables), faults_(faults) {}

  // Nothing after a fault that makes the rest of the statement unreadable; it has been reported. Other faults
  // (a negative term, say) are reported and the reading goes on, with something allowed in its place.
  std::optional<Terms> expression();
  // Whether a fault has been reported.
  [[nodiscard]] bool faulty() const { return faulty_; }

  [[nodiscard]] const Token& next() const { return statement_[at_]; }
  bool take(std::string_view sign);
  void skip() { at_ += next().kind != Token::Kind::end ? 1 : 0; }
  void fault(const Place& place, const std::string& message);

 private:
  std::optional<Terms> product();
  std::optional<Terms> factor();
  std::optional<Terms> primary();
  std::optional<double> exponent();
  std::optional<double> constant_sum();
  std::optional<double> constant_product();
  std::optional<double> constant_factor();
  Terms multiplied(const Place& place, const Terms& left, const Terms& right);
  Terms divided(const Place& place, const Terms& left, const Terms& right);
  Terms raised(const Place& place, const Terms& base, double exponent);
  Terms checked(const Place& place, Terms terms);
  bool enter();
  std::nullopt_t unreadable(const char* expected);

  const std::vector<Token>& statement_;
  VariableNames& variables_;
  TextFaults& faults_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
  std::size_t work_ = 0;  // products of two terms so far
  bool faulty_ = false;
};

}  // namespace skein::gp
