// Named random streams: every purpose has its own, found by hash(seed, purpose, ids).
//
// A stream's numbers depend on nothing but its name, so results are the same for any order of creation,
// number of threads or ranks. All variates are our own and use IEEE basic operations only: the same bits
// with any standard library. The generator is xoshiro256++, seeded through SplitMix64.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace skein {

class RandomStream {
 public:
  // RandomStream(seed, "devices", cluster): one stream per cluster.
  template <std::integral... Ids>
  RandomStream(std::uint64_t seed, std::string_view purpose, Ids... ids)
      : RandomStream(seed, purpose,
                     std::array<std::uint64_t, sizeof...(Ids)>{static_cast<std::uint64_t>(ids)...}) {}

  // 64 random bits.
  std::uint64_t bits();
  // 16 random bits each: four from every bits(), the lowest first.
  void fill(std::span<std::uint16_t> words);

  // In [0, 1), a multiple of 2^-53.
  double uniform();
  // In [low, high).
  double uniform(double low, double high);
  double normal();
  double normal(double mean, double deviation) { return mean + deviation * normal(); }
  // Mean 1.
  double exponential();
  // Mean `shape`, scale 1 (Marsaglia and Tsang).
  double gamma(double shape);
  bool bernoulli(double probability) { return uniform() < probability; }

  // Unbiased, in [0, bound); bound > 0.
  std::uint64_t below(std::uint64_t bound);
  // Unbiased, in [low, high], ends included.
  std::int64_t integer(std::int64_t low, std::int64_t high);

  template <class T>
  void shuffle(std::span<T> values) {
    for (std::size_t i = values.size(); i > 1; --i) {
      std::swap(values[i - 1], values[below(i)]);
    }
  }
  template <class T>
  void shuffle(std::vector<T>& values) {
    shuffle(std::span<T>(values));
  }

  template <class T>
  const T& choice(const std::vector<T>& values) {
    return values[below(values.size())];
  }
  // `count` distinct indices below `size`, in random order.
  std::vector<std::size_t> choose(std::size_t size, std::size_t count);

  // For checkpoints: a stream restored from its state goes on with the same numbers.
  using State = std::array<std::uint64_t, 4>;
  [[nodiscard]] const State& state() const { return state_; }
  explicit RandomStream(const State& state) : state_(state) {}

 private:
  RandomStream(std::uint64_t seed, std::string_view purpose, std::span<const std::uint64_t> ids);

  static std::uint64_t next(State& state);

  State state_;
};

}  // namespace skein
