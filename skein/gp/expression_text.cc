#include "skein/gp/expression_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace skein::gp {
namespace {

constexpr std::size_t most_depth = 200;     // of parentheses
constexpr std::size_t most_work = 500'000;  // products of two terms in one statement

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The length of a number at the beginning of a text; 0 if there is none.
std::size_t number_length(std::string_view text) {
  double value = 0.0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  const bool is_number = !text.empty() && (is_digit(text[0]) || text[0] == '.') &&
                         (error == std::errc() || error == std::errc::result_out_of_range);
  return is_number ? static_cast<std::size_t>(rest - text.data()) : 0;
}

// x, flow_2, rho[1][2]: letters, digits and underscores, then indices.
std::size_t name_length(std::string_view text) {
  std::size_t length = 0;
  while (length < text.size() && (is_letter(text[length]) || (length > 0 && is_digit(text[length])))) {
    ++length;
  }
  while (length > 0 && length < text.size() && text[length] == '[') {
    std::size_t close = length + 1;
    while (close < text.size() && (is_letter(text[close]) || is_digit(text[close]) || text[close] == ',')) {
      ++close;
    }
    if (close == text.size() || text[close] != ']') {
      break;
    }
    length = close + 1;
  }
  return length;
}

std::size_t sign_length(std::string_view text) {
  if (text.starts_with("<=") || text.starts_with(">=") || text.starts_with("==")) {
    return 2;
  }
  return std::string_view("+-*/^():=<>").find(text[0]) != std::string_view::npos ? 1 : 0;
}

// Whether a statement goes on in the next line after this.
bool goes_on_after(const Token& token) {
  return token.kind == Token::Kind::sign && token.text != ")" && token.text != ":";
}

std::string shown(const Token& token) {
  return token.kind == Token::Kind::end ? "the end of the line" : fmt::format("\"{}\"", token.text);
}

}  // namespace

void TextFaults::add(const Place& place, const std::string& message) {
  const std::string key = fmt::format("line {}, column {}", place.line, place.column);
  faults_.push_back({place, {name_, key, "", message}});
}

void TextFaults::throw_if_any() const {
  std::vector<Placed> sorted = faults_;
  std::ranges::stable_sort(
      sorted, {}, [](const Placed& fault) { return std::pair(fault.place.line, fault.place.column); });
  InputFaults faults;
  for (Placed& fault : sorted) {
    faults.add(std::move(fault.fault));
  }
  faults.throw_if_any();
}

std::vector<std::vector<Token>> statements_of(std::string_view text, TextFaults& faults) {
  std::vector<std::vector<Token>> statements;
  std::vector<Token> statement;
  std::size_t open = 0;
  Place place;
  const auto end_statement = [&] {
    if (!statement.empty()) {
      statement.push_back({.kind = Token::Kind::end, .text = {}, .place = place});
      statements.push_back(std::move(statement));
      statement.clear();
    }
    open = 0;
  };
  while (!text.empty()) {
    std::size_t length = 1;
    if (text[0] == '\n') {
      if (open == 0 && (statement.empty() || !goes_on_after(statement.back()))) {
        end_statement();
      }
      text.remove_prefix(1);
      place = {place.line + 1, 1};
      continue;
    }
    if (text[0] == '#') {
      length = std::min(text.find('\n'), text.size());
    } else if (text[0] != ' ' && text[0] != '\t' && text[0] != '\r') {
      Token token{.place = place};
      if ((length = number_length(text)) > 0) {
        token.kind = Token::Kind::number;
        token.text = text.substr(0, length);
        const auto [rest, error] = std::from_chars(text.data(), text.data() + length, token.number);
        if (error != std::errc() || !std::isfinite(token.number)) {
          faults.add(place, fmt::format("{} is too large or too small a number", token.text));
          token.number = 1.0;
        }
      } else if ((length = name_length(text)) > 0) {
        token.kind = Token::Kind::name;
      } else if ((length = sign_length(text)) > 0) {
        token.kind = Token::Kind::sign;
        open += text[0] == '(' ? 1 : 0;
        open -= text[0] == ')' && open > 0 ? 1 : 0;
      } else {
        const auto byte = static_cast<unsigned char>(text[0]);
        faults.add(place, byte > 32 && byte < 127 ? fmt::format("\"{}\" means nothing here", text[0])
                                                  : fmt::format("byte {} means nothing here", byte));
        length = 1;
      }
      if (token.kind != Token::Kind::end) {
        token.text = text.substr(0, length);
        statement.push_back(token);
      }
    }
    place.column += length;
    text.remove_prefix(length);
  }
  end_statement();
  return statements;
}

// ---- posynomials

void Terms::add(Exponents exponents, double coefficient) {
  std::erase_if(exponents, [](const auto& power) { return power.second == 0.0; });
  terms_[std::move(exponents)] += coefficient;
}

bool Terms::is_finite() const {
  return std::ranges::all_of(terms_, [](const auto& term) {
    return term.second > 0.0 && std::isfinite(term.second) &&
           std::ranges::all_of(term.first, [](const auto& power) { return std::isfinite(power.second); });
  });
}

Posynomial Terms::posynomial() const {
  Posynomial result;
  for (const auto& [exponents, coefficient] : terms_) {
    std::vector<Factor> factors;
    for (const auto& [variable, exponent] : exponents) {
      factors.push_back({variable, exponent});
    }
    result += Monomial(coefficient, std::move(factors));
  }
  return result;
}

Monomial Terms::monomial() const { return posynomial().terms().front(); }

Terms& Terms::operator+=(const Terms& other) {
  for (const auto& [exponents, coefficient] : other.terms_) {
    terms_[exponents] += coefficient;
  }
  return *this;
}

Terms Terms::times(const Terms& other) const {
  Terms result;
  for (const auto& [left, left_coefficient] : terms_) {
    for (const auto& [right, right_coefficient] : other.terms_) {
      Exponents exponents = left;
      for (const auto& [variable, exponent] : right) {
        const auto place =
            std::ranges::lower_bound(exponents, variable, {}, [](const auto& power) { return power.first; });
        if (place != exponents.end() && place->first == variable) {
          place->second += exponent;
        } else {
          exponents.insert(place, {variable, exponent});
        }
      }
      result.add(std::move(exponents), left_coefficient * right_coefficient);
    }
  }
  return result;
}

Terms Terms::power(double exponent) const {
  Exponents exponents = terms_.begin()->first;
  for (auto& power : exponents) {
    power.second *= exponent;
  }
  return {std::move(exponents), std::pow(terms_.begin()->second, exponent)};
}

std::size_t VariableNames::index_of(std::string_view name) {
  const auto found = indices_.find(name);
  if (found != indices_.end()) {
    return found->second;
  }
  names_.emplace_back(name);
  indices_.emplace(name, names_.size() - 1);
  return names_.size() - 1;
}

// ---- expressions

bool ExpressionReader::take(std::string_view sign) {
  if (next().kind != Token::Kind::sign || next().text != sign) {
    return false;
  }
  ++at_;
  return true;
}

void ExpressionReader::fault(const Place& place, const std::string& message) {
  faulty_ = true;
  faults_.add(place, message);
}

std::nullopt_t ExpressionReader::unreadable(const char* expected) {
  fault(next().place, fmt::format("{} where {} is expected", shown(next()), expected));
  return std::nullopt;
}

bool ExpressionReader::enter() {
  if (++depth_ > most_depth) {
    fault(next().place, fmt::format("parentheses are more than {} deep", most_depth));
    return false;
  }
  return true;
}

std::optional<Terms> ExpressionReader::expression() {
  std::optional<Terms> sum = product();
  while (sum) {
    const Place place = next().place;
    const bool minus = take("-");
    if (!minus && !take("+")) {
      break;
    }
    if (minus) {
      fault(place,
            "a posynomial has no negative terms; alone on the other side of the comparison it would be "
            "positive");
    }
    const std::optional<Terms> term = product();
    if (!term) {
      return std::nullopt;
    }
    *sum += *term;
    *sum = checked(place, std::move(*sum));
  }
  return sum;
}

std::optional<Terms> ExpressionReader::product() {
  std::optional<Terms> result = factor();
  while (result) {
    const Place place = next().place;
    const bool divides = take("/");
    if (!divides && !take("*")) {
      if (next().kind == Token::Kind::name || next().kind == Token::Kind::number ||
          (next().kind == Token::Kind::sign && next().text == "(")) {
        return unreadable("an operator, as in 2 * x,");
      }
      break;
    }
    const std::optional<Terms> right = factor();
    if (!right) {
      return std::nullopt;
    }
    result = divides ? divided(place, *result, *right) : multiplied(place, *result, *right);
  }
  return result;
}

std::optional<Terms> ExpressionReader::factor() {
  const Place sign = next().place;
  if (take("-")) {
    fault(sign, "a posynomial has no negative terms");
  }
  std::optional<Terms> base = primary();
  const Place place = next().place;
  if (base && take("^")) {
    const std::optional<double> power = exponent();
    if (!power) {
      return std::nullopt;
    }
    base = raised(place, *base, *power);
    if (next().kind == Token::Kind::sign && next().text == "^") {
      fault(next().place, "a power of a power needs parentheses");
      return std::nullopt;
    }
  }
  return base;
}

std::optional<Terms> ExpressionReader::primary() {
  const Token token = next();
  switch (token.kind) {
    case Token::Kind::number:
      skip();
      if (token.number == 0.0) {
        fault(token.place, "a coefficient of a posynomial is above 0");
        return Terms({}, 1.0);
      }
      return Terms({}, token.number);
    case Token::Kind::name:
      skip();
      return Terms({{variables_.index_of(token.text), 1.0}}, 1.0);
    default:
      break;
  }
  if (!take("(")) {
    return unreadable("a number, a name or an expression in parentheses");
  }
  if (!enter()) {
    return std::nullopt;
  }
  std::optional<Terms> inner = expression();
  if (inner && !take(")")) {
    return unreadable("a closing parenthesis");
  }
  --depth_;
  return inner;
}

Terms ExpressionReader::checked(const Place& place, Terms terms) {
  if (terms.is_finite()) {
    return terms;
  }
  fault(place, "a coefficient or exponent becomes too large or too small a number");
  return {{}, 1.0};
}

Terms ExpressionReader::multiplied(const Place& place, const Terms& left, const Terms& right) {
  work_ += left.size() * right.size();
  if (work_ > most_work) {
    fault(place, "the product has too many terms");
    work_ = 0;
    return {{}, 1.0};
  }
  return checked(place, left.times(right));
}

Terms ExpressionReader::divided(const Place& place, const Terms& left, const Terms& right) {
  if (!right.is_monomial()) {
    fault(place,
          "only a monomial may divide; bound the sum by a variable of its own (sum <= t) and divide by that");
    return left;
  }
  return multiplied(place, left, checked(place, right.power(-1.0)));
}

Terms ExpressionReader::raised(const Place& place, const Terms& base, double exponent) {
  if (base.is_monomial()) {
    return checked(place, base.power(exponent));
  }
  if (!(exponent >= 1.0) || exponent != std::floor(exponent)) {
    fault(place, "a sum may be raised to the powers 1, 2, 3 and so on only");
    return base;
  }
  Terms result = base;
  // After a fault it is a number, and the loop ends.
  for (double power = 1.0; power < exponent && result.size() > 1; ++power) {
    result = multiplied(place, result, base);
  }
  return result;
}

// ---- exponents: numbers, with the four operations in parentheses

std::optional<double> ExpressionReader::exponent() {
  const Place place = next().place;
  const std::optional<double> value = constant_factor();
  if (value && !std::isfinite(*value)) {
    fault(place, "an exponent is a finite number");
    return std::nullopt;
  }
  return value;
}

std::optional<double> ExpressionReader::constant_sum() {
  std::optional<double> sum = constant_product();
  while (sum) {
    const bool minus = take("-");
    if (!minus && !take("+")) {
      break;
    }
    const std::optional<double> term = constant_product();
    sum = term ? std::optional<double>(minus ? *sum - *term : *sum + *term) : std::nullopt;
  }
  return sum;
}

std::optional<double> ExpressionReader::constant_product() {
  std::optional<double> result = constant_factor();
  while (result) {
    const bool divides = take("/");
    if (!divides && !take("*")) {
      break;
    }
    const std::optional<double> right = constant_factor();
    result = right ? std::optional<double>(divides ? *result / *right : *result * *right) : std::nullopt;
  }
  return result;
}

std::optional<double> ExpressionReader::constant_factor() {
  const bool minus = take("-");
  if (!minus) {
    take("+");
  }
  std::optional<double> value;
  if (next().kind == Token::Kind::number) {
    value = next().number;
    skip();
  } else if (take("(")) {
    if (!enter()) {
      return std::nullopt;
    }
    value = constant_sum();
    if (value && !take(")")) {
      return unreadable("a closing parenthesis");
    }
    --depth_;
  } else {
    return unreadable("a number (exponents have no variables)");
  }
  return value && minus ? -*value : value;
}

}  // namespace skein::gp
