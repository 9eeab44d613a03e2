#include "skein/gp/sparse_ldl.h"

#include <Eigen/OrderingMethods>
#include <Eigen/SparseCore>
#include <algorithm>
#include <cmath>
#include <utility>

#include "skein/base/expect.h"

namespace skein::gp {
namespace {

// A fill-reducing order (approximate minimum degree): new index of each old one.
std::vector<int> fill_reducing_order(std::size_t dimension, std::span<const Entry> entries) {
  std::vector<Eigen::Triplet<double>> triplets;
  triplets.reserve(2 * entries.size() + dimension);
  for (std::size_t i = 0; i < dimension; ++i) {
    triplets.emplace_back(static_cast<int>(i), static_cast<int>(i), 1.0);
  }
  for (const Entry& entry : entries) {
    triplets.emplace_back(static_cast<int>(entry.row), static_cast<int>(entry.column), 1.0);
    triplets.emplace_back(static_cast<int>(entry.column), static_cast<int>(entry.row), 1.0);
  }
  Eigen::SparseMatrix<double> pattern(static_cast<int>(dimension), static_cast<int>(dimension));
  pattern.setFromTriplets(triplets.begin(), triplets.end());
  Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, int> order;
  Eigen::AMDOrdering<int>()(pattern, order);
  // Eigen gives the old index of each new one.
  std::vector<int> position(dimension);
  for (std::size_t i = 0; i < dimension; ++i) {
    position[static_cast<std::size_t>(order.indices()[static_cast<int>(i)])] = static_cast<int>(i);
  }
  return position;
}

std::size_t at(int index) { return static_cast<std::size_t>(index); }

}  // namespace

SparseLdl::SparseLdl(std::size_t dimension, std::span<const Entry> entries)
    : dimension_(dimension),
      place_(dimension),
      inverse_pivots_(dimension),
      work_(dimension),
      flag_(dimension),
      stack_(2 * dimension),
      filled_(dimension),
      permuted_(dimension) {
  const std::vector<int> position = fill_reducing_order(dimension, entries);
  for (std::size_t i = 0; i < dimension; ++i) {
    place_[at(position[i])] = static_cast<int>(i);
  }
  // The upper triangle by columns, places in order; the diagonal is always there.
  struct Place {
    int column;
    int row;
    std::size_t entry;
  };
  // By columns first, which are many and short; then each by rows.
  std::vector<Place> places(entries.size() + dimension);
  std::vector<std::size_t> ends(dimension + 1, 0);
  for (std::size_t e = 0; e < entries.size(); ++e) {
    expect(entries[e].row < dimension && entries[e].column < dimension,
           "an entry lies outside of the matrix");
    ++ends[at(std::max(position[entries[e].row], position[entries[e].column]))];
  }
  std::size_t first = 0;
  for (std::size_t column = 0; column < dimension; ++column) {
    first += std::exchange(ends[column], first) + 1;
    places[ends[column]++] = {static_cast<int>(column), static_cast<int>(column), entries.size()};
  }
  for (std::size_t e = 0; e < entries.size(); ++e) {
    const auto [low, high] = std::minmax(position[entries[e].row], position[entries[e].column]);
    places[ends[at(high)]++] = {high, low, e};
  }
  for (std::size_t column = 0, begin = 0; column < dimension; begin = ends[column++]) {
    std::sort(places.begin() + static_cast<std::ptrdiff_t>(begin),
              places.begin() + static_cast<std::ptrdiff_t>(ends[column]),
              [](const Place& a, const Place& b) { return a.row < b.row; });
  }
  entry_targets_.assign(entries.size() + 1, 0);
  column_starts_.assign(dimension + 1, 0);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const bool repeated =
        i > 0 && places[i].column == places[i - 1].column && places[i].row == places[i - 1].row;
    if (!repeated) {
      row_indices_.push_back(places[i].row);
      column_starts_[at(places[i].column) + 1] = static_cast<int>(row_indices_.size());
    }
    entry_targets_[places[i].entry] = static_cast<int>(row_indices_.size()) - 1;
  }
  entry_targets_.pop_back();
  upper_values_.resize(row_indices_.size());

  // The elimination tree and the size of each column of L.
  parent_.assign(dimension, -1);
  std::vector<int> counts(dimension, 0);
  std::ranges::fill(flag_, -1);
  for (int column = 0; at(column) < dimension; ++column) {
    flag_[at(column)] = column;
    for (int p = column_starts_[at(column)]; p < column_starts_[at(column) + 1]; ++p) {
      for (int i = row_indices_[at(p)]; flag_[at(i)] != column; i = parent_[at(i)]) {
        if (parent_[at(i)] == -1) {
          parent_[at(i)] = column;
        }
        ++counts[at(i)];
        flag_[at(i)] = column;
      }
    }
  }
  factor_starts_.assign(dimension + 1, 0);
  for (std::size_t i = 0; i < dimension; ++i) {
    factor_starts_[i + 1] = factor_starts_[i] + counts[i];
  }
  factor_rows_.resize(at(factor_starts_[dimension]));
  factor_values_.resize(factor_rows_.size());
}

void SparseLdl::factorise(std::span<const double> values, double least_pivot) {
  expect(values.size() == entry_targets_.size(), "a value is needed for every entry");
  std::ranges::fill(upper_values_, 0.0);
  for (std::size_t e = 0; e < values.size(); ++e) {
    upper_values_[at(entry_targets_[e])] += values[e];
  }
  num_positive_ = 0;
  std::ranges::fill(flag_, -1);
  std::ranges::fill(work_, 0.0);
  const int dimension = static_cast<int>(dimension_);
  // Row by row of L: solve with the rows before.
  for (int k = 0; k < dimension; ++k) {
    flag_[at(k)] = k;
    filled_[at(k)] = 0;
    int top = dimension;
    double pivot = 0.0;
    for (int p = column_starts_[at(k)]; p < column_starts_[at(k) + 1]; ++p) {
      int i = row_indices_[at(p)];
      if (i == k) {
        pivot = upper_values_[at(p)];
        continue;
      }
      work_[at(i)] = upper_values_[at(p)];
      int length = 0;
      for (; flag_[at(i)] != k; i = parent_[at(i)]) {
        stack_[at(dimension + length++)] = i;
        flag_[at(i)] = k;
      }
      while (length > 0) {
        stack_[at(--top)] = stack_[at(dimension + --length)];
      }
    }
    for (; top < dimension; ++top) {
      const int i = stack_[at(top)];
      const double value = work_[at(i)];
      work_[at(i)] = 0.0;
      const int begin = factor_starts_[at(i)];
      const int end = begin + filled_[at(i)];
      for (int p = begin; p < end; ++p) {
        work_[at(factor_rows_[at(p)])] -= factor_values_[at(p)] * value;
      }
      const double factor = value * inverse_pivots_[at(i)];
      pivot -= factor * value;
      factor_rows_[at(end)] = k;
      factor_values_[at(end)] = factor;
      ++filled_[at(i)];
    }
    if (std::abs(pivot) < least_pivot) {
      pivot = std::copysign(least_pivot, pivot);
    }
    inverse_pivots_[at(k)] = 1.0 / pivot;
    num_positive_ += pivot > 0.0 ? 1 : 0;
  }
}

void SparseLdl::solve(std::span<double> right) const {
  for (std::size_t i = 0; i < dimension_; ++i) {
    permuted_[i] = right[at(place_[i])];
  }
  for (std::size_t i = 0; i < dimension_; ++i) {
    const double value = permuted_[i];
    for (int p = factor_starts_[i]; p < factor_starts_[i + 1]; ++p) {
      permuted_[at(factor_rows_[at(p)])] -= factor_values_[at(p)] * value;
    }
  }
  for (std::size_t i = dimension_; i-- > 0;) {
    double value = permuted_[i] * inverse_pivots_[i];
    for (int p = factor_starts_[i]; p < factor_starts_[i + 1]; ++p) {
      value -= factor_values_[at(p)] * permuted_[at(factor_rows_[at(p)])];
    }
    permuted_[i] = value;
  }
  for (std::size_t i = 0; i < dimension_; ++i) {
    right[at(place_[i])] = permuted_[i];
  }
}

}  // namespace skein::gp
