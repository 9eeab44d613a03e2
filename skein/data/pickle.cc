#include "skein/data/pickle.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "skein/data/pickle_text.h"
#include "skein/data/pickle_value.h"

namespace skein {
namespace {

constexpr std::size_t max_stack = 1 << 14;
constexpr std::size_t max_memo = 1 << 16;
constexpr int max_protocol = 5;

class PickleMachine {
 public:
  PickleMachine(ByteReader& reader, const std::function<bool(const WaveformKey&)>& wanted)
      : reader_(reader), wanted_(wanted), context_(reader) {}

  std::map<WaveformKey, std::vector<float>> run() {
    while (step(static_cast<char>(reader_.byte()))) {
    }
    const PickleRef result = pop();
    auto* dictionary = std::get_if<PickleDictionary>(&result->content);
    if (dictionary == nullptr || !stack_.empty()) {
      context_.fail("the file's content is not one dictionary");
    }
    if (reader_.remaining() > 0) {
      context_.fail(fmt::format("{} bytes follow the end of the pickle", reader_.remaining()));
    }
    return std::move(dictionary->entries);
  }

 private:
  // One instruction; false after the last.
  bool step(char code) {
    switch (code) {
      case '.':
        return false;
      case '\x80':
        check_protocol();
        break;
      case '\x95':
        check_frame();
        break;

      case 'N':
        push(PickleNone{});
        break;
      case '\x88':
        push(std::int64_t{1});
        break;
      case '\x89':
        push(std::int64_t{0});
        break;
      case 'I':
      case 'L':
        push(decimal_integer());
        break;
      case 'K':
        push(static_cast<std::int64_t>(reader_.byte()));
        break;
      case 'M':
        push(static_cast<std::int64_t>(little_endian(2)));
        break;
      case 'J':
        push(static_cast<std::int64_t>(static_cast<std::int32_t>(little_endian(4))));
        break;
      case '\x8a':
        push(long_integer(reader_.byte()));
        break;
      case '\x8b':
        push(long_integer(little_endian(4)));
        break;
      case 'F':
        push(decimal_number());
        break;
      case 'G':
        push(big_endian_number());
        break;

      case 'S':
        push_text(PickleBytes{unquote_pickle_string(reader_.line(), context_)});
        break;
      case 'U':
      case 'C':
        push_text(PickleBytes{reader_.bytes(reader_.byte())});
        break;
      case 'T':
      case 'B':
        push_text(PickleBytes{reader_.bytes(little_endian(4))});
        break;
      case '\x8e':
      case '\x96':
        push_text(PickleBytes{reader_.bytes(little_endian(8))});
        break;
      case 'V':
        push_text(PickleUnicode{unescape_pickle_unicode(reader_.line(), context_)});
        break;
      case '\x8c':
        push_text(PickleUnicode{reader_.bytes(reader_.byte())});
        break;
      case 'X':
        push_text(PickleUnicode{reader_.bytes(little_endian(4))});
        break;
      case '\x8d':
        push_text(PickleUnicode{reader_.bytes(little_endian(8))});
        break;

      case '(':
        set_mark();
        break;
      case ')':
        push_ref(make_pickle_tuple({}, context_));
        break;
      case 't':
        push_ref(make_pickle_tuple(pop_to_mark(), context_));
        break;
      case '\x85':
      case '\x86':
      case '\x87':
        push_ref(make_pickle_tuple(pop_many(static_cast<std::size_t>(code - '\x85') + 1), context_));
        break;
      case '}':
        push(PickleDictionary{});
        break;
      case 'd': {
        std::vector<PickleRef> items = pop_to_mark();
        push(PickleDictionary{});
        set_items(items);
        break;
      }
      case 's':
        set_items(pop_many(2));
        break;
      case 'u':
        set_items(pop_to_mark());
        break;

      case '0':
        pop_value_or_mark();
        break;
      case '1':
        pop_to_mark();
        break;
      case '2':
        push_ref(top());
        break;
      case 'p':
        memorise(static_cast<std::size_t>(decimal_integer()));
        break;
      case 'q':
        memorise(reader_.byte());
        break;
      case 'r':
        memorise(little_endian(4));
        break;
      case '\x94':
        memorise(memo_.size());
        break;
      case 'g':
        recall(static_cast<std::size_t>(decimal_integer()));
        break;
      case 'h':
        recall(reader_.byte());
        break;
      case 'j':
        recall(little_endian(4));
        break;

      case 'c': {
        const std::string module = reader_.line();
        const std::string name = reader_.line();
        push(find_pickle_function(module, name, context_));
        break;
      }
      case '\x93':
        push_named_function();
        break;
      case 'R':
        call();
        break;
      case 'b': {
        const PickleRef state = pop();
        set_pickle_state(*top(), *state, context_);
        drop_if_unwanted();
        break;
      }
      default:
        context_.fail(fmt::format("has an instruction ({:#04x}) that a file of NumPy arrays does not need",
                                  static_cast<unsigned char>(code)));
    }
    return true;
  }

  [[nodiscard]] std::size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }

  template <class Content>
  void push(Content content) {
    push_ref(make_pickle_value(std::move(content)));
  }
  template <class Text>
  void push_text(Text string) {
    context_.hold(string.text.size());
    push(std::move(string));
  }
  void push_ref(PickleRef value) {
    if (stack_.size() == max_stack) {
      context_.fail(fmt::format("stacks more than {} values", max_stack));
    }
    stack_.push_back(std::move(value));
  }
  const PickleRef& top() {
    if (stack_.size() <= floor()) {
      context_.fail("takes a value that is not there");
    }
    return stack_.back();
  }
  PickleRef pop() {
    PickleRef value = top();
    stack_.pop_back();
    return value;
  }
  std::vector<PickleRef> pop_many(std::size_t count) {
    if (stack_.size() - floor() < count) {
      context_.fail("takes a value that is not there");
    }
    const auto first = stack_.end() - static_cast<std::ptrdiff_t>(count);
    std::vector<PickleRef> items(first, stack_.end());
    stack_.erase(first, stack_.end());
    return items;
  }

  void set_mark() {
    if (marks_.size() == max_stack) {
      context_.fail(fmt::format("sets more than {} marks", max_stack));
    }
    marks_.push_back(stack_.size());
  }
  std::vector<PickleRef> pop_to_mark() {
    if (marks_.empty()) {
      context_.fail("takes a mark that is not there");
    }
    std::vector<PickleRef> items = pop_many(stack_.size() - floor());
    marks_.pop_back();
    return items;
  }
  void pop_value_or_mark() {
    if (!marks_.empty() && stack_.size() == floor()) {
      marks_.pop_back();
    } else {
      pop();
    }
  }

  void memorise(std::size_t place) {
    if (memo_.size() == max_memo && !memo_.contains(place)) {
      context_.fail(fmt::format("memorises more than {} values", max_memo));
    }
    memo_[place] = top();
  }
  void recall(std::size_t place) {
    const auto found = memo_.find(place);
    if (found == memo_.end()) {
      context_.fail(fmt::format("recalls value {}, which was not memorised", place));
    }
    push_ref(found->second);
  }

  void check_protocol() {
    const int protocol = reader_.byte();
    if (protocol > max_protocol) {
      context_.fail(fmt::format("has pickle protocol {}; known are 0 to {}", protocol, max_protocol));
    }
  }
  void check_frame() {
    if (little_endian(8) > reader_.remaining()) {
      context_.fail("a frame is longer than the rest of the file");
    }
  }

  std::uint64_t little_endian(std::size_t count) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < count; ++i) {
      value |= std::uint64_t{reader_.byte()} << 8U * i;
    }
    return value;
  }
  // Two's complement of as many bytes as it needs.
  std::int64_t long_integer(std::uint64_t count) {
    if (count > 8) {
      context_.fail("has an integer of more than 64 bits");
    }
    if (count == 0) {
      return 0;
    }
    const auto unused_bits = static_cast<unsigned>(64 - 8 * count);
    return static_cast<std::int64_t>(little_endian(count) << unused_bits) >> unused_bits;
  }
  std::int64_t decimal_integer() {
    std::string text = reader_.line();
    if (!text.empty() && text.back() == 'L') {
      text.pop_back();
    }
    std::int64_t value = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (status != std::errc{} || end != text.data() + text.size()) {
      context_.fail("has an integer that is none, or of more than 64 bits");
    }
    return value;
  }
  double decimal_number() {
    const std::string text = reader_.line();
    double value = 0.0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (status != std::errc{} || end != text.data() + text.size()) {
      context_.fail("has a number that is none");
    }
    return value;
  }
  double big_endian_number() {
    std::uint64_t bits = 0;
    for (int i = 0; i < 8; ++i) {
      bits = bits << 8U | reader_.byte();
    }
    return std::bit_cast<double>(bits);
  }

  void push_named_function() {
    const std::vector<PickleRef> names = pop_many(2);
    const auto* module = std::get_if<PickleUnicode>(&names[0]->content);
    const auto* name = std::get_if<PickleUnicode>(&names[1]->content);
    if (module == nullptr || name == nullptr) {
      context_.fail("asks for a function without a name");
    }
    push(find_pickle_function(module->text, name->text, context_));
  }

  void call() {
    const std::vector<PickleRef> parts = pop_many(2);
    const auto* function = std::get_if<PickleFunction>(&parts[0]->content);
    const auto* arguments = std::get_if<PickleTuple>(&parts[1]->content);
    if (function == nullptr || arguments == nullptr) {
      context_.fail("calls what is not a function");
    }
    push_ref(call_pickle_function(*function, *arguments, context_));
    drop_if_unwanted();
  }

  // A dictionary's key lies under its value, long before the dictionary is filled: an array that is complete
  // but not wanted does not have to wait.
  void drop_if_unwanted() {
    auto* array = std::get_if<PickleArray>(&stack_.back()->content);
    if (array == nullptr || stack_.size() < 2) {
      return;
    }
    const std::optional<WaveformKey> key = waveform_key(*stack_[stack_.size() - 2]);
    if (key && !wanted_(*key)) {
      take_content(*array, context_);
    }
  }

  void set_items(const std::vector<PickleRef>& items) {
    auto* dictionary = std::get_if<PickleDictionary>(&top()->content);
    if (dictionary == nullptr || items.size() % 2 != 0) {
      context_.fail("sets items of what is not a dictionary");
    }
    for (std::size_t i = 0; i < items.size(); i += 2) {
      const std::optional<WaveformKey> key = waveform_key(*items[i]);
      auto* array = std::get_if<PickleArray>(&items[i + 1]->content);
      if (!key || array == nullptr) {
        context_.fail("the dictionary's entries are not (modulation, SNR in dB) with an array each");
      }
      std::optional<NumpyArray> content = take_content(*array, context_);
      if (wanted_(*key)) {
        const bool is_new = dictionary->entries.emplace(*key, waveforms(*key, std::move(content))).second;
        if (!is_new) {
          context_.fail(fmt::format("has ({}, {}) twice", key->modulation, key->snr_db));
        }
      }
    }
  }

  std::vector<float> waveforms(const WaveformKey& key, std::optional<NumpyArray> array) {
    const auto refuse = [&](std::string_view why) {
      context_.fail(fmt::format("the array of ({}, {}) {}", key.modulation, key.snr_db, why));
    };
    if (!array) {
      refuse("has no values, or is used twice");
    }
    if (array->shape.size() != 3 || array->shape[0] == 0 || array->shape[1] != waveform_rows ||
        array->shape[2] != waveform_samples) {
      refuse(fmt::format("has shape {}, not (n, {}, {})", shape_text(array->shape), waveform_rows,
                         waveform_samples));
    }
    std::optional<std::vector<float>> values = to_floats(std::move(*array));
    if (!values) {
      refuse("has integers for values");
    }
    if (!std::all_of(values->begin(), values->end(), [](float value) { return std::isfinite(value); })) {
      refuse("has a value that is NaN or infinite");
    }
    context_.hold(values->size() * sizeof(float));
    return std::move(*values);
  }

  ByteReader& reader_;
  const std::function<bool(const WaveformKey&)>& wanted_;
  PickleContext context_;
  std::vector<PickleRef> stack_;
  std::vector<std::size_t> marks_;
  std::unordered_map<std::size_t, PickleRef> memo_;
};

}  // namespace

std::map<WaveformKey, std::vector<float>> read_waveform_pickle(
    ByteReader& reader, const std::function<bool(const WaveformKey&)>& wanted) {
  return PickleMachine(reader, wanted).run();
}

}  // namespace skein
