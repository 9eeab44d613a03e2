#include "skein/nn/engine.h"

#include <algorithm>
#include <array>
#include <vector>

#include "skein/base/expect.h"
#include "skein/nn/runner.h"

namespace skein::nn {
namespace {

// Linear layers with at least so many weights are worth a low-rank step.
constexpr std::size_t least_low_rank_weights = 16384;
// Samples that go through the network together when nothing is learnt from them: enough to keep the vector
// units busy, no more, as each takes memory for what all layers give.
constexpr std::size_t scoring_batch = 8;

}  // namespace

template <class T>
struct Engine<T>::Workspace {
  using Layout = typename Runner<T>::Layout;
  using Step = typename Runner<T>::Step;
  using Masks = typename Runner<T>::Masks;

  const Layout& layout;
  Runner<T> runner;
  Pass<T> passes[4];
  Vector<T> inner;     // parameters after the inner step
  Vector<T> gradient;  // at them
  Vector<T> shifted;
  Vector<T> update;

  explicit Workspace(const Layout& network) : layout(network), runner(network) {}

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
    runner.forward(pass, point, nullptr, batch, masks, stream);
    const double mean = runner.loss(pass, batch);
    runner.backward(pass, point, nullptr, masks,
                    [&](std::size_t i) { return sink_to(i, base, target, factor); });
    return mean;
  }

  // target = base - step * meta-gradient
  double meta_step(const Vector<T>& w, const std::array<Batch<T>, 3>& batches, const MetaOptions& options,
                   RandomStream* stream, const T* base, T* target, T step) {
    const Masks masks = stream != nullptr ? Masks::drawn : Masks::none;
    const T inner_step = static_cast<T>(options.inner_step);
    runner.reserve(inner, layout.num_parameters);

    Pass<T>& first = passes[0];
    runner.forward(first, {&w}, nullptr, batches[0], masks, stream);
    mark_low_rank(first);
    runner.loss(first, batches[0]);
    runner.backward(first, {&w}, nullptr, masks,
                    [&](std::size_t i) { return sink_apart(first, i, w.data(), inner.data(), -inner_step); });

    Pass<T>& second = passes[1];
    const Point<T> after{&inner, &w, &first, -inner_step};
    runner.forward(second, after, nullptr, batches[1], masks, stream);
    const double mean = runner.loss(second, batches[1]);
    if (options.kind == MetaGradient::first_order) {
      runner.backward(second, after, nullptr, masks,
                      [&](std::size_t i) { return sink_to(i, base, target, -step); });
      return mean;
    }

    mark_low_rank(second);
    runner.reserve(gradient, layout.num_parameters);
    runner.backward(second, after, nullptr, masks,
                    [&](std::size_t i) { return sink_apart(second, i, nullptr, gradient.data(), T(1)); });
    runner.reserve(update, layout.num_parameters);
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
    runner.forward(third, point, &direction, batch, masks, stream);
    runner.loss(third, batch);
    runner.backward(third, point, &direction, masks, [&](std::size_t i) {
      return last_sink(i, base, target, step * inner_step,
                       {runner.factors_of(second, i, -step), LowRank<T>{}});
    });
  }

  // The same with H(w) g = (g(w + d g) - g(w - d g)) / (2 d); factor = step inner_step / (2 d).
  void hessian_free_part(const Vector<T>& w, const Batch<T>& batch, Masks masks, RandomStream* stream,
                         const T* base, T* target, T step, T factor, T difference) {
    const Pass<T>& second = passes[1];
    Pass<T>& plus = passes[2];
    Pass<T>& minus = passes[3];
    runner.reserve(shifted, layout.num_parameters);
    const auto shift = [&](T by) {
      for_dense(second, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
          shifted[i] = w[i] + by * gradient[i];
        }
      });
      return Point<T>{&shifted, &w, &second, by};
    };

    const Point<T> ahead = shift(difference);
    runner.forward(plus, ahead, nullptr, batch, masks, stream);
    plus.low_rank = second.low_rank;
    runner.loss(plus, batch);
    runner.backward(plus, ahead, nullptr, masks,
                    [&](std::size_t i) { return sink_apart(plus, i, update.data(), update.data(), factor); });

    const Point<T> behind = shift(-difference);
    minus.memory.resize(layout.steps.size());
    for (std::size_t i = 0; i < layout.steps.size(); ++i) {
      if (layout.steps[i].operation->is_dropout()) {
        minus.memory[i].drawn = plus.memory[i].drawn;
      }
    }
    runner.forward(minus, behind, nullptr, batch, masks == Masks::none ? masks : Masks::kept, nullptr);
    runner.loss(minus, batch);
    runner.backward(minus, behind, nullptr, masks, [&](std::size_t i) {
      return last_sink(i, base, target, -factor,
                       {runner.factors_of(second, i, -step), runner.factors_of(plus, i, factor)});
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
    ws.runner.forward(ws.passes[0], {&w}, nullptr, {features + begin * ws.layout.num_inputs, nullptr, count},
                      Runner<T>::Masks::none, nullptr);
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
    ws.runner.forward(ws.passes[0], {&w}, nullptr, part, Runner<T>::Masks::none, nullptr);
    score.loss_sum += ws.runner.loss(ws.passes[0], part) * static_cast<double>(part.size);
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
  const auto masks = dropout != nullptr ? Runner<T>::Masks::drawn : Runner<T>::Masks::none;
  const Point<T> point{&w};
  const Point<T> direction{&v};
  ws.runner.forward(ws.passes[0], point, &direction, batch, masks, dropout);
  const double mean = ws.runner.loss(ws.passes[0], batch);
  ws.runner.backward(ws.passes[0], point, &direction, masks,
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
