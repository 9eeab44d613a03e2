#include "skein/base/random.h"

#include <bit>
#include <cmath>
#include <numeric>

#include "skein/base/expect.h"
#include "skein/base/portable_math.h"

namespace skein {
namespace {

constexpr std::uint64_t golden = 0x9e3779b97f4a7c15ULL;

// SplitMix64's finalizer: a bijection that spreads every input bit over the word.
constexpr std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31U);
}

}  // namespace

RandomStream::RandomStream(std::uint64_t seed, std::string_view purpose, std::span<const std::uint64_t> ids)
    : state_{} {
  std::uint64_t hash = mix(seed + golden);
  for (const char c : purpose) {
    hash = mix(hash + golden + static_cast<unsigned char>(c));
  }
  hash = mix(hash ^ (purpose.size() * golden));
  for (const std::uint64_t id : ids) {
    hash = mix(hash * 3 + mix(id + golden));
  }
  for (std::uint64_t& word : state_) {
    hash += golden;
    word = mix(hash);
  }
}

inline std::uint64_t RandomStream::next(State& state) {
  const std::uint64_t result = std::rotl(state[0] + state[3], 23) + state[0];
  const std::uint64_t t = state[1] << 17U;
  state[2] ^= state[0];
  state[3] ^= state[1];
  state[1] ^= state[2];
  state[0] ^= state[3];
  state[2] ^= t;
  state[3] = std::rotl(state[3], 45);
  return result;
}

std::uint64_t RandomStream::bits() { return next(state_); }

void RandomStream::fill(std::span<std::uint16_t> words) {
  State state = state_;  // in registers
  std::size_t i = 0;
  for (; i + 4 <= words.size(); i += 4) {
    const std::uint64_t four = next(state);
    words[i] = static_cast<std::uint16_t>(four);
    words[i + 1] = static_cast<std::uint16_t>(four >> 16U);
    words[i + 2] = static_cast<std::uint16_t>(four >> 32U);
    words[i + 3] = static_cast<std::uint16_t>(four >> 48U);
  }
  for (std::uint64_t rest = i < words.size() ? next(state) : 0; i < words.size(); ++i) {
    words[i] = static_cast<std::uint16_t>(rest);
    rest >>= 16U;
  }
  state_ = state;
}

double RandomStream::uniform() { return static_cast<double>(bits() >> 11U) * 0x1p-53; }

double RandomStream::uniform(double low, double high) {
  expect(low <= high && std::isfinite(high - low), "uniform needs finite low <= high");
  const double value = low + (high - low) * uniform();
  return value < high ? value : low;  // rounding can reach `high`; with low == high there is one value
}

double RandomStream::normal() {
  return normal_quantile((static_cast<double>(bits() >> 12U) + 0.5) * 0x1p-52);
}

double RandomStream::exponential() {
  return -portable_log((static_cast<double>(bits() >> 12U) + 0.5) * 0x1p-52);
}

double RandomStream::gamma(double shape) {
  expect(shape > 0.0 && std::isfinite(shape), "gamma needs a positive, finite shape");
  if (shape < 1.0) {
    const double boost = portable_exp(-exponential() / shape);
    return gamma(shape + 1.0) * boost;
  }
  const double d = shape - 1.0 / 3.0;
  const double c = 1.0 / std::sqrt(9.0 * d);
  while (true) {
    const double x = normal();
    const double t = 1.0 + c * x;
    if (t <= 0.0) {
      continue;
    }
    const double v = t * t * t;
    if (-exponential() < 0.5 * x * x + d - d * v + d * portable_log(v)) {
      return d * v;
    }
  }
}

// Lemire's multiplication method; the rejected band keeps it unbiased.
std::uint64_t RandomStream::below(std::uint64_t bound) {
  expect(bound > 0, "below needs a positive bound");
  __extension__ using Wide = unsigned __int128;
  const std::uint64_t threshold = (0 - bound) % bound;
  while (true) {
    const Wide product = static_cast<Wide>(bits()) * bound;
    if (static_cast<std::uint64_t>(product) >= threshold) {
      return static_cast<std::uint64_t>(product >> 64U);
    }
  }
}

std::int64_t RandomStream::integer(std::int64_t low, std::int64_t high) {
  expect(low <= high, "integer needs low <= high");
  const std::uint64_t width = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1;
  const std::uint64_t offset = width == 0 ? bits() : below(width);
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + offset);
}

std::vector<std::size_t> RandomStream::choose(std::size_t size, std::size_t count) {
  expect(count <= size, "choose needs count <= size");
  std::vector<std::size_t> indices(size);
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  for (std::size_t i = 0; i < count; ++i) {
    std::swap(indices[i], indices[i + below(size - i)]);
  }
  indices.resize(count);
  return indices;
}

}  // namespace skein
