// A network with random parameters, direction and batch, and the arithmetic that tests do with its vectors.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "skein/base/random.h"
#include "skein/nn/engine.h"
#include "skein/nn/layer_text.h"

namespace skein::nn {

inline Architecture architecture(const Shape& input, const std::vector<std::string>& layers) {
  Architecture result{.input = input, .layers = {}};
  for (const std::string& layer : layers) {
    result.layers.push_back(parse_layer(layer));
  }
  return result;
}

// A network, parameters, a direction and a batch, all drawn by a seed.
template <class T>
struct Problem {
  Network<T> network;
  Engine<T> engine;
  Vector<T> w;
  Vector<T> v;
  Vector<T> features;
  std::vector<std::uint8_t> labels;

  Problem(Architecture architecture, std::size_t size, std::uint64_t seed)
      : network(std::move(architecture)), engine(network) {
    RandomStream stream(seed, "engine test");
    w = network.initial_parameters(stream);
    v = drawn(w.size(), stream);
    features = drawn(size * network.num_inputs(), stream);
    for (std::size_t i = 0; i < size; ++i) {
      labels.push_back(static_cast<std::uint8_t>(stream.below(network.num_outputs())));
    }
  }

  static Vector<T> drawn(std::size_t size, RandomStream& stream) {
    Vector<T> values(size);
    for (T& value : values) {
      value = static_cast<T>(stream.uniform(-1.0, 1.0));
    }
    return values;
  }

  [[nodiscard]] Batch<T> batch() const { return {features.data(), labels.data(), labels.size()}; }
  [[nodiscard]] Batch<T> sample(std::size_t i) const {
    return {features.data() + i * network.num_inputs(), labels.data() + i, 1};
  }

  Vector<T> gradient(const Vector<T>& at, RandomStream* dropout = nullptr) {
    Vector<T> g(at.size());
    engine.gradient(at, batch(), dropout, g);
    return g;
  }
  Vector<T> hessian_vector(const Vector<T>& direction, RandomStream* dropout = nullptr) {
    Vector<T> product(w.size());
    engine.hessian_vector(w, direction, batch(), dropout, product);
    return product;
  }
};

// a + factor b
template <class T>
Vector<T> sum(const Vector<T>& a, T factor, const Vector<T>& b) {
  Vector<T> result = a;
  for (std::size_t i = 0; i < result.size(); ++i) {
    result[i] += factor * b[i];
  }
  return result;
}

template <class T>
double dot(const Vector<T>& a, const Vector<T>& b) {
  double result = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    result += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  }
  return result;
}

template <class T>
double norm(const Vector<T>& a) {
  return std::sqrt(dot(a, a));
}

// The norm of the difference, as a part of the second one's.
template <class T>
double deviation(const Vector<T>& ours, const Vector<T>& expected) {
  return norm(sum(ours, T(-1), expected)) / norm(expected);
}

template <class T>
bool same_bits(const Vector<T>& a, const Vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

}  // namespace skein::nn
