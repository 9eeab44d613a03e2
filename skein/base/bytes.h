// Plain numbers, texts and lists one after another, for checkpoints. Reading more than there is, is a
// programmer's fault: whoever reads a file checks its digest first.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "skein/base/expect.h"

namespace skein {

class ByteWriter {
 public:
  template <class T>
  requires std::is_trivially_copyable_v<T>
  void put(T value) { text_.append(reinterpret_cast<const char*>(&value), sizeof(T)); }
  template <class List>
  void put_list(const List& values) {
    put<std::uint64_t>(values.size());
    text_.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(values[0]));
  }
  void put_text(const std::string& text) {
    put<std::uint64_t>(text.size());
    text_ += text;
  }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

class ByteCursor {
 public:
  explicit ByteCursor(const std::string& text) : text_(text) {}

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

  const std::string& text_;
  std::size_t at_ = 0;
};

}  // namespace skein
