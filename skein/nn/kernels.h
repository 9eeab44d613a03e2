// The loops where training spends its time, as vector code.
//
// The same source (kernels_impl.h and its parts) is compiled for plain x86-64 (or whatever the machine is),
// for AVX2 with fused multiply-add, and for AVX-512; the best one that this processor has is chosen when the
// program starts. The environment variable SKEIN_KERNELS=baseline or avx2 asks for a plainer one. All give
// the same numbers to rounding.
//
// Matrices are stored row by row; a stride is the distance between rows in numbers. Kernels work in whole
// registers: where a row's length is not a multiple of `padding`, they read and write up to the next
// multiple. Whoever calls sees to it that those places exist, as nn::Vector does.
#pragma once

#include <cstddef>
#include <cstdint>

namespace skein::nn {

template <class T>
inline constexpr std::size_t padding = 32 / sizeof(T);

template <class T>
constexpr std::size_t padded(std::size_t count) {
  return (count + padding<T> - 1) / padding<T> * padding<T>;
}

using Offset = std::uint32_t;

// C = bias + A B, or C += A B. Row i of A is `num_runs` runs of `run_length` numbers, `run_stride` apart: so
// a convolution reads its patches where they lie in the image. Rows of C may overlap when adding.
template <class T>
struct Product {
  std::size_t rows = 0;
  std::size_t columns = 0;
  const T* a = nullptr;
  const Offset* a_rows = nullptr;  // where each row of A starts; nullptr: at i * a_stride
  std::size_t a_stride = 0;
  std::size_t num_runs = 1;
  std::size_t run_stride = 0;
  std::size_t run_length = 0;
  const T* b = nullptr;
  std::size_t b_stride = 0;
  const T* tails = nullptr;  // what pack_tails made of B, for these runs; nullptr: nothing
  const T* bias = nullptr;   // nullptr: none
  T* c = nullptr;
  const Offset* c_rows = nullptr;
  std::size_t c_stride = 0;
  bool add = false;
  const T* fetch = nullptr;  // what is needed next, as many lines as fit beside the work; nullptr: nothing
};

// C = A B', or C += A B': each number is the dot product of a row of A and a row of B. With `zero_padded`,
// rows of A are zero up to the next multiple of `padding`.
template <class T>
struct DotProducts {
  std::size_t a_count = 0;
  std::size_t b_count = 0;
  std::size_t length = 0;
  const T* a = nullptr;
  std::size_t a_stride = 0;
  const T* b = nullptr;
  std::size_t b_stride = 0;
  T* c = nullptr;
  std::size_t c_stride = 0;
  bool add = false;
  bool zero_padded = false;
  bool streams = false;  // B comes from memory, and goes on after its last row: fetch ahead
};

// C += A' D over many points: C[k][n] += sum_p A[p][k] D[p][n], where row p of A is runs as in a Product. A
// convolution's weight gradient. C and D have rows padded with places that count for nothing.
template <class T>
struct OuterProducts {
  std::size_t points = 0;
  std::size_t columns = 0;  // n
  const T* a = nullptr;
  const Offset* a_points = nullptr;  // where each row of A starts
  std::size_t num_runs = 1;
  std::size_t run_stride = 0;
  std::size_t run_length = 0;
  const T* d = nullptr;
  std::size_t d_stride = 0;
  T* c = nullptr;
  std::size_t c_stride = 0;
};

// target = base + factor X' D: target[k][n] = base[k][n] + factor sum_b X[b][k] D[b][n]. A linear layer's
// gradient (base = nullptr: from zero) or its step. Rows of D are zero up to the next multiple of `padding`.
template <class T>
struct RankUpdate {
  std::size_t rows = 0;     // k
  std::size_t columns = 0;  // n
  std::size_t rank = 0;     // b
  const T* x = nullptr;
  std::size_t x_stride = 0;
  const T* d = nullptr;
  std::size_t d_stride = 0;
  T factor = T(1);
  const T* base = nullptr;
  T* target = nullptr;  // may be base
  std::size_t stride = 0;
};

// Max-pooling of one image; the first maximum wins, as in PyTorch. With relu, a maximum that is not positive
// becomes 0 and has no source.
template <class T>
struct Pool {
  std::size_t channels = 0;
  std::size_t in_width = 0;
  std::size_t in_stride = 0;  // between pixels of the input image
  std::size_t out_height = 0;
  std::size_t out_width = 0;
  std::size_t kernel_height = 1;
  std::size_t kernel_width = 1;
  std::size_t step_y = 1;
  std::size_t step_x = 1;
  bool relu = false;
};
// The place in its window that an output came from, row by row.
using Source = std::uint16_t;
inline constexpr Source no_source = 65535;

// C += A' D as in OuterProducts, where D is the gradient `dy` of a max-pool's output, taken back to where its
// maxima were: the weight gradient of a convolution with small patches. Rows of the gradient are padded with
// places that count for nothing.
template <class T>
struct PooledOuterProducts {
  std::size_t windows = 0;
  std::size_t places = 0;  // of a window
  std::size_t filters = 0;
  const T* image = nullptr;
  const Offset* corners = nullptr;  // [window][place]: where its patch begins in the image
  std::size_t num_runs = 1;
  std::size_t run_stride = 0;
  std::size_t run_length = 0;
  const T* dy = nullptr;           // [window][filter]
  const Source* source = nullptr;  // [window][padded filter]
  T* gradient = nullptr;           // [place of the patch][padded filter]
  T* bias_gradient = nullptr;
};

// The gradient of a convolution's output behind a max-pool whose windows do not overlap: one number for each
// window and filter, at the place where its maximum was. As an image, most of it would be zero. Or that image
// itself, behind windows that do overlap: every pixel is then a window of one place, without origins.
template <class T>
struct Routes {
  std::size_t windows = 0;
  std::size_t filters = 0;
  std::size_t places = 0;           // of a window
  const T* values = nullptr;        // [window][padded filter]; 0 where it goes nowhere
  const Offset* origins = nullptr;  // [window][padded filter]: where the patch behind it begins in the image
  const Offset* corners = nullptr;  // [window][place]: the same for each place
  const std::uint32_t* chosen =
      nullptr;  // [window][place][filter / 32]: a bit for each filter that goes there
  // A patch of the image, as in a Product; in rows of weights and gradients its runs are padded.
  std::size_t num_runs = 1;
  std::size_t run_stride = 0;
  std::size_t run_length = 0;
  std::size_t row = 0;  // of weights and gradients: num_runs * padded(run_length)
};

// What is drawn below `below`, of 65536, is dropped, and the rest scaled.
template <class T>
struct Drop {
  std::uint32_t below = 0;
  T scale = T(1);
};

template <class T>
struct Kernels {
  const char* name;
  void (*multiply)(const Product<T>&);
  // A few columns beyond whole registers are cheaper as dot products along the runs, with these columns
  // stored as rows. So many numbers are needed for each run of B, 0 where there is nothing to gain.
  std::size_t (*tail_numbers)(const Product<T>&);
  // Fills Product::tails, run after run.
  void (*pack_tails)(const Product<T>&, T* tails);
  void (*dot_products)(const DotProducts<T>&);
  void (*transpose)(const T* from, std::size_t rows, std::size_t columns, std::size_t from_stride, T* to,
                    std::size_t to_stride);
  void (*outer_products)(const OuterProducts<T>&);
  void (*rank_update)(const RankUpdate<T>&);
  // The same numbers, to the bit, in less time where much of A, or X, is zero. Of products: C += A B with one
  // run, neither `tails` nor `fetch`.
  void (*multiply_sparse)(const Product<T>&);
  void (*rank_update_sparse)(const RankUpdate<T>&);
  // Dot products only where `where`, rows as those of C, is not zero; elsewhere C is 0, or stays if adding.
  void (*dot_products_where)(const DotProducts<T>&, const T* where, std::size_t where_stride);
  // A linear layer's backward pass for some of its inputs, where much of X is zero: dx = D base', 0 where X
  // is, and the rank update, unless there is no target. Rows of D and of the base are as long. False: not for
  // these sizes, and nothing was done.
  bool (*backward_sparse)(const RankUpdate<T>&, T* dx, std::size_t dx_stride);
  // sum += the sum of `count` rows; both padded with places that count for nothing.
  void (*add_rows)(const T* rows, std::size_t count, std::size_t columns, T* sum);
  // out = in, or 0 where what was drawn says so; they may be the same.
  void (*drop)(const Drop<T>&, const T* in, const std::uint16_t* drawn, std::size_t count, T* out);
  // Output pixels are `channels` apart, sources padded(channels). A window has fewer than `no_source` places.
  void (*pool)(const Pool<T>&, const T* in, T* out, Source* source);
  // out = in at each output's source, 0 where it has none.
  void (*pool_tangent)(const Pool<T>&, const T* in, const Source* source, T* out);
  // in = sum of the outputs whose source it is. `in` has padded pixels and must be zero.
  void (*pool_backward)(const Pool<T>&, const T* out, const Source* source, T* in);
  // The pool of a product's C, which is not kept: rows of A are by window, then by place. Windows have 1 or 4
  // places, columns are the pool's channels and need no padding, no tails; B should fit the first cache.
  void (*multiply_pool)(const Product<T>&, const Pool<T>&, T* out, Source* source);
  void (*pooled_outer_products)(const PooledOuterProducts<T>&);
  // Routes' values and origins (nullptr: not wanted) from `out`, pixels `channels` apart; `corners` as there.
  void (*route)(const Pool<T>&, const T* out, const Source* source, const Offset* corners, T* values,
                Offset* origins);
  // Routes' chosen.
  void (*choose)(const Pool<T>&, const Source* source, std::uint32_t* chosen);
  // The bits of the numbers that are not zero, of rows with padding: Routes' chosen, where a window is a
  // place.
  void (*choose_nonzero)(const T* values, std::size_t rows, std::size_t columns, std::uint32_t* chosen);
  // gradient[filter] += sum over windows of value * patch; what is put into the runs' padding counts for
  // nothing.
  void (*routed_outer_products)(const Routes<T>&, const T* image, T* gradient);
  // The same by what was chosen, not by origins.
  void (*chosen_outer_products)(const Routes<T>&, const T* image, T* gradient);
  // patch += sum over filters of value * weights[filter]; the weights' padding is zero.
  void (*routed_spread)(const Routes<T>&, const T* weights, T* image);
};

// The best kernels that this processor has.
template <class T>
const Kernels<T>& kernels();

template <class T>
const Kernels<T>& baseline_kernels();
// nullptr where they weren't compiled or the processor lacks them.
template <class T>
const Kernels<T>* avx2_kernels();
template <class T>
const Kernels<T>* avx512_kernels();

}  // namespace skein::nn
