// The kernels' source; included once by each file that compiles it for a kind of processor, with
//   SKEIN_KERNELS        the namespace
//   SKEIN_VECTOR_BYTES   bytes of a register
// Nothing with inline functions of its own may be included here: the linker would be free to take a copy
// compiled for a processor that this one is not.

// Each needs those before it.
// clang-format off
#include "skein/nn/kernels_registers.h"
#include "skein/nn/kernels_products.h"
#include "skein/nn/kernels_dot_products.h"
#include "skein/nn/kernels_transposition.h"
#include "skein/nn/kernels_updates.h"
#include "skein/nn/kernels_sparse.h"
#include "skein/nn/kernels_pools.h"
#include "skein/nn/kernels_routes.h"
// clang-format on

namespace skein::nn::SKEIN_KERNELS {

template <class T>
inline constexpr Kernels<T> table{.name = SKEIN_KERNELS_NAME,
                                  .multiply = multiply<T>,
                                  .tail_numbers = tail_numbers<T>,
                                  .pack_tails = pack_tails<T>,
                                  .dot_products = dot_products<T>,
                                  .transpose = transpose<T>,
                                  .outer_products = outer_products<T>,
                                  .rank_update = rank_update<T>,
                                  .multiply_sparse = multiply_sparse<T>,
                                  .rank_update_sparse = rank_update_sparse<T>,
                                  .dot_products_where = dot_products_where<T>,
                                  .backward_sparse = backward_sparse<T>,
                                  .add_rows = add_rows<T>,
                                  .drop = drop<T>,
                                  .pool = pool<T>,
                                  .pool_tangent = pool_tangent<T>,
                                  .pool_backward = pool_backward<T>,
                                  .multiply_pool = multiply_pool<T>,
                                  .pooled_outer_products = pooled_outer_products<T>,
                                  .route = route<T>,
                                  .choose = choose<T>,
                                  .choose_nonzero = choose_nonzero<T>,
                                  .routed_outer_products = routed_outer_products<T>,
                                  .chosen_outer_products = chosen_outer_products<T>,
                                  .routed_spread = routed_spread<T>};

}  // namespace skein::nn::SKEIN_KERNELS
