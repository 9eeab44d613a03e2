// Part of kernels_impl.h: a matrix turned over.

namespace skein::nn::SKEIN_KERNELS {

template <std::size_t... places>
struct Places {};
template <std::size_t count, std::size_t... places>
struct PlacesTo : PlacesTo<count - 1, count - 1, places...> {};
template <std::size_t... places>
struct PlacesTo<0, places...> {
  using Type = Places<places...>;
};

// The lanes of two registers in turn, from the first half of each or from the second.
template <std::size_t begin, class V, std::size_t... places>
inline __attribute__((always_inline)) V in_turn(V a, V b, Places<places...> /*lanes*/) {
  return __builtin_shufflevector(a, b, (begin + places / 2 + places % 2 * sizeof...(places))...);
}

// Squares of as many rows as a register has lanes: after log2(lanes) rounds of dealing the lanes of registers
// i and i + lanes / 2 to 2 i and 2 i + 1, rows are columns.
template <class T>
inline __attribute__((always_inline)) void transpose_square(const T* from, std::size_t from_stride, T* to,
                                                            std::size_t to_stride) {
  constexpr std::size_t size = lanes<T>;
  using All = typename PlacesTo<size>::Type;
  Vec<T> rows[size];
#pragma GCC unroll 16
  for (std::size_t i = 0; i < size; ++i) {
    rows[i] = load(from + i * from_stride);
  }
#pragma GCC unroll 4
  for (std::size_t round = size; round > 1; round /= 2) {
    Vec<T> dealt[size];
#pragma GCC unroll 8
    for (std::size_t i = 0; i < size / 2; ++i) {
      dealt[2 * i] = in_turn<0>(rows[i], rows[i + size / 2], All{});
      dealt[2 * i + 1] = in_turn<size / 2>(rows[i], rows[i + size / 2], All{});
    }
#pragma GCC unroll 16
    for (std::size_t i = 0; i < size; ++i) {
      rows[i] = dealt[i];
    }
  }
#pragma GCC unroll 16
  for (std::size_t i = 0; i < size; ++i) {
    store(to + i * to_stride, rows[i]);
  }
}

template <class T>
void transpose(const T* from, std::size_t rows, std::size_t columns, std::size_t from_stride, T* to,
               std::size_t to_stride) {
  constexpr std::size_t size = lanes<T>;
  const std::size_t whole_rows = rows / size * size;
  const std::size_t whole_columns = columns / size * size;
  for (std::size_t column = 0; column < whole_columns; column += size) {
    for (std::size_t row = 0; row < whole_rows; row += size) {
      transpose_square(from + row * from_stride + column, from_stride, to + column * to_stride + row,
                       to_stride);
    }
  }
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t column = row < whole_rows ? whole_columns : 0; column < columns; ++column) {
      to[column * to_stride + row] = from[row * from_stride + column];
    }
  }
}

}  // namespace skein::nn::SKEIN_KERNELS
