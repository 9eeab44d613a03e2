#include "skein/nn/kernels.h"

#include <cstdlib>
#include <string_view>

namespace skein::nn {
namespace {

template <class T>
const Kernels<T>& choose() {
  const char* text = std::getenv("SKEIN_KERNELS");
  const std::string_view wanted = text != nullptr ? text : "";
  if (wanted != "baseline") {
    if (const Kernels<T>* avx512 = avx512_kernels<T>(); avx512 != nullptr && wanted != "avx2") {
      return *avx512;
    }
    if (const Kernels<T>* avx2 = avx2_kernels<T>(); avx2 != nullptr) {
      return *avx2;
    }
  }
  return baseline_kernels<T>();
}

}  // namespace

template <class T>
const Kernels<T>& kernels() {
  static const Kernels<T>& chosen = choose<T>();
  return chosen;
}

template const Kernels<float>& kernels<float>();
template const Kernels<double>& kernels<double>();

}  // namespace skein::nn
