// Bytes in order, from memory or from a file that need not fit in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace skein {

class ByteReader {
 public:
  // From memory that outlives the reader; `file` is named in faults.
  ByteReader(std::string_view bytes, std::string_view file);
  explicit ByteReader(const std::filesystem::path& path);
  ByteReader(const ByteReader&) = delete;
  ByteReader& operator=(const ByteReader&) = delete;

  // Each throws InputError naming file and place if the bytes end too early.
  std::uint8_t byte();
  std::string bytes(std::size_t count);
  std::string line();  // up to the next newline, which is read but not returned

  [[nodiscard]] std::size_t position() const { return passed_ + used_; }
  [[nodiscard]] std::size_t remaining() const { return total_ - position(); }

  // Throws InputError naming the file and the place reached.
  [[noreturn]] void fail(const std::string& message) const;

 private:
  void refill();  // at least one more byte in window_, or fails

  std::string file_;
  std::size_t total_ = 0;
  std::string_view window_;  // what is at hand
  std::size_t used_ = 0;     // of window_
  std::size_t passed_ = 0;   // before window_
  std::ifstream stream_;
  std::string buffer_;
};

}  // namespace skein
