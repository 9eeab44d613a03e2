// Part of kernels_impl.h: convolutions behind pools, by the routes that gradients take through the pools.

namespace skein::nn::SKEIN_KERNELS {

// ---- routes: sums over windows, in registers along the patches

template <class T, std::size_t bytes>
struct OffsetsOf {
  typedef Offset Type
      __attribute__((vector_size(lanes<T, bytes> * sizeof(Offset)), aligned(sizeof(Offset)), may_alias));
};

template <class T, std::size_t bytes, std::size_t height, std::size_t width>
void route_windows(const Pool<T>& p, const T* out, const Source* source, const Offset* corners, T* values,
                   Offset* origins) {
  using Offsets = typename OffsetsOf<T, bytes>::Type;
  using Places = Mask<T, bytes>;
  const std::size_t num_places = height != 0 ? height * width : p.kernel_height * p.kernel_width;
  const std::size_t channels = padded<T>(p.channels);
  const Places none = all_sources<T, bytes>(no_source);
  for (std::size_t window = 0; window < p.out_height * p.out_width; ++window) {
    for (std::size_t c = 0; c < channels; c += lanes<T, bytes>) {
      const Places from = load_source<T, bytes>(source + c);
      store<bytes>(values + c, from == none ? Vec<T, bytes>{} : load<bytes>(out + c));
      if (origins != nullptr) {
        Places origin = static_cast<int>(corners[0]) - Places{};
        for (std::size_t place = 1; place < num_places; ++place) {
          const Places corner = static_cast<int>(corners[place]) - Places{};
          origin = from == all_sources<T, bytes>(place) ? corner : origin;
        }
        *reinterpret_cast<Offsets*>(origins + c) = __builtin_convertvector(origin, Offsets);
      }
    }
    out += p.channels;
    source += channels;
    corners += num_places;
    values += channels;
    origins = origins != nullptr ? origins + channels : nullptr;
  }
}

template <class T>
void route(const Pool<T>& p, const T* out, const Source* source, const Offset* corners, T* values,
           Offset* origins) {
  by_window(p, [&]<std::size_t bytes, std::size_t height, std::size_t width>() {
    route_windows<T, bytes, height, width>(p, out, source, corners, values, origins);
  });
}

// The bits of all lanes together.
template <class V, std::size_t... places>
inline __attribute__((always_inline)) auto either_half(V v, Places<places...> /*of a half*/) {
  return __builtin_shufflevector(v, v, places...) |
         __builtin_shufflevector(v, v, (places + sizeof...(places))...);
}
template <class V>
inline __attribute__((always_inline)) std::uint32_t bits_of(V v) {
  constexpr std::size_t size = sizeof(V) / sizeof(v[0]);
  if constexpr (size == 2) {
    return static_cast<std::uint32_t>(v[0] | v[1]);
  } else {
    return bits_of(either_half(v, typename PlacesTo<size / 2>::Type{}));
  }
}

template <class T, std::size_t bytes>
inline __attribute__((always_inline)) Mask<T, bytes> lane_bits() {
  Mask<T, bytes> bits{};
  for (std::size_t lane = 0; lane < lanes<T, bytes>; ++lane) {
    bits[lane] = 1U << lane;
  }
  return bits;
}

template <class T, std::size_t bytes>
void choose_in(const Pool<T>& p, const Source* source, std::uint32_t* chosen) {
  constexpr std::size_t in_word = 32;
  const std::size_t places = p.kernel_height * p.kernel_width;
  const std::size_t channels = padded<T>(p.channels);
  const Mask<T, bytes> bits = lane_bits<T, bytes>();
  for (std::size_t window = 0; window < p.out_height * p.out_width; ++window) {
    for (std::size_t place = 0; place < places; ++place) {
      const Mask<T, bytes> here = all_sources<T, bytes>(place);
      for (std::size_t begin = 0; begin < p.channels; begin += in_word) {
        const std::size_t end = smaller(begin + in_word, channels);
        Mask<T, bytes> word{};
        for (std::size_t c = begin; c < end; c += lanes<T, bytes>) {
          const Mask<T, bytes> from = load_source<T, bytes>(source + c);
          word |= (from == here ? bits : Mask<T, bytes>{}) << static_cast<int>(c - begin);
        }
        const std::size_t count = smaller(in_word, p.channels - begin);  // the rest is padding
        *chosen++ = bits_of(word) & (~std::uint32_t{0} >> (in_word - count));
      }
    }
    source += channels;
  }
}

template <class T>
void choose(const Pool<T>& p, const Source* source, std::uint32_t* chosen) {
  padded<T>(p.channels) % lanes<T> == 0 ? choose_in<T, whole_register>(p, source, chosen)
                                        : choose_in<T, narrow_register>(p, source, chosen);
}

template <class T>
void choose_nonzero(const T* values, std::size_t rows, std::size_t columns, std::uint32_t* chosen) {
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t begin = 0; begin < columns; begin += 32) {
      *chosen++ = static_cast<std::uint32_t>(nonzero_bits(values + begin, smaller(32, columns - begin)));
    }
    values += padded<T>(columns);
  }
}

// Some registers of a patch: where they begin in it.
template <std::size_t bytes, class T, class Call>
inline void for_patch_registers(const Routes<T>& p, const Call& call) {
  constexpr std::size_t most = 8;
  const std::size_t in_run = padded<T>(p.run_length) / lanes<T, bytes>;
  evenly(p.num_runs * in_run, most, [&](std::size_t first, std::size_t count) {
    std::size_t places[most];
    for (std::size_t i = 0; i < count; ++i) {
      places[i] = (first + i) / in_run * p.run_stride + (first + i) % in_run * lanes<T, bytes>;
    }
    call(first * lanes<T, bytes>, count, places);
  });
}

template <class T, std::size_t bytes>
struct RoutedOuterTile {
  using Function = void (*)(const Routes<T>&, const T*, const std::size_t*, std::size_t, T*);

  template <int count, int filters>
  static void run(const Routes<T>& p, const T* image, const std::size_t* places, std::size_t filter, T* c) {
    using V = Vec<T, bytes>;
    constexpr std::size_t step = lanes<T, bytes>;
    const std::size_t stride = padded<T>(p.filters);
    const T* values = p.values + filter;
    const Offset* origins = p.origins + filter;
    std::size_t place[count];
    for (int i = 0; i < count; ++i) {
      place[i] = places[i];
    }
    V sum[filters][count] = {};
#pragma GCC unroll 1
    for (std::size_t window = 0; window < p.windows; ++window) {
#pragma GCC unroll 2
      for (int f = 0; f < filters; ++f) {
        const V value = all<bytes>(values[f]);
        const T* patch = image + origins[f];
#pragma GCC unroll 8
        for (int i = 0; i < count; ++i) {
          sum[f][i] += value * load<bytes>(patch + place[i]);
        }
      }
      values += stride;
      origins += stride;
    }
    for (int f = 0; f < filters; ++f) {
      for (int i = 0; i < count; ++i) {
        T* to = c + f * p.row + i * step;
        store<bytes>(to, load<bytes>(to) + sum[f][i]);
      }
    }
  }
};

template <class T, std::size_t bytes>
struct RoutedSpreadTile {
  using Function = void (*)(const Routes<T>&, const T*, const std::size_t*, T*);

  template <int count>
  static void run(const Routes<T>& p, const T* weights, const std::size_t* places, T* image) {
    using V = Vec<T, bytes>;
    constexpr std::size_t step = lanes<T, bytes>;
    const std::size_t row = p.row;
    const std::uint32_t* chosen = p.chosen;
    const T* values = p.values;
    for (std::size_t window = 0; window < p.windows; ++window) {
      for (std::size_t at = window * p.places; at < (window + 1) * p.places; ++at) {
        V sum[count] = {};
        for (std::size_t begin = 0; begin < p.filters; begin += 32) {
#pragma GCC unroll 1
          for (std::uint32_t bits = *chosen++; bits != 0; bits &= bits - 1) {
            const std::size_t filter = begin + static_cast<std::size_t>(__builtin_ctz(bits));
            const V value = all<bytes>(values[filter]);
            const T* weight = weights + filter * row;
#pragma GCC unroll 8
            for (int j = 0; j < count; ++j) {
              sum[j] += value * load<bytes>(weight + j * step);
            }
          }
        }
        T* patch = image + p.corners[at];
#pragma GCC unroll 8
        for (int j = 0; j < count; ++j) {
          store<bytes>(patch + places[j], load<bytes>(patch + places[j]) + sum[j]);
        }
      }
      values += padded<T>(p.filters);
    }
  }
};

// Sums are in memory, patches in registers: every window adds to the filters that it chose.
template <class T, std::size_t bytes>
struct ChosenOuterTile {
  using Function = void (*)(const Routes<T>&, const T*, const std::size_t*, T*);

  template <int count>
  static void run(const Routes<T>& p, const T* image, const std::size_t* places, T* gradient) {
    using V = Vec<T, bytes>;
    constexpr std::size_t step = lanes<T, bytes>;
    const std::size_t row = p.row;
    const std::uint32_t* chosen = p.chosen;
    const T* values = p.values;
    for (std::size_t window = 0; window < p.windows; ++window) {
      for (std::size_t at = window * p.places; at < (window + 1) * p.places; ++at) {
        V patch[count];
#pragma GCC unroll 8
        for (int j = 0; j < count; ++j) {
          patch[j] = load<bytes>(image + p.corners[at] + places[j]);
          keep(patch[j]);
        }
        for (std::size_t begin = 0; begin < p.filters; begin += 32) {
#pragma GCC unroll 1
          for (std::uint32_t bits = *chosen++; bits != 0; bits &= bits - 1) {
            const std::size_t filter = begin + static_cast<std::size_t>(__builtin_ctz(bits));
            const V value = all<bytes>(values[filter]);
            T* to = gradient + filter * row;
#pragma GCC unroll 8
            for (int j = 0; j < count; ++j) {
              store<bytes>(to + j * step, load<bytes>(to + j * step) + value * patch[j]);
            }
          }
        }
      }
      values += padded<T>(p.filters);
    }
  }
};

template <class Tile>
inline constexpr typename Tile::Function chosen_tiles[8] = {
    Tile::template run<1>, Tile::template run<2>, Tile::template run<3>, Tile::template run<4>,
    Tile::template run<5>, Tile::template run<6>, Tile::template run<7>, Tile::template run<8>};
template <class Tile, int filters>
inline constexpr typename Tile::Function routed_outer_tiles[8] = {
    Tile::template run<1, filters>, Tile::template run<2, filters>, Tile::template run<3, filters>,
    Tile::template run<4, filters>, Tile::template run<5, filters>, Tile::template run<6, filters>,
    Tile::template run<7, filters>, Tile::template run<8, filters>};

// In whole registers where they end with the runs.
template <class T>
inline bool whole_runs(const Routes<T>& p) {
  return padded<T>(p.run_length) % lanes<T> == 0;
}

template <class T, std::size_t bytes>
void routed_outer_products_in(const Routes<T>& p, const T* image, T* gradient) {
  using Tile = RoutedOuterTile<T, bytes>;
  for_patch_registers<bytes>(p, [&](std::size_t begin, std::size_t count, const std::size_t* places) {
    std::size_t filter = 0;
    if (count <= 4) {  // too few sums to keep the multipliers busy
      for (; filter + 2 <= p.filters; filter += 2) {
        routed_outer_tiles<Tile, 2>[count - 1](p, image, places, filter, gradient + filter * p.row + begin);
      }
    }
    for (; filter < p.filters; ++filter) {
      routed_outer_tiles<Tile, 1>[count - 1](p, image, places, filter, gradient + filter * p.row + begin);
    }
  });
}

template <class T>
void routed_outer_products(const Routes<T>& p, const T* image, T* gradient) {
  whole_runs(p) ? routed_outer_products_in<T, whole_register>(p, image, gradient)
                : routed_outer_products_in<T, narrow_register>(p, image, gradient);
}

template <class T, std::size_t bytes>
void chosen_outer_products_in(const Routes<T>& p, const T* image, T* gradient) {
  for_patch_registers<bytes>(p, [&](std::size_t begin, std::size_t count, const std::size_t* places) {
    chosen_tiles<ChosenOuterTile<T, bytes>>[count - 1](p, image, places, gradient + begin);
  });
}

template <class T>
void chosen_outer_products(const Routes<T>& p, const T* image, T* gradient) {
  whole_runs(p) ? chosen_outer_products_in<T, whole_register>(p, image, gradient)
                : chosen_outer_products_in<T, narrow_register>(p, image, gradient);
}

template <class T, std::size_t bytes>
void routed_spread_in(const Routes<T>& p, const T* weights, T* image) {
  for_patch_registers<bytes>(p, [&](std::size_t begin, std::size_t count, const std::size_t* places) {
    chosen_tiles<RoutedSpreadTile<T, bytes>>[count - 1](p, weights + begin, places, image);
  });
}

template <class T>
void routed_spread(const Routes<T>& p, const T* weights, T* image) {
  whole_runs(p) ? routed_spread_in<T, whole_register>(p, weights, image)
                : routed_spread_in<T, narrow_register>(p, weights, image);
}

}  // namespace skein::nn::SKEIN_KERNELS
