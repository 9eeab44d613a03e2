// Part of kernels_impl.h: pools, alone and with the convolution before them.

namespace skein::nn::SKEIN_KERNELS {

// ---- pooling: in registers that a pixel's padded channels fill, so that nothing reaches further

// Integers of the same width as T, one per lane.
template <class T, std::size_t bytes>
using Mask = decltype(Vec<T, bytes>{} < Vec<T, bytes>{});

template <class T, std::size_t bytes>
struct SourcesOf {
  typedef Source Type
      __attribute__((vector_size(lanes<T, bytes> * sizeof(Source)), aligned(sizeof(Source)), may_alias));
};
template <class T, std::size_t bytes>
using Sources = typename SourcesOf<T, bytes>::Type;

template <class T, std::size_t bytes>
inline __attribute__((always_inline)) Mask<T, bytes> load_source(const Source* from) {
  return __builtin_convertvector(*reinterpret_cast<const Sources<T, bytes>*>(from), Mask<T, bytes>);
}
template <class T, std::size_t bytes>
inline __attribute__((always_inline)) void store_source(Source* to, Mask<T, bytes> source) {
  *reinterpret_cast<Sources<T, bytes>*>(to) = __builtin_convertvector(source, Sources<T, bytes>);
}
template <class T, std::size_t bytes>
inline __attribute__((always_inline)) Mask<T, bytes> all_sources(std::size_t place) {
  return static_cast<Source>(place) - Mask<T, bytes>{};
}

template <class T>
void drop(const Drop<T>& p, const T* in, const std::uint16_t* drawn, std::size_t count, T* out) {
  const Mask<T, whole_register> below = static_cast<int>(p.below) - Mask<T, whole_register>{};
  const Vec<T> scale = all<whole_register>(p.scale);
  std::size_t i = 0;
  for (; i + lanes<T> <= count; i += lanes<T>) {
    const Mask<T, whole_register> here = load_source<T, whole_register>(drawn + i);
    store(out + i, here >= below ? load(in + i) * scale : Vec<T>{});
  }
  for (; i < count; ++i) {
    out[i] = drawn[i] >= p.below ? in[i] * p.scale : T(0);
  }
}

// Calls work(corner of the window in the input, output pixel) for each output pixel, in order.
template <class T, class Work>
inline __attribute__((always_inline)) void for_windows(const Pool<T>& p, const Work& work) {
  std::size_t pixel = 0;
  for (std::size_t y = 0; y < p.out_height; ++y) {
    std::size_t corner = y * p.step_y * p.in_width * p.in_stride;
    for (std::size_t x = 0; x < p.out_width; ++x) {
      work(corner, pixel);
      corner += p.step_x * p.in_stride;
      ++pixel;
    }
  }
}

// Calls work.operator()<bytes of a register, height, width>(), with the window's size known when compiling
// (0: not).
template <class T, std::size_t bytes, class Work>
inline void by_window_of(const Pool<T>& p, const Work& work) {
  if (p.kernel_height == 2 && p.kernel_width == 2) {
    work.template operator()<bytes, 2, 2>();
  } else if (p.kernel_height == 1 && p.kernel_width == 1) {
    work.template operator()<bytes, 1, 1>();
  } else {
    work.template operator()<bytes, 0, 0>();
  }
}
template <class T, class Work>
inline void by_window(const Pool<T>& p, const Work& work) {
  if (padded<T>(p.channels) % lanes<T> == 0) {
    by_window_of<T, whole_register>(p, work);
  } else {
    by_window_of<T, narrow_register>(p, work);
  }
}

template <class T, std::size_t bytes, std::size_t height, std::size_t width>
void pool_windows(const Pool<T>& p, const T* in, T* out, Source* source) {
  const std::size_t kernel_height = height != 0 ? height : p.kernel_height;
  const std::size_t kernel_width = width != 0 ? width : p.kernel_width;
  const std::size_t channels = padded<T>(p.channels);
  const Vec<T, bytes> floor = p.relu ? Vec<T, bytes>{} : all<bytes>(T(-__builtin_huge_valf()));
  const Mask<T, bytes> none = all_sources<T, bytes>(no_source);
  for_windows(p, [&](std::size_t corner, std::size_t pixel) {
    for (std::size_t c = 0; c < channels; c += lanes<T, bytes>) {
      Vec<T, bytes> best = floor;
      Mask<T, bytes> from = none;
      std::size_t place = 0;
      for (std::size_t y = 0; y < kernel_height; ++y) {
        const T* row = in + corner + y * p.in_width * p.in_stride + c;
        for (std::size_t x = 0; x < kernel_width; ++x) {
          const Vec<T, bytes> value = load<bytes>(row + x * p.in_stride);
          const Mask<T, bytes> better = value > best;
          best = better ? value : best;
          from = better ? all_sources<T, bytes>(place) : from;
          ++place;
        }
      }
      store<bytes>(out + pixel * p.channels + c, best);
      store_source<T, bytes>(source + pixel * channels + c, from);
    }
  });
}

template <class T>
void pool(const Pool<T>& p, const T* in, T* out, Source* source) {
  by_window(p, [&]<std::size_t bytes, std::size_t height, std::size_t width>() {
    pool_windows<T, bytes, height, width>(p, in, out, source);
  });
}

template <class T, std::size_t bytes, std::size_t height, std::size_t width>
void pool_tangent_windows(const Pool<T>& p, const T* in, const Source* source, T* out) {
  const std::size_t kernel_height = height != 0 ? height : p.kernel_height;
  const std::size_t kernel_width = width != 0 ? width : p.kernel_width;
  const std::size_t channels = padded<T>(p.channels);
  for_windows(p, [&](std::size_t corner, std::size_t pixel) {
    for (std::size_t c = 0; c < channels; c += lanes<T, bytes>) {
      const Mask<T, bytes> from = load_source<T, bytes>(source + pixel * channels + c);
      Vec<T, bytes> taken{};
      std::size_t place = 0;
      for (std::size_t y = 0; y < kernel_height; ++y) {
        const T* row = in + corner + y * p.in_width * p.in_stride + c;
        for (std::size_t x = 0; x < kernel_width; ++x) {
          taken = from == all_sources<T, bytes>(place) ? load<bytes>(row + x * p.in_stride) : taken;
          ++place;
        }
      }
      store<bytes>(out + pixel * p.channels + c, taken);
    }
  });
}

template <class T>
void pool_tangent(const Pool<T>& p, const T* in, const Source* source, T* out) {
  by_window(p, [&]<std::size_t bytes, std::size_t height, std::size_t width>() {
    pool_tangent_windows<T, bytes, height, width>(p, in, source, out);
  });
}

template <class T, std::size_t bytes, std::size_t height, std::size_t width>
void pool_backward_windows(const Pool<T>& p, const T* out, const Source* source, T* in) {
  const std::size_t kernel_height = height != 0 ? height : p.kernel_height;
  const std::size_t kernel_width = width != 0 ? width : p.kernel_width;
  const std::size_t channels = padded<T>(p.channels);
  for_windows(p, [&](std::size_t corner, std::size_t pixel) {
    for (std::size_t c = 0; c < channels; c += lanes<T, bytes>) {
      const Mask<T, bytes> from = load_source<T, bytes>(source + pixel * channels + c);
      const Vec<T, bytes> value = load<bytes>(out + pixel * p.channels + c);
      std::size_t place = 0;
      for (std::size_t y = 0; y < kernel_height; ++y) {
        T* row = in + corner + y * p.in_width * p.in_stride + c;
        for (std::size_t x = 0; x < kernel_width; ++x) {
          T* to = row + x * p.in_stride;
          store<bytes>(to,
                       load<bytes>(to) + (from == all_sources<T, bytes>(place) ? value : Vec<T, bytes>{}));
          ++place;
        }
      }
    }
  });
}

template <class T>
void pool_backward(const Pool<T>& p, const T* out, const Source* source, T* in) {
  by_window(p, [&]<std::size_t bytes, std::size_t height, std::size_t width>() {
    pool_backward_windows<T, bytes, height, width>(p, out, source, in);
  });
}

// ---- convolutions and their pools in one go

// Sums of some windows' places stay in registers until the maximum of each is known: the convolution's plane
// is never written.
template <class T, std::size_t bytes, int places, int windows, int width>
inline __attribute__((always_inline)) void pooled_tile(const Product<T>& p, const Pool<T>& pool,
                                                       std::size_t window, std::size_t column, T* out,
                                                       Source* source) {
  using V = Vec<T, bytes>;
  constexpr std::size_t step = lanes<T, bytes>;
  constexpr int rows = windows * places;
  V sum[rows][width];
#pragma GCC unroll 4
  for (int j = 0; j < width; ++j) {
    const V start = load<bytes>(p.bias + column + j * step);
#pragma GCC unroll 8
    for (int i = 0; i < rows; ++i) {
      sum[i][j] = start;
    }
  }
  std::size_t at[rows];
#pragma GCC unroll 8
  for (int i = 0; i < rows; ++i) {
    at[i] = p.a_rows[window * places + i];
  }
  const T* a = p.a;
  const T* b = p.b + column;
  const std::size_t b_stride = p.b_stride;
  for (std::size_t run = 0; run < p.num_runs; ++run) {
    const T* const end = a + p.run_length;
#pragma GCC unroll 1
    while (a != end) {
      V right[width];
#pragma GCC unroll 4
      for (int j = 0; j < width; ++j) {
        right[j] = load<bytes>(b + j * step);
        keep(right[j]);
      }
#pragma GCC unroll 8
      for (int i = 0; i < rows; ++i) {
        const V left = all<bytes>(a[at[i]]);
#pragma GCC unroll 4
        for (int j = 0; j < width; ++j) {
          sum[i][j] += left * right[j];
        }
      }
      b += b_stride;
      ++a;
      keep_address(a);
    }
    a += p.run_stride - p.run_length;
  }
  const V floor = pool.relu ? V{} : all<bytes>(T(-__builtin_huge_valf()));
#pragma GCC unroll 8
  for (int w = 0; w < windows; ++w) {
#pragma GCC unroll 4
    for (int j = 0; j < width; ++j) {
      V best = floor;
      Mask<T, bytes> from = all_sources<T, bytes>(no_source);
#pragma GCC unroll 4
      for (int place = 0; place < places; ++place) {
        const V value = sum[w * places + place][j];
        const Mask<T, bytes> better = value > best;
        best = better ? value : best;
        from = better ? all_sources<T, bytes>(place) : from;
      }
      const std::size_t to = (window + w) * pool.channels + column + j * step;
      store<bytes>(out + to, best);
      store_source<T, bytes>(source + to, from);
    }
  }
}

// All windows for some registers of filters. The last tile is moved back to end with the last window; what it
// finds a second time is the same.
template <class T, std::size_t bytes, int places, int width>
void pooled_columns(const Product<T>& p, const Pool<T>& pool, std::size_t column, T* out, Source* source) {
  constexpr std::size_t at_once = most_rows[width - 1] / places;
  const std::size_t windows = pool.out_height * pool.out_width;
  if (windows < at_once) {
    for (std::size_t window = 0; window < windows; ++window) {
      pooled_tile<T, bytes, places, 1, width>(p, pool, window, column, out, source);
    }
    return;
  }
  for (std::size_t window = 0; window < windows; window += at_once) {
    pooled_tile<T, bytes, places, at_once, width>(p, pool, smaller(window, windows - at_once), column, out,
                                                  source);
  }
}

template <class T, int places>
void multiply_pool_windows(const Product<T>& p, const Pool<T>& pool, T* out, Source* source) {
  const std::size_t registers = pool.channels / lanes<T>;
  for (std::size_t done = 0; done < registers;) {
    const std::size_t width = registers - done == 1 || registers - done == 3 ? registers - done : 2;
    const std::size_t column = done * lanes<T>;
    if (width == 1) {
      pooled_columns<T, whole_register, places, 1>(p, pool, column, out, source);
    } else if (width == 2) {
      pooled_columns<T, whole_register, places, 2>(p, pool, column, out, source);
    } else {
      pooled_columns<T, whole_register, places, 3>(p, pool, column, out, source);
    }
    done += width;
  }
  if (registers * lanes<T> < pool.channels) {
    pooled_columns<T, narrow_register, places, 1>(p, pool, registers * lanes<T>, out, source);
  }
}

template <class T>
void multiply_pool(const Product<T>& p, const Pool<T>& pool, T* out, Source* source) {
  pool.kernel_height* pool.kernel_width == 4 ? multiply_pool_windows<T, 4>(p, pool, out, source)
                                             : multiply_pool_windows<T, 1>(p, pool, out, source);
}

// The gradients of some of a patch's weights, for a register of filters.
template <class T, std::size_t bytes, int places>
struct PooledOuterTile {
  using Function = void (*)(const PooledOuterProducts<T>&, std::size_t, std::size_t);

  template <int rows>
  static void run(const PooledOuterProducts<T>& p, std::size_t row, std::size_t filter) {
    using V = Vec<T, bytes>;
    const std::size_t num_places = places != 0 ? places : p.places;
    const std::size_t filters = padded<T>(p.filters);
    std::size_t in_patch[rows];
    for (int i = 0; i < rows; ++i) {
      in_patch[i] = (row + i) / p.run_length * p.run_stride + (row + i) % p.run_length;
    }
    V sum[2][rows] = {};  // of every other place of a window: one alone would wait for itself
    const T* dy = p.dy + filter;
    const Source* source = p.source + filter;
    const Offset* corner = p.corners;
#pragma GCC unroll 1
    for (std::size_t window = 0; window < p.windows; ++window) {
      const V value = load<bytes>(dy);
      const Mask<T, bytes> from = load_source<T, bytes>(source);
#pragma GCC unroll 4
      for (std::size_t place = 0; place < num_places; ++place) {
        V here = from == all_sources<T, bytes>(place) ? value : V{};
        keep(here);
        const T* patch = p.image + corner[place];
#pragma GCC unroll 8
        for (int i = 0; i < rows; ++i) {
          sum[place % 2][i] += here * all<bytes>(patch[in_patch[i]]);
        }
      }
      dy += p.filters;
      source += filters;
      corner += num_places;
    }
    for (int i = 0; i < rows; ++i) {
      T* to = p.gradient + (row + i) * filters + filter;
      store<bytes>(to, load<bytes>(to) + (sum[0][i] + sum[1][i]));
    }
  }
};

template <class Tile>
inline constexpr typename Tile::Function pooled_outer_tiles[4] = {
    Tile::template run<1>, Tile::template run<2>, Tile::template run<3>, Tile::template run<4>};

template <class T, std::size_t bytes>
void pooled_bias(const PooledOuterProducts<T>& p, std::size_t filter) {
  using V = Vec<T, bytes>;
  const Mask<T, bytes> none = all_sources<T, bytes>(no_source);
  V sum[4] = {};
  for (std::size_t window = 0; window < p.windows; ++window) {
    const Mask<T, bytes> from = load_source<T, bytes>(p.source + window * padded<T>(p.filters) + filter);
    sum[window % 4] += from == none ? V{} : load<bytes>(p.dy + window * p.filters + filter);
  }
  T* to = p.bias_gradient + filter;
  store<bytes>(to, load<bytes>(to) + ((sum[0] + sum[1]) + (sum[2] + sum[3])));
}

template <class T, std::size_t bytes, int places>
void pooled_outer_products_of(const PooledOuterProducts<T>& p) {
  for (std::size_t filter = 0; filter < p.filters; filter += lanes<T, bytes>) {
    evenly(p.num_runs * p.run_length, 4, [&](std::size_t row, std::size_t size) {
      pooled_outer_tiles<PooledOuterTile<T, bytes, places>>[size - 1](p, row, filter);
    });
    pooled_bias<T, bytes>(p, filter);
  }
}

template <class T, std::size_t bytes>
void pooled_outer_products_in(const PooledOuterProducts<T>& p) {
  if (p.places == 4) {
    pooled_outer_products_of<T, bytes, 4>(p);
  } else if (p.places == 1) {
    pooled_outer_products_of<T, bytes, 1>(p);
  } else {
    pooled_outer_products_of<T, bytes, 0>(p);
  }
}

template <class T>
void pooled_outer_products(const PooledOuterProducts<T>& p) {
  padded<T>(p.filters) % lanes<T> == 0 ? pooled_outer_products_in<T, whole_register>(p)
                                       : pooled_outer_products_in<T, narrow_register>(p);
}

}  // namespace skein::nn::SKEIN_KERNELS
