// Part of kernels_impl.h: dot products of rows with rows.

namespace skein::nn::SKEIN_KERNELS {

template <class T, int a_rows, int b_rows, bool streams>
void dot_tile(const DotProducts<T>& p, std::size_t i0, std::size_t j0) {
  const T* a[a_rows];
  const T* b[b_rows];
  for (int i = 0; i < a_rows; ++i) {
    a[i] = p.a + (i0 + i) * p.a_stride;
  }
  for (int j = 0; j < b_rows; ++j) {
    b[j] = p.b + (j0 + j) * p.b_stride;
  }
  Vec<T> sum[a_rows][b_rows] = {};
  const std::size_t ahead = 32 * p.b_stride;
  const std::size_t whole = (p.zero_padded ? padded<T>(p.length) : p.length) / lanes<T> * lanes<T>;
#pragma GCC unroll 1
  for (std::size_t k = 0; k < whole; k += lanes<T>) {
    Vec<T> left[a_rows];
#pragma GCC unroll 5
    for (int i = 0; i < a_rows; ++i) {
      left[i] = load(a[i] + k);
      keep(left[i]);
    }
#pragma GCC unroll 4
    for (int j = 0; j < b_rows; ++j) {
      Vec<T> right = load(b[j] + k);
      keep(right);
      if constexpr (streams) {
        __builtin_prefetch(b[j] + k + ahead, 0, 2);
      }
#pragma GCC unroll 5
      for (int i = 0; i < a_rows; ++i) {
        sum[i][j] += left[i] * right;
      }
    }
  }
#pragma GCC unroll 5
  for (int i = 0; i < a_rows; ++i) {
    T* c = p.c + (i0 + i) * p.c_stride + j0;
    if constexpr (b_rows == 4) {
      Four<T> sums = sum_four(sum[i]);
      for (std::size_t k = whole; k < p.length; ++k) {
        sums += a[i][k] * Four<T>{b[0][k], b[1][k], b[2][k], b[3][k]};
      }
      auto& target = *reinterpret_cast<typename FourOf<T>::Unaligned*>(c);
      target = p.add ? target + sums : sums;
    } else {
      T total = sum_of<T>(sum[i][0]);
      for (std::size_t k = whole; k < p.length; ++k) {
        total += a[i][k] * b[0][k];
      }
      *c = p.add ? *c + total : total;
    }
  }
}

template <class T, int a_rows, int b_rows>
inline void dot_rows(const DotProducts<T>& p, std::size_t i, std::size_t j) {
  if (p.streams && i == 0) {
    dot_tile<T, a_rows, b_rows, true>(p, i, j);
  } else {
    dot_tile<T, a_rows, b_rows, false>(p, i, j);
  }
}

template <class T, int b_rows>
inline void dot_columns(const DotProducts<T>& p, std::size_t j) {
  evenly(p.a_count, SKEIN_VECTOR_BYTES == 64 ? 5 : 3, [&](std::size_t i, std::size_t size) {
    if (size == 5) {
      dot_rows<T, 5, b_rows>(p, i, j);
    } else if (size == 4) {
      dot_rows<T, 4, b_rows>(p, i, j);
    } else if (size == 3) {
      dot_rows<T, 3, b_rows>(p, i, j);
    } else if (size == 2) {
      dot_rows<T, 2, b_rows>(p, i, j);
    } else {
      dot_rows<T, 1, b_rows>(p, i, j);
    }
  });
}

template <class T>
void dot_products(const DotProducts<T>& p) {
  std::size_t j = 0;
  for (; j + 4 <= p.b_count; j += 4) {
    dot_columns<T, 4>(p, j);
  }
  for (; j < p.b_count; ++j) {
    dot_columns<T, 1>(p, j);
  }
}

}  // namespace skein::nn::SKEIN_KERNELS
