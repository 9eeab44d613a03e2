// Part of kernels_impl.h: outer products and updates by them, what gradients of weights are made of.

namespace skein::nn::SKEIN_KERNELS {

// ---- outer products

template <class T, std::size_t bytes>
struct OuterTile {
  using Function = void (*)(const OuterProducts<T>&, std::size_t, std::size_t);

  template <int rows, int width>
  static void run(const OuterProducts<T>& p, std::size_t row, std::size_t column) {
    using V = Vec<T, bytes>;
    constexpr std::size_t step = lanes<T, bytes>;
    std::size_t place[rows];
    for (int i = 0; i < rows; ++i) {
      place[i] = (row + i) / p.run_length * p.run_stride + (row + i) % p.run_length;
    }
    V sum[rows][width] = {};
    const T* d = p.d + column;
#pragma GCC unroll 1
    for (std::size_t point = 0; point < p.points; ++point) {
      const T* a = p.a + p.a_points[point];
      V right[width];
#pragma GCC unroll 4
      for (int j = 0; j < width; ++j) {
        right[j] = load<bytes>(d + j * step);
        keep(right[j]);
      }
#pragma GCC unroll 8
      for (int i = 0; i < rows; ++i) {
        const V left = all<bytes>(a[place[i]]);
#pragma GCC unroll 4
        for (int j = 0; j < width; ++j) {
          sum[i][j] += left * right[j];
        }
      }
      d += p.d_stride;
    }
#pragma GCC unroll 8
    for (int i = 0; i < rows; ++i) {
      T* c = p.c + (row + i) * p.c_stride + column;
#pragma GCC unroll 4
      for (int j = 0; j < width; ++j) {
        store<bytes>(c + j * step, load<bytes>(c + j * step) + sum[i][j]);
      }
    }
  }
};

// A tail's columns: so many registers along the runs, by so many columns.
template <class T, std::size_t bytes>
struct OuterTailTile {
  using Function = void (*)(const OuterProducts<T>&, const Tail&, std::size_t, std::size_t);

  template <int registers, int columns>
  static void run(const OuterProducts<T>& p, const Tail& tail, std::size_t first, std::size_t column) {
    using V = Vec<T, bytes>;
    std::size_t place[registers];
    for (int i = 0; i < registers; ++i) {
      place[i] = (first + i) / tail.registers * p.run_stride +
                 tail_begin<T, bytes>((first + i) % tail.registers, p.run_length);
    }
    V sum[registers][columns] = {};
    const T* d = p.d + column;
#pragma GCC unroll 1
    for (std::size_t point = 0; point < p.points; ++point) {
      const T* a = p.a + p.a_points[point];
      V right[columns];
#pragma GCC unroll 4
      for (int j = 0; j < columns; ++j) {
        right[j] = all<bytes>(d[j]);
        keep(right[j]);
      }
#pragma GCC unroll 8
      for (int i = 0; i < registers; ++i) {
        V left = load<bytes>(a + place[i]);
        keep(left);
#pragma GCC unroll 4
        for (int j = 0; j < columns; ++j) {
          sum[i][j] += left * right[j];
        }
      }
      d += p.d_stride;
    }
    for (int i = 0; i < registers; ++i) {
      const std::size_t in_run = (first + i) % tail.registers;
      const std::size_t begin = tail_begin<T, bytes>(in_run, p.run_length);
      const std::size_t row = (first + i) / tail.registers * p.run_length + begin;
      for (std::size_t lane = in_run * lanes<T, bytes> - begin; lane < lanes<T, bytes>; ++lane) {
        for (int j = 0; j < columns; ++j) {
          p.c[(row + lane) * p.c_stride + column + j] += sum[i][j][lane];
        }
      }
    }
  }
};

template <class T, std::size_t bytes>
void outer_tails(const OuterProducts<T>& p, const Tail& tail) {
  evenly(tail.columns, 3, [&](std::size_t begin, std::size_t columns) {
    evenly(p.num_runs * tail.registers, most_rows[columns - 1], [&](std::size_t first, std::size_t size) {
      tiles<OuterTailTile<T, bytes>>[columns - 1][size - 1](p, tail, first, p.columns - tail.columns + begin);
    });
  });
}

template <class T>
void outer_products(const OuterProducts<T>& p) {
  using Whole = OuterTile<T, whole_register>;
  using Narrow = OuterTile<T, narrow_register>;
  const Tail tail = tail_of<T>(p.columns, p.run_length);
  cover<T, Whole, Narrow>(p.num_runs * p.run_length, p.columns - tail.columns,
                          [&](auto tile, std::size_t row, std::size_t column) { tile(p, row, column); });
  if (tail.columns != 0) {
    whole_tails<T>(p.run_length) ? outer_tails<T, whole_register>(p, tail)
                                 : outer_tails<T, narrow_register>(p, tail);
  }
}

template <class T>
void add_rows(const T* rows, std::size_t count, std::size_t columns, T* sum) {
  const std::size_t width = padded<T>(columns);
  for (std::size_t n = 0; n < width; n += lanes<T, narrow_register>) {
    Vec<T, narrow_register> parts[4] = {};
    std::size_t i = 0;
    for (; i + 4 <= count; i += 4) {
#pragma GCC unroll 4
      for (std::size_t part = 0; part < 4; ++part) {
        parts[part] += load<narrow_register>(rows + (i + part) * width + n);
      }
    }
    for (; i < count; ++i) {
      parts[0] += load<narrow_register>(rows + i * width + n);
    }
    store<narrow_register>(sum + n,
                           load<narrow_register>(sum + n) + ((parts[0] + parts[1]) + (parts[2] + parts[3])));
  }
}

// ---- rank update

// A few terms: a row of the target is read once, and written once for every six of them.
template <class T, std::size_t bytes, int rows, int rank, bool has_base>
inline __attribute__((always_inline)) void update_columns(const RankUpdate<T>& p, std::size_t k,
                                                          std::size_t b, const T* base, std::size_t begin,
                                                          std::size_t end) {
  using V = Vec<T, bytes>;
  V left[rows][rank];
#pragma GCC unroll 2
  for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 6
    for (int r = 0; r < rank; ++r) {
      left[i][r] = all<bytes>(p.factor * p.x[(b + r) * p.x_stride + k + i]);
    }
  }
  const T* d = p.d + b * p.d_stride;
  T* target = p.target + k * p.stride;
  const std::size_t stride = p.stride;
  const std::size_t d_stride = p.d_stride;
#pragma GCC unroll 1
  for (std::size_t n = begin; n < end; n += lanes<T, bytes>) {
    V sum[rows];
#pragma GCC unroll 2
    for (int i = 0; i < rows; ++i) {
      sum[i] = has_base ? load<bytes>(base + i * stride + n) : V{};
    }
#pragma GCC unroll 6
    for (int r = 0; r < rank; ++r) {
      V right = load<bytes>(d + r * d_stride + n);
      keep(right);
#pragma GCC unroll 2
      for (int i = 0; i < rows; ++i) {
        sum[i] += left[i][r] * right;
      }
    }
#pragma GCC unroll 2
    for (int i = 0; i < rows; ++i) {
      store<bytes>(target + i * stride + n, sum[i]);
    }
  }
}

template <class T, int rows, int rank, bool has_base>
void update_rows(const RankUpdate<T>& p, std::size_t k, std::size_t b, const T* base) {
  const std::size_t columns = padded<T>(p.columns);
  const std::size_t whole = columns / lanes<T> * lanes<T>;
  update_columns<T, whole_register, rows, rank, has_base>(p, k, b, base, 0, whole);
  if (whole < columns) {
    update_columns<T, narrow_register, rows, rank, has_base>(p, k, b, base, whole, columns);
  }
}

template <class T>
using UpdateRows = void (*)(const RankUpdate<T>&, std::size_t, std::size_t, const T*);
template <class T, int rows, bool has_base>
inline constexpr UpdateRows<T> update_rows_of[6] = {
    update_rows<T, rows, 1, has_base>, update_rows<T, rows, 2, has_base>, update_rows<T, rows, 3, has_base>,
    update_rows<T, rows, 4, has_base>, update_rows<T, rows, 5, has_base>, update_rows<T, rows, 6, has_base>};

// A register may reach over a row's end into the next row and put its base there. So rows go upwards, and two
// at a time only where that is harmless: no reaching over, or the base is the target.
template <class T>
void update_by_rows(const RankUpdate<T>& p) {
  const bool two = p.stride >= padded<T>(p.columns) || p.base == p.target;
  for (std::size_t k = 0; k < p.rows;) {
    const bool pair = two && k + 2 <= p.rows;
    evenly(p.rank, 6, [&](std::size_t b, std::size_t size) {
      const T* base = b == 0 ? p.base : p.target;
      if (base == nullptr) {
        (pair ? update_rows_of<T, 2, false> : update_rows_of<T, 1, false>)[size - 1](p, k, b, nullptr);
      } else {
        (pair ? update_rows_of<T, 2, true> : update_rows_of<T, 1, true>)[size - 1](p, k, b,
                                                                                   base + k * p.stride);
      }
    });
    k += pair ? 2 : 1;
  }
}

// Rows that an update starts from, read without asking each time whether there are any: so products and sums
// are fused in all tiles alike.
template <class T>
inline constexpr T zero_row[8 * lanes<T>] = {};
template <class T>
struct Start {
  const T* base;
  std::size_t stride;

  Start(const RankUpdate<T>& p, std::size_t column)
      : base(p.base != nullptr ? p.base + column : zero_row<T>), stride(p.base != nullptr ? p.stride : 0) {}
};

// Many terms: sums stay in registers while all terms pass.
template <class T, std::size_t bytes>
struct UpdateTile {
  using Function = void (*)(const RankUpdate<T>&, std::size_t, std::size_t);

  template <int rows, int width>
  static void run(const RankUpdate<T>& p, std::size_t row, std::size_t column) {
    if (column == 0 && row % (64 / sizeof(T)) == 0) {
      add_up<rows, width, true>(p, row, column);
    } else {
      add_up<rows, width, false>(p, row, column);
    }
  }

  // With `fetches`, a line of X that the rows after these will read is asked for with each term.
  template <int rows, int width, bool fetches>
  static void add_up(const RankUpdate<T>& p, std::size_t row, std::size_t column) {
    using V = Vec<T, bytes>;
    constexpr std::size_t step = lanes<T, bytes>;
    V sum[rows][width] = {};
    const T* x = p.x + row;
    const T* d = p.d + column;
#pragma GCC unroll 1
    for (std::size_t b = 0; b < p.rank; ++b) {
      V right[width];
#pragma GCC unroll 4
      for (int j = 0; j < width; ++j) {
        right[j] = load<bytes>(d + j * step);
        keep(right[j]);
      }
      if constexpr (fetches) {
        __builtin_prefetch(x + p.rows, 0, 2);
      }
#pragma GCC unroll 8
      for (int i = 0; i < rows; ++i) {
        const V left = all<bytes>(x[i]);
#pragma GCC unroll 4
        for (int j = 0; j < width; ++j) {
          sum[i][j] += left * right[j];
        }
      }
      x += p.x_stride;
      d += p.d_stride;
    }
    const Start<T> start(p, column);
    const V factor = all<bytes>(p.factor);
#pragma GCC unroll 8
    for (int i = 0; i < rows; ++i) {
      const T* base = start.base + (row + i) * start.stride;
      T* target = p.target + (row + i) * p.stride + column;
#pragma GCC unroll 4
      for (int j = 0; j < width; ++j) {
        store<bytes>(target + j * step, load<bytes>(base + j * step) + factor * sum[i][j]);
      }
    }
  }
};

// Tiles go from right to left: what one puts over a row's end, the next row's first tile replaces.
template <class T>
void update_by_tiles(const RankUpdate<T>& p) {
  const std::size_t registers = padded<T>(p.columns) / lanes<T>;
  evenly(p.rows, most_rows[1], [&](std::size_t row, std::size_t size) {
    std::size_t left = registers;
    if (left * lanes<T> < padded<T>(p.columns)) {
      tiles<UpdateTile<T, narrow_register>>[0][size - 1](p, row, left * lanes<T>);
    }
    while (left > 0) {
      const std::size_t width = left % 2 == 1 ? 1 : 2;
      left -= width;
      tiles<UpdateTile<T, whole_register>>[width - 1][size - 1](p, row, left * lanes<T>);
    }
  });
}

inline bool few_terms(std::size_t rank) { return rank < 8; }

template <class T>
void rank_update(const RankUpdate<T>& p) {
  few_terms(p.rank) ? update_by_rows(p) : update_by_tiles(p);
}

}  // namespace skein::nn::SKEIN_KERNELS
