#include "skein/gp/program_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "skein/gp/expression_text.h"

namespace skein::gp {
namespace {

using Statement = std::vector<Token>;

bool is_word(const Token& token, std::initializer_list<std::string_view> words) {
  return token.kind == Token::Kind::name && std::ranges::find(words, token.text) != words.end();
}

bool is_comparison(const Token& token) {
  return token.kind == Token::Kind::sign && (token.text == "<=" || token.text == ">=" || token.text == "=");
}

// What stands in the text from one token to another, without comments, blanks and line ends as one blank.
std::string text_between(const Token& first, const Token& last) {
  constexpr std::size_t longest = 60;
  const char* const end = last.text.data() + last.text.size();
  std::string text;
  bool comment = false;
  for (const char* c = first.text.data(); c < end; ++c) {
    comment = *c == '#' || (comment && *c != '\n');
    if (comment) {
      continue;
    }
    const bool blank = *c == ' ' || *c == '\t' || *c == '\r' || *c == '\n';
    if (!blank) {
      text += *c;
    } else if (!text.ends_with(' ')) {
      text += ' ';
    }
  }
  return text.size() > longest ? text.substr(0, longest - 3) + "..." : text;
}

class ProgramReader {
 public:
  explicit ProgramReader(const std::string& name) : faults_(name) {}

  ProgramText read(std::string_view text) {
    const std::vector<Statement> statements = statements_of(text, faults_);
    for (const Statement& statement : statements) {
      read(statement);
    }
    if (!has_objective_) {
      const Place first = statements.empty() ? Place{} : statements.front().front().place;
      faults_.add(first, "a program begins with \"minimize EXPRESSION\" or \"maximize MONOMIAL\"");
    }
    faults_.throw_if_any();
    Program& program = result_.program;
    for (const std::string& variable : variables_.names()) {
      program.add_variable(variable);
    }
    for (const Bound& bound : bounds_) {
      apply(bound);
    }
    return std::move(result_);
  }

 private:
  // A variable compared with a number; a constraint or equality if it contradicts an earlier bound.
  struct Bound {
    std::string sign;
    std::string name;
    std::size_t variable;
    double value;
  };

  void read(const Statement& statement) {
    const Token& first = statement.front();
    if (is_word(first, {"minimize", "minimise", "maximize", "maximise"})) {
      read_objective(statement);
    } else if (is_word(first, {"subject"}) && is_word(statement[1], {"to"})) {
      if (statement.size() > 3) {
        faults_.add(statement[2].place, "constraints begin in the line after \"subject to\"");
      }
      if (subject_to_) {
        faults_.add(first.place, "there is one \"subject to\" already");
      }
      subject_to_ = true;
    } else {
      if (has_objective_ && !subject_to_) {
        faults_.add(first.place, "constraints come after a line \"subject to\"");
        subject_to_ = true;
      }
      read_constraint(statement);
    }
  }

  void read_objective(const Statement& statement) {
    ExpressionReader reader(statement, variables_, faults_);
    const Token& word = statement.front();
    reader.skip();
    if (has_objective_ || subject_to_) {
      faults_.add(word.place, has_objective_ ? "a program has one objective; there is one already"
                                             : "the objective comes before \"subject to\"");
    }
    has_objective_ = true;
    const Place place = reader.next().place;
    const std::optional<Terms> terms = reader.expression();
    if (!terms) {
      return;
    }
    if (reader.next().kind != Token::Kind::end) {
      reader.fault(reader.next().place, fmt::format("\"{}\" after the objective", reader.next().text));
    }
    result_.maximises = word.text.starts_with("max");
    if (result_.maximises && !terms->is_monomial() && !reader.faulty()) {
      reader.fault(place,
                   "only a monomial can be maximised: a sum's upper bound is not convex, even in logarithms");
    }
    if (!reader.faulty()) {
      result_.program.objective =
          result_.maximises ? Posynomial(terms->monomial().power(-1.0)) : terms->posynomial();
    }
  }

  void read_constraint(const Statement& statement) {
    ExpressionReader reader(statement, variables_, faults_);
    const std::string name = read_name(statement, reader);
    const Token* first = &reader.next();
    std::optional<Terms> left = reader.expression();
    std::size_t part = 0;
    while (left) {
      const Token sign = reader.next();
      if (sign.kind == Token::Kind::end && part > 0) {
        return;
      }
      if (!is_comparison(sign)) {
        reader.fault(sign.place, sign.text == "<" || sign.text == ">" || sign.text == "=="
                                     ? fmt::format("\"{}\": a comparison is <=, >= or =", sign.text)
                                     : "a constraint is a comparison: <=, >= or =");
        return;
      }
      reader.skip();
      const Token* const second = &reader.next();
      std::optional<Terms> right = reader.expression();
      if (!right) {
        return;
      }
      ++part;
      const Token* const last = &reader.next() - 1;
      const bool chain = is_comparison(reader.next()) || part > 1;
      const std::string full_name =
          name.empty() ? fmt::format("line {} ({})", first->place.line, text_between(*first, *last))
          : chain      ? fmt::format("{} ({})", name, part)
                       : name;
      compare(sign, full_name, !name.empty(), *left, *right, reader);
      left = std::move(right);
      first = second;
    }
  }

  std::string read_name(const Statement& statement, ExpressionReader& reader) {
    const auto colon = std::ranges::find_if(
        statement, [](const Token& token) { return token.kind == Token::Kind::sign && token.text == ":"; });
    if (colon == statement.end()) {
      return "";
    }
    for (auto token = statement.begin(); token <= colon; ++token) {
      reader.skip();
    }
    if (colon == statement.begin()) {
      reader.fault(colon->place, "a name is expected before \":\"");
      return "";
    }
    std::string name = text_between(statement.front(), *(colon - 1));
    const auto [place, is_new] = lines_of_names_.try_emplace(name, colon->place.line);
    if (!is_new) {
      reader.fault(statement.front().place,
                   fmt::format("the constraint in line {} is called \"{}\" too", place->second, name));
    }
    return name;
  }

  void compare(const Token& sign, const std::string& name, bool named, const Terms& left, const Terms& right,
               ExpressionReader& reader) {
    if (sign.text == ">=") {
      compare({.kind = sign.kind, .text = "<=", .place = sign.place}, name, named, right, left, reader);
      return;
    }
    const bool equal = sign.text == "=";
    if (equal ? !left.is_monomial() || !right.is_monomial() : !right.is_monomial()) {
      if (!reader.faulty()) {
        reader.fault(sign.place, equal ? "only monomials can be equal: a sum that equals something is not "
                                         "convex, even in logarithms"
                                       : "the larger side must be a monomial: a sum with a lower limit is "
                                         "not convex, even in logarithms");
      }
      return;
    }
    if (left.is_number() && right.is_number() && !reader.faulty()) {
      reader.fault(sign.place, "a constraint has a variable on one side at least");
    }
    if (reader.faulty()) {
      return;
    }
    if (!named) {
      if (std::optional<Bound> bound = bound_of(left, right)) {
        bound->sign = equal ? "=" : bound->sign;
        bound->name = name;
        bounds_.push_back(std::move(*bound));
        return;
      }
    }
    const Monomial limit = right.monomial();
    if (equal) {
      result_.program.equalities.push_back({name, left.monomial() / limit});
    } else {
      result_.program.constraints.push_back({name, left.posynomial() / limit});
    }
  }

  // c x <= number, or number <= c x.
  static std::optional<Bound> bound_of(const Terms& left, const Terms& right) {
    const bool upper = right.is_number();
    const Terms& side = upper ? left : right;
    if (upper == left.is_number() || !side.is_monomial()) {
      return std::nullopt;
    }
    const Monomial monomial = side.monomial();
    const double value = (upper ? right : left).coefficient() / side.coefficient();
    if (monomial.factors().size() != 1 || monomial.factors()[0].exponent != 1.0 || !std::isnormal(value)) {
      return std::nullopt;
    }
    return Bound{
        .sign = upper ? "<=" : ">=", .name = "", .variable = monomial.factors()[0].variable, .value = value};
  }

  void apply(const Bound& bound) {
    Program& program = result_.program;
    ProgramVariable& variable = program.variables[bound.variable];
    const Monomial x = Monomial::of(bound.variable);
    const bool fits = bound.sign == "<="   ? bound.value >= variable.lower
                      : bound.sign == ">=" ? bound.value <= variable.upper
                                           : bound.value >= variable.lower && bound.value <= variable.upper;
    if (fits) {
      variable.lower = bound.sign != "<=" ? std::max(variable.lower, bound.value) : variable.lower;
      variable.upper = bound.sign != ">=" ? std::min(variable.upper, bound.value) : variable.upper;
    } else if (bound.sign == "=") {
      program.equalities.push_back({bound.name, x / Monomial(bound.value)});
    } else {
      program.constraints.push_back(
          {bound.name, bound.sign == "<=" ? x / Monomial(bound.value) : Monomial(bound.value) / x});
    }
  }

  TextFaults faults_;
  VariableNames variables_;
  std::map<std::string, std::size_t> lines_of_names_;
  std::vector<Bound> bounds_;
  bool has_objective_ = false;
  bool subject_to_ = false;
  ProgramText result_;
};

}  // namespace

ProgramText parse_program(std::string_view text, const std::string& name) {
  return ProgramReader(name).read(text);
}

}  // namespace skein::gp
