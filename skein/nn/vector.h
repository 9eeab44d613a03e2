// A flat vector of numbers for vector code: aligned, and readable for a little past its end.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <span>
#include <utility>

namespace skein::nn {

// Kernels read and write whole registers: up to `slack` numbers past the end are there and stay as they are.
template <class T>
class Vector {
 public:
  static constexpr std::size_t slack = 64 / sizeof(T);
  static constexpr std::size_t alignment = 64;

  Vector() = default;
  // All zero. Large parts that nobody writes to take no memory: the system gives pages when they are touched.
  explicit Vector(std::size_t size) : size_(size) {
    memory_ = std::calloc(size + slack + alignment / sizeof(T), sizeof(T));  // NOLINT: zeros for nothing
    if (memory_ == nullptr) {
      throw std::bad_alloc();
    }
    const auto address = reinterpret_cast<std::uintptr_t>(memory_);
    data_ = reinterpret_cast<T*>((address + alignment - 1) / alignment * alignment);
  }
  explicit Vector(std::span<const T> values) : Vector(values.size()) { std::ranges::copy(values, data_); }
  Vector(const Vector& other) : Vector(other.span()) {}
  Vector(Vector&& other) noexcept
      : size_(std::exchange(other.size_, 0)),
        memory_(std::exchange(other.memory_, nullptr)),
        data_(std::exchange(other.data_, nullptr)) {}
  Vector& operator=(Vector other) noexcept {
    std::swap(size_, other.size_);
    std::swap(memory_, other.memory_);
    std::swap(data_, other.data_);
    return *this;
  }
  ~Vector() { std::free(memory_); }  // NOLINT

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] T* data() { return data_; }
  [[nodiscard]] const T* data() const { return data_; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  [[nodiscard]] T* begin() { return data_; }
  [[nodiscard]] T* end() { return data_ + size_; }
  [[nodiscard]] const T* begin() const { return data_; }
  [[nodiscard]] const T* end() const { return data_ + size_; }
  [[nodiscard]] std::span<T> span() { return {data_, size_}; }
  [[nodiscard]] std::span<const T> span() const { return {data_, size_}; }

 private:
  std::size_t size_ = 0;
  void* memory_ = nullptr;
  T* data_ = nullptr;
};

}  // namespace skein::nn
