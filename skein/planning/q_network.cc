#include "skein/planning/q_network.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "skein/base/expect.h"
#include "skein/nn/kernels.h"

namespace skein {
namespace {

using nn::kernels;

void relu(float* values, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = values[i] > 0.0F ? values[i] : 0.0F;
  }
}

// d = 0 where the activation is.
void relu_backward(const float* activations, float* d, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    d[i] = activations[i] > 0.0F ? d[i] : 0.0F;
  }
}

void sum_rows(const float* rows, std::size_t count, std::size_t columns, float* sum) {
  for (std::size_t r = 0; r < count; ++r) {
    for (std::size_t i = 0; i < columns; ++i) {
      sum[i] += rows[r * columns + i];
    }
  }
}

}  // namespace

QOffsets::QOffsets(const QShape& s) {
  const auto take = [&](std::size_t count) {
    const std::size_t first = size;
    size += count;
    return first;
  };
  input = take(s.memory > 0 ? s.features * 4 * s.memory : 0);
  recurrent = take(s.memory * 4 * s.memory);
  gate_bias = take(4 * s.memory);
  from_memory = take(s.remembered() * s.hidden);
  from_plan = take(s.plan_features * s.hidden);
  bias1 = take(s.hidden);
  second = take(s.hidden * s.hidden2);
  bias2 = take(s.hidden2);
  third = take(s.hidden2);
  bias3 = take(1);
}

nn::Vector<float> QNetwork::initial_parameters(RandomStream& stream) const {
  const QShape& s = shape_;
  nn::Vector<float> w(at_.size);
  const auto fill = [&](std::size_t first, std::size_t end, std::size_t fan_in) {
    const double bound = 1.0 / std::sqrt(static_cast<double>(fan_in));
    for (std::size_t i = first; i < end; ++i) {
      w[i] = static_cast<float>(stream.uniform(-bound, bound));
    }
  };
  if (s.memory > 0) {
    fill(at_.input, at_.from_memory, s.memory);
  }
  fill(at_.from_memory, at_.second, s.remembered() + s.plan_features);
  fill(at_.second, at_.third, s.hidden);
  return w;
}

void QNetwork::remember(const nn::Vector<float>& w, const float* windows, std::size_t rows,
                        MemoryTape& tape) const {
  const QShape& s = shape_;
  if (s.memory > 0) {
    lstm_forward(s.lstm(), w.data() + at_.input, windows, rows, tape);
    return;
  }
  const std::size_t stride = s.remembered_stride();
  grow(tape.result, rows * stride);
  for (std::size_t r = 0; r < rows; ++r) {
    std::copy_n(windows + (r * s.window + s.window - 1) * s.features, s.features, &tape.result[r * stride]);
  }
}

void QNetwork::finish(const nn::Vector<float>& w, const float* h1, float* scratch, std::size_t rows,
                      float* q) const {
  const QShape& s = shape_;
  kernels<float>().multiply({.rows = rows,
                             .columns = s.hidden2,
                             .a = h1,
                             .a_stride = s.hidden,
                             .run_length = s.hidden,
                             .b = w.data() + at_.second,
                             .b_stride = s.hidden2,
                             .bias = w.data() + at_.bias2,
                             .c = scratch,
                             .c_stride = s.hidden2});
  const float* third = w.data() + at_.third;
  for (std::size_t r = 0; r < rows; ++r) {
    // Eight sums side by side: the compiler may not reorder one.
    std::array<float, 8> sums8{};
    const float* values = scratch + r * s.hidden2;
    for (std::size_t i = 0; i < s.hidden2; i += sums8.size()) {
      for (std::size_t k = 0; k < sums8.size(); ++k) {
        sums8[k] += (values[i + k] > 0.0F ? values[i + k] : 0.0F) * third[i + k];
      }
    }
    q[r] = w[at_.bias3] + ((sums8[0] + sums8[4]) + (sums8[1] + sums8[5])) +
           ((sums8[2] + sums8[6]) + (sums8[3] + sums8[7]));
  }
}

// The layers' activations stay in tape_, h1_ and h2_.
std::vector<float> QNetwork::values(const nn::Vector<float>& w, const float* windows, const float* plans,
                                    std::size_t rows) {
  const QShape& s = shape_;
  const std::size_t stride = s.remembered_stride();
  remember(w, windows, rows, tape_);
  kernels<float>().multiply({.rows = rows,
                             .columns = s.hidden,
                             .a = tape_.result.data(),
                             .a_stride = stride,
                             .run_length = s.remembered(),
                             .b = w.data() + at_.from_memory,
                             .b_stride = s.hidden,
                             .bias = w.data() + at_.bias1,
                             .c = h1_.data(),
                             .c_stride = s.hidden});
  kernels<float>().multiply({.rows = rows,
                             .columns = s.hidden,
                             .a = plans,
                             .a_stride = s.plan_features,
                             .run_length = s.plan_features,
                             .b = w.data() + at_.from_plan,
                             .b_stride = s.hidden,
                             .c = h1_.data(),
                             .c_stride = s.hidden,
                             .add = true});
  std::vector<float> q(rows);
  relu(h1_.data(), rows * s.hidden);
  finish(w, h1_.data(), h2_.data(), rows, q.data());
  relu(h2_.data(), rows * s.hidden2);
  return q;
}

// The Huber loss, which is quadratic up to 1 and linear beyond, of all rows; the gradient of the last layer
// is added to `out`, that of its inputs is in d2_.
double QNetwork::huber_loss(const nn::Vector<float>& w, std::span<const float> q,
                            std::span<const float> targets, nn::Vector<float>& out) {
  const QShape& s = shape_;
  const std::size_t rows = targets.size();
  double loss = 0.0;
  for (std::size_t r = 0; r < rows; ++r) {
    const float error = q[r] - targets[r];
    const float size = std::abs(error);
    loss += size <= 1.0F ? 0.5 * error * error : size - 0.5;
    const float d = std::clamp(error, -1.0F, 1.0F) / static_cast<float>(rows);
    out[at_.bias3] += d;
    for (std::size_t i = 0; i < s.hidden2; ++i) {
      out[at_.third + i] += d * h2_[r * s.hidden2 + i];
      d2_[r * s.hidden2 + i] = d * w[at_.third + i];
    }
  }
  return loss;
}

double QNetwork::gradient(const nn::Vector<float>& w, const float* windows, const float* plans,
                          std::span<const float> targets, nn::Vector<float>& out) {
  const QShape& s = shape_;
  const std::size_t rows = targets.size();
  const std::size_t stride = s.remembered_stride();
  grow(h1_, rows * s.hidden);
  grow(h2_, rows * s.hidden2);
  grow(d1_, rows * s.hidden);
  grow(d2_, rows * s.hidden2);
  grow(dm_, rows * stride);
  std::ranges::fill(out, 0.0F);
  const std::vector<float> q = values(w, windows, plans, rows);
  const double loss = huber_loss(w, q, targets, out);
  relu_backward(h2_.data(), d2_.data(), rows * s.hidden2);
  const auto add_outer = [&](const float* x, std::size_t x_stride, std::size_t inputs, const float* d,
                             std::size_t outputs, std::size_t target) {
    kernels<float>().rank_update({.rows = inputs,
                                  .columns = outputs,
                                  .rank = rows,
                                  .x = x,
                                  .x_stride = x_stride,
                                  .d = d,
                                  .d_stride = outputs,
                                  .base = out.data() + target,
                                  .target = out.data() + target,
                                  .stride = outputs});
  };
  const auto back = [&](std::size_t weights, std::size_t inputs, const float* d, std::size_t outputs,
                        float* to, std::size_t to_stride) {
    kernels<float>().dot_products({.a_count = rows,
                                   .b_count = inputs,
                                   .length = outputs,
                                   .a = d,
                                   .a_stride = outputs,
                                   .b = w.data() + weights,
                                   .b_stride = outputs,
                                   .c = to,
                                   .c_stride = to_stride,
                                   .zero_padded = true});
  };
  add_outer(h1_.data(), s.hidden, s.hidden, d2_.data(), s.hidden2, at_.second);
  sum_rows(d2_.data(), rows, s.hidden2, out.data() + at_.bias2);
  back(at_.second, s.hidden, d2_.data(), s.hidden2, d1_.data(), s.hidden);
  relu_backward(h1_.data(), d1_.data(), rows * s.hidden);
  add_outer(tape_.result.data(), stride, s.remembered(), d1_.data(), s.hidden, at_.from_memory);
  add_outer(plans, s.plan_features, s.plan_features, d1_.data(), s.hidden, at_.from_plan);
  sum_rows(d1_.data(), rows, s.hidden, out.data() + at_.bias1);
  if (s.memory > 0) {
    back(at_.from_memory, s.memory, d1_.data(), s.hidden, dm_.data(), stride);
    lstm_backward(s.lstm(), w.data() + at_.input, windows, rows, tape_, dm_.data(), out.data() + at_.input);
  }
  return loss / static_cast<double>(rows);
}

void Adam::step(nn::Vector<float>& w, const nn::Vector<float>& gradient, double step_size) {
  constexpr float first = 0.9F;
  constexpr float second = 0.999F;
  constexpr float least = 1e-8F;
  ++steps;
  const auto count = static_cast<double>(steps);
  const auto rate =
      static_cast<float>(step_size * std::sqrt(1.0 - std::pow(0.999, count)) / (1.0 - std::pow(0.9, count)));
  for (std::size_t i = 0; i < w.size(); ++i) {
    mean[i] = first * mean[i] + (1.0F - first) * gradient[i];
    square[i] = second * square[i] + (1.0F - second) * gradient[i] * gradient[i];
    w[i] -= rate * mean[i] / (std::sqrt(square[i]) + least);
  }
}

}  // namespace skein
