// Checkpoints of a training: numbers one after another, with a name, a fingerprint and a sum to check.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "skein/planning/environment.h"

namespace skein {

// What a training must share with its checkpoint: environment, options and seed.
std::string fingerprint(const Environment& environment, const PlanningOptions& options, std::uint64_t seed);

// A fingerprint as a name for files: 16 hexadecimal digits.
std::string short_name(std::string_view fingerprint);

class CheckpointWriter {
 public:
  CheckpointWriter();
  void text(std::string_view text);
  void whole(std::size_t number);
  template <class T>
  void numbers(std::span<const T> values) {
    whole(values.size());
    raw(values.data(), values.size_bytes());
  }
  // The whole file.
  [[nodiscard]] std::string bytes() const;

 private:
  void raw(const void* data, std::size_t size);
  std::string bytes_;
};

// All throw InputError, naming the file, where it does not hold what is read.
class CheckpointReader {
 public:
  CheckpointReader(std::string bytes, std::string file);
  void expect_text(std::string_view text);
  // At most `most`.
  std::size_t whole(std::size_t most);
  // As many as there are places.
  template <class T>
  void numbers(std::span<T> values) {
    if (whole(values.size()) != values.size()) {
      damaged();
    }
    raw(values.data(), values.size_bytes());
  }
  void expect_end();

 private:
  void raw(void* data, std::size_t size);
  [[noreturn]] void damaged() const;
  std::string bytes_;
  std::string file_;
  std::size_t at_ = 0;
};

}  // namespace skein
