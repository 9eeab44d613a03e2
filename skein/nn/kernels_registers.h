// Part of kernels_impl.h: registers and what is done with a few of them.

namespace skein::nn::SKEIN_KERNELS {

inline constexpr std::size_t whole_register = SKEIN_VECTOR_BYTES;
// Rows are padded to less than a register of AVX-512: what is left of a row may be half of one.
inline constexpr std::size_t narrow_register = SKEIN_VECTOR_BYTES < 32 ? SKEIN_VECTOR_BYTES : 32;

template <class T, std::size_t bytes>
struct VectorOf {
  typedef T Type __attribute__((vector_size(bytes)));
  typedef T Unaligned __attribute__((vector_size(bytes), aligned(sizeof(T)), may_alias));
};
template <class T, std::size_t bytes = whole_register>
using Vec = typename VectorOf<T, bytes>::Type;

template <class T, std::size_t bytes = whole_register>
inline constexpr std::size_t lanes = bytes / sizeof(T);

template <std::size_t bytes = whole_register, class T>
inline __attribute__((always_inline)) Vec<T, bytes> load(const T* from) {
  return *reinterpret_cast<const typename VectorOf<T, bytes>::Unaligned*>(from);
}
template <std::size_t bytes = whole_register, class T>
inline __attribute__((always_inline)) void store(T* to, Vec<T, bytes> value) {
  *reinterpret_cast<typename VectorOf<T, bytes>::Unaligned*>(to) = value;
}
template <std::size_t bytes = whole_register, class T>
inline __attribute__((always_inline)) Vec<T, bytes> all(T value) {
  return value - Vec<T, bytes>{};  // unlike a sum with 0, this is the value itself, and costs nothing
}

// Keeps a value in a register: the compiler would rather read it from memory again for each use.
template <class V>
inline __attribute__((always_inline)) void keep(V& value) {
#if defined(__x86_64__)
  __asm__("" : "+v"(value));
#endif
}

// Keeps an address that grows in one register: the compiler would rather have one for each place that is
// read from there, and run out of them.
template <class T>
inline __attribute__((always_inline)) void keep_address(const T*& address) {
  __asm__("" : "+r"(address));
}

constexpr std::size_t smaller(std::size_t a, std::size_t b) { return a < b ? a : b; }
constexpr std::size_t larger(std::size_t a, std::size_t b) { return a < b ? b : a; }

// Cuts `count` into pieces of at most `most`, as even as can be, and calls work(begin, size) for each.
template <class Work>
inline void evenly(std::size_t count, std::size_t most, const Work& work) {
  const std::size_t pieces = (count + most - 1) / most;
  std::size_t begin = 0;
  for (std::size_t piece = 0; piece < pieces; ++piece) {
    const std::size_t size = count / pieces + (piece < count % pieces ? 1 : 0);
    work(begin, size);
    begin += size;
  }
}

// ---- sums of registers

template <class T>
struct FourOf {
  typedef T Type __attribute__((vector_size(4 * sizeof(T))));
  typedef T Unaligned __attribute__((vector_size(4 * sizeof(T)), aligned(sizeof(T)), may_alias));
};
template <class T>
using Four = typename FourOf<T>::Type;

template <class T>
inline __attribute__((always_inline)) T sum_of(Vec<T> v) {
  T sum = 0;
  for (std::size_t lane = 0; lane < lanes<T>; ++lane) {
    sum += v[lane];
  }
  return sum;
}

// The sums of four registers, by adding pairs of lanes.
#if SKEIN_VECTOR_BYTES >= 32
inline __attribute__((always_inline)) Four<float> sum_four(const Vec<float, 32>* v) {
  const Vec<float, 32> ab = __builtin_shufflevector(v[0], v[1], 0, 8, 2, 10, 4, 12, 6, 14) +
                            __builtin_shufflevector(v[0], v[1], 1, 9, 3, 11, 5, 13, 7, 15);
  const Vec<float, 32> cd = __builtin_shufflevector(v[2], v[3], 0, 8, 2, 10, 4, 12, 6, 14) +
                            __builtin_shufflevector(v[2], v[3], 1, 9, 3, 11, 5, 13, 7, 15);
  const Vec<float, 32> abcd = __builtin_shufflevector(ab, cd, 0, 1, 8, 9, 4, 5, 12, 13) +
                              __builtin_shufflevector(ab, cd, 2, 3, 10, 11, 6, 7, 14, 15);
  return __builtin_shufflevector(abcd, abcd, 0, 1, 2, 3) + __builtin_shufflevector(abcd, abcd, 4, 5, 6, 7);
}
inline __attribute__((always_inline)) Four<double> sum_four(const Vec<double, 32>* v) {
  const Vec<double, 32> ab =
      __builtin_shufflevector(v[0], v[1], 0, 4, 2, 6) + __builtin_shufflevector(v[0], v[1], 1, 5, 3, 7);
  const Vec<double, 32> cd =
      __builtin_shufflevector(v[2], v[3], 0, 4, 2, 6) + __builtin_shufflevector(v[2], v[3], 1, 5, 3, 7);
  return __builtin_shufflevector(ab, cd, 0, 1, 4, 5) + __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
}
#if SKEIN_VECTOR_BYTES == 64
inline __attribute__((always_inline)) Vec<float, 32> halves(Vec<float> v) {
  return __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7) +
         __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15);
}
inline __attribute__((always_inline)) Vec<double, 32> halves(Vec<double> v) {
  return __builtin_shufflevector(v, v, 0, 1, 2, 3) + __builtin_shufflevector(v, v, 4, 5, 6, 7);
}
template <class V>
inline __attribute__((always_inline)) auto sum_four(const V* v) {
  const decltype(halves(v[0])) half[4] = {halves(v[0]), halves(v[1]), halves(v[2]), halves(v[3])};
  return sum_four(half);
}
#endif
#else
inline Four<float> sum_four(const Vec<float>* v) {
  return Four<float>{sum_of<float>(v[0]), sum_of<float>(v[1]), sum_of<float>(v[2]), sum_of<float>(v[3])};
}
inline Four<double> sum_four(const Vec<double>* v) {
  return Four<double>{sum_of<double>(v[0]), sum_of<double>(v[1]), sum_of<double>(v[2]), sum_of<double>(v[3])};
}
#endif

}  // namespace skein::nn::SKEIN_KERNELS
