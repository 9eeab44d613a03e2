#include "skein/data/pickle_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace skein {
namespace {

constexpr std::size_t max_held_bytes = std::size_t{1} << 30U;
constexpr std::size_t max_tuple_items = 64;
constexpr std::size_t max_tuple_depth = 16;
constexpr std::size_t max_dimensions = 32;
// A file may refer to a string again; to one longer than this it has no reason to.
constexpr std::size_t short_text = 1024;

template <class Content>
const Content* content_of(const PickleRef& value) {
  return std::get_if<Content>(&value->content);
}

std::optional<std::string_view> text_of(const PickleRef& value) {
  if (const auto* bytes = content_of<PickleBytes>(value)) {
    return bytes->text;
  }
  if (const auto* unicode = content_of<PickleUnicode>(value)) {
    return unicode->text;
  }
  return std::nullopt;
}

template <class Text>
std::string take_text(Text& string, PickleContext& context) {
  if (string.used) {
    context.fail("a long string is used twice");
  }
  if (string.text.size() <= short_text) {
    return string.text;
  }
  string.used = true;
  context.release(string.text.size());
  return std::exchange(string.text, {});
}

std::string take_bytes(const PickleRef& value, PickleContext& context) {
  if (auto* bytes = std::get_if<PickleBytes>(&value->content)) {
    return take_text(*bytes, context);
  }
  context.fail("an array's values are not bytes");
}

NumpyType type_of(const PickleRef& value, const PickleContext& context) {
  const auto* type = content_of<NumpyType>(value);
  if (type == nullptr) {
    context.fail("an array has no type");
  }
  return *type;
}

std::size_t array_bytes(const NumpyArray& array) {
  return std::visit([](const auto& values) { return values.size() * sizeof(values[0]); }, array.values);
}

NumpyArray make_array(const PickleRef& shape, const PickleRef& type, const PickleRef& bytes,
                      PickleContext& context) {
  const auto* tuple = content_of<PickleTuple>(shape);
  if (tuple == nullptr || tuple->items.size() > max_dimensions) {
    context.fail("an array's shape is not a tuple of sizes");
  }
  std::vector<std::size_t> sizes;
  for (const PickleRef& item : tuple->items) {
    const auto* size = content_of<std::int64_t>(item);
    if (size == nullptr || *size < 0) {
      context.fail("an array's shape is not a tuple of sizes");
    }
    sizes.push_back(static_cast<std::size_t>(*size));
  }
  const NumpyType numpy_type = type_of(type, context);
  const std::string text = take_bytes(bytes, context);
  const std::optional<std::size_t> count = num_elements(sizes);
  if (!count || text.size() % size_of(numpy_type) != 0 || text.size() / size_of(numpy_type) != *count) {
    context.fail(fmt::format("an array of shape {} has {} bytes of values", shape_text(sizes), text.size()));
  }
  context.hold(text.size());
  return decode_numpy(numpy_type, std::move(sizes), text);
}

// Python 3 writes bytes for Python 2 as text and has them encoded: every character stands for one byte.
std::string to_latin_1(std::string_view utf8, const PickleContext& context) {
  std::string bytes;
  for (std::size_t i = 0; i < utf8.size(); ++i) {
    const auto first = static_cast<unsigned char>(utf8[i]);
    if (first < 0x80) {
      bytes += utf8[i];
      continue;
    }
    const unsigned second = i + 1 < utf8.size() ? static_cast<unsigned char>(utf8[i + 1]) : 0U;
    if ((first != 0xc2 && first != 0xc3) || (second & 0xc0U) != 0x80) {
      context.fail("a string of bytes has a character that is not Latin-1");
    }
    bytes += static_cast<char>((first & 0x03U) << 6U | (second & 0x3fU));
    ++i;
  }
  return bytes;
}

PickleRef encode(const std::vector<PickleRef>& arguments, PickleContext& context) {
  auto* unicode = arguments.size() == 2 ? std::get_if<PickleUnicode>(&arguments[0]->content) : nullptr;
  if (unicode == nullptr || text_of(arguments[1]) != "latin1") {
    context.fail("_codecs.encode is only known for text and 'latin1'");
  }
  std::string bytes = to_latin_1(take_text(*unicode, context), context);
  context.hold(bytes.size());
  return make_pickle_value(PickleBytes{std::move(bytes)});
}

PickleRef make_type(const std::vector<PickleRef>& arguments, const PickleContext& context) {
  const std::optional<std::string_view> name = arguments.empty() ? std::nullopt : text_of(arguments[0]);
  const std::optional<NumpyType> type = name ? numpy_type(*name) : std::nullopt;
  if (!type || arguments.size() > 3) {
    context.fail("an array's type is not one of f4, f8, i4, i8 and u1");
  }
  return make_pickle_value(*type);
}

PickleRef make_unset_array(const std::vector<PickleRef>& arguments, const PickleContext& context) {
  const auto* kind = arguments.size() == 3 ? content_of<PickleFunction>(arguments[0]) : nullptr;
  if (kind == nullptr || *kind != PickleFunction::ndarray) {
    context.fail("only arrays of class numpy.ndarray are known");
  }
  return make_pickle_value(PickleArray{});
}

PickleRef make_buffer_array(const std::vector<PickleRef>& arguments, PickleContext& context) {
  if (arguments.size() != 4 || text_of(arguments[3]) != "C") {
    context.fail("an array is not in C order");
  }
  return make_pickle_value(PickleArray{make_array(arguments[2], arguments[1], arguments[0], context)});
}

PickleRef make_scalar(const std::vector<PickleRef>& arguments, PickleContext& context) {
  if (arguments.size() != 2) {
    context.fail("a NumPy number has two arguments, type and bytes");
  }
  const NumpyType type = type_of(arguments[0], context);
  const std::string bytes = take_bytes(arguments[1], context);
  if (bytes.size() != size_of(type)) {
    context.fail("a NumPy number has a wrong length");
  }
  const std::optional<std::vector<std::int64_t>> integer = to_integers(decode_numpy(type, {}, bytes));
  if (!integer) {
    context.fail("a NumPy number is not whole");
  }
  return make_pickle_value(integer->front());
}

// (1, shape, type, whether in Fortran order, bytes)
void set_array_state(PickleArray& array, const std::vector<PickleRef>& state, PickleContext& context) {
  if (array.content || state.size() != 5) {
    context.fail("an array's state is not as NumPy writes it");
  }
  const auto* fortran_order = content_of<std::int64_t>(state[3]);
  if (fortran_order == nullptr || *fortran_order != 0) {
    context.fail("an array is not in C order");
  }
  array.content = make_array(state[1], state[2], state[4], context);
}

// (version, byte order, ...); the rest describes types that have parts, which are not known here.
void check_type_state(const std::vector<PickleRef>& state, const PickleContext& context) {
  if (state.size() < 2 || (text_of(state[1]) != "<" && text_of(state[1]) != "|")) {
    context.fail("an array is not little-endian");
  }
}

}  // namespace

void PickleContext::hold(std::size_t bytes) {
  held_ += bytes;
  if (held_ > max_held_bytes) {
    fail(fmt::format("the file needs more than the {} bytes of memory allowed", max_held_bytes));
  }
}

PickleRef make_pickle_tuple(std::vector<PickleRef> items, const PickleContext& context) {
  std::size_t depth = 1;
  for (const PickleRef& item : items) {
    if (const auto* tuple = content_of<PickleTuple>(item)) {
      depth = std::max(depth, tuple->depth + 1);
    }
    if (content_of<PickleDictionary>(item) != nullptr) {
      context.fail("a dictionary is inside a tuple");
    }
  }
  if (items.size() > max_tuple_items || depth > max_tuple_depth) {
    context.fail(
        fmt::format("a tuple has more than {} items or {} levels", max_tuple_items, max_tuple_depth));
  }
  return make_pickle_value(PickleTuple{.items = std::move(items), .depth = depth});
}

std::optional<WaveformKey> waveform_key(const PickleValue& value) {
  const auto* tuple = std::get_if<PickleTuple>(&value.content);
  if (tuple == nullptr || tuple->items.size() != 2) {
    return std::nullopt;
  }
  const std::optional<std::string_view> modulation = text_of(tuple->items[0]);
  const auto* snr = content_of<std::int64_t>(tuple->items[1]);
  if (!modulation || modulation->size() > short_text || snr == nullptr || !std::in_range<std::int8_t>(*snr)) {
    return std::nullopt;
  }
  return WaveformKey{.modulation = std::string(*modulation), .snr_db = static_cast<int>(*snr)};
}

PickleFunction find_pickle_function(std::string_view module, std::string_view name,
                                    const PickleContext& context) {
  struct Known {
    std::string_view module;
    std::string_view name;
    PickleFunction function;
  };
  // NumPy 2 has renamed its core.
  static constexpr Known known[] = {
      {"numpy", "ndarray", PickleFunction::ndarray},
      {"numpy", "dtype", PickleFunction::dtype},
      {"numpy.core.multiarray", "_reconstruct", PickleFunction::reconstruct},
      {"numpy._core.multiarray", "_reconstruct", PickleFunction::reconstruct},
      {"numpy.core.multiarray", "scalar", PickleFunction::scalar},
      {"numpy._core.multiarray", "scalar", PickleFunction::scalar},
      {"numpy.core.numeric", "_frombuffer", PickleFunction::from_buffer},
      {"numpy._core.numeric", "_frombuffer", PickleFunction::from_buffer},
      {"_codecs", "encode", PickleFunction::encode},
  };
  for (const Known& entry : known) {
    if (entry.module == module && entry.name == name) {
      return entry.function;
    }
  }
  context.fail(fmt::format("asks for the function {:?}, which is not part of a NumPy array",
                           fmt::format("{:.64}.{:.64}", module, name)));
}

PickleRef call_pickle_function(PickleFunction function, const PickleTuple& arguments,
                               PickleContext& context) {
  switch (function) {
    case PickleFunction::dtype:
      return make_type(arguments.items, context);
    case PickleFunction::reconstruct:
      return make_unset_array(arguments.items, context);
    case PickleFunction::from_buffer:
      return make_buffer_array(arguments.items, context);
    case PickleFunction::scalar:
      return make_scalar(arguments.items, context);
    case PickleFunction::encode:
      return encode(arguments.items, context);
    case PickleFunction::ndarray:
      break;
  }
  context.fail("calls numpy.ndarray, which NumPy never writes");
}

void set_pickle_state(PickleValue& object, const PickleValue& state, PickleContext& context) {
  const auto* tuple = std::get_if<PickleTuple>(&state.content);
  if (tuple == nullptr) {
    context.fail("a state is not a tuple");
  }
  if (auto* array = std::get_if<PickleArray>(&object.content)) {
    set_array_state(*array, tuple->items, context);
  } else if (std::holds_alternative<NumpyType>(object.content)) {
    check_type_state(tuple->items, context);
  } else {
    context.fail("a state is set on what is neither an array nor its type");
  }
}

std::optional<NumpyArray> take_content(PickleArray& array, PickleContext& context) {
  std::optional<NumpyArray> content = std::exchange(array.content, std::nullopt);
  if (content) {
    context.release(array_bytes(*content));
  }
  return content;
}

}  // namespace skein
