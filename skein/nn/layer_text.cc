#include "skein/nn/layer_text.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <vector>

#include "skein/base/input_fault.h"

namespace skein::nn {
namespace {

constexpr std::string_view all_forms =
    "must be one of: conv FILTERS KERNEL [stride S] [padding P], pool KERNEL [stride S], linear OUTPUTS, "
    "lstm HIDDEN [sequence], dropout PROBABILITY, relu, tanh, sigmoid, softmax; for example conv 16 2x2";

// The words of a line, taken one after another.
class Words {
 public:
  explicit Words(std::string_view line) : line_(line), rest_(line) { next_ = find_next(); }

  [[nodiscard]] bool done() const { return next_.empty(); }
  // Empty at the end.
  std::string_view take() {
    const std::string_view word = next_;
    next_ = find_next();
    return word;
  }
  // Takes the word if it is next.
  bool take(std::string_view word) {
    if (next_ != word) {
      return false;
    }
    take();
    return true;
  }

  [[noreturn]] void fail(std::string message) const {
    throw InputError(
        InputFault{.file = "", .key = "", .value = std::string(line_), .message = std::move(message)});
  }

  template <class Number>
  Number number(std::string_view what, std::string_view form) {
    const std::string_view word = take();
    const std::optional<Number> value = parse<Number>(word);
    if (!value) {
      fail(fmt::format("{} must be {}, not \"{}\": {}", what,
                       std::is_integral_v<Number> ? "a whole number" : "a number", word, form));
    }
    return *value;
  }

  HeightWidth size(std::string_view what, std::string_view form) {
    const std::string_view word = take();
    const std::size_t cross = word.find('x');
    const std::optional<std::size_t> height = parse<std::size_t>(word.substr(0, cross));
    const std::optional<std::size_t> width =
        cross == std::string_view::npos ? height : parse<std::size_t>(word.substr(cross + 1));
    if (!height || !width) {
      fail(fmt::format("{} must be HEIGHTxWIDTH or one number for both, not \"{}\": {}", what, word, form));
    }
    return {*height, *width};
  }

  void expect_done(std::string_view form) const {
    if (!done()) {
      fail(fmt::format("has \"{}\" where nothing more is allowed: {}", next_, form));
    }
  }

 private:
  std::string_view find_next() {
    constexpr std::string_view blanks = " \t";
    const std::size_t begin = std::min(rest_.find_first_not_of(blanks), rest_.size());
    const std::size_t end = std::min(rest_.find_first_of(blanks, begin), rest_.size());
    const std::string_view word = rest_.substr(begin, end - begin);
    rest_.remove_prefix(end);
    return word;
  }

  template <class Number>
  static std::optional<Number> parse(std::string_view word) {
    Number value{};
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    return error == std::errc() && end == word.data() + word.size() ? std::optional(value) : std::nullopt;
  }

  std::string_view line_;
  std::string_view rest_;
  std::string_view next_;
};

Layer parse_convolution(Words& words) {
  constexpr std::string_view form = "conv FILTERS KERNEL [stride S] [padding P]";
  Convolution layer{.filters = words.number<std::size_t>("FILTERS", form),
                    .kernel = words.size("KERNEL", form)};
  if (words.take("stride")) {
    layer.stride = words.size("the stride", form);
  }
  if (words.take("padding")) {
    layer.padding = words.size("the padding", form);
  }
  words.expect_done(form);
  return layer;
}

Layer parse_pool(Words& words) {
  constexpr std::string_view form = "pool KERNEL [stride S]";
  MaxPool layer{.kernel = words.size("KERNEL", form)};
  layer.stride = words.take("stride") ? words.size("the stride", form) : layer.kernel;
  words.expect_done(form);
  return layer;
}

Layer parse_linear(Words& words) {
  constexpr std::string_view form = "linear OUTPUTS";
  const Linear layer{words.number<std::size_t>("OUTPUTS", form)};
  words.expect_done(form);
  return layer;
}

Layer parse_lstm(Words& words) {
  constexpr std::string_view form = "lstm HIDDEN [sequence]";
  Lstm layer{.hidden = words.number<std::size_t>("HIDDEN", form)};
  layer.sequence = words.take("sequence");
  words.expect_done(form);
  return layer;
}

Layer parse_dropout(Words& words) {
  constexpr std::string_view form = "dropout PROBABILITY";
  const Dropout layer{words.number<double>("PROBABILITY", form)};
  words.expect_done(form);
  return layer;
}

std::string text(const HeightWidth& size) {
  return size[0] == size[1] ? fmt::format("{}", size[0]) : fmt::format("{}x{}", size[0], size[1]);
}

struct ToText {
  std::string operator()(const Convolution& l) const {
    std::string line = fmt::format("conv {} {}x{}", l.filters, l.kernel[0], l.kernel[1]);
    if (l.stride != HeightWidth{1, 1}) {
      line += " stride " + text(l.stride);
    }
    if (l.padding != HeightWidth{0, 0}) {
      line += " padding " + text(l.padding);
    }
    return line;
  }
  std::string operator()(const MaxPool& l) const {
    const std::string line = fmt::format("pool {}x{}", l.kernel[0], l.kernel[1]);
    return l.stride == l.kernel ? line : line + " stride " + text(l.stride);
  }
  std::string operator()(const Linear& l) const { return fmt::format("linear {}", l.outputs); }
  std::string operator()(const Lstm& l) const {
    return fmt::format("lstm {}{}", l.hidden, l.sequence ? " sequence" : "");
  }
  std::string operator()(const Dropout& l) const { return fmt::format("dropout {}", l.probability); }
  std::string operator()(const Relu&) const { return "relu"; }
  std::string operator()(const Tanh&) const { return "tanh"; }
  std::string operator()(const Sigmoid&) const { return "sigmoid"; }
  std::string operator()(const Softmax&) const { return "softmax"; }
};

}  // namespace

Layer parse_layer(std::string_view text) {
  Words words(text);
  const std::string_view kind = words.take();
  if (kind == "conv") {
    return parse_convolution(words);
  }
  if (kind == "pool") {
    return parse_pool(words);
  }
  if (kind == "linear") {
    return parse_linear(words);
  }
  if (kind == "lstm") {
    return parse_lstm(words);
  }
  if (kind == "dropout") {
    return parse_dropout(words);
  }
  const Layer plain[] = {Relu{}, Tanh{}, Sigmoid{}, Softmax{}};
  for (const Layer& layer : plain) {
    if (kind == to_text(layer)) {
      words.expect_done(kind);
      return layer;
    }
  }
  words.fail(std::string(all_forms));
}

std::string to_text(const Layer& layer) { return std::visit(ToText{}, layer); }

}  // namespace skein::nn
