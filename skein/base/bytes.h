// Plain numbers, texts and lists one after another, for checkpoints and messages. Reading more than there is,
// is a programmer's fault: whoever reads a file checks its digest first.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "skein/base/expect.h"

namespace skein {

class ByteWriter {
 public:
  using Sink = std::function<void(std::string_view)>;

  // Keeps the bytes, until they are taken.
  ByteWriter() = default;
  // Hands them on as they come, and keeps none.
  explicit ByteWriter(Sink sink) : sink_(std::move(sink)) {}

  template <class T>
  requires std::is_trivially_copyable_v<T>
  void put(T value) { add(&value, sizeof(T)); }
  template <class List>
  void put_list(const List& values) {
    put<std::uint64_t>(values.size());
    add(values.data(), values.size() * sizeof(values[0]));
  }
  void put_text(std::string_view text) { put_list(text); }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  void add(const void* bytes, std::size_t size) {
    const std::string_view piece(static_cast<const char*>(bytes), size);
    if (sink_) {
      sink_(piece);
    } else {
      text_ += piece;
    }
  }

  Sink sink_;
  std::string text_;
};

class ByteCursor {
 public:
  // Of bytes that outlive it.
  explicit ByteCursor(std::string_view text) : text_(text) {}

  template <class T>
  T get() {
    T value{};
    read(&value, sizeof(T));
    return value;
  }
  template <class List>
  List get_list() {
    const auto count = get<std::uint64_t>();
    List values(checked(count, sizeof(values[0])));
    read(values.data(), values.size() * sizeof(values[0]));
    return values;
  }
  std::string get_text() {
    std::string text(checked(get<std::uint64_t>(), 1), '\0');
    read(text.data(), text.size());
    return text;
  }
  [[nodiscard]] bool at_end() const { return at_ == text_.size(); }

 private:
  std::size_t checked(std::uint64_t count, std::size_t size) const {
    expect(count <= (text_.size() - at_) / size, "a checkpoint is whole");
    return count;
  }
  void read(void* to, std::size_t size) {
    expect(size <= text_.size() - at_, "a checkpoint is whole");
    std::memcpy(to, text_.data() + at_, size);
    at_ += size;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace skein
