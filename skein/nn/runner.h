// How a batch goes through a network, forwards and backwards: what engine.cc makes its steps of.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <ranges>
#include <vector>

#include "skein/base/expect.h"
#include "skein/base/random.h"
#include "skein/nn/dual.h"
#include "skein/nn/engine.h"
#include "skein/nn/layers.h"
#include "skein/nn/network_layout.h"

namespace skein::nn {

// A batch's way through the network: what every operation keeps of it. Values and gradients that nobody asks
// for after the pass are in the runner, where the next pass puts its own.
template <class T>
struct Pass {
  std::size_t size = 0;
  std::vector<Memory<T>> memory;
  std::vector<Vector<T>> values;     // what operations give to linear layers
  std::vector<Vector<T>> gradients;  // of what linear layers give
  Vector<T> input;                   // with its tangents, where the first operation needs them
  std::vector<bool> low_rank;        // whose weights' gradient is only in x and dy
};

// A point in the space of parameters. Where `factors` is low-rank, a layer's weights are those of `base`
// (none if nullptr) plus factor times the gradient of that pass; all other parameters are in `dense`.
template <class T>
struct Point {
  const Vector<T>* dense = nullptr;
  const Vector<T>* base = nullptr;
  const Pass<T>* factors = nullptr;
  T factor = T(1);
};

// The cross-entropy of softmax(z) against a class; dz is its gradient, times `share`.
//   loss = log(sum_i e^z_i) - z_class,   dz_i = softmax(z)_i - [i = class]
double cross_entropy(const auto& z, std::size_t label, std::size_t size, double share, const auto& dz) {
  using Number = typename std::remove_cvref_t<decltype(dz)>::Number;
  auto largest = value_of(z.get(0));
  for (std::size_t i = 1; i < size; ++i) {
    largest = std::max(largest, value_of(z.get(i)));
  }
  Number sum{};
  for (std::size_t i = 0; i < size; ++i) {
    const Number e = exponential(Number(z.get(i)) - Number(largest));
    dz.set(i, e);
    sum += e;
  }
  const Number factor = Number(static_cast<decltype(largest)>(share)) / sum;
  for (std::size_t i = 0; i < size; ++i) {
    dz.set(i, dz.get(i) * factor);
  }
  dz.set(label, dz.get(label) - Number(static_cast<decltype(largest)>(share)));
  return std::log(static_cast<double>(value_of(sum))) + static_cast<double>(largest) -
         static_cast<double>(value_of(z.get(label)));
}

// Runs batches through a network, forwards and backwards.
template <class T>
class Runner {
 public:
  using Layout = typename Network<T>::Layout;
  using Step = typename Layout::Step;
  using SinkOf = std::function<Sink<T>(std::size_t)>;
  enum class Masks { none, drawn, kept };

  explicit Runner(const Layout& layout)
      : layout_(layout),
        scratch_(layout.steps.size()),
        values_(layout.steps.size()),
        gradients_(layout.steps.size()),
        sources_(layout.steps.size()) {}

  // `direction` gives tangents. Masks::kept takes dropout's masks as they are.
  void forward(Pass<T>& pass, const Point<T>& point, const Point<T>* direction, const Batch<T>& batch,
               Masks masks, RandomStream* stream) {
    start(pass, batch.features, batch.size, direction != nullptr, masks);
    if (masks == Masks::drawn) {
      for (std::size_t i = 0; i < layout_.steps.size(); ++i) {
        layout_.steps[i].operation->draw(pass.memory[i], *stream);
      }
    }
    for_groups([&](std::size_t begin, std::size_t end) {
      for_parts(pass, begin, end, [&](std::size_t /*first*/, std::size_t /*at_once*/) {
        for (std::size_t i = begin; i < end; ++i) {
          if (!skips(i, masks)) {
            forward_one(pass, point, direction, i);
          }
        }
      });
    });
  }

  // The mean loss, and its gradient with respect to the last outputs.
  double loss(Pass<T>& pass, const Batch<T>& batch) {
    const std::size_t last = layout_.steps.size() - 1;
    const std::size_t size = layout_.steps[last].size;
    Memory<T>& m = pass.memory[last];
    const Rows<T> dz = gradients_of(pass, last, m.rows());
    const double share = 1.0 / static_cast<double>(batch.size);
    double sum = 0.0;
    for (std::size_t b = 0; b < batch.size; ++b) {
      expect(batch.labels[b] < size, "a label below the number of outputs");
      sum += m.tangent ? cross_entropy(DualRow<T>{m.y.row(b), m.y.row(m.size + b)}, batch.labels[b], size,
                                       share, DualRow<T>{dz.row(b), dz.row(m.size + b)})
                       : cross_entropy(PlainRow<T>{m.y.row(b)}, batch.labels[b], size, share,
                                       PlainRow<T>{dz.row(b)});
    }
    m.dy = {dz.data, dz.stride};
    return sum * share;
  }

  void backward(Pass<T>& pass, const Point<T>& point, const Point<T>* direction, Masks masks,
                const SinkOf& sink_of) {
    std::vector<std::array<std::size_t, 2>> groups;
    for_groups([&](std::size_t begin, std::size_t end) { groups.push_back({begin, end}); });
    for (const auto& [begin, end] : std::views::reverse(groups)) {
      for_parts(pass, begin, end, [&, begin = begin, end = end](std::size_t first, std::size_t at_once) {
        for (std::size_t i = end; i-- > begin;) {
          if (i > begin && !pass.memory[i].tangent && !follows_linear(i - 1)) {
            give_back(pass, i, {first, at_once});
          } else {
            give_back(pass, i, {0, pass.memory[i].rows()});
          }
          if (!skips(i, masks)) {
            backward_one(pass, point, direction, sink_of, i);
          }
        }
      });
    }
  }

  // What the pass adds to the weights of linear layer i.
  LowRank<T> factors_of(const Pass<T>& pass, std::size_t i, T factor) const {
    const Memory<T>& m = pass.memory[i];
    return {m.x, m.dy, m.size, factor};
  }

  static void reserve(Vector<T>& buffer, std::size_t size) {
    if (buffer.size() < size) {
      buffer = Vector<T>(size);
    }
  }

 private:
  static std::size_t stride_of(std::size_t size) { return padded<T>(size) + 2 * padding<T>; }

  [[nodiscard]] bool is_linear(std::size_t i) const {
    return layout_.steps[i].operation->linear_outputs() != 0;
  }
  [[nodiscard]] bool feeds_linear(std::size_t i) const {
    std::size_t next = i + 1;
    while (next < layout_.steps.size() && layout_.steps[next].operation->is_dropout()) {
      ++next;
    }
    return next < layout_.steps.size() && is_linear(next);
  }
  // Without masks, what comes before a dropout sees the same gradient as what comes after it.
  [[nodiscard]] bool follows_linear(std::size_t i) const {
    while (i > 0 && layout_.steps[i].operation->is_dropout()) {
      --i;
    }
    return is_linear(i);
  }
  // What a ReLU made zero passes no gradient back, nor does what a dropout behind it dropped.
  [[nodiscard]] bool has_dead_zeros(std::size_t i) const {
    while (i > 0 && layout_.steps[i - 1].operation->is_dropout()) {
      --i;
    }
    return i > 0 && layout_.steps[i - 1].operation->ends_with_relu();
  }
  Rows<T> values_of(Pass<T>& pass, std::size_t i, std::size_t rows) {
    return reserved_rows(feeds_linear(i) ? pass.values[i] : values_[i], rows, layout_.steps[i].size);
  }
  Rows<T> gradients_of(Pass<T>& pass, std::size_t i, std::size_t rows) {
    return reserved_rows(follows_linear(i) ? pass.gradients[i] : gradients_[i], rows, layout_.steps[i].size);
  }
  static Rows<T> reserved_rows(Vector<T>& buffer, std::size_t rows, std::size_t size) {
    reserve(buffer, rows * stride_of(size));
    return {buffer.data(), stride_of(size)};
  }

  // Calls work(begin, end) for runs of operations that can take a part of the batch, and for each other one.
  template <class Work>
  void for_groups(const Work& work) const {
    for (std::size_t begin = 0; begin < layout_.steps.size();) {
      std::size_t end = begin + 1;
      while (end < layout_.steps.size() && layout_.steps[end - 1].operation->by_sample() &&
             layout_.steps[end].operation->by_sample()) {
        ++end;
      }
      work(begin, end);
      begin = end;
    }
  }
  // Calls work(first sample, samples at once) for each part of the batch, with the memory of operations begin
  // to end - 1 set to it.
  template <class Work>
  void for_parts(Pass<T>& pass, std::size_t begin, std::size_t end, const Work& work) const {
    const std::size_t at_once = end - begin > 1 ? samples_at_once(pass, begin, end) : pass.size;
    for (std::size_t first = 0; first < pass.size; first += at_once) {
      for (std::size_t i = begin; i < end; ++i) {
        pass.memory[i].begin = first;
        pass.memory[i].end = std::min(first + at_once, pass.size);
      }
      work(first, at_once);
    }
  }
  // What operations that follow each other give to each other should stay in the second cache.
  static constexpr std::size_t cached_bytes = std::size_t{384} << 10U;
  std::size_t samples_at_once(const Pass<T>& pass, std::size_t begin, std::size_t end) const {
    std::size_t bytes = 0;
    for (std::size_t i = begin; i < end; ++i) {
      bytes += 2 * stride_of(layout_.steps[i].size) * sizeof(T) * (pass.memory[i].tangent ? 2 : 1);
    }
    return std::clamp<std::size_t>(cached_bytes / bytes, 1, pass.size);
  }

  Weights<T> weights_of(const Point<T>& point, std::size_t i) const {
    const Step& step = layout_.steps[i];
    Weights<T> weights{point.dense->data() + step.weight, point.dense->data() + step.bias};
    if (point.factors != nullptr && point.factors->low_rank[i]) {
      weights.weight = point.base != nullptr ? point.base->data() + step.weight : nullptr;
      weights.low_rank = factors_of(*point.factors, i, point.factor);
    }
    return weights;
  }

  void start(Pass<T>& pass, const T* features, std::size_t size, bool tangent, Masks masks) {
    const std::size_t num_steps = layout_.steps.size();
    pass.size = size;
    pass.memory.resize(num_steps);
    pass.values.resize(num_steps);
    pass.gradients.resize(num_steps);
    pass.low_rank.assign(num_steps, false);
    Rows<const T> x{features, layout_.num_inputs};
    bool x_tangent = false;
    if (tangent && layout_.steps[0].operation->num_weights() == 0) {
      reserve(pass.input, 2 * size * layout_.num_inputs);
      std::copy_n(features, size * layout_.num_inputs, pass.input.data());
      std::fill_n(pass.input.data() + size * layout_.num_inputs, size * layout_.num_inputs, T(0));
      x.data = pass.input.data();
      x_tangent = true;
    }
    for (std::size_t i = 0; i < num_steps; ++i) {
      Memory<T>& m = pass.memory[i];
      m.size = size;
      m.tangent = tangent;
      m.x_tangent = x_tangent;
      m.dead_zeros = has_dead_zeros(i);
      m.x = x;
      m.sources = &sources_[i];
      m.y = in_place(i, masks) ? writable(x) : values_of(pass, i, m.rows());
      x = {m.y.data, m.y.stride};
      x_tangent = tangent;
    }
  }

  [[nodiscard]] bool skips(std::size_t i, Masks masks) const {
    return layout_.steps[i].operation->is_dropout() && masks == Masks::none;
  }
  // A dropout drops where its inputs are, if nobody needs these any more, and where its gradients are.
  [[nodiscard]] bool in_place(std::size_t i, Masks masks) const {
    return skips(i, masks) || (layout_.steps[i].operation->is_dropout() && i > 0 &&
                               !layout_.steps[i - 1].operation->needs_outputs());
  }
  // Rows that an operation reads are in buffers of the pass or the runner, or are the network's input,
  // which nobody writes to.
  static Rows<T> writable(Rows<const T> rows) {
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast)
    return {const_cast<T*>(rows.data), rows.stride, rows.first};
  }
  void forward_one(Pass<T>& pass, const Point<T>& point, const Point<T>* direction, std::size_t i) {
    const Operation<T>& operation = *layout_.steps[i].operation;
    const Weights<T> w = weights_of(point, i);
    if (direction != nullptr) {
      const Weights<T> v = weights_of(*direction, i);
      operation.forward(pass.memory[i], w, &v, scratch_[i]);
    } else {
      operation.forward(pass.memory[i], w, nullptr, scratch_[i]);
    }
  }

  // Where operation i puts the gradient of its inputs. What passes between operations of a group is needed
  // for the samples at work alone, and stays in the cache.
  struct Part {
    std::size_t first;
    std::size_t rows;
  };
  void give_back(Pass<T>& pass, std::size_t i, const Part& part) {
    Memory<T>& m = pass.memory[i];
    if (i == 0) {
      m.dx = {};
      return;
    }
    if (layout_.steps[i].operation->is_dropout()) {
      m.dx = writable(m.dy);
    } else {
      m.dx = gradients_of(pass, i - 1, part.rows);
      m.dx.first = part.first;
    }
    pass.memory[i - 1].dy = {m.dx.data, m.dx.stride, m.dx.first};
  }
  void backward_one(Pass<T>& pass, const Point<T>& point, const Point<T>* direction, const SinkOf& sink_of,
                    std::size_t i) {
    const Step& step = layout_.steps[i];
    const Sink<T> sink = step.end > step.weight ? sink_of(i) : Sink<T>{};
    const Weights<T> w = weights_of(point, i);
    if (direction != nullptr) {
      const Weights<T> v = weights_of(*direction, i);
      step.operation->backward(pass.memory[i], w, &v, sink, scratch_[i]);
    } else {
      step.operation->backward(pass.memory[i], w, nullptr, sink, scratch_[i]);
    }
  }

  const Layout& layout_;
  std::vector<Scratch<T>> scratch_;  // of each operation
  std::vector<Vector<T>> values_;    // of each, where the pass does not keep them
  std::vector<Vector<T>> gradients_;
  std::vector<std::vector<std::uint16_t>> sources_;
};

}  // namespace skein::nn
