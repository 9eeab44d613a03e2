// Every set of kernels that this processor has, against plain loops. Numbers are small and whole, so that
// sums are exact in any order.
#include "skein/nn/kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "skein/base/random.h"
#include "skein/nn/vector.h"

namespace skein::nn {
namespace {

template <class T>
std::vector<const Kernels<T>*> all_kernels() {
  std::vector<const Kernels<T>*> all{&baseline_kernels<T>()};
  for (const Kernels<T>* kernels : {avx2_kernels<T>(), avx512_kernels<T>()}) {
    if (kernels != nullptr) {
      all.push_back(kernels);
    }
  }
  return all;
}

template <class T>
Vector<T> whole_numbers(std::size_t size, RandomStream& stream) {
  Vector<T> values(size);
  for (T& value : values) {
    value = static_cast<T>(static_cast<double>(stream.below(9)) - 4.0);
  }
  return values;
}

// Rows whose padding is zero.
template <class T>
Vector<T> padded_rows(std::size_t rows, std::size_t columns, RandomStream& stream) {
  Vector<T> values = whole_numbers<T>(rows * padded<T>(columns), stream);
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t column = columns; column < padded<T>(columns); ++column) {
      values[row * padded<T>(columns) + column] = T(0);
    }
  }
  return values;
}

// Rows of A in runs, at places of their own.
template <class T>
struct Patches {
  std::size_t rows, num_runs, run_length, run_stride;
  std::vector<Offset> places;
  Vector<T> values;

  Patches(std::size_t num_rows, RandomStream& stream)
      : rows(num_rows), num_runs(1 + stream.below(4)), run_length(1 + stream.below(60)), run_stride(0) {
    run_stride = run_length + stream.below(5);
    for (std::size_t row = 0; row < rows; ++row) {
      places.push_back(static_cast<Offset>(stream.below(50)));
    }
    values = whole_numbers<T>(50 + num_runs * run_stride, stream);
  }
  [[nodiscard]] T at(std::size_t row, std::size_t k) const {
    return values[places[row] + k / run_length * run_stride + k % run_length];
  }
  [[nodiscard]] std::size_t length() const { return num_runs * run_length; }
};

template <class T>
class KernelsTest : public ::testing::Test {};
using Numbers = ::testing::Types<float, double>;
TYPED_TEST_SUITE(KernelsTest, Numbers);

constexpr std::uint64_t num_trials = 150;

// With and without tails, with rows of C that overlap; nothing beyond the padding is touched.
TYPED_TEST(KernelsTest, Multiply) {
  using T = TypeParam;
  for (const Kernels<T>* kernels : all_kernels<T>()) {
    std::size_t with_tails = 0;
    for (std::uint64_t trial = 0; trial < num_trials; ++trial) {
      SCOPED_TRACE(std::string(kernels->name) + ", trial " + std::to_string(trial));
      RandomStream stream(1, "multiply", trial);
      const std::size_t columns = 1 + stream.below(110);
      const Patches<T> a(1 + stream.below(40), stream);
      const Vector<T> b = padded_rows<T>(a.length(), columns, stream);
      const Vector<T> bias = padded_rows<T>(1, columns, stream);
      const bool overlapping = stream.below(2) == 0;
      const bool add = overlapping || stream.below(2) == 0;
      const bool has_bias = !add && stream.below(2) == 0;
      const std::size_t c_stride = overlapping ? 1 + stream.below(columns) : padded<T>(columns);
      std::vector<Offset> c_rows;
      for (std::size_t row = 0; row < a.rows; ++row) {
        c_rows.push_back(static_cast<Offset>(row * c_stride));
      }
      const std::size_t end = (a.rows - 1) * c_stride + padded<T>(columns);
      Vector<T> c = whole_numbers<T>(end + 40, stream);
      const Vector<T> before = c;

      Product<T> product{.rows = a.rows,
                         .columns = columns,
                         .a = a.values.data(),
                         .a_rows = a.places.data(),
                         .num_runs = a.num_runs,
                         .run_stride = a.run_stride,
                         .run_length = a.run_length,
                         .b = b.data(),
                         .b_stride = padded<T>(columns),
                         .bias = has_bias ? bias.data() : nullptr,
                         .c = c.data(),
                         .c_rows = c_rows.data(),
                         .add = add};
      Vector<T> tails(a.num_runs * kernels->tail_numbers(product));
      if (!tails.empty()) {
        kernels->pack_tails(product, tails.data());
        product.tails = tails.data();
        ++with_tails;
      }
      kernels->multiply(product);

      Vector<T> expected = before;
      for (std::size_t row = 0; row < a.rows; ++row) {
        for (std::size_t n = 0; n < columns; ++n) {
          T sum = has_bias ? bias[n] : T(0);
          for (std::size_t k = 0; k < a.length(); ++k) {
            sum += a.at(row, k) * b[k * padded<T>(columns) + n];
          }
          T& place = expected[c_rows[row] + n];
          place = add ? place + sum : sum;
        }
      }
      for (std::size_t i = 0; i < c.size(); ++i) {
        const bool counts = overlapping || i >= end || i % c_stride < columns;
        ASSERT_TRUE(!counts || c[i] == expected[i]) << "place " << i;
      }
    }
    EXPECT_EQ(with_tails > 0, std::string_view(kernels->name) != "baseline");
  }
}

TYPED_TEST(KernelsTest, OuterProducts) {
  using T = TypeParam;
  for (const Kernels<T>* kernels : all_kernels<T>()) {
    for (std::uint64_t trial = 0; trial < num_trials; ++trial) {
      SCOPED_TRACE(std::string(kernels->name) + ", trial " + std::to_string(trial));
      RandomStream stream(1, "outer products", trial);
      const std::size_t columns = 1 + stream.below(70);
      const Patches<T> a(1 + stream.below(40), stream);
      const std::size_t stride = padded<T>(columns);
      const Vector<T> d = padded_rows<T>(a.rows, columns, stream);
      Vector<T> c = whole_numbers<T>(a.length() * stride, stream);
      const Vector<T> before = c;
      kernels->outer_products({.points = a.rows,
                               .columns = columns,
                               .a = a.values.data(),
                               .a_points = a.places.data(),
                               .num_runs = a.num_runs,
                               .run_stride = a.run_stride,
                               .run_length = a.run_length,
                               .d = d.data(),
                               .d_stride = stride,
                               .c = c.data(),
                               .c_stride = stride});
      for (std::size_t k = 0; k < a.length(); ++k) {
        for (std::size_t n = 0; n < columns; ++n) {
          T sum = before[k * stride + n];
          for (std::size_t point = 0; point < a.rows; ++point) {
            sum += a.at(point, k) * d[point * stride + n];
          }
          ASSERT_EQ(c[k * stride + n], sum) << k << ", " << n;
        }
      }
    }
  }
}

// Each output is the first largest sum of its window's places.
TYPED_TEST(KernelsTest, MultiplyPool) {
  using T = TypeParam;
  for (const Kernels<T>* kernels : all_kernels<T>()) {
    for (std::uint64_t trial = 0; trial < num_trials; ++trial) {
      SCOPED_TRACE(std::string(kernels->name) + ", trial " + std::to_string(trial));
      RandomStream stream(1, "multiply pool", trial);
      const std::size_t side = 1 + stream.below(2);
      const Pool<T> pool{.channels = padding<T> * (1 + stream.below(9)),
                         .out_height = 1 + stream.below(3),
                         .out_width = 1 + stream.below(4),
                         .kernel_height = side,
                         .kernel_width = side,
                         .relu = stream.below(2) == 0};
      const std::size_t windows = pool.out_height * pool.out_width;
      const Patches<T> a(windows * side * side, stream);
      const Vector<T> b = whole_numbers<T>(a.length() * pool.channels, stream);
      const Vector<T> bias = whole_numbers<T>(pool.channels, stream);
      Vector<T> out(windows * pool.channels);
      std::vector<Source> sources(out.size());
      kernels->multiply_pool({.rows = a.rows,
                              .columns = pool.channels,
                              .a = a.values.data(),
                              .a_rows = a.places.data(),
                              .num_runs = a.num_runs,
                              .run_stride = a.run_stride,
                              .run_length = a.run_length,
                              .b = b.data(),
                              .b_stride = pool.channels,
                              .bias = bias.data()},
                             pool, out.data(), sources.data());
      for (std::size_t i = 0; i < out.size(); ++i) {
        T best = pool.relu ? T(0) : -std::numeric_limits<T>::infinity();
        Source from = no_source;
        for (std::size_t place = 0; place < side * side; ++place) {
          T sum = bias[i % pool.channels];
          for (std::size_t k = 0; k < a.length(); ++k) {
            sum +=
                a.at(i / pool.channels * side * side + place, k) * b[k * pool.channels + i % pool.channels];
          }
          from = sum > best ? static_cast<Source>(place) : from;
          best = std::max(best, sum);
        }
        ASSERT_EQ(out[i], best) << "place " << i;
        ASSERT_EQ(sources[i], from) << "place " << i;
      }
    }
  }
}

TYPED_TEST(KernelsTest, PooledOuterProducts) {
  using T = TypeParam;
  for (const Kernels<T>* kernels : all_kernels<T>()) {
    for (std::uint64_t trial = 0; trial < num_trials; ++trial) {
      SCOPED_TRACE(std::string(kernels->name) + ", trial " + std::to_string(trial));
      RandomStream stream(1, "pooled outer products", trial);
      const std::size_t windows = 1 + stream.below(12);
      const std::size_t places = 1 + stream.below(9);
      const std::size_t filters = 1 + stream.below(40);
      const std::size_t stride = padded<T>(filters);
      const Patches<T> patches(windows * places, stream);
      std::vector<Source> sources(windows * stride);
      std::ranges::generate(sources, [&] {
        return static_cast<Source>(stream.below(3) == 0 ? no_source : stream.below(places));
      });
      const Vector<T> dy = whole_numbers<T>(windows * filters, stream);
      Vector<T> gradient = whole_numbers<T>(patches.length() * stride, stream);
      Vector<T> bias = whole_numbers<T>(stride, stream);
      Vector<T> expected = gradient;
      Vector<T> expected_bias = bias;
      kernels->pooled_outer_products({.windows = windows,
                                      .places = places,
                                      .filters = filters,
                                      .image = patches.values.data(),
                                      .corners = patches.places.data(),
                                      .num_runs = patches.num_runs,
                                      .run_stride = patches.run_stride,
                                      .run_length = patches.run_length,
                                      .dy = dy.data(),
                                      .source = sources.data(),
                                      .gradient = gradient.data(),
                                      .bias_gradient = bias.data()});
      for (std::size_t i = 0; i < windows * filters; ++i) {
        const std::size_t window = i / filters;
        const std::size_t filter = i % filters;
        const Source source = sources[window * stride + filter];
        if (source != no_source) {
          expected_bias[filter] += dy[i];
          for (std::size_t k = 0; k < patches.length(); ++k) {
            expected[k * stride + filter] += dy[i] * patches.at(window * places + source, k);
          }
        }
      }
      for (std::size_t i = 0; i < gradient.size(); ++i) {
        ASSERT_TRUE(i % stride >= filters || gradient[i] == expected[i]) << "place " << i;
      }
      for (std::size_t filter = 0; filter < filters; ++filter) {
        ASSERT_EQ(bias[filter], expected_bias[filter]);
      }
    }
  }
}

// Windows of any size, some of whose maxima go nowhere, over patches of any size.
TYPED_TEST(KernelsTest, Routes) {
  using T = TypeParam;
  for (const Kernels<T>* kernels : all_kernels<T>()) {
    for (std::uint64_t trial = 0; trial < num_trials; ++trial) {
      SCOPED_TRACE(std::string(kernels->name) + ", trial " + std::to_string(trial));
      RandomStream stream(1, "routes", trial);
      const Pool<T> pool{.channels = 1 + stream.below(80),
                         .out_height = 1 + stream.below(3),
                         .out_width = 1 + stream.below(4),
                         .kernel_height = 1 + stream.below(3),
                         .kernel_width = 1 + stream.below(3)};
      const std::size_t filters = padded<T>(pool.channels);
      Routes<T> routes{.windows = pool.out_height * pool.out_width,
                       .filters = pool.channels,
                       .places = pool.kernel_height * pool.kernel_width,
                       .num_runs = 1 + stream.below(5),
                       .run_length = 1 + stream.below(60)};
      routes.run_stride = padded<T>(routes.run_length) + stream.below(5);
      routes.row = routes.num_runs * padded<T>(routes.run_length);
      std::vector<Offset> corners(routes.windows * routes.places);
      std::ranges::generate(corners, [&] { return static_cast<Offset>(stream.below(50)); });
      std::vector<Source> sources(routes.windows * filters);
      std::ranges::generate(sources, [&] {
        return static_cast<Source>(stream.below(3) == 0 ? no_source : stream.below(routes.places));
      });
      const Vector<T> out = whole_numbers<T>(routes.windows * pool.channels, stream);
      Vector<T> values(routes.windows * filters);
      std::vector<Offset> origins(routes.windows * filters);
      kernels->route(pool, out.data(), sources.data(), corners.data(), values.data(), origins.data());
      std::vector<std::uint32_t> chosen(corners.size() * ((pool.channels + 31) / 32));
      kernels->choose(pool, sources.data(), chosen.data());
      routes.values = values.data();
      routes.origins = origins.data();
      routes.corners = corners.data();
      routes.chosen = chosen.data();

      const Vector<T> image = whole_numbers<T>(50 + routes.num_runs * routes.run_stride, stream);
      const Vector<T> weights = padded_rows<T>(pool.channels * routes.num_runs, routes.run_length, stream);
      Vector<T> gradient(pool.channels * routes.row);
      Vector<T> spread(image.size());
      kernels->routed_outer_products(routes, image.data(), gradient.data());
      kernels->routed_spread(routes, weights.data(), spread.data());
      Vector<T> chosen_gradient(gradient.size());
      kernels->chosen_outer_products(routes, image.data(), chosen_gradient.data());

      Vector<T> expected_gradient(gradient.size());
      Vector<T> expected_spread(spread.size());
      for (std::size_t i = 0; i < sources.size(); ++i) {
        const std::size_t filter = i % filters;
        if (filter >= pool.channels || sources[i] == no_source) {
          continue;
        }
        const T value = out[i / filters * pool.channels + filter];
        for (std::size_t k = 0; k < routes.num_runs * routes.run_length; ++k) {
          const std::size_t run = k / routes.run_length;
          const std::size_t in_run = k % routes.run_length;
          const std::size_t in_image =
              corners[i / filters * routes.places + sources[i]] + run * routes.run_stride + in_run;
          const std::size_t in_row = filter * routes.row + run * padded<T>(routes.run_length) + in_run;
          expected_gradient[in_row] += value * image[in_image];
          expected_spread[in_image] += value * weights[in_row];
        }
      }
      for (std::size_t i = 0; i < gradient.size(); ++i) {
        const bool counts_here = i % padded<T>(routes.run_length) < routes.run_length;
        ASSERT_TRUE(!counts_here || gradient[i] == expected_gradient[i]) << "place " << i;
        ASSERT_TRUE(!counts_here || chosen_gradient[i] == expected_gradient[i]) << "place " << i;
      }
      ASSERT_TRUE(std::ranges::equal(spread, expected_spread));
    }
  }
}

// Random numbers, of which about `share` are not zero.
template <class T>
Vector<T> sparse_numbers(std::size_t size, double share, RandomStream& stream) {
  Vector<T> values(size);
  for (T& value : values) {
    value = stream.uniform() < share ? static_cast<T>(stream.uniform(-1.0, 1.0)) : T(0);
  }
  return values;
}

template <class T>
void expect_same_bits(const Vector<T>& a, const Vector<T>& b, const std::string& what) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i], b[i]) << what << ", place " << i;
  }
}

// Zeros are passed over, and what comes out is that of the dense kernels, to the bit.
TYPED_TEST(KernelsTest, SparseProductsAreTheDenseOnes) {
  using T = TypeParam;
  RandomStream stream(1, "sparse kernels");
  for (std::uint64_t trial = 0; trial < num_trials; ++trial) {
    const std::size_t rows = 1 + stream.below(20);
    const std::size_t inputs = trial % 2 == 0 ? 1 + stream.below(300) : 4 * (1 + stream.below(8));
    const std::size_t outputs = trial % 3 == 0 ? 128 : 1 + stream.below(200);
    const std::size_t width = padded<T>(outputs);
    const double share = stream.uniform();
    const Vector<T> x = sparse_numbers<T>(rows * inputs, share, stream);
    const Vector<T> w = sparse_numbers<T>(inputs * width, 1.0, stream);
    Vector<T> d = sparse_numbers<T>(rows * width, 1.0, stream);
    for (std::size_t row = 0; row < rows; ++row) {
      std::fill(d.data() + row * width + outputs, d.data() + (row + 1) * width, T(0));
    }
    const bool add = stream.bernoulli(0.5);
    const auto factor = static_cast<T>(stream.uniform(-1.0, 1.0));
    for (const Kernels<T>* kernels : all_kernels<T>()) {
      const std::string what = kernels->name + (" trial " + std::to_string(trial));

      Vector<T> dense = sparse_numbers<T>(rows * width, 1.0, stream);
      Vector<T> sparse = dense;
      Product<T> product{.rows = rows,
                         .columns = outputs,
                         .a = x.data(),
                         .a_stride = inputs,
                         .run_length = inputs,
                         .b = w.data(),
                         .b_stride = width,
                         .c = dense.data(),
                         .c_stride = width,
                         .add = true};
      kernels->multiply(product);
      product.c = sparse.data();
      kernels->multiply_sparse(product);
      expect_same_bits(dense, sparse, what + ": product");

      Vector<T> dense_w = w;
      Vector<T> sparse_w = w;
      RankUpdate<T> update{.rows = inputs,
                           .columns = outputs,
                           .rank = rows,
                           .x = x.data(),
                           .x_stride = inputs,
                           .d = d.data(),
                           .d_stride = width,
                           .factor = factor,
                           .base = add ? w.data() : nullptr,
                           .target = dense_w.data(),
                           .stride = width};
      kernels->rank_update(update);
      update.target = sparse_w.data();
      kernels->rank_update_sparse(update);
      expect_same_bits(dense_w, sparse_w, what + ": update");
      // In place.
      dense_w = w;
      sparse_w = w;
      update.base = update.target = dense_w.data();
      kernels->rank_update(update);
      update.base = update.target = sparse_w.data();
      kernels->rank_update_sparse(update);
      expect_same_bits(dense_w, sparse_w, what + ": update in place");

      const Vector<T> before = sparse_numbers<T>(rows * inputs, 1.0, stream);
      Vector<T> dense_dx = before;
      Vector<T> sparse_dx = before;
      DotProducts<T> dots{.a_count = rows,
                          .b_count = inputs,
                          .length = outputs,
                          .a = d.data(),
                          .a_stride = width,
                          .b = w.data(),
                          .b_stride = width,
                          .c = dense_dx.data(),
                          .c_stride = inputs,
                          .add = add,
                          .zero_padded = true};
      kernels->dot_products(dots);
      dots.c = sparse_dx.data();
      kernels->dot_products_where(dots, x.data(), inputs);
      for (std::size_t i = 0; i < dense_dx.size(); ++i) {
        if (x[i] != T(0)) {
          ASSERT_EQ(dense_dx[i], sparse_dx[i]) << what << ": dot product " << i;
        } else if (sparse_dx[i] != dense_dx[i]) {  // a kernel may make them all
          ASSERT_EQ(sparse_dx[i], add ? before[i] : T(0)) << what << ": dot product " << i;
        }
      }
    }
  }
}

// The same in one go, where a kernel takes these sizes at all.
TYPED_TEST(KernelsTest, SparseBackwardIsBothInOneGo) {
  using T = TypeParam;
  RandomStream stream(1, "sparse backward");
  std::size_t taken = 0;
  for (std::uint64_t trial = 0; trial < num_trials; ++trial) {
    const std::size_t rank = 1 + stream.below(32);
    const std::size_t rows = 1 + stream.below(32);
    const std::size_t columns = 8 * (1 + stream.below(16));
    const Vector<T> x = sparse_numbers<T>(rank * 32, stream.uniform(), stream);
    const Vector<T> w = sparse_numbers<T>(rows * columns, 1.0, stream);
    const Vector<T> d = sparse_numbers<T>(rank * columns, 1.0, stream);
    const bool steps = trial % 4 != 0;
    const bool in_place = trial % 4 == 1;
    for (const Kernels<T>* kernels : all_kernels<T>()) {
      SCOPED_TRACE(std::string(kernels->name) + ", trial " + std::to_string(trial));
      Vector<T> target = w;
      const Vector<T> old_dx = sparse_numbers<T>(rank * 32, 1.0, stream);
      Vector<T> dx = old_dx;
      if (!kernels->backward_sparse({.rows = rows,
                                     .columns = columns,
                                     .rank = rank,
                                     .x = x.data(),
                                     .x_stride = 32,
                                     .d = d.data(),
                                     .d_stride = columns,
                                     .factor = T(-0.125),
                                     .base = in_place ? target.data() : w.data(),
                                     .target = steps ? target.data() : nullptr,
                                     .stride = columns},
                                    dx.data(), 32)) {
        expect_same_bits(target, w, "target left alone");
        expect_same_bits(dx, old_dx, "dx left alone");
        continue;
      }
      ++taken;
      Vector<T> expected = w;
      if (steps) {
        kernels->rank_update({.rows = rows,
                              .columns = columns,
                              .rank = rank,
                              .x = x.data(),
                              .x_stride = 32,
                              .d = d.data(),
                              .d_stride = columns,
                              .factor = T(-0.125),
                              .base = w.data(),
                              .target = expected.data(),
                              .stride = columns});
      }
      expect_same_bits(target, expected, "target");
      for (std::size_t b = 0; b < rank; ++b) {
        for (std::size_t k = 0; k < 32; ++k) {
          double product = 0.0;
          double size = 0.0;
          for (std::size_t n = 0; n < columns; ++n) {
            const double term =
                static_cast<double>(d[b * columns + n]) * static_cast<double>(w[k % rows * columns + n]);
            product += term;
            size += std::abs(term);
          }
          const std::size_t at = b * 32 + k;
          if (k >= rows) {
            ASSERT_EQ(dx[at], old_dx[at]);
          } else if (x[at] == T(0)) {
            ASSERT_EQ(dx[at], T(0));
          } else {
            ASSERT_NEAR(dx[at], product,
                        size * static_cast<double>(columns) * std::numeric_limits<T>::epsilon());
          }
        }
      }
    }
  }
  EXPECT_TRUE(taken > 0 || avx512_kernels<T>() == nullptr);
}

TYPED_TEST(KernelsTest, ChoosesWhatIsNotZero) {
  using T = TypeParam;
  for (const Kernels<T>* kernels : all_kernels<T>()) {
    for (std::uint64_t trial = 0; trial < num_trials; ++trial) {
      SCOPED_TRACE(std::string(kernels->name) + ", trial " + std::to_string(trial));
      RandomStream stream(1, "choose", trial);
      const std::size_t rows = 1 + stream.below(9);
      const std::size_t columns = 1 + stream.below(100);
      const Vector<T> values = sparse_numbers<T>(rows * padded<T>(columns), 0.5, stream);
      const std::size_t words = (columns + 31) / 32;
      std::vector<std::uint32_t> chosen(rows * words + 1, 7U);
      kernels->choose_nonzero(values.data(), rows, columns, chosen.data());
      for (std::size_t i = 0; i < rows * words * 32; ++i) {
        const std::size_t column = i % (words * 32);
        const bool nonzero =
            column < columns && values[i / (words * 32) * padded<T>(columns) + column] != T(0);
        ASSERT_EQ((chosen[i / 32] >> (i % 32)) & 1U, nonzero ? 1U : 0U) << "bit " << i;
      }
      ASSERT_EQ(chosen.back(), 7U);
    }
  }
}

// In place or not, with a probability of nothing, something, nearly all.
TYPED_TEST(KernelsTest, Drop) {
  using T = TypeParam;
  for (const Kernels<T>* kernels : all_kernels<T>()) {
    for (std::uint64_t trial = 0; trial < num_trials; ++trial) {
      SCOPED_TRACE(std::string(kernels->name) + ", trial " + std::to_string(trial));
      RandomStream stream(1, "drop", trial);
      const std::size_t count = 1 + stream.below(70);
      const Vector<T> in = sparse_numbers<T>(count, 0.8, stream);
      std::vector<std::uint16_t> drawn(count);
      stream.fill(drawn);
      const Drop<T> drop{static_cast<std::uint32_t>(trial % 3 == 0 ? 0 : stream.below(65536)), T(1.5)};
      Vector<T> out(count + 1);
      out[count] = T(7);
      kernels->drop(drop, in.data(), drawn.data(), count, out.data());
      Vector<T> same = in;
      kernels->drop(drop, same.data(), drawn.data(), count, same.data());
      for (std::size_t i = 0; i < count; ++i) {
        ASSERT_EQ(out[i], drawn[i] >= drop.below ? in[i] * T(1.5) : T(0)) << "place " << i;
        ASSERT_EQ(same[i], out[i]) << "place " << i;
      }
      ASSERT_EQ(out[count], T(7));
    }
  }
}

TYPED_TEST(KernelsTest, Transpose) {
  using T = TypeParam;
  for (const Kernels<T>* kernels : all_kernels<T>()) {
    for (std::uint64_t trial = 0; trial < num_trials; ++trial) {
      SCOPED_TRACE(std::string(kernels->name) + ", trial " + std::to_string(trial));
      RandomStream stream(1, "transpose", trial);
      const std::size_t rows = 1 + stream.below(50);
      const std::size_t columns = 1 + stream.below(50);
      const std::size_t from_stride = columns + stream.below(4);
      const std::size_t to_stride = rows + stream.below(4);
      const Vector<T> from = whole_numbers<T>(rows * from_stride, stream);
      Vector<T> to = whole_numbers<T>(columns * to_stride, stream);
      Vector<T> expected = to;
      kernels->transpose(from.data(), rows, columns, from_stride, to.data(), to_stride);
      for (std::size_t row = 0; row < rows; ++row) {
        for (std::size_t column = 0; column < columns; ++column) {
          expected[column * to_stride + row] = from[row * from_stride + column];
        }
      }
      ASSERT_TRUE(std::ranges::equal(to, expected));
    }
  }
}

}  // namespace
}  // namespace skein::nn
