// A long short-term memory over a short window, many rows at once, with its derivative: that of skein/nn with
// one bias (gates in the order input, forget, cell, output), for networks that are not trained on classes.
//
//   i, f, o = sigmoid(x W + h U + b),  g = tanh(likewise),  c' = f c + i g,  h' = o tanh(c')
#pragma once

#include <cstddef>

#include "skein/nn/vector.h"

namespace skein {

struct LstmShape {
  std::size_t features = 1;
  std::size_t window = 1;
  std::size_t memory = 8;  // a multiple of 8

  // W (features x 4 memory), U (memory x 4 memory), b (4 memory), one after another.
  [[nodiscard]] std::size_t num_parameters() const { return (features + memory + 1) * 4 * memory; }
};

// What a forward pass leaves for the backward one, and its result: the last h.
struct MemoryTape {
  nn::Vector<float> gates;   // step x row x 4 memory, after their nonlinearity
  nn::Vector<float> cells;   // step x row x memory
  nn::Vector<float> states;  // step x row x memory
  nn::Vector<float> result;  // row x memory
  nn::Vector<float> d_gates, d_states, d_cells;
};

// Makes room for `size` numbers; what was there may be lost.
inline void grow(nn::Vector<float>& vector, std::size_t size) {
  if (vector.size() < size) {
    vector = nn::Vector<float>(size);
  }
}

// `windows` has rows of window x features numbers.
void lstm_forward(const LstmShape& shape, const float* w, const float* windows, std::size_t rows,
                  MemoryTape& tape);
// Adds the gradient with respect to w, from that of the result.
void lstm_backward(const LstmShape& shape, const float* w, const float* windows, std::size_t rows,
                   MemoryTape& tape, const float* d_result, float* gradient);

}  // namespace skein
