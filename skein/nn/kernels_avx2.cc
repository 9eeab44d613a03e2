#include "skein/nn/kernels.h"

#if defined(__AVX2__) && defined(__FMA__)
#define SKEIN_KERNELS avx2
#define SKEIN_KERNELS_NAME "avx2"
#define SKEIN_VECTOR_BYTES 32
#include "skein/nn/kernels_impl.h"
#endif

namespace skein::nn {
namespace {

// Functions that are called on any processor must not be compiled for AVX2: this file has no more than these.
bool usable() {
#if defined(__AVX2__) && defined(__FMA__)
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return false;
#endif
}

}  // namespace

template <>
const Kernels<float>* avx2_kernels<float>() {
#if defined(__AVX2__) && defined(__FMA__)
  return usable() ? &avx2::table<float> : nullptr;
#else
  return nullptr;
#endif
}
template <>
const Kernels<double>* avx2_kernels<double>() {
#if defined(__AVX2__) && defined(__FMA__)
  return usable() ? &avx2::table<double> : nullptr;
#else
  return nullptr;
#endif
}

}  // namespace skein::nn
