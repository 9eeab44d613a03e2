#include "skein/planning/lstm.h"

#include <algorithm>
#include <cmath>

#include "skein/nn/kernels.h"

namespace skein {
namespace {

using nn::kernels;

float logistic(float x) { return 1.0F / (1.0F + std::exp(-x)); }
// Good to 1e-7 of full scale, and several times as fast as the library's, which is exact near 0.
float squash(float x) { return 1.0F - 2.0F / (1.0F + std::exp(2.0F * x)); }

// One moment of all rows: from the sums before the gates to c and h. Without a moment before, `old` is null.
void open_gates(std::size_t rows, std::size_t m, float* gates, const float* old, float* cells,
                float* states) {
  for (std::size_t r = 0; r < rows; ++r) {
    float* g = gates + r * 4 * m;
    for (std::size_t i = 0; i < m; ++i) {
      g[i] = logistic(g[i]);
      g[m + i] = logistic(g[m + i]);
      g[2 * m + i] = squash(g[2 * m + i]);
      g[3 * m + i] = logistic(g[3 * m + i]);
      const std::size_t at = r * m + i;
      cells[at] = g[m + i] * (old != nullptr ? old[at] : 0.0F) + g[i] * g[2 * m + i];
      states[at] = g[3 * m + i] * squash(cells[at]);
    }
  }
}

}  // namespace

void lstm_forward(const LstmShape& s, const float* w, const float* windows, std::size_t rows,
                  MemoryTape& tape) {
  const std::size_t m = s.memory;
  const float* recurrent = w + s.features * 4 * m;
  const float* bias = recurrent + m * 4 * m;
  grow(tape.gates, s.window * rows * 4 * m);
  grow(tape.cells, s.window * rows * m);
  grow(tape.states, s.window * rows * m);
  grow(tape.result, rows * m);
  for (std::size_t t = 0; t < s.window; ++t) {
    float* gates = &tape.gates[t * rows * 4 * m];
    kernels<float>().multiply({.rows = rows,
                               .columns = 4 * m,
                               .a = windows + t * s.features,
                               .a_stride = s.window * s.features,
                               .run_length = s.features,
                               .b = w,
                               .b_stride = 4 * m,
                               .bias = bias,
                               .c = gates,
                               .c_stride = 4 * m});
    if (t > 0) {
      kernels<float>().multiply({.rows = rows,
                                 .columns = 4 * m,
                                 .a = &tape.states[(t - 1) * rows * m],
                                 .a_stride = m,
                                 .run_length = m,
                                 .b = recurrent,
                                 .b_stride = 4 * m,
                                 .c = gates,
                                 .c_stride = 4 * m,
                                 .add = true});
    }
    open_gates(rows, m, gates, t > 0 ? &tape.cells[(t - 1) * rows * m] : nullptr, &tape.cells[t * rows * m],
               &tape.states[t * rows * m]);
  }
  std::copy_n(&tape.states[(s.window - 1) * rows * m], rows * m, tape.result.data());
}

void lstm_backward(const LstmShape& s, const float* w, const float* windows, std::size_t rows,
                   MemoryTape& tape, const float* d_result, float* gradient) {
  const std::size_t m = s.memory;
  const float* recurrent = w + s.features * 4 * m;
  float* d_recurrent = gradient + s.features * 4 * m;
  float* d_bias = d_recurrent + m * 4 * m;
  grow(tape.d_gates, rows * 4 * m);
  grow(tape.d_states, rows * m);
  grow(tape.d_cells, rows * m);
  std::copy_n(d_result, rows * m, tape.d_states.data());
  std::fill_n(tape.d_cells.data(), rows * m, 0.0F);
  for (std::size_t t = s.window; t-- > 0;) {
    for (std::size_t r = 0; r < rows; ++r) {
      const float* g = &tape.gates[(t * rows + r) * 4 * m];
      const float* cell = &tape.cells[(t * rows + r) * m];
      const float* old = t > 0 ? &tape.cells[((t - 1) * rows + r) * m] : nullptr;
      float* d = &tape.d_gates[r * 4 * m];
      for (std::size_t i = 0; i < m; ++i) {
        const float squashed = squash(cell[i]);
        const float dh = tape.d_states[r * m + i];
        const float dc = tape.d_cells[r * m + i] + dh * g[3 * m + i] * (1.0F - squashed * squashed);
        d[i] = dc * g[2 * m + i] * g[i] * (1.0F - g[i]);
        d[m + i] = dc * (old != nullptr ? old[i] : 0.0F) * g[m + i] * (1.0F - g[m + i]);
        d[2 * m + i] = dc * g[i] * (1.0F - g[2 * m + i] * g[2 * m + i]);
        d[3 * m + i] = dh * squashed * g[3 * m + i] * (1.0F - g[3 * m + i]);
        tape.d_cells[r * m + i] = dc * g[m + i];
        for (const std::size_t gate : {i, m + i, 2 * m + i, 3 * m + i}) {
          d_bias[gate] += d[gate];
        }
      }
    }
    const auto add = [&](const float* x, std::size_t x_stride, std::size_t inputs, float* target) {
      kernels<float>().rank_update({.rows = inputs,
                                    .columns = 4 * m,
                                    .rank = rows,
                                    .x = x,
                                    .x_stride = x_stride,
                                    .d = tape.d_gates.data(),
                                    .d_stride = 4 * m,
                                    .base = target,
                                    .target = target,
                                    .stride = 4 * m});
    };
    add(windows + t * s.features, s.window * s.features, s.features, gradient);
    if (t > 0) {
      add(&tape.states[(t - 1) * rows * m], m, m, d_recurrent);
      kernels<float>().dot_products({.a_count = rows,
                                     .b_count = m,
                                     .length = 4 * m,
                                     .a = tape.d_gates.data(),
                                     .a_stride = 4 * m,
                                     .b = recurrent,
                                     .b_stride = 4 * m,
                                     .c = tape.d_states.data(),
                                     .c_stride = m,
                                     .zero_padded = true});
    }
  }
}

}  // namespace skein
