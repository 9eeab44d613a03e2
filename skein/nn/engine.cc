#include "skein/nn/engine.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <ranges>
#include <vector>

#include "skein/base/expect.h"
#include "skein/nn/dual.h"
#include "skein/nn/kernels.h"
#include "skein/nn/layers.h"
#include "skein/nn/network_layout.h"

namespace skein::nn {
namespace {

// Linear layers with at least so many weights are worth a low-rank step.
constexpr std::size_t least_low_rank_weights = 16384;
// Samples that go through the network together when nothing is learnt from them: enough to keep the vector
// units busy, no more, as each takes memory for what all layers give.
constexpr std::size_t scoring_batch = 8;
// What operations that follow each other give to each other should stay in the second cache.
constexpr std::size_t cached_bytes = std::size_t{384} << 10U;

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

}  // namespace

// A batch's way through the network: what every operation keeps of it. Values and gradients that nobody asks
// for after the pass are in the workspace, where the next pass puts its own.
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

template <class T>
struct Engine<T>::Workspace {
  using Layout = typename Network<T>::Layout;
  using Step = typename Layout::Step;
  using SinkOf = std::function<Sink<T>(std::size_t)>;

  const Layout& layout;
  Pass<T> passes[4];
  std::vector<Scratch<T>> scratch;  // of each operation
  std::vector<Vector<T>> values;    // of each, where the pass does not keep them
  std::vector<Vector<T>> gradients;
  std::vector<std::vector<std::uint16_t>> sources;
  Vector<T> inner;     // parameters after the inner step
  Vector<T> gradient;  // at them
  Vector<T> shifted;
  Vector<T> update;

  explicit Workspace(const Layout& network)
      : layout(network),
        scratch(layout.steps.size()),
        values(layout.steps.size()),
        gradients(layout.steps.size()),
        sources(layout.steps.size()) {}

  static std::size_t stride_of(std::size_t size) { return padded<T>(size) + 2 * padding<T>; }
  static void reserve(Vector<T>& buffer, std::size_t size) {
    if (buffer.size() < size) {
      buffer = Vector<T>(size);
    }
  }

  // ---- one way through the network

  enum class Masks { none, drawn, kept };

  [[nodiscard]] bool is_linear(std::size_t i) const {
    return layout.steps[i].operation->linear_outputs() != 0;
  }
  [[nodiscard]] bool feeds_linear(std::size_t i) const {
    std::size_t next = i + 1;
    while (next < layout.steps.size() && layout.steps[next].operation->is_dropout()) {
      ++next;
    }
    return next < layout.steps.size() && is_linear(next);
  }
  // Without masks, what comes before a dropout sees the same gradient as what comes after it.
  [[nodiscard]] bool follows_linear(std::size_t i) const {
    while (i > 0 && layout.steps[i].operation->is_dropout()) {
      --i;
    }
    return is_linear(i);
  }
  // What a ReLU made zero passes no gradient back, nor does what a dropout behind it dropped.
  [[nodiscard]] bool has_dead_zeros(std::size_t i) const {
    while (i > 0 && layout.steps[i - 1].operation->is_dropout()) {
      --i;
    }
    return i > 0 && layout.steps[i - 1].operation->ends_with_relu();
  }
  Rows<T> values_of(Pass<T>& pass, std::size_t i, std::size_t rows) {
    return reserved_rows(feeds_linear(i) ? pass.values[i] : values[i], rows, layout.steps[i].size);
  }
  Rows<T> gradients_of(Pass<T>& pass, std::size_t i, std::size_t rows) {
    return reserved_rows(follows_linear(i) ? pass.gradients[i] : gradients[i], rows, layout.steps[i].size);
  }
  static Rows<T> reserved_rows(Vector<T>& buffer, std::size_t rows, std::size_t size) {
    reserve(buffer, rows * stride_of(size));
    return {buffer.data(), stride_of(size)};
  }

  // Calls work(begin, end) for runs of operations that can take a part of the batch, and for each other one.
  template <class Work>
  void for_groups(const Work& work) const {
    for (std::size_t begin = 0; begin < layout.steps.size();) {
      std::size_t end = begin + 1;
      while (end < layout.steps.size() && layout.steps[end - 1].operation->by_sample() &&
             layout.steps[end].operation->by_sample()) {
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
  std::size_t samples_at_once(const Pass<T>& pass, std::size_t begin, std::size_t end) const {
    std::size_t bytes = 0;
    for (std::size_t i = begin; i < end; ++i) {
      bytes += 2 * stride_of(layout.steps[i].size) * sizeof(T) * (pass.memory[i].tangent ? 2 : 1);
    }
    return std::clamp<std::size_t>(cached_bytes / bytes, 1, pass.size);
  }

  LowRank<T> factors_of(const Pass<T>& pass, std::size_t i, T factor) const {
    const Memory<T>& m = pass.memory[i];
    return {m.x, m.dy, m.size, factor};
  }

  Weights<T> weights_of(const Point<T>& point, std::size_t i) const {
    const Step& step = layout.steps[i];
    Weights<T> weights{point.dense->data() + step.weight, point.dense->data() + step.bias};
    if (point.factors != nullptr && point.factors->low_rank[i]) {
      weights.weight = point.base != nullptr ? point.base->data() + step.weight : nullptr;
      weights.low_rank = factors_of(*point.factors, i, point.factor);
    }
    return weights;
  }

  void start(Pass<T>& pass, const T* features, std::size_t size, bool tangent, Masks masks) {
    const std::size_t num_steps = layout.steps.size();
    pass.size = size;
    pass.memory.resize(num_steps);
    pass.values.resize(num_steps);
    pass.gradients.resize(num_steps);
    pass.low_rank.assign(num_steps, false);
    Rows<const T> x{features, layout.num_inputs};
    bool x_tangent = false;
    if (tangent && layout.steps[0].operation->num_weights() == 0) {
      reserve(pass.input, 2 * size * layout.num_inputs);
      std::copy_n(features, size * layout.num_inputs, pass.input.data());
      std::fill_n(pass.input.data() + size * layout.num_inputs, size * layout.num_inputs, T(0));
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
      m.sources = &sources[i];
      m.y = in_place(i, masks) ? writable(x) : values_of(pass, i, m.rows());
      x = {m.y.data, m.y.stride};
      x_tangent = tangent;
    }
  }

  // `direction` gives tangents. Masks::kept takes dropout's masks as they are.
  void forward(Pass<T>& pass, const Point<T>& point, const Point<T>* direction, const Batch<T>& batch,
               Masks masks, RandomStream* stream) {
    start(pass, batch.features, batch.size, direction != nullptr, masks);
    if (masks == Masks::drawn) {
      for (std::size_t i = 0; i < layout.steps.size(); ++i) {
        layout.steps[i].operation->draw(pass.memory[i], *stream);
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
  [[nodiscard]] bool skips(std::size_t i, Masks masks) const {
    return layout.steps[i].operation->is_dropout() && masks == Masks::none;
  }
  // A dropout drops where its inputs are, if nobody needs these any more, and where its gradients are.
  [[nodiscard]] bool in_place(std::size_t i, Masks masks) const {
    return skips(i, masks) || (layout.steps[i].operation->is_dropout() && i > 0 &&
                               !layout.steps[i - 1].operation->needs_outputs());
  }
  // Rows that an operation reads are in buffers of the pass or the workspace, or are the network's input,
  // which nobody writes to.
  static Rows<T> writable(Rows<const T> rows) {
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast)
    return {const_cast<T*>(rows.data), rows.stride, rows.first};
  }
  void forward_one(Pass<T>& pass, const Point<T>& point, const Point<T>* direction, std::size_t i) {
    const Operation<T>& operation = *layout.steps[i].operation;
    const Weights<T> w = weights_of(point, i);
    if (direction != nullptr) {
      const Weights<T> v = weights_of(*direction, i);
      operation.forward(pass.memory[i], w, &v, scratch[i]);
    } else {
      operation.forward(pass.memory[i], w, nullptr, scratch[i]);
    }
  }

  // The mean loss, and its gradient with respect to the last outputs.
  double loss(Pass<T>& pass, const Batch<T>& batch) {
    const std::size_t last = layout.steps.size() - 1;
    const std::size_t size = layout.steps[last].size;
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
    if (layout.steps[i].operation->is_dropout()) {
      m.dx = writable(m.dy);
    } else {
      m.dx = gradients_of(pass, i - 1, part.rows);
      m.dx.first = part.first;
    }
    pass.memory[i - 1].dy = {m.dx.data, m.dx.stride, m.dx.first};
  }
  void backward_one(Pass<T>& pass, const Point<T>& point, const Point<T>* direction, const SinkOf& sink_of,
                    std::size_t i) {
    const Step& step = layout.steps[i];
    const Sink<T> sink = step.end > step.weight ? sink_of(i) : Sink<T>{};
    const Weights<T> w = weights_of(point, i);
    if (direction != nullptr) {
      const Weights<T> v = weights_of(*direction, i);
      step.operation->backward(pass.memory[i], w, &v, sink, scratch[i]);
    } else {
      step.operation->backward(pass.memory[i], w, nullptr, sink, scratch[i]);
    }
  }

  // ---- steps

  [[nodiscard]] bool worth_low_rank(std::size_t i, std::size_t batch) const {
    const Operation<T>& operation = *layout.steps[i].operation;
    // A product with a rank-b matrix costs 2 b (in + out) against in * out for forming it.
    return operation.linear_outputs() >= 2 * batch && operation.num_weights() >= least_low_rank_weights;
  }
  void mark_low_rank(Pass<T>& pass) const {
    for (std::size_t i = 0; i < layout.steps.size(); ++i) {
      pass.low_rank[i] = worth_low_rank(i, pass.size);
    }
  }

  // target = base + factor * gradient, for all parameters of operation i.
  Sink<T> sink_to(std::size_t i, const T* base, T* target, T factor) const {
    const Step& step = layout.steps[i];
    const auto at = [](const T* vector, std::size_t place) {
      return vector != nullptr ? vector + place : nullptr;
    };
    Sink<T> sink;
    sink.weight = {at(base, step.weight), target + step.weight};
    sink.bias = {at(base, step.bias), target + step.bias};
    sink.factor = factor;
    return sink;
  }
  // The same, but low-rank weights stay in the pass.
  Sink<T> sink_apart(const Pass<T>& pass, std::size_t i, const T* base, T* target, T factor) const {
    Sink<T> sink = sink_to(i, base, target, factor);
    if (pass.low_rank[i]) {
      sink.weight = {};
    }
    return sink;
  }

  // Calls work(begin, end) for the parameters that are not in low-rank weights of `pass`.
  template <class Work>
  void for_dense(const Pass<T>& pass, const Work& work) const {
    for (std::size_t i = 0; i < layout.steps.size(); ++i) {
      const Step& step = layout.steps[i];
      work(pass.low_rank[i] ? step.bias : step.weight, step.end);
    }
  }

  double gradient_step(const Vector<T>& w, const Batch<T>& batch, RandomStream* stream, const T* base,
                       T* target, T factor) {
    Pass<T>& pass = passes[0];
    const Masks masks = stream != nullptr ? Masks::drawn : Masks::none;
    const Point<T> point{&w};
    forward(pass, point, nullptr, batch, masks, stream);
    const double mean = loss(pass, batch);
    backward(pass, point, nullptr, masks, [&](std::size_t i) { return sink_to(i, base, target, factor); });
    return mean;
  }

  // target = base - step * meta-gradient
  double meta_step(const Vector<T>& w, const std::array<Batch<T>, 3>& batches, const MetaOptions& options,
                   RandomStream* stream, const T* base, T* target, T step) {
    const Masks masks = stream != nullptr ? Masks::drawn : Masks::none;
    const T inner_step = static_cast<T>(options.inner_step);
    reserve(inner, layout.num_parameters);

    Pass<T>& first = passes[0];
    forward(first, {&w}, nullptr, batches[0], masks, stream);
    mark_low_rank(first);
    loss(first, batches[0]);
    backward(first, {&w}, nullptr, masks,
             [&](std::size_t i) { return sink_apart(first, i, w.data(), inner.data(), -inner_step); });

    Pass<T>& second = passes[1];
    const Point<T> after{&inner, &w, &first, -inner_step};
    forward(second, after, nullptr, batches[1], masks, stream);
    const double mean = loss(second, batches[1]);
    if (options.kind == MetaGradient::first_order) {
      backward(second, after, nullptr, masks, [&](std::size_t i) { return sink_to(i, base, target, -step); });
      return mean;
    }

    mark_low_rank(second);
    reserve(gradient, layout.num_parameters);
    backward(second, after, nullptr, masks,
             [&](std::size_t i) { return sink_apart(second, i, nullptr, gradient.data(), T(1)); });
    reserve(update, layout.num_parameters);
    for_dense(second, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        update[i] = (base != nullptr ? base[i] : T(0)) - step * gradient[i];
      }
    });
    if (options.kind == MetaGradient::exact) {
      exact_part(w, batches[2], masks, stream, base, target, step, inner_step);
    } else {
      hessian_free_part(w, batches[2], masks, stream, base, target, step,
                        step * inner_step / static_cast<T>(2.0 * options.difference_step),
                        static_cast<T>(options.difference_step));
    }
    return mean;
  }

  // What remains of target = base - step (g - inner_step H(w) g), with g in `gradient` and the second pass,
  // and base - step g of dense parameters in `update`.
  void exact_part(const Vector<T>& w, const Batch<T>& batch, Masks masks, RandomStream* stream, const T* base,
                  T* target, T step, T inner_step) {
    const Pass<T>& second = passes[1];
    Pass<T>& third = passes[2];
    const Point<T> point{&w};
    const Point<T> direction{&gradient, nullptr, &second, T(1)};
    forward(third, point, &direction, batch, masks, stream);
    loss(third, batch);
    backward(third, point, &direction, masks, [&](std::size_t i) {
      return last_sink(i, base, target, step * inner_step, {factors_of(second, i, -step), LowRank<T>{}});
    });
  }

  // The same with H(w) g = (g(w + d g) - g(w - d g)) / (2 d); factor = step inner_step / (2 d).
  void hessian_free_part(const Vector<T>& w, const Batch<T>& batch, Masks masks, RandomStream* stream,
                         const T* base, T* target, T step, T factor, T difference) {
    const Pass<T>& second = passes[1];
    Pass<T>& plus = passes[2];
    Pass<T>& minus = passes[3];
    reserve(shifted, layout.num_parameters);
    const auto shift = [&](T by) {
      for_dense(second, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
          shifted[i] = w[i] + by * gradient[i];
        }
      });
      return Point<T>{&shifted, &w, &second, by};
    };

    const Point<T> ahead = shift(difference);
    forward(plus, ahead, nullptr, batch, masks, stream);
    plus.low_rank = second.low_rank;
    loss(plus, batch);
    backward(plus, ahead, nullptr, masks,
             [&](std::size_t i) { return sink_apart(plus, i, update.data(), update.data(), factor); });

    const Point<T> behind = shift(-difference);
    minus.memory.resize(layout.steps.size());
    for (std::size_t i = 0; i < layout.steps.size(); ++i) {
      if (layout.steps[i].operation->is_dropout()) {
        minus.memory[i].drawn = plus.memory[i].drawn;
      }
    }
    forward(minus, behind, nullptr, batch, masks == Masks::none ? masks : Masks::kept, nullptr);
    loss(minus, batch);
    backward(minus, behind, nullptr, masks, [&](std::size_t i) {
      return last_sink(i, base, target, -factor, {factors_of(second, i, -step), factors_of(plus, i, factor)});
    });
  }

  // Dense parameters start from `update`, low-rank weights from `base` and what was kept of earlier passes.
  Sink<T> last_sink(std::size_t i, const T* base, T* target, T factor,
                    const std::array<LowRank<T>, 2>& kept) const {
    const Step& step = layout.steps[i];
    Sink<T> sink = sink_to(i, update.data(), target, factor);
    if (passes[1].low_rank[i]) {
      sink.weight.base = base != nullptr ? base + step.weight : nullptr;
      sink.more[0] = kept[0];
      sink.more[1] = kept[1];
    }
    return sink;
  }
};

template <class T>
Engine<T>::Engine(const Network<T>& network) : workspace_(std::make_unique<Workspace>(network.layout())) {}
template <class T>
Engine<T>::~Engine() = default;
template <class T>
Engine<T>::Engine(Engine&&) noexcept = default;
template <class T>
Engine<T>& Engine<T>::operator=(Engine&&) noexcept = default;

template <class T>
void Engine<T>::outputs(const Vector<T>& w, const T* features, std::size_t size, T* out) {
  Workspace& ws = *workspace_;
  expect(w.size() == ws.layout.num_parameters, "as many parameters as the network has");
  const std::size_t num_outputs = ws.layout.steps.back().size;
  for (std::size_t begin = 0; begin < size; begin += scoring_batch) {
    const std::size_t count = std::min(scoring_batch, size - begin);
    ws.forward(ws.passes[0], {&w}, nullptr, {features + begin * ws.layout.num_inputs, nullptr, count},
               Workspace::Masks::none, nullptr);
    const Rows<T>& y = ws.passes[0].memory.back().y;
    for (std::size_t b = 0; b < count; ++b) {
      std::copy_n(y.row(b), num_outputs, out + (begin + b) * num_outputs);
    }
  }
}

template <class T>
Score Engine<T>::score(const Vector<T>& w, const Batch<T>& batch) {
  Workspace& ws = *workspace_;
  const std::size_t num_outputs = ws.layout.steps.back().size;
  Score score;
  for (std::size_t begin = 0; begin < batch.size; begin += scoring_batch) {
    const Batch<T> part{batch.features + begin * ws.layout.num_inputs, batch.labels + begin,
                        std::min(scoring_batch, batch.size - begin)};
    ws.forward(ws.passes[0], {&w}, nullptr, part, Workspace::Masks::none, nullptr);
    score.loss_sum += ws.loss(ws.passes[0], part) * static_cast<double>(part.size);
    const Rows<T>& y = ws.passes[0].memory.back().y;
    for (std::size_t b = 0; b < part.size; ++b) {
      const T* row = y.row(b);
      score.correct += std::max_element(row, row + num_outputs) - row == part.labels[b] ? 1 : 0;
    }
  }
  return score;
}

template <class T>
double Engine<T>::gradient(const Vector<T>& w, const Batch<T>& batch, RandomStream* dropout, Vector<T>& out) {
  expect(out.size() == w.size(), "as many places as parameters");
  return workspace_->gradient_step(w, batch, dropout, nullptr, out.data(), T(1));
}

template <class T>
double Engine<T>::step(Vector<T>& w, const Batch<T>& batch, double step, RandomStream* dropout) {
  return workspace_->gradient_step(w, batch, dropout, w.data(), w.data(), static_cast<T>(-step));
}

template <class T>
double Engine<T>::hessian_vector(const Vector<T>& w, const Vector<T>& v, const Batch<T>& batch,
                                 RandomStream* dropout, Vector<T>& out) {
  expect(v.size() == w.size() && out.size() == w.size(), "as many places as parameters");
  Workspace& ws = *workspace_;
  const auto masks = dropout != nullptr ? Workspace::Masks::drawn : Workspace::Masks::none;
  const Point<T> point{&w};
  const Point<T> direction{&v};
  ws.forward(ws.passes[0], point, &direction, batch, masks, dropout);
  const double mean = ws.loss(ws.passes[0], batch);
  ws.backward(ws.passes[0], point, &direction, masks,
              [&](std::size_t i) { return ws.sink_to(i, nullptr, out.data(), T(1)); });
  return mean;
}

template <class T>
double Engine<T>::meta_gradient(const Vector<T>& w, const std::array<Batch<T>, 3>& batches,
                                const MetaOptions& options, RandomStream* dropout, Vector<T>& out) {
  expect(out.size() == w.size(), "as many places as parameters");
  return workspace_->meta_step(w, batches, options, dropout, nullptr, out.data(), T(-1));
}

template <class T>
double Engine<T>::meta_step(Vector<T>& w, const std::array<Batch<T>, 3>& batches, const MetaOptions& options,
                            double step, RandomStream* dropout) {
  return workspace_->meta_step(w, batches, options, dropout, w.data(), w.data(), static_cast<T>(step));
}

template class Engine<float>;
template class Engine<double>;

}  // namespace skein::nn
