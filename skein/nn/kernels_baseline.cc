#include "skein/nn/kernels.h"

#define SKEIN_KERNELS baseline
#define SKEIN_KERNELS_NAME "baseline"
#define SKEIN_VECTOR_BYTES 16
#include "skein/nn/kernels_impl.h"

namespace skein::nn {

template <>
const Kernels<float>& baseline_kernels<float>() {
  return baseline::table<float>;
}
template <>
const Kernels<double>& baseline_kernels<double>() {
  return baseline::table<double>;
}

}  // namespace skein::nn
