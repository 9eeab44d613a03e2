#include "skein/gp/sparse_ldl.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "skein/base/random.h"

namespace skein::gp {
namespace {

using Dense = std::vector<std::vector<double>>;

// Gaussian elimination with partial pivoting.
std::vector<double> dense_solve(Dense a, std::vector<double> b) {
  const std::size_t n = b.size();
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k + 1; i < n; ++i) {
      pivot = std::abs(a[i][k]) > std::abs(a[pivot][k]) ? i : pivot;
    }
    std::swap(a[k], a[pivot]);
    std::swap(b[k], b[pivot]);
    for (std::size_t i = k + 1; i < n; ++i) {
      const double factor = a[i][k] / a[k][k];
      for (std::size_t j = k; j < n; ++j) {
        a[i][j] -= factor * a[k][j];
      }
      b[i] -= factor * b[k];
    }
  }
  for (std::size_t k = n; k-- > 0;) {
    for (std::size_t j = k + 1; j < n; ++j) {
      b[k] -= a[k][j] * b[j];
    }
    b[k] /= a[k][k];
  }
  return b;
}

// A sparse symmetric matrix as entries in random triangles, some places twice, and whole.
struct Matrix {
  std::vector<Entry> entries{};
  std::vector<double> values{};
  Dense dense{};

  explicit Matrix(std::size_t n) : dense(n, std::vector<double>(n, 0.0)) {}
  void add(std::size_t row, std::size_t column, double value, RandomStream& random) {
    if (random.uniform() < 0.5) {
      std::swap(row, column);
    }
    const double part = random.uniform() < 0.2 ? random.normal() : 0.0;
    for (const double each : {value - part, part}) {
      if (each != 0.0) {
        entries.push_back({row, column});
        values.push_back(each);
        dense[row][column] += each;
        if (row != column) {
          dense[column][row] += each;
        }
      }
    }
  }
};

// [ H A' ; A -C ] with H and C diagonal plus sums of squares of sparse vectors.
Matrix quasi_definite(std::size_t n, std::size_t m, RandomStream& random) {
  Matrix matrix(n + m);
  const auto definite_block = [&](std::size_t first, std::size_t size, double sign) {
    for (std::size_t i = 0; i < size; ++i) {
      matrix.add(first + i, first + i, sign * (0.1 + random.uniform()), random);
    }
    for (std::size_t k = 0; k < size / 2; ++k) {
      const std::size_t a = first + random.below(size);
      const std::size_t b = first + random.below(size);
      if (a != b) {
        const double x = random.normal();
        const double y = random.normal();
        matrix.add(a, a, sign * x * x, random);
        matrix.add(b, b, sign * y * y, random);
        matrix.add(a, b, sign * x * y, random);
      }
    }
  };
  definite_block(0, n, 1.0);
  definite_block(n, m, -1.0);
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      if (random.uniform() < 3.0 / static_cast<double>(n)) {
        matrix.add(n + i, j, random.normal(), random);
      }
    }
  }
  return matrix;
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double most = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    most = std::max(most, std::abs(a[i] - b[i]) / (1.0 + std::abs(b[i])));
  }
  return most;
}

TEST(SparseLdl, SolvesQuasiDefiniteSystemsAsADenseSolverDoes) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    RandomStream random(seed, "quasi-definite");
    const std::size_t n = 1 + random.below(40);
    const std::size_t m = random.below(20);
    const Matrix matrix = quasi_definite(n, m, random);
    SparseLdl ldl(n + m, matrix.entries);
    ldl.factorise(matrix.values);
    EXPECT_EQ(ldl.num_positive(), n) << "seed " << seed;
    std::vector<double> right(n + m);
    std::ranges::generate(right, [&] { return random.normal(); });
    const std::vector<double> expected = dense_solve(matrix.dense, right);
    ldl.solve(right);
    EXPECT_LT(largest_difference(right, expected), 1e-9) << "seed " << seed;
  }
}

TEST(SparseLdl, OtherValuesInTheSamePattern) {
  RandomStream random(1, "same pattern");
  Matrix matrix = quasi_definite(30, 10, random);
  SparseLdl ldl(40, matrix.entries);
  for (int trial = 0; trial < 20; ++trial) {
    const double scale = std::exp(random.normal());
    std::vector<double> values = matrix.values;
    for (double& value : values) {
      value *= scale;
    }
    ldl.factorise(values);
    EXPECT_EQ(ldl.num_positive(), 30U);
    std::vector<double> right(40);
    std::ranges::generate(right, [&] { return random.normal(); });
    std::vector<double> expected = dense_solve(matrix.dense, right);
    for (double& value : expected) {
      value /= scale;
    }
    ldl.solve(right);
    EXPECT_LT(largest_difference(right, expected), 1e-9);
  }
}

// B S B' with a triangular B, rows and columns in random order, has as many positive eigenvalues as the
// diagonal S has positive entries (Sylvester's law of inertia).
TEST(SparseLdl, TellsTheInertiaOfIndefiniteMatrices) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    RandomStream random(seed, "indefinite");
    const std::size_t n = 1 + random.below(30);
    Dense b(n, std::vector<double>(n, 0.0));
    std::vector<double> signs(n);
    std::size_t positive = 0;
    for (std::size_t i = 0; i < n; ++i) {
      b[i][i] = random.uniform(0.5, 2.0);
      signs[i] = random.uniform() < 0.6 ? 1.0 : -1.0;
      positive += signs[i] > 0.0 ? 1 : 0;
      for (std::size_t j = 0; j < i; ++j) {
        b[i][j] = random.uniform() < 2.0 / static_cast<double>(n) ? random.normal() : 0.0;
      }
    }
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    random.shuffle(order);
    Matrix matrix(n);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        double sum = 0.0;
        for (std::size_t k = 0; k < n; ++k) {
          sum += b[i][k] * signs[k] * b[j][k];
        }
        if (sum != 0.0) {
          matrix.add(order[i], order[j], sum, random);
        }
      }
    }
    SparseLdl ldl(n, matrix.entries);
    ldl.factorise(matrix.values);
    EXPECT_EQ(ldl.num_positive(), positive) << "seed " << seed;
    // Without pivoting a small pivot may cost digits here, unlike for quasi-definite matrices.
    std::vector<double> right(n);
    std::ranges::generate(right, [&] { return random.normal(); });
    const std::vector<double> expected = dense_solve(matrix.dense, right);
    ldl.solve(right);
    EXPECT_LT(largest_difference(right, expected), 1e-6) << "seed " << seed;
  }
}

TEST(SparseLdl, KeepsAnArrowSparse) {
  // Eliminated from its point an arrow fills up; from its shaft it does not.
  constexpr std::size_t n = 500;
  std::vector<Entry> entries;
  std::vector<double> values;
  for (std::size_t i = 0; i < n; ++i) {
    entries.push_back({i, i});
    values.push_back(i == 0 ? 1000.0 : 2.0);
    if (i > 0) {
      entries.push_back({i, 0});
      values.push_back(1.0);
    }
  }
  SparseLdl ldl(n, entries);
  EXPECT_EQ(ldl.num_factor_entries(), n - 1);
  ldl.factorise(values);
  EXPECT_EQ(ldl.num_positive(), n);
}

TEST(SparseLdl, ASmallPivotKeepsItsSign) {
  const std::vector<Entry> entries{{0, 0}, {1, 1}};
  SparseLdl ldl(2, entries);
  ldl.factorise(std::vector<double>{1e-40, -1e-40}, 1e-20);
  EXPECT_EQ(ldl.num_positive(), 1U);
  std::vector<double> right{1.0, 1.0};
  ldl.solve(right);
  EXPECT_EQ(right[0], 1e20);
  EXPECT_EQ(right[1], -1e20);
}

}  // namespace
}  // namespace skein::gp
