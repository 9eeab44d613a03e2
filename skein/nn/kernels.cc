#include "skein/nn/kernels.h"

#include <cstdlib>
#include <string_view>

namespace skein::nn {
namespace {

template <class T>
const Kernels<T>& choose() {
  const char* wanted = std::getenv("SKEIN_KERNELS");
  const Kernels<T>* avx2 = avx2_kernels<T>();
  if (avx2 == nullptr || (wanted != nullptr && std::string_view(wanted) == "baseline")) {
    return baseline_kernels<T>();
  }
  return *avx2;
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
