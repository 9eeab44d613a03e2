// L D L' of a sparse symmetric matrix without pivoting, for matrices whose pattern stays while values change.
//
// Meant for the saddle-point matrices of interior-point methods: quasi-definite (a positive definite block, a
// negative definite one), so that every order of elimination works. Where the first block is not positive
// definite the signs of D still tell the matrix's inertia.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace skein::gp {

struct Entry {
  std::size_t row = 0;
  std::size_t column = 0;
};

class SparseLdl {
 public:
  // Entries of one triangle, in any order; those of one place add up.
  SparseLdl(std::size_t dimension, std::span<const Entry> entries);

  // One value per entry. A pivot below `least_pivot` in magnitude becomes that, with its sign.
  void factorise(std::span<const double> values, double least_pivot = 1e-30);
  // Pivots above 0 in the last factorisation.
  [[nodiscard]] std::size_t num_positive() const { return num_positive_; }
  // In place.
  void solve(std::span<double> right) const;

  [[nodiscard]] std::size_t dimension() const { return dimension_; }
  [[nodiscard]] std::size_t num_factor_entries() const { return factor_rows_.size(); }

 private:
  std::size_t dimension_;
  std::vector<int> place_;          // old index of each new one
  std::vector<int> entry_targets_;  // where each entry's value goes in upper_values_
  // The permuted matrix, upper triangle by columns.
  std::vector<int> column_starts_;
  std::vector<int> row_indices_;
  std::vector<double> upper_values_;
  // L by columns, without its unit diagonal, and D.
  std::vector<int> parent_;
  std::vector<int> factor_starts_;
  std::vector<int> factor_rows_;
  std::vector<double> factor_values_;
  std::vector<double> inverse_pivots_;
  std::size_t num_positive_ = 0;
  // Scratch.
  std::vector<double> work_;
  std::vector<int> flag_;
  std::vector<int> stack_;
  std::vector<int> filled_;
  mutable std::vector<double> permuted_;
};

}  // namespace skein::gp
