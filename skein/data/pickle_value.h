// The values of the pickle machine (pickle.h), and what calling a function or setting a state does to them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "skein/data/byte_reader.h"
#include "skein/data/numpy_array.h"
#include "skein/data/pickle.h"

namespace skein {

struct PickleValue;
using PickleRef = std::shared_ptr<PickleValue>;

struct PickleNone {};
// Python 2's str, Python 3's bytes. Long ones are used once: what takes the text leaves `used` behind.
struct PickleBytes {
  std::string text;
  bool used = false;
};
struct PickleUnicode {
  std::string text;  // UTF-8
  bool used = false;
};
struct PickleTuple {
  std::vector<PickleRef> items;
  std::size_t depth = 1;
};
struct PickleDictionary {
  std::map<WaveformKey, std::vector<float>> entries;
};
enum class PickleFunction { ndarray, dtype, reconstruct, from_buffer, scalar, encode };
struct PickleArray {
  std::optional<NumpyArray> content;  // nothing before its state is set, and once taken or dropped
};

struct PickleValue {
  std::variant<PickleNone, std::int64_t, double, PickleBytes, PickleUnicode, PickleTuple, PickleDictionary,
               PickleFunction, NumpyType, PickleArray>
      content;
};

template <class Content>
PickleRef make_pickle_value(Content content) {
  return std::make_shared<PickleValue>(PickleValue{std::move(content)});
}

// Where the machine is, for faults, and how much it holds.
class PickleContext {
 public:
  explicit PickleContext(const ByteReader& reader) : reader_(reader) {}

  [[noreturn]] void fail(const std::string& message) const { reader_.fail(message); }
  // To be called with the size of every string and array that is made, and that is done with.
  void hold(std::size_t bytes);
  void release(std::size_t bytes) { held_ -= bytes; }

 private:
  const ByteReader& reader_;
  std::size_t held_ = 0;
};

// A tuple of bounded size and depth.
PickleRef make_pickle_tuple(std::vector<PickleRef> items, const PickleContext& context);

// (modulation, SNR), if that is what the value is.
std::optional<WaveformKey> waveform_key(const PickleValue& value);

// The function of that name. Fails for every function but the few that are known.
PickleFunction find_pickle_function(std::string_view module, std::string_view name,
                                    const PickleContext& context);

// What `function` returns for these arguments.
PickleRef call_pickle_function(PickleFunction function, const PickleTuple& arguments, PickleContext& context);

// Gives an array or a type its state.
void set_pickle_state(PickleValue& object, const PickleValue& state, PickleContext& context);

// The array's content, which it loses.
std::optional<NumpyArray> take_content(PickleArray& array, PickleContext& context);

}  // namespace skein
