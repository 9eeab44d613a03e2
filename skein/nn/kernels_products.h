// Part of kernels_impl.h: products of matrices, and of the patches of images.

namespace skein::nn::SKEIN_KERNELS {

// ---- tails: columns beyond whole registers
//
// As a register of their own they would cost as much as any other, for a few places that count. A run of the
// common dimension is cut into registers instead; the last one is moved back to end with the run, and what it
// has seen before counts zero.

struct Tail {
  std::size_t columns;    // 0: there is none, or nothing to gain
  std::size_t registers;  // of a run
};

template <class T, std::size_t bytes>
inline std::size_t tail_begin(std::size_t i, std::size_t run_length) {
  return smaller(i * lanes<T, bytes>, run_length - lanes<T, bytes>);
}

// Whether registers along the runs are whole ones.
template <class T>
inline bool whole_tails(std::size_t run_length) {
  return run_length >= lanes<T>;
}

template <class T>
inline Tail tail_of(std::size_t columns, std::size_t run_length) {
  const std::size_t left = columns % lanes<T>;
  if (SKEIN_VECTOR_BYTES < 32 || left > 4 || 2 * left > lanes<T> || run_length < lanes<T, narrow_register>) {
    return {0, 0};
  }
  const std::size_t step = whole_tails<T>(run_length) ? lanes<T> : lanes<T, narrow_register>;
  return {left, (run_length + step - 1) / step};
}

// ---- multiply

// A part of the common dimension: some runs, or a part of one.
struct Block {
  std::size_t first_run;
  std::size_t num_runs;
  std::size_t begin;  // in the run
  std::size_t length;
  bool first;
  bool streams;
};

// Tiles of sums that stay in registers: 1 register by so many rows, 2, 3; as many sums as there are registers
// for. AVX-512 has twice as many registers.
inline constexpr std::size_t most_rows[3] = {8, SKEIN_VECTOR_BYTES == 64 ? 8 : 6,
                                             SKEIN_VECTOR_BYTES == 64 ? 8 : 4};

template <class Tile, int rows, int width>
constexpr typename Tile::Function tile_of() {
  if constexpr (std::size_t{rows} <= most_rows[width - 1]) {
    return Tile::template run<rows, width>;
  } else {
    return nullptr;
  }
}
template <class Tile, int width>
struct TilesOf {
  static constexpr typename Tile::Function by_rows[8] = {
      tile_of<Tile, 1, width>(), tile_of<Tile, 2, width>(), tile_of<Tile, 3, width>(),
      tile_of<Tile, 4, width>(), tile_of<Tile, 5, width>(), tile_of<Tile, 6, width>(),
      tile_of<Tile, 7, width>(), tile_of<Tile, 8, width>()};
};
template <class Tile>
inline constexpr const typename Tile::Function* tiles[3] = {
    TilesOf<Tile, 1>::by_rows, TilesOf<Tile, 2>::by_rows, TilesOf<Tile, 3>::by_rows};

// How many registers wide the next tile is, with `left` to go.
inline std::size_t tile_width(std::size_t left, std::size_t rows) {
  if (left == 1 || left == 2 || left == 3) {
    return left;
  }
  return (rows <= most_rows[2] || most_rows[2] == most_rows[1]) && left != 4 ? 3 : 2;
}

// Calls tile(row, column) for tiles that cover rows x columns, column by column: Whole ones, and Narrow ones
// where less than a whole register is left.
template <class T, class Whole, class Narrow, class Call>
inline void cover(std::size_t rows, std::size_t columns, const Call& call) {
  const std::size_t registers = padded<T>(columns) / lanes<T>;
  std::size_t done = 0;
  while (done < registers) {
    const std::size_t width = tile_width(registers - done, rows);
    evenly(rows, most_rows[width - 1], [&](std::size_t row, std::size_t size) {
      call(tiles<Whole>[width - 1][size - 1], row, done * lanes<T>);
    });
    done += width;
  }
  if (registers * lanes<T> < padded<T>(columns)) {
    evenly(rows, most_rows[0], [&](std::size_t row, std::size_t size) {
      call(tiles<Narrow>[0][size - 1], row, registers * lanes<T>);
    });
  }
}

template <class T, std::size_t bytes>
struct MultiplyTile {
  using Function = void (*)(const Product<T>&, const Block&, std::size_t, std::size_t);

  template <int rows, int width>
  static void run(const Product<T>& p, const Block& block, std::size_t row, std::size_t column) {
    if (block.streams && column == 0 && p.fetch == nullptr) {
      fetch_next<rows>(p, block, row);
    }
    if (block.streams && row == 0) {
      add_up<rows, width, true>(p, block, row, column);
    } else {
      add_up<rows, width, false>(p, block, row, column);
    }
  }

  static const T* row_of(const Product<T>& p, const Block& block, std::size_t row) {
    return p.a + (p.a_rows != nullptr ? p.a_rows[row] : row * p.a_stride) + block.first_run * p.run_stride +
           block.begin;
  }

  // What the next block reads of some rows of A: rows are far apart, and each is read in short pieces.
  template <int rows>
  static void fetch_next(const Product<T>& p, const Block& block, std::size_t row) {
    for (int i = 0; i < rows; ++i) {
      const T* next = row_of(p, block, row + i) + block.length;
      for (std::size_t k = 0; k < block.length; k += 64 / sizeof(T)) {
        __builtin_prefetch(next + k);
      }
    }
  }

  template <int rows, int width, bool streams>
  static void add_up(const Product<T>& p, const Block& block, std::size_t row, std::size_t column) {
    using V = Vec<T, bytes>;
    constexpr std::size_t step = lanes<T, bytes>;
    V sum[rows][width];
    for (int j = 0; j < width; ++j) {
      const V start = block.first && p.bias != nullptr ? load<bytes>(p.bias + column + j * step) : V{};
#pragma GCC unroll 8
      for (int i = 0; i < rows; ++i) {
        sum[i][j] = start;
      }
    }
    const T* a[rows];
    for (int i = 0; i < rows; ++i) {
      a[i] = row_of(p, block, row + i);
    }
    const T* b = p.b + (block.first_run * p.run_length + block.begin) * p.b_stride + column;
    const std::size_t b_stride = p.b_stride;
    const T* next = p.fetch != nullptr ? p.fetch : b + block.length * b_stride;  // the next block
    const std::size_t next_stride = p.fetch != nullptr ? 128 / sizeof(T) : b_stride;
    for (std::size_t run = 0; run < block.num_runs; ++run) {
      const std::size_t length = block.length;
#pragma GCC unroll 1
      for (std::size_t k = 0; k < length; ++k) {
        V right[width];
#pragma GCC unroll 4
        for (int j = 0; j < width; ++j) {
          right[j] = load<bytes>(b + j * step);
          keep(right[j]);
        }
        if constexpr (streams) {
#pragma GCC unroll 4
          for (int j = 0; j < width; ++j) {
            __builtin_prefetch(next + j * step, 0, 2);
          }
          next += next_stride;
        }
#pragma GCC unroll 8
        for (int i = 0; i < rows; ++i) {
          const V left = all<bytes>(a[i][k]);
#pragma GCC unroll 4
          for (int j = 0; j < width; ++j) {
            sum[i][j] += left * right[j];
          }
        }
        b += b_stride;
      }
      for (int i = 0; i < rows; ++i) {
        a[i] += p.run_stride;
      }
    }
    const bool add = p.add || !block.first;
#pragma GCC unroll 8
    for (int i = 0; i < rows; ++i) {
      T* c = p.c + (p.c_rows != nullptr ? p.c_rows[row + i] : (row + i) * p.c_stride) + column;
#pragma GCC unroll 4
      for (int j = 0; j < width; ++j) {
        store<bytes>(c + j * step, add ? load<bytes>(c + j * step) + sum[i][j] : sum[i][j]);
      }
    }
  }
};

template <class T>
void multiply_block(const Product<T>& p, const Block& block) {
  using Whole = MultiplyTile<T, whole_register>;
  using Narrow = MultiplyTile<T, narrow_register>;
  const std::size_t columns = p.tails != nullptr ? p.columns / lanes<T> * lanes<T> : p.columns;
  cover<T, Whole, Narrow>(
      p.rows, columns, [&](auto tile, std::size_t row, std::size_t column) { tile(p, block, row, column); });
}

// Four sums, and zeros up to the padding.
inline __attribute__((always_inline)) Vec<float, 32> with_zeros(Four<float> v) {
  return __builtin_shufflevector(v, Four<float>{}, 0, 1, 2, 3, 4, 5, 6, 7);
}
inline __attribute__((always_inline)) Vec<double, 32> with_zeros(Four<double> v) { return v; }

template <class T, std::size_t bytes, int rows, int columns>
void tail_tile(const Product<T>& p, const Tail& tail, std::size_t row) {
  using V = Vec<T, bytes>;
  constexpr std::size_t step = lanes<T, bytes>;
  const T* a[rows];
  for (int i = 0; i < rows; ++i) {
    a[i] = p.a + (p.a_rows != nullptr ? p.a_rows[row + i] : (row + i) * p.a_stride);
  }
  V sum[rows][4] = {};
  const T* b = p.tails;
  for (std::size_t run = 0; run < p.num_runs; ++run) {
#pragma GCC unroll 1
    for (std::size_t k = 0; k < tail.registers; ++k) {
      const std::size_t begin = tail_begin<T, bytes>(k, p.run_length);
      V right[columns];
#pragma GCC unroll 4
      for (int j = 0; j < columns; ++j) {
        right[j] = load<bytes>(b + j * step);
        keep(right[j]);
      }
#pragma GCC unroll 4
      for (int i = 0; i < rows; ++i) {
        V left = load<bytes>(a[i] + begin);
        keep(left);
#pragma GCC unroll 4
        for (int j = 0; j < columns; ++j) {
          sum[i][j] += left * right[j];
        }
      }
      b += columns * step;
    }
    for (int i = 0; i < rows; ++i) {
      a[i] += p.run_stride;
    }
  }
  const std::size_t column = p.columns - columns;
  const Vec<T, 32> start = p.bias != nullptr ? load<32>(p.bias + column) : Vec<T, 32>{};
#pragma GCC unroll 4
  for (int i = 0; i < rows; ++i) {
    T* c = p.c + (p.c_rows != nullptr ? p.c_rows[row + i] : (row + i) * p.c_stride) + column;
    const Vec<T, 32> sums = start + with_zeros(sum_four(sum[i]));
    store<32>(c, p.add ? load<32>(c) + sums : sums);
  }
}

template <class T, std::size_t bytes, int columns>
void tail_columns(const Product<T>& p, const Tail& tail) {
  constexpr int rows = SKEIN_VECTOR_BYTES == 64 ? 4 : 2;
  std::size_t row = 0;
  for (; row + rows <= p.rows; row += rows) {
    tail_tile<T, bytes, rows, columns>(p, tail, row);
  }
  for (; row < p.rows; ++row) {
    tail_tile<T, bytes, 1, columns>(p, tail, row);
  }
}

template <class T, std::size_t bytes>
void multiply_tails(const Product<T>& p, const Tail& tail) {
  if (tail.columns == 4) {
    tail_columns<T, bytes, 4>(p, tail);
  } else if (tail.columns == 3) {
    tail_columns<T, bytes, 3>(p, tail);
  } else if (tail.columns == 2) {
    tail_columns<T, bytes, 2>(p, tail);
  } else {
    tail_columns<T, bytes, 1>(p, tail);
  }
}

template <class T>
std::size_t tail_numbers(const Product<T>& p) {
  const Tail tail = tail_of<T>(p.columns, p.run_length);
  return tail.columns * tail.registers *
         (whole_tails<T>(p.run_length) ? lanes<T> : lanes<T, narrow_register>);
}

// [run][register][column][lane]
template <class T, std::size_t bytes>
void pack_tails_as(const Product<T>& p, const Tail& tail, T* out) {
  for (std::size_t run = 0; run < p.num_runs; ++run) {
    const T* b = p.b + run * p.run_length * p.b_stride + p.columns - tail.columns;
    for (std::size_t i = 0; i < tail.registers; ++i) {
      const std::size_t begin = tail_begin<T, bytes>(i, p.run_length);
      for (std::size_t column = 0; column < tail.columns; ++column) {
        for (std::size_t lane = 0; lane < lanes<T, bytes>; ++lane) {
          const std::size_t k = begin + lane;
          *out++ = k < i * lanes<T, bytes> ? T(0) : b[k * p.b_stride + column];
        }
      }
    }
  }
}

template <class T>
void pack_tails(const Product<T>& p, T* tails) {
  const Tail tail = tail_of<T>(p.columns, p.run_length);
  whole_tails<T>(p.run_length) ? pack_tails_as<T, whole_register>(p, tail, tails)
                               : pack_tails_as<T, narrow_register>(p, tail, tails);
}

// The most of the common dimension that is one block, so that it stays in the first cache.
template <class T>
inline std::size_t longest_block(std::size_t columns) {
  return smaller(larger(6144 / padded<T>(columns), 32), 256);
}

// A large B comes from memory: the next block is fetched ahead.
template <class T>
void multiply(const Product<T>& p) {
  const std::size_t most = longest_block<T>(p.columns);
  if (p.run_length > most) {
    const bool streams = p.run_length * p.b_stride > (std::size_t{1} << 17U);
    bool first = true;
    for (std::size_t run = 0; run < p.num_runs; ++run) {
      evenly(p.run_length, most, [&](std::size_t begin, std::size_t size) {
        multiply_block(p, Block{run, 1, begin, size, first, streams});
        first = false;
      });
    }
  } else {
    // With a tile or two of rows, nothing of B comes twice.
    const std::size_t runs = p.rows <= 2 * most_rows[1] ? p.num_runs : most / larger(p.run_length, 1);
    evenly(p.num_runs, runs, [&](std::size_t run, std::size_t size) {
      multiply_block(p, Block{run, size, 0, p.run_length, run == 0, p.fetch != nullptr});
    });
  }
  if (p.tails != nullptr) {
    const Tail tail = tail_of<T>(p.columns, p.run_length);
    whole_tails<T>(p.run_length) ? multiply_tails<T, whole_register>(p, tail)
                                 : multiply_tails<T, narrow_register>(p, tail);
  }
}

}  // namespace skein::nn::SKEIN_KERNELS
