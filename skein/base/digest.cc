#include "skein/base/digest.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <system_error>

#include "skein/base/input_fault.h"

namespace skein {
namespace {

// The first 64 bits of the fractional parts of the cube roots of the first 80 primes. SHA-256 uses the upper
// halves of the first 64 of them.
constexpr std::array<std::uint64_t, 80> round_constants{
    0x428a2f98d728ae22ULL, 0x7137449123ef65cdULL, 0xb5c0fbcfec4d3b2fULL, 0xe9b5dba58189dbbcULL,
    0x3956c25bf348b538ULL, 0x59f111f1b605d019ULL, 0x923f82a4af194f9bULL, 0xab1c5ed5da6d8118ULL,
    0xd807aa98a3030242ULL, 0x12835b0145706fbeULL, 0x243185be4ee4b28cULL, 0x550c7dc3d5ffb4e2ULL,
    0x72be5d74f27b896fULL, 0x80deb1fe3b1696b1ULL, 0x9bdc06a725c71235ULL, 0xc19bf174cf692694ULL,
    0xe49b69c19ef14ad2ULL, 0xefbe4786384f25e3ULL, 0x0fc19dc68b8cd5b5ULL, 0x240ca1cc77ac9c65ULL,
    0x2de92c6f592b0275ULL, 0x4a7484aa6ea6e483ULL, 0x5cb0a9dcbd41fbd4ULL, 0x76f988da831153b5ULL,
    0x983e5152ee66dfabULL, 0xa831c66d2db43210ULL, 0xb00327c898fb213fULL, 0xbf597fc7beef0ee4ULL,
    0xc6e00bf33da88fc2ULL, 0xd5a79147930aa725ULL, 0x06ca6351e003826fULL, 0x142929670a0e6e70ULL,
    0x27b70a8546d22ffcULL, 0x2e1b21385c26c926ULL, 0x4d2c6dfc5ac42aedULL, 0x53380d139d95b3dfULL,
    0x650a73548baf63deULL, 0x766a0abb3c77b2a8ULL, 0x81c2c92e47edaee6ULL, 0x92722c851482353bULL,
    0xa2bfe8a14cf10364ULL, 0xa81a664bbc423001ULL, 0xc24b8b70d0f89791ULL, 0xc76c51a30654be30ULL,
    0xd192e819d6ef5218ULL, 0xd69906245565a910ULL, 0xf40e35855771202aULL, 0x106aa07032bbd1b8ULL,
    0x19a4c116b8d2d0c8ULL, 0x1e376c085141ab53ULL, 0x2748774cdf8eeb99ULL, 0x34b0bcb5e19b48a8ULL,
    0x391c0cb3c5c95a63ULL, 0x4ed8aa4ae3418acbULL, 0x5b9cca4f7763e373ULL, 0x682e6ff3d6b2b8a3ULL,
    0x748f82ee5defb2fcULL, 0x78a5636f43172f60ULL, 0x84c87814a1f0ab72ULL, 0x8cc702081a6439ecULL,
    0x90befffa23631e28ULL, 0xa4506cebde82bde9ULL, 0xbef9a3f7b2c67915ULL, 0xc67178f2e372532bULL,
    0xca273eceea26619cULL, 0xd186b8c721c0c207ULL, 0xeada7dd6cde0eb1eULL, 0xf57d4f7fee6ed178ULL,
    0x06f067aa72176fbaULL, 0x0a637dc5a2c898a6ULL, 0x113f9804bef90daeULL, 0x1b710b35131c471bULL,
    0x28db77f523047d84ULL, 0x32caab7b40c72493ULL, 0x3c9ebe0a15c9bebcULL, 0x431d67c49c100d4cULL,
    0x4cc5d4becb3e42b6ULL, 0x597f299cfc657e2aULL, 0x5fcb6fab3ad6faecULL, 0x6c44198c4a475817ULL};

// The same of the square roots of the first 8 primes.
constexpr std::array<std::uint64_t, 8> initial_state{
    0x6a09e667f3bcc908ULL, 0xbb67ae8584caa73bULL, 0x3c6ef372fe94f82bULL, 0xa54ff53a5f1d36f1ULL,
    0x510e527fade682d1ULL, 0x9b05688c2b3e6c1fULL, 0x1f83d9abfb41bd6bULL, 0x5be0cd19137e2179ULL};

struct Sha256Rules {
  using Word = std::uint32_t;
  static constexpr std::size_t rounds = 64;
  static Word upper(std::uint64_t constant) { return static_cast<Word>(constant >> 32U); }
  static Word big_sigma_0(Word x) { return std::rotr(x, 2) ^ std::rotr(x, 13) ^ std::rotr(x, 22); }
  static Word big_sigma_1(Word x) { return std::rotr(x, 6) ^ std::rotr(x, 11) ^ std::rotr(x, 25); }
  static Word small_sigma_0(Word x) { return std::rotr(x, 7) ^ std::rotr(x, 18) ^ x >> 3U; }
  static Word small_sigma_1(Word x) { return std::rotr(x, 17) ^ std::rotr(x, 19) ^ x >> 10U; }
};

struct Sha512Rules {
  using Word = std::uint64_t;
  static constexpr std::size_t rounds = 80;
  static Word upper(std::uint64_t constant) { return constant; }
  static Word big_sigma_0(Word x) { return std::rotr(x, 28) ^ std::rotr(x, 34) ^ std::rotr(x, 39); }
  static Word big_sigma_1(Word x) { return std::rotr(x, 14) ^ std::rotr(x, 18) ^ std::rotr(x, 41); }
  static Word small_sigma_0(Word x) { return std::rotr(x, 1) ^ std::rotr(x, 8) ^ x >> 7U; }
  static Word small_sigma_1(Word x) { return std::rotr(x, 19) ^ std::rotr(x, 61) ^ x >> 6U; }
};

template <class Rules>
class Sha2 {
  using Word = typename Rules::Word;
  static constexpr std::size_t block_bytes = 16 * sizeof(Word);

 public:
  Sha2() {
    for (std::size_t i = 0; i < state_.size(); ++i) {
      state_[i] = Rules::upper(initial_state[i]);
    }
  }

  void add(std::string_view bytes) {
    length_ += bytes.size();
    while (!bytes.empty()) {
      const std::size_t taken = std::min(bytes.size(), block_bytes - filled_);
      std::memcpy(block_.data() + filled_, bytes.data(), taken);
      filled_ += taken;
      bytes.remove_prefix(taken);
      if (filled_ == block_bytes) {
        mix_block();
        filled_ = 0;
      }
    }
  }

  std::string finish() {
    const std::uint64_t bits = length_ * 8;
    add("\x80");
    // The length is a number of two words, big-endian; 64 bits of it are enough.
    std::array<char, 2 * sizeof(Word)> ending{};
    while (filled_ != block_bytes - ending.size()) {
      add(std::string_view("\0", 1));
    }
    for (std::size_t i = 0; i < sizeof bits; ++i) {
      ending[ending.size() - 1 - i] = static_cast<char>(bits >> 8U * i);
    }
    add({ending.data(), ending.size()});
    std::string text;
    for (const Word word : state_) {
      text += fmt::format("{:0{}x}", word, 2 * sizeof(Word));
    }
    return text;
  }

 private:
  void mix_block() {
    std::array<Word, Rules::rounds> schedule{};
    for (std::size_t i = 0; i < block_bytes; ++i) {
      schedule[i / sizeof(Word)] = schedule[i / sizeof(Word)] << 8U | block_[i];
    }
    for (std::size_t i = 16; i < Rules::rounds; ++i) {
      schedule[i] = Rules::small_sigma_1(schedule[i - 2]) + schedule[i - 7] +
                    Rules::small_sigma_0(schedule[i - 15]) + schedule[i - 16];
    }
    auto [a, b, c, d, e, f, g, h] = state_;
    for (std::size_t i = 0; i < Rules::rounds; ++i) {
      const Word choice = (e & f) ^ (~e & g);
      const Word majority = (a & b) ^ (a & c) ^ (b & c);
      const Word first = h + Rules::big_sigma_1(e) + choice + Rules::upper(round_constants[i]) + schedule[i];
      const Word second = Rules::big_sigma_0(a) + majority;
      h = g;
      g = f;
      f = e;
      e = d + first;
      d = c;
      c = b;
      b = a;
      a = first + second;
    }
    const std::array<Word, 8> mixed{a, b, c, d, e, f, g, h};
    for (std::size_t i = 0; i < state_.size(); ++i) {
      state_[i] += mixed[i];
    }
  }

  std::array<Word, 8> state_{};
  std::array<std::uint8_t, block_bytes> block_{};
  std::size_t filled_ = 0;
  std::uint64_t length_ = 0;
};

template <class Rules>
std::string digest(std::string_view bytes) {
  Sha2<Rules> sha;
  sha.add(bytes);
  return sha.finish();
}

template <class Rules>
std::string digest_of_file(const std::filesystem::path& path) {
  std::error_code error;
  std::ifstream stream(path, std::ios::binary);
  if (!stream || std::filesystem::is_directory(path, error)) {
    throw InputError(
        InputFault{.file = path.string(), .key = "", .value = "", .message = "cannot be opened"});
  }
  Sha2<Rules> sha;
  std::array<char, 1 << 16> buffer{};
  while (stream.read(buffer.data(), buffer.size()), stream.gcount() > 0) {
    sha.add({buffer.data(), static_cast<std::size_t>(stream.gcount())});
  }
  if (stream.bad()) {
    throw InputError(
        InputFault{.file = path.string(), .key = "", .value = "", .message = "cannot be read to its end"});
  }
  return sha.finish();
}

}  // namespace

std::string sha256(std::string_view bytes) { return digest<Sha256Rules>(bytes); }
std::string sha512(std::string_view bytes) { return digest<Sha512Rules>(bytes); }

struct Sha256::State {
  Sha2<Sha256Rules> sha;
};
Sha256::Sha256() : state_(std::make_unique<State>()) {}
Sha256::~Sha256() = default;
void Sha256::add(std::string_view bytes) { state_->sha.add(bytes); }
std::string Sha256::finish() { return state_->sha.finish(); }

std::string sha256_of_file(const std::filesystem::path& path) { return digest_of_file<Sha256Rules>(path); }
std::string sha512_of_file(const std::filesystem::path& path) { return digest_of_file<Sha512Rules>(path); }

}  // namespace skein
