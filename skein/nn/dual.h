// A number and its derivative along one direction. Code written for any number type, run on these, gives its
// own tangent.
#pragma once

#include <cmath>

namespace skein::nn {

template <class T>
struct Dual {
  T value{};
  T tangent{};

  Dual() = default;
  Dual(T number) : value(number) {}  // NOLINT(google-explicit-constructor): a constant
  Dual(T number, T slope) : value(number), tangent(slope) {}

  friend Dual operator+(Dual a, Dual b) { return {a.value + b.value, a.tangent + b.tangent}; }
  friend Dual operator-(Dual a, Dual b) { return {a.value - b.value, a.tangent - b.tangent}; }
  friend Dual operator*(Dual a, Dual b) {
    return {a.value * b.value, a.tangent * b.value + a.value * b.tangent};
  }
  friend Dual operator/(Dual a, Dual b) {
    const T quotient = a.value / b.value;
    return {quotient, (a.tangent - quotient * b.tangent) / b.value};
  }
  Dual& operator+=(Dual other) { return *this = *this + other; }
};

inline float exponential(float x) { return std::exp(x); }
inline double exponential(double x) { return std::exp(x); }
template <class T>
Dual<T> exponential(Dual<T> x) {
  const T value = std::exp(x.value);
  return {value, value * x.tangent};
}

inline float hyperbolic_tangent(float x) { return std::tanh(x); }
inline double hyperbolic_tangent(double x) { return std::tanh(x); }
template <class T>
Dual<T> hyperbolic_tangent(Dual<T> x) {
  const T value = std::tanh(x.value);
  return {value, (T(1) - value * value) * x.tangent};
}

// 1 / (1 + e^-x), without overflow.
inline float logistic(float x) { return 0.5F * (1.0F + std::tanh(0.5F * x)); }
inline double logistic(double x) { return 0.5 * (1.0 + std::tanh(0.5 * x)); }
template <class T>
Dual<T> logistic(Dual<T> x) {
  const T value = logistic(x.value);
  return {value, value * (T(1) - value) * x.tangent};
}

inline float value_of(float x) { return x; }
inline double value_of(double x) { return x; }
template <class T>
T value_of(Dual<T> x) {
  return x.value;
}

// A row of plain numbers.
template <class T>
struct PlainRow {
  using Number = T;
  T* values;

  Number get(std::size_t i) const { return values[i]; }
  void set(std::size_t i, Number x) const { values[i] = x; }
};
// A row of numbers and the row of their tangents.
template <class T>
struct DualRow {
  using Number = Dual<std::remove_const_t<T>>;
  T* values;
  T* tangents;

  Number get(std::size_t i) const { return {values[i], tangents[i]}; }
  void set(std::size_t i, Number x) const {
    values[i] = x.value;
    tangents[i] = x.tangent;
  }
};

}  // namespace skein::nn
