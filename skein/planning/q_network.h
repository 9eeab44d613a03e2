// The network behind Q(Z, H): an LSTM over the last states, two layers over what it remembers and what the
// plan is, one number out.
//
//   m  = LSTM(z_1 .. z_window)                 from a memory of nothing; without one, m = z_window
//   h1 = relu(m W_m + p W_p + b_1),   h2 = relu(h1 W_2 + b_2),   q = h2 w_3 + b_3
//
// z are features of a state, p those of a plan. The LSTM is that of skein/nn: gates in the order input,
// forget, cell, output; its three tensors stand one after another.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "skein/base/random.h"
#include "skein/nn/vector.h"
#include "skein/planning/lstm.h"

namespace skein {

struct QShape {
  std::size_t features = 1;       // of a state
  std::size_t plan_features = 1;  // of a plan
  std::size_t window = 1;         // states
  std::size_t memory = 0;         // of the LSTM; 0: none. All sizes from here on are multiples of 8
  std::size_t hidden = 8;
  std::size_t hidden2 = 8;

  // What the layers see of the states.
  [[nodiscard]] std::size_t remembered() const { return memory > 0 ? memory : features; }
  // A row of that many numbers, padded.
  [[nodiscard]] std::size_t remembered_stride() const { return (remembered() + 7) / 8 * 8; }
  [[nodiscard]] LstmShape lstm() const { return {.features = features, .window = window, .memory = memory}; }
  friend bool operator==(const QShape&, const QShape&) = default;
};

// Where tensors are in the flat vector of parameters.
struct QOffsets {
  explicit QOffsets(const QShape& shape);
  std::size_t input = 0;        // features x 4 memory
  std::size_t recurrent = 0;    // memory x 4 memory
  std::size_t gate_bias = 0;    // 4 memory
  std::size_t from_memory = 0;  // remembered x hidden
  std::size_t from_plan = 0;    // plan_features x hidden
  std::size_t bias1 = 0;
  std::size_t second = 0;  // hidden x hidden2
  std::size_t bias2 = 0;
  std::size_t third = 0;  // hidden2
  std::size_t bias3 = 0;
  std::size_t size = 0;
};

class QNetwork {
 public:
  explicit QNetwork(const QShape& shape) : shape_(shape), at_(shape) {}

  [[nodiscard]] const QShape& shape() const { return shape_; }
  [[nodiscard]] const QOffsets& at() const { return at_; }
  [[nodiscard]] std::size_t num_parameters() const { return at_.size; }
  // Each tensor uniform in [-1/sqrt(fan in), 1/sqrt(fan in)]; the last layer zero, so that learning starts
  // from the model's reward alone.
  [[nodiscard]] nn::Vector<float> initial_parameters(RandomStream& stream) const;

  // `windows` has rows of window x features numbers.
  void remember(const nn::Vector<float>& w, const float* windows, std::size_t rows, MemoryTape& tape) const;

  // From the first layer of many plans, after its relu, to their q. `scratch` has rows of hidden2 numbers.
  void finish(const nn::Vector<float>& w, const float* h1, float* scratch, std::size_t rows, float* q) const;

  // The mean Huber loss of q against `targets` for rows of states and plans, and its gradient.
  double gradient(const nn::Vector<float>& w, const float* windows, const float* plans,
                  std::span<const float> targets, nn::Vector<float>& out);

 private:
  std::vector<float> values(const nn::Vector<float>& w, const float* windows, const float* plans,
                            std::size_t rows);
  double huber_loss(const nn::Vector<float>& w, std::span<const float> q, std::span<const float> targets,
                    nn::Vector<float>& out);

  QShape shape_;
  QOffsets at_;
  MemoryTape tape_;  // of gradient()
  nn::Vector<float> h1_, h2_, d1_, d2_, dm_;
};

// Adam (Kingma and Ba) with its usual constants.
struct Adam {
  explicit Adam(std::size_t size) : mean(size), square(size) {}
  void step(nn::Vector<float>& w, const nn::Vector<float>& gradient, double step_size);

  nn::Vector<float> mean;
  nn::Vector<float> square;
  std::size_t steps = 0;
};

}  // namespace skein
