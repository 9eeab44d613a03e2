// L D L' of a sparse symmetric matrix without pivoting, for matrices whose pattern stays while values change.
//
// Meant for the saddle-point matrices of interior-point methods: quasi-definite (a positive definite block, a
// negative definite one), so that every order of elimination works. Where the first block is not positive
// definite the signs of D still tell the matrix's inertia.
//
// Rows with many entries (a limit on the sum of many variables) are eliminated last, where L is full anyway:
// that corner is a dense matrix. What is eliminated before them falls apart into small pieces, of which many
// touch the same rows of the corner: their contributions are added up before they go there.
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
  [[nodiscard]] std::size_t num_factor_entries() const { return num_factor_entries_; }

 private:
  struct Neighbours;
  // An entry of L in a column before.
  struct Earlier {
    int column;
    int entry;
  };
  // Columns with entries in the same rows of the corner.
  struct Group {
    std::vector<int> rows{};           // counted from the corner's first
    std::vector<int> first_entries{};  // of each column, in the corner's rows
    std::vector<int> columns{};
  };

  void find_pattern(const Neighbours& neighbours, const std::vector<int>& position);
  void find_targets(std::span<const Entry> entries, const std::vector<int>& position);
  void find_groups();
  void factorise_sparse(double least_pivot);
  void add_to_corner();
  void factorise_corner(double least_pivot);
  double inverse_of(double pivot, double least_pivot);

  std::size_t dimension_;
  std::size_t num_sparse_ = 0;  // columns before the corner
  std::size_t num_factor_entries_ = 0;
  std::vector<int> place_;          // old index of each new one
  std::vector<int> entry_targets_;  // where each entry's value goes in values_
  // L by columns before the corner, without its unit diagonal; rows ascend.
  std::vector<int> column_starts_;
  std::vector<int> corner_starts_;  // where a column enters the corner's rows
  std::vector<int> rows_;
  // The same by rows, of those before the corner.
  std::vector<int> row_starts_;
  std::vector<Earlier> by_rows_;
  std::vector<Group> groups_;

  // The matrix, then its factors: L, D, and the corner's lower triangle by columns with D on its diagonal.
  std::vector<double> values_;
  std::size_t first_pivot_ = 0;
  std::size_t first_corner_ = 0;
  std::vector<double> inverse_pivots_;
  std::size_t num_positive_ = 0;
  // Scratch.
  std::vector<double> work_;
  std::vector<double> sums_;
  mutable std::vector<double> permuted_;
};

}  // namespace skein::gp
