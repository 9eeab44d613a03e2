// Part of kernels_impl.h: products with rows that are mostly zeros, as dropout and ReLU leave them.
//
// What is passed over would have added zero: sums are made in the order of the dense kernels and are the same
// to the bit, so that whether a kernel passes over zeros changes its time alone.

namespace skein::nn::SKEIN_KERNELS {

// The most registers of sums that are kept at once.
inline constexpr std::size_t most_sparse_registers = 8;

// A bit for each number that is not zero, of up to 64.
template <class T>
inline std::uint64_t nonzero_bits(const T* row, std::size_t count) {
  std::uint64_t bits = 0;
  std::size_t k = 0;
#if SKEIN_VECTOR_BYTES == 64
  if constexpr (sizeof(T) == 4) {
    for (; k + lanes<T> <= count; k += lanes<T>) {
      bits |= std::uint64_t{_mm512_cmp_ps_mask(load(row + k), _mm512_setzero_ps(), _CMP_NEQ_UQ)} << k;
    }
  }
#endif
  for (; k < count; ++k) {
    bits |= (row[k] != T(0) ? std::uint64_t{1} : std::uint64_t{0}) << k;
  }
  return bits;
}

// ---- multiply

template <class T, std::size_t bytes>
struct SparseMultiplyTile {
  using Function = void (*)(const T*, const std::uint64_t*, std::size_t, const T*, std::size_t, T*);

  // c += the sum of a[k] * b[k], over the bits that are set.
  template <int width>
  static void run(const T* a, const std::uint64_t* words, std::size_t num_words, const T* b,
                  std::size_t b_stride, T* c) {
    using V = Vec<T, bytes>;
    constexpr std::size_t step = lanes<T, bytes>;
    V sum[width] = {};
    for (std::size_t word = 0; word < num_words; ++word) {
#pragma GCC unroll 1
      for (std::uint64_t bits = words[word]; bits != 0; bits &= bits - 1) {
        const std::size_t k = word * 64 + static_cast<std::size_t>(__builtin_ctzll(bits));
        const V left = all<bytes>(a[k]);
        const T* right = b + k * b_stride;
#pragma GCC unroll 8
        for (int j = 0; j < width; ++j) {
          sum[j] += left * load<bytes>(right + j * step);
        }
      }
    }
#pragma GCC unroll 8
    for (int j = 0; j < width; ++j) {
      store<bytes>(c + j * step, load<bytes>(c + j * step) + sum[j]);
    }
  }
};

template <class Tile>
inline constexpr typename Tile::Function sparse_tiles[most_sparse_registers] = {
    Tile::template run<1>, Tile::template run<2>, Tile::template run<3>, Tile::template run<4>,
    Tile::template run<5>, Tile::template run<6>, Tile::template run<7>, Tile::template run<8>};

// Fetches one of `parts` equal parts of so many numbers, into the second cache.
template <class T>
inline void fetch_part(const T* from, std::size_t count, std::size_t part, std::size_t parts) {
  for (std::size_t k = count * part / parts; k < count * (part + 1) / parts; k += 64 / sizeof(T)) {
    __builtin_prefetch(from + k, 0, 2);
  }
}

// C += A B, in the blocks of multiply; for one run of A.
template <class T>
void multiply_sparse(const Product<T>& p) {
  using Whole = SparseMultiplyTile<T, whole_register>;
  using Narrow = SparseMultiplyTile<T, narrow_register>;
  const std::size_t registers = padded<T>(p.columns) / lanes<T>;
  evenly(p.run_length, longest_block<T>(p.columns), [&](std::size_t begin, std::size_t size) {
    const T* b = p.b + begin * p.b_stride;
    for (std::size_t row = 0; row < p.rows; ++row) {
      const T* a = p.a + row * p.a_stride + begin;
      T* c = p.c + row * p.c_stride;
      std::uint64_t words[4];
      const std::size_t num_words = (size + 63) / 64;
      for (std::size_t word = 0; word < num_words; ++word) {
        words[word] = nonzero_bits(a + word * 64, smaller(64, size - word * 64));
      }
      fetch_part(b + size * p.b_stride, size * p.b_stride, row, p.rows);  // of the next block
      evenly(registers, most_sparse_registers, [&](std::size_t first, std::size_t width) {
        sparse_tiles<Whole>[width - 1](a, words, num_words, b + first * lanes<T>, p.b_stride,
                                       c + first * lanes<T>);
      });
      if (registers * lanes<T> < padded<T>(p.columns)) {
        sparse_tiles<Narrow>[0](a, words, num_words, b + registers * lanes<T>, p.b_stride,
                                c + registers * lanes<T>);
      }
    }
  });
}

// ---- dot products

// The dot products of one row of A with the rows of B that are listed, four at a time; with `width`, the row
// of A stays in registers.
template <class T, int width>
void dots_at(const DotProducts<T>& p, const T* a, const Offset* places, std::size_t count, T* sums) {
  Vec<T> left[width != 0 ? width : 1];
#pragma GCC unroll 8
  for (int i = 0; i < width; ++i) {
    left[i] = load(a + i * lanes<T>);
    keep(left[i]);
  }
#pragma GCC unroll 1
  for (std::size_t at = 0; at < count; at += 4) {
    const T* b[4];
    for (int j = 0; j < 4; ++j) {
      b[j] = p.b + places[at + j] * p.b_stride;
    }
    Vec<T> sum[4] = {};
#pragma GCC unroll 8
    for (int i = 0; i < width; ++i) {
#pragma GCC unroll 4
      for (int j = 0; j < 4; ++j) {
        sum[j] += left[i] * load(b[j] + i * lanes<T>);
      }
    }
    if constexpr (width == 0) {
      for (std::size_t k = 0; k < p.length; k += lanes<T>) {
        const Vec<T> here = load(a + k);
#pragma GCC unroll 4
        for (int j = 0; j < 4; ++j) {
          sum[j] += here * load(b[j] + k);
        }
      }
    }
    *reinterpret_cast<typename FourOf<T>::Unaligned*>(sums + at) = sum_four(sum);
  }
}

template <class T>
void dot_products_where(const DotProducts<T>& p, const T* where, std::size_t where_stride) {
  constexpr int in_registers = SKEIN_VECTOR_BYTES == 64 ? 8 : 0;
  constexpr std::size_t most = 64;
  if (p.length % lanes<T> != 0 || p.b_count % 4 != 0 || p.b_count > most) {
    dot_products(p);
    return;
  }
  Offset places[most];
  for (std::size_t i = 0; i < p.a_count; ++i) {
    const T* a = p.a + i * p.a_stride;
    T* c = p.c + i * p.c_stride;
    std::size_t count = 0;
    for (std::uint64_t bits = nonzero_bits(where + i * where_stride, p.b_count); bits != 0;
         bits &= bits - 1) {
      places[count++] = static_cast<Offset>(__builtin_ctzll(bits));
    }
    for (; count % 4 != 0; ++count) {
      places[count] = places[count - 1];  // the last one again, until four are there
    }
    T sums[most];
    if (in_registers != 0 && p.length == in_registers * lanes<T>) {
      dots_at<T, in_registers>(p, a, places, count, sums);
    } else {
      dots_at<T, 0>(p, a, places, count, sums);
    }
    if (p.add) {
      for (std::size_t j = 0; j < count; ++j) {
        sums[j] += c[places[j]];
      }
    } else {
      for (std::size_t j = 0; j < p.b_count; ++j) {
        c[j] = T(0);
      }
    }
    for (std::size_t j = 0; j < count; ++j) {
      c[places[j]] = sums[j];
    }
  }
}

// ---- rank update

// Of an update, and rows of weights at once.
inline constexpr std::size_t most_sparse_terms = 32;
inline constexpr std::size_t most_sparse_rows = 32;

// Adds to each of `count` words a bit for each row of X that is not zero there.
template <class T>
inline void find_terms(const T* x, std::size_t stride, std::size_t rows, std::size_t count,
                       std::uint32_t* terms) {
  for (std::size_t b = 0; b < rows; ++b) {
    for (std::size_t k = 0; k < count; ++k) {
      terms[k] |= (x[b * stride + k] != T(0) ? std::uint32_t{1} : std::uint32_t{0}) << b;
    }
  }
}

template <class T, std::size_t bytes>
struct SparseUpdateTile {
  using Function = void (*)(const RankUpdate<T>&, const std::uint32_t*, std::size_t, bool);

  template <int width>
  static void run(const RankUpdate<T>& p, const std::uint32_t* terms, std::size_t column, bool factor_last) {
    factor_last ? rows<width, true>(p, terms, column) : rows<width, false>(p, terms, column);
  }

  template <int width, bool factor_last>
  static void rows(const RankUpdate<T>& p, const std::uint32_t* terms, std::size_t column) {
    using V = Vec<T, bytes>;
    constexpr std::size_t step = lanes<T, bytes>;
    const T* d = p.d + column;
    const Start<T> start(p, column);
    const V factor = all<bytes>(p.factor);
    for (std::size_t k = 0; k < p.rows; ++k) {
      if (terms[k] == 0 && p.base == p.target) {
        continue;
      }
      const T* x = p.x + k;
      const T* base = start.base + k * start.stride;
      T* target = p.target + k * p.stride + column;
      V sum[width] = {};
      if constexpr (!factor_last) {
#pragma GCC unroll 8
        for (int j = 0; j < width; ++j) {
          sum[j] = load<bytes>(base + j * step);
        }
      }
#pragma GCC unroll 1
      for (std::uint32_t bits = terms[k]; bits != 0; bits &= bits - 1) {
        const auto b = static_cast<std::size_t>(__builtin_ctz(bits));
        const T value = x[b * p.x_stride];
        const V left = all<bytes>(factor_last ? value : p.factor * value);
        const T* right = d + b * p.d_stride;
#pragma GCC unroll 8
        for (int j = 0; j < width; ++j) {
          sum[j] += left * load<bytes>(right + j * step);
        }
      }
#pragma GCC unroll 8
      for (int j = 0; j < width; ++j) {
        if constexpr (factor_last) {
          sum[j] = load<bytes>(base + j * step) + factor * sum[j];
        }
        store<bytes>(target + j * step, sum[j]);
      }
    }
  }
};

template <class T>
void rank_update_sparse(const RankUpdate<T>& p) {
  const std::size_t columns = padded<T>(p.columns);
  if (p.rank > most_sparse_terms || p.rows > most_sparse_rows || p.stride < columns) {
    rank_update(p);
    return;
  }
  std::uint32_t terms[most_sparse_rows] = {};
  find_terms(p.x, p.x_stride, p.rank, p.rows, terms);
  const bool factor_last = !few_terms(p.rank);
  const std::size_t registers = columns / lanes<T>;
  evenly(registers, most_sparse_registers, [&](std::size_t first, std::size_t width) {
    sparse_tiles<SparseUpdateTile<T, whole_register>>[width - 1](p, terms, first * lanes<T>, factor_last);
  });
  if (registers * lanes<T> < columns) {
    sparse_tiles<SparseUpdateTile<T, narrow_register>>[0](p, terms, registers * lanes<T>, factor_last);
  }
}

// ---- backward

// Dot products and update in one go: a row of the weights is read once, and with it each row of D that has a
// part in it.
template <class T>
struct SparseBackwardTile {
  using Function = void (*)(const RankUpdate<T>&, T*, std::size_t, const std::uint32_t*);

  template <int width>
  static void run(const RankUpdate<T>& p, T* dx, std::size_t dx_stride, const std::uint32_t* terms) {
    if (p.target == nullptr) {
      rows<width, false, false>(p, dx, dx_stride, terms);
    } else if (few_terms(p.rank)) {
      rows<width, true, false>(p, dx, dx_stride, terms);
    } else {
      rows<width, true, true>(p, dx, dx_stride, terms);
    }
  }

  template <int width, bool updates, bool factor_last>
  static void rows(const RankUpdate<T>& p, T* dx, std::size_t dx_stride, const std::uint32_t* terms) {
    Vec<T> partial[most_sparse_rows * most_sparse_terms];
    Offset places[most_sparse_rows * most_sparse_terms];
    std::size_t count = 0;
    for (std::size_t k = 0; k < p.rows; ++k) {
      const T* x = p.x + k;
      Vec<T> weight[width];
      Vec<T> sum[width];
#pragma GCC unroll 8
      for (int j = 0; j < width; ++j) {
        weight[j] = load(p.base + k * p.stride + j * lanes<T>);
        keep(weight[j]);
        __builtin_prefetch(p.base + (k + most_sparse_rows) * p.stride + j * lanes<T>, 0, 2);
        sum[j] = factor_last ? Vec<T>{} : weight[j];
      }
#pragma GCC unroll 1
      for (std::uint32_t bits = terms[k]; bits != 0; bits &= bits - 1) {
        const auto b = static_cast<std::size_t>(__builtin_ctz(bits));
        const T* d = p.d + b * p.d_stride;
        const T value = x[b * p.x_stride];
        const Vec<T> left = all<whole_register>(factor_last ? value : p.factor * value);
        Vec<T> dot{};
#pragma GCC unroll 8
        for (int j = 0; j < width; ++j) {
          Vec<T> right = load(d + j * lanes<T>);
          keep(right);
          dot += right * weight[j];
          if constexpr (updates) {
            sum[j] += left * right;
          }
        }
        partial[count] = dot;
        places[count] = static_cast<Offset>(b * dx_stride + k);
        ++count;
      }
      if constexpr (updates) {
        const Vec<T> factor = all<whole_register>(p.factor);
        T* target = p.target + k * p.stride;
#pragma GCC unroll 8
        for (int j = 0; j < width; ++j) {
          store(target + j * lanes<T>, factor_last ? weight[j] + factor * sum[j] : sum[j]);
        }
      }
    }
    for (std::size_t b = 0; b < p.rank; ++b) {
      for (std::size_t k = 0; k < p.rows; ++k) {
        dx[b * dx_stride + k] = T(0);
      }
    }
    for (; count % 4 != 0; ++count) {
      partial[count] = partial[count - 1];
      places[count] = places[count - 1];
    }
    for (std::size_t at = 0; at < count; at += 4) {
      const Four<T> sums = sum_four(partial + at);
      for (int j = 0; j < 4; ++j) {
        dx[places[at + j]] = sums[j];
      }
    }
  }
};

template <class T>
bool backward_sparse(const RankUpdate<T>& p, T* dx, std::size_t dx_stride) {
  if (SKEIN_VECTOR_BYTES != 64 || p.rank > most_sparse_terms || p.rows > most_sparse_rows ||
      p.columns % lanes<T> != 0 || p.columns > most_sparse_registers * lanes<T>) {
    return false;
  }
  std::uint32_t terms[most_sparse_rows] = {};
  find_terms(p.x, p.x_stride, p.rank, p.rows, terms);
  sparse_tiles<SparseBackwardTile<T>>[p.columns / lanes<T> - 1](p, dx, dx_stride, terms);
  return true;
}

}  // namespace skein::nn::SKEIN_KERNELS
