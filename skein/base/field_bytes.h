// Values as bytes, and back, by one list of their fields. A value says its fields once, beside whoever sends
// or saves it:
//
//   template <class Value, class Visit>
//   requires IsOf<Value, Thing>
//   void each_field(Value& value, Visit&& visit) {
//     auto& [first, second] = value;  // as many names as there are fields, or it does not compile
//     visit(first, second);
//   }
//
// Plain numbers and structs of them need no list. What several pointers share is written once.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "skein/base/bytes.h"

namespace skein {

template <class Value, class Type>
concept IsOf = std::same_as<std::remove_const_t<Value>, Type>;

namespace field_bytes {

template <class T>
struct IsShared : std::false_type {};
template <class T>
struct IsShared<std::shared_ptr<const T>> : std::true_type {};

template <class T>
concept List = std::same_as<T, std::vector<bool>> || requires(T list) {
  list.data();
  T(list.size());
};
template <class T>
using Element = std::remove_cvref_t<decltype(std::declval<T&>()[0])>;

constexpr std::uint64_t nothing = std::numeric_limits<std::uint64_t>::max();  // of a shared pointer

}  // namespace field_bytes

class FieldWriter {
 public:
  explicit FieldWriter(ByteWriter& bytes) : bytes_(bytes) {}

  template <class... Fields>
  void operator()(const Fields&... fields) {
    (write(fields), ...);
  }

 private:
  template <class T>
  void write(const T& value) {
    if constexpr (std::same_as<T, std::string>) {
      bytes_.put_text(value);
    } else if constexpr (field_bytes::IsShared<T>::value) {
      write_shared(value);
    } else if constexpr (field_bytes::List<T>) {
      write_list(value);
    } else if constexpr (std::is_trivially_copyable_v<T>) {
      bytes_.put(value);
    } else {
      each_field(value, *this);
    }
  }
  template <class List>
  void write_list(const List& values) {
    using T = field_bytes::Element<List>;
    if constexpr (std::same_as<List, std::vector<bool>>) {
      bytes_.put_list(std::vector<std::uint8_t>(values.begin(), values.end()));
    } else if constexpr (std::is_trivially_copyable_v<T>) {
      bytes_.put_list(values);
    } else {
      bytes_.put<std::uint64_t>(values.size());
      for (const T& value : values) {
        write(value);
      }
    }
  }
  template <class T>
  void write_shared(const std::shared_ptr<const T>& value) {
    const auto found = std::ranges::find(shared_, value.get());
    const auto index = static_cast<std::uint64_t>(found - shared_.begin());
    bytes_.put<std::uint64_t>(value ? index : field_bytes::nothing);
    if (value && found == shared_.end()) {
      shared_.push_back(value.get());
      write(*value);
    }
  }

  ByteWriter& bytes_;
  std::vector<const void*> shared_;
};

class FieldReader {
 public:
  explicit FieldReader(ByteCursor& bytes) : bytes_(bytes) {}

  template <class... Fields>
  void operator()(Fields&... fields) {
    (read(fields), ...);
  }

 private:
  template <class T>
  void read(T& value) {
    if constexpr (std::same_as<T, std::string>) {
      value = bytes_.get_text();
    } else if constexpr (field_bytes::IsShared<T>::value) {
      read_shared(value);
    } else if constexpr (field_bytes::List<T>) {
      read_list(value);
    } else if constexpr (std::is_trivially_copyable_v<T>) {
      value = bytes_.get<T>();
    } else {
      each_field(value, *this);
    }
  }
  template <class List>
  void read_list(List& values) {
    using T = field_bytes::Element<List>;
    if constexpr (std::same_as<List, std::vector<bool>>) {
      const auto flags = bytes_.get_list<std::vector<std::uint8_t>>();
      values.assign(flags.begin(), flags.end());
    } else if constexpr (std::is_trivially_copyable_v<T>) {
      values = bytes_.get_list<List>();
    } else {
      values = List(bytes_.get<std::uint64_t>());
      for (T& value : values) {
        read(value);
      }
    }
  }
  template <class T>
  void read_shared(std::shared_ptr<const T>& value) {
    const auto index = bytes_.get<std::uint64_t>();
    if (index == field_bytes::nothing) {
      value = nullptr;
      return;
    }
    if (index == shared_.size()) {
      T own{};
      read(own);
      shared_.push_back(std::make_shared<const T>(std::move(own)));
    }
    value = std::static_pointer_cast<const T>(shared_.at(index));
  }

  ByteCursor& bytes_;
  std::vector<std::shared_ptr<const void>> shared_;
};

}  // namespace skein
