#include "skein/gp/sparse_ldl.h"

#include <Eigen/OrderingMethods>
#include <Eigen/SparseCore>
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "skein/base/expect.h"

namespace skein::gp {
namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

struct Columns {
  std::array<const double*, 4> entries;
  std::array<double, 4> factors;
};
// target += sum of factor times column.
void add_four(double* __restrict target, const Columns& columns, std::size_t begin, std::size_t end) {
  const auto [c0, c1, c2, c3] = columns.entries;
  const auto [f0, f1, f2, f3] = columns.factors;
  for (std::size_t i = begin; i < end; ++i) {
    target[i] += (f0 * c0[i] + f1 * c1[i]) + (f2 * c2[i] + f3 * c3[i]);
  }
}
void add_one(double* __restrict target, const double* column, double factor, std::size_t begin,
             std::size_t end) {
  for (std::size_t i = begin; i < end; ++i) {
    target[i] += factor * column[i];
  }
}

}  // namespace

// Of each index, every other one that shares an entry with it, once.
struct SparseLdl::Neighbours {
  std::vector<int> starts;
  std::vector<int> list;

  Neighbours(std::size_t dimension, std::span<const Entry> entries) : starts(dimension + 1, 0) {
    for (const Entry& entry : entries) {
      expect(entry.row < dimension && entry.column < dimension, "an entry lies outside of the matrix");
      if (entry.row != entry.column) {
        ++starts[entry.row];
        ++starts[entry.column];
      }
    }
    int sum = 0;
    for (int& start : starts) {
      sum += std::exchange(start, sum);
    }
    list.resize(at(sum));
    std::vector<int> ends(starts.begin(), starts.end() - 1);
    for (const Entry& entry : entries) {
      if (entry.row != entry.column) {
        list[at(ends[entry.row]++)] = static_cast<int>(entry.column);
        list[at(ends[entry.column]++)] = static_cast<int>(entry.row);
      }
    }
    std::vector<int> seen(dimension, -1);
    int kept = 0;
    for (std::size_t i = 0; i < dimension; ++i) {
      const int begin = std::exchange(starts[i], kept);
      for (int p = begin; p < ends[i]; ++p) {
        const int other = list[at(p)];
        if (std::exchange(seen[at(other)], static_cast<int>(i)) != static_cast<int>(i)) {
          list[at(kept++)] = other;
        }
      }
    }
    starts[dimension] = kept;
    list.resize(at(kept));
  }

  [[nodiscard]] std::span<const int> of(std::size_t i) const {
    return {list.data() + starts[i], list.data() + starts[i + 1]};
  }

  // A fill-reducing order, approximate minimum degree: new index of each old one. Those with many neighbours
  // come last, by their number, which also makes the rest cheap to order.
  [[nodiscard]] std::vector<int> order() const {
    const std::size_t dimension = starts.size() - 1;
    const std::size_t many = std::max<std::size_t>(16, static_cast<std::size_t>(std::sqrt(dimension)));
    std::vector<int> position(dimension, -1);
    std::vector<int> few;
    std::vector<int> last;
    for (std::size_t i = 0; i < dimension; ++i) {
      if (of(i).size() > many) {
        last.push_back(static_cast<int>(i));
      } else {
        position[i] = static_cast<int>(few.size());
        few.push_back(static_cast<int>(i));
      }
    }
    const int size = static_cast<int>(few.size());
    Eigen::SparseMatrix<double> lower(size, size);
    std::vector<int> inner;
    inner.reserve(list.size() / 2);
    for (int column = 0; column < size; ++column) {
      lower.outerIndexPtr()[column] = static_cast<int>(inner.size());
      for (const int other : of(at(few[at(column)]))) {
        if (position[at(other)] > column) {
          inner.push_back(position[at(other)]);
        }
      }
    }
    lower.outerIndexPtr()[size] = static_cast<int>(inner.size());
    lower.resizeNonZeros(static_cast<int>(inner.size()));
    std::ranges::copy(inner, lower.innerIndexPtr());
    std::fill_n(lower.valuePtr(), inner.size(), 1.0);
    Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, int> order;
    if (size > 0) {
      Eigen::AMDOrdering<int>()(lower.selfadjointView<Eigen::Lower>(), order);
    }
    // Eigen gives the old index of each new one.
    for (int i = 0; i < size; ++i) {
      position[at(few[at(order.indices()[i])])] = i;
    }
    std::ranges::stable_sort(last, {}, [&](int i) { return of(at(i)).size(); });
    for (std::size_t i = 0; i < last.size(); ++i) {
      position[at(last[i])] = size + static_cast<int>(i);
    }
    return position;
  }
};

SparseLdl::SparseLdl(std::size_t dimension, std::span<const Entry> entries)
    : dimension_(dimension),
      place_(dimension),
      inverse_pivots_(dimension),
      work_(dimension),
      permuted_(dimension) {
  const Neighbours neighbours(dimension, entries);
  const std::vector<int> position = neighbours.order();
  for (std::size_t i = 0; i < dimension; ++i) {
    place_[at(position[i])] = static_cast<int>(i);
  }
  find_pattern(neighbours, position);
  find_targets(entries, position);
  find_groups();
}

void SparseLdl::find_pattern(const Neighbours& neighbours, const std::vector<int>& position) {
  // Row k of L has entries in the columns on the paths from its own entries up to k in the elimination tree.
  std::vector<int> parent(dimension_, -1);
  std::vector<int> seen(dimension_, -1);
  const auto for_row = [&](int k, const auto& visit) {
    seen[at(k)] = k;
    for (const int neighbour : neighbours.of(at(place_[at(k)]))) {
      int i = position[at(neighbour)];
      if (i > k) {
        continue;
      }
      for (; seen[at(i)] != k; i = parent[at(i)]) {
        if (parent[at(i)] == -1) {
          parent[at(i)] = k;
        }
        visit(i);
        seen[at(i)] = k;
      }
    }
  };
  const int dimension = static_cast<int>(dimension_);
  std::vector<int> counts(dimension_, 0);
  row_starts_.assign(1, 0);
  row_starts_.reserve(dimension_ + 1);
  int row_sum = 0;
  for (int k = 0; k < dimension; ++k) {
    for_row(k, [&](int i) {
      ++counts[at(i)];
      ++row_sum;
    });
    row_starts_.push_back(row_sum);
  }
  num_factor_entries_ = at(row_sum);

  // The corner is as large as it stays fairly full.
  constexpr double full = 0.9;
  num_sparse_ = dimension_;
  double entries = 0.0;
  for (std::size_t size = 1; size <= dimension_; ++size) {
    entries += counts[dimension_ - size];
    if (entries >= full * 0.5 * static_cast<double>(size * (size - 1))) {
      num_sparse_ = dimension_ - size;
    }
  }
  column_starts_.assign(num_sparse_ + 1, 0);
  for (std::size_t i = 0; i < num_sparse_; ++i) {
    column_starts_[i + 1] = column_starts_[i] + counts[i];
  }
  rows_.resize(at(column_starts_[num_sparse_]));
  row_starts_.resize(num_sparse_ + 1);
  by_rows_.resize(at(row_starts_[num_sparse_]));
  std::vector<int> ends(column_starts_.begin(), column_starts_.end() - 1);
  std::ranges::fill(seen, -1);
  const int sparse = static_cast<int>(num_sparse_);
  std::size_t next = 0;
  for (int k = 0; k < sparse; ++k) {
    for_row(k, [&](int i) {
      by_rows_[next++] = {.column = i, .entry = ends[at(i)]};
      rows_[at(ends[at(i)]++)] = k;
    });
  }
  corner_starts_ = ends;
  for (int k = sparse; k < dimension; ++k) {
    for_row(k, [&](int i) {
      if (i < sparse) {
        rows_[at(ends[at(i)]++)] = k;
      }
    });
  }
}

void SparseLdl::find_targets(std::span<const Entry> entries, const std::vector<int>& position) {
  const std::size_t corner = dimension_ - num_sparse_;
  first_pivot_ = rows_.size();
  first_corner_ = first_pivot_ + num_sparse_;
  values_.resize(first_corner_ + corner * corner);
  entry_targets_.reserve(entries.size());
  for (const Entry& entry : entries) {
    const auto [low, high] = std::minmax(position[entry.row], position[entry.column]);
    std::size_t target = 0;
    if (at(low) >= num_sparse_) {
      target = first_corner_ + (at(low) - num_sparse_) * corner + at(high) - num_sparse_;
    } else if (low == high) {
      target = first_pivot_ + at(low);
    } else {
      const auto begin = rows_.begin() + column_starts_[at(low)];
      const auto end = rows_.begin() + column_starts_[at(low) + 1];
      target = static_cast<std::size_t>(std::lower_bound(begin, end, high) - rows_.begin());
    }
    entry_targets_.push_back(static_cast<int>(target));
  }
}

void SparseLdl::find_groups() {
  // By the first row in the corner, so that few are to be compared.
  std::vector<std::vector<std::size_t>> with_first_row(dimension_ - num_sparse_);
  std::size_t most = 0;
  for (std::size_t j = 0; j < num_sparse_; ++j) {
    const std::span<const int> rows(rows_.data() + corner_starts_[j], rows_.data() + column_starts_[j + 1]);
    if (rows.empty()) {
      continue;
    }
    std::vector<std::size_t>& candidates = with_first_row[at(rows.front()) - num_sparse_];
    const int first = static_cast<int>(num_sparse_);
    const auto found = std::ranges::find_if(candidates, [&](std::size_t group) {
      return std::ranges::equal(groups_[group].rows, rows, {}, [&](int row) { return row + first; });
    });
    const std::size_t index = found != candidates.end() ? *found : groups_.size();
    if (index == groups_.size()) {
      candidates.push_back(index);
      Group& added = groups_.emplace_back();
      for (const int row : rows) {
        added.rows.push_back(row - first);
      }
      most = std::max(most, rows.size());
    }
    Group& group = groups_[index];
    group.first_entries.push_back(corner_starts_[j]);
    group.columns.push_back(static_cast<int>(j));
  }
  sums_.resize(most * most);
}

double SparseLdl::inverse_of(double pivot, double least_pivot) {
  if (std::abs(pivot) < least_pivot) {
    pivot = std::copysign(least_pivot, pivot);
  }
  num_positive_ += pivot > 0.0 ? 1 : 0;
  return 1.0 / pivot;
}

void SparseLdl::factorise(std::span<const double> values, double least_pivot) {
  expect(values.size() == entry_targets_.size(), "a value is needed for every entry");
  std::ranges::fill(values_, 0.0);
  for (std::size_t e = 0; e < values.size(); ++e) {
    values_[at(entry_targets_[e])] += values[e];
  }
  num_positive_ = 0;
  factorise_sparse(least_pivot);
  add_to_corner();
  factorise_corner(least_pivot);
}

// Column by column: what the columns before take away, then the division by the pivot.
void SparseLdl::factorise_sparse(double least_pivot) {
  double* const values = values_.data();
  double* const pivots = values + first_pivot_;
  double* const work = work_.data();
  const int* const rows = rows_.data();
  for (std::size_t k = 0; k < num_sparse_; ++k) {
    double pivot = pivots[k];
    for (int r = row_starts_[k]; r < row_starts_[k + 1]; ++r) {
      const Earlier& earlier = by_rows_[at(r)];
      const double factor = values[earlier.entry] * pivots[earlier.column];
      pivot -= values[earlier.entry] * factor;
      const int end = column_starts_[at(earlier.column) + 1];
      for (int p = earlier.entry + 1; p < end; ++p) {
        work[rows[p]] += values[p] * factor;
      }
    }
    const double inverse = inverse_of(pivot, least_pivot);
    inverse_pivots_[k] = inverse;
    pivots[k] = 1.0 / inverse;
    const int end = column_starts_[k + 1];
    for (int p = column_starts_[k]; p < end; ++p) {
      values[p] = (values[p] - work[rows[p]]) * inverse;
      work[rows[p]] = 0.0;
    }
  }
}

void SparseLdl::add_to_corner() {
  const double* const values = values_.data();
  const double* const pivots = values + first_pivot_;
  const std::size_t corner = dimension_ - num_sparse_;
  for (const Group& group : groups_) {
    const std::size_t size = group.rows.size();
    double* const sums = sums_.data();
    std::fill_n(sums, size * size, 0.0);
    std::size_t c = 0;
    for (; c + 4 <= group.columns.size(); c += 4) {
      Columns columns{};
      std::array<double, 4> scales{};
      for (std::size_t n = 0; n < 4; ++n) {
        columns.entries[n] = values + group.first_entries[c + n];
        scales[n] = pivots[group.columns[c + n]];
      }
      for (std::size_t a = 0; a < size; ++a) {
        for (std::size_t n = 0; n < 4; ++n) {
          columns.factors[n] = scales[n] * columns.entries[n][a];
        }
        add_four(sums + a * size, columns, a, size);
      }
    }
    for (; c < group.columns.size(); ++c) {
      const double* const column = values + group.first_entries[c];
      for (std::size_t a = 0; a < size; ++a) {
        add_one(sums + a * size, column, pivots[group.columns[c]] * column[a], a, size);
      }
    }
    for (std::size_t a = 0; a < size; ++a) {
      double* const column = values_.data() + first_corner_ + at(group.rows[a]) * corner;
      for (std::size_t b = a; b < size; ++b) {
        column[group.rows[b]] -= sums[a * size + b];
      }
    }
  }
}

void SparseLdl::factorise_corner(double least_pivot) {
  const std::size_t size = dimension_ - num_sparse_;
  double* const corner = values_.data() + first_corner_;
  for (std::size_t k = 0; k < size; ++k) {
    double* const column = corner + k * size;
    std::size_t c = 0;
    for (; c + 4 <= k; c += 4) {
      Columns columns{};
      for (std::size_t n = 0; n < 4; ++n) {
        columns.entries[n] = corner + (c + n) * size;
        columns.factors[n] = -columns.entries[n][k] * columns.entries[n][c + n];
      }
      add_four(column, columns, k, size);
    }
    for (; c < k; ++c) {
      const double* const earlier = corner + c * size;
      add_one(column, earlier, -earlier[k] * earlier[c], k, size);
    }
    const double inverse = inverse_of(column[k], least_pivot);
    inverse_pivots_[num_sparse_ + k] = inverse;
    column[k] = 1.0 / inverse;
    for (std::size_t i = k + 1; i < size; ++i) {
      column[i] *= inverse;
    }
  }
}

void SparseLdl::solve(std::span<double> right) const {
  double* const x = permuted_.data();
  const double* const values = values_.data();
  const int* const rows = rows_.data();
  for (std::size_t i = 0; i < dimension_; ++i) {
    x[i] = right[at(place_[i])];
  }
  for (std::size_t i = 0; i < num_sparse_; ++i) {
    const double value = x[i];
    for (int p = column_starts_[i]; p < column_starts_[i + 1]; ++p) {
      x[rows[p]] -= values[p] * value;
    }
  }
  const std::size_t size = dimension_ - num_sparse_;
  const double* const corner = values + first_corner_;
  double* const last = x + num_sparse_;
  for (std::size_t k = 0; k < size; ++k) {
    for (std::size_t i = k + 1; i < size; ++i) {
      last[i] -= corner[k * size + i] * last[k];
    }
  }
  for (std::size_t k = size; k-- > 0;) {
    double value = last[k] * inverse_pivots_[num_sparse_ + k];
    for (std::size_t i = k + 1; i < size; ++i) {
      value -= corner[k * size + i] * last[i];
    }
    last[k] = value;
  }
  for (std::size_t i = num_sparse_; i-- > 0;) {
    double value = x[i] * inverse_pivots_[i];
    for (int p = column_starts_[i]; p < column_starts_[i + 1]; ++p) {
      value -= values[p] * x[rows[p]];
    }
    x[i] = value;
  }
  for (std::size_t i = 0; i < dimension_; ++i) {
    right[at(place_[i])] = x[i];
  }
}

}  // namespace skein::gp
