#include "skein/nn/kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>  // its functions are always inlined, none is left for the linker
#endif

#if defined(__AVX512F__) && defined(__AVX512VL__) && defined(__AVX512DQ__) && defined(__AVX512BW__)
#define SKEIN_KERNELS avx512
#define SKEIN_KERNELS_NAME "avx512"
#define SKEIN_VECTOR_BYTES 64
#include "skein/nn/kernels_impl.h"
#endif

namespace skein::nn {
namespace {

// Functions that are called on any processor must not be compiled for AVX-512: this file has no more than
// these.
bool usable() {
#if defined(__AVX512F__) && defined(__AVX512VL__) && defined(__AVX512DQ__) && defined(__AVX512BW__)
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
#else
  return false;
#endif
}

}  // namespace

template <>
const Kernels<float>* avx512_kernels<float>() {
#if defined(__AVX512F__) && defined(__AVX512VL__) && defined(__AVX512DQ__) && defined(__AVX512BW__)
  return usable() ? &avx512::table<float> : nullptr;
#else
  return nullptr;
#endif
}
template <>
const Kernels<double>* avx512_kernels<double>() {
#if defined(__AVX512F__) && defined(__AVX512VL__) && defined(__AVX512DQ__) && defined(__AVX512BW__)
  return usable() ? &avx512::table<double> : nullptr;
#else
  return nullptr;
#endif
}

}  // namespace skein::nn
