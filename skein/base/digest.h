// SHA-256 and SHA-512 (FIPS 180-4): to know that a file is the one that was meant.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace skein {

// In lower-case hexadecimal.
std::string sha256(std::string_view bytes);
std::string sha512(std::string_view bytes);

// Of bytes that come piece by piece.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;
  Sha256(Sha256&&) = delete;
  Sha256& operator=(Sha256&&) = delete;

  void add(std::string_view bytes);
  // Once, at the end.
  [[nodiscard]] std::string finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Of a file of any size, read piece by piece. Throws InputError naming the file if it cannot be read.
std::string sha256_of_file(const std::filesystem::path& path);
std::string sha512_of_file(const std::filesystem::path& path);

}  // namespace skein
