// Runs a network: outputs, loss, gradient, Hessian-vector product, and steps of training.
//
// A Network is shared by all threads; an Engine is one thread's workspace for it. `float` trains, `double`
// checks. The result of a call depends on its arguments alone.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "skein/base/names.h"
#include "skein/base/random.h"
#include "skein/nn/architecture.h"
#include "skein/nn/vector.h"

namespace skein::nn {

template <class T>
class Network {
 public:
  // The architecture must be without faults.
  explicit Network(Architecture architecture);
  ~Network();
  Network(Network&&) noexcept;
  Network& operator=(Network&&) noexcept;

  [[nodiscard]] const Architecture& architecture() const;
  [[nodiscard]] std::size_t num_parameters() const;
  [[nodiscard]] std::size_t num_inputs() const;
  // Of the last layer: the classes.
  [[nodiscard]] std::size_t num_outputs() const;
  // PyTorch's default: each tensor uniform in [-1/sqrt(fan in), 1/sqrt(fan in)].
  [[nodiscard]] Vector<T> initial_parameters(RandomStream& stream) const;

  struct Layout;
  [[nodiscard]] const Layout& layout() const { return *layout_; }

 private:
  std::unique_ptr<const Layout> layout_;
};

// Samples one after another, and the class of each.
template <class T>
struct Batch {
  const T* features = nullptr;
  const std::uint8_t* labels = nullptr;
  std::size_t size = 0;
};

// The loss is the mean over a batch of the cross-entropy of softmax(outputs).
struct Score {
  double loss_sum = 0.0;
  std::size_t correct = 0;
};

enum class MetaGradient { first_order, hessian_free, exact };
constexpr auto names_of(MetaGradient) {
  return names_for<MetaGradient>("first_order", "hessian_free", "exact");
}

// The meta-gradient of w on three batches (the paper, section III-B):
//
//   (I - inner_step H(w | third)) g(w - inner_step g(w | first) | second)
//
// where g is the gradient and H the Hessian. First order leaves out the Hessian; Hessian-free takes
//   H(w) v = (g(w + d v) - g(w - d v)) / (2 d)     with d = difference_step.
struct MetaOptions {
  MetaGradient kind = MetaGradient::first_order;
  double inner_step = 1e-3;
  double difference_step = 1e-3;
};

template <class T>
class Engine {
 public:
  // The network must outlive it.
  explicit Engine(const Network<T>& network);
  ~Engine();
  Engine(Engine&&) noexcept;
  Engine& operator=(Engine&&) noexcept;

  // Without dropout.
  // `out` has size * num_outputs() places.
  void outputs(const Vector<T>& w, const T* features, std::size_t size, T* out);
  Score score(const Vector<T>& w, const Batch<T>& batch);

  // Dropout's masks are drawn from `dropout`, anew for each batch; without it (nullptr) nothing is dropped.
  // All return the mean loss of the batch (of the second one, for meta-gradients), before any step.
  double gradient(const Vector<T>& w, const Batch<T>& batch, RandomStream* dropout, Vector<T>& out);
  // out = H(w) v
  double hessian_vector(const Vector<T>& w, const Vector<T>& v, const Batch<T>& batch, RandomStream* dropout,
                        Vector<T>& out);
  // Only an exact or Hessian-free one reads the third batch.
  double meta_gradient(const Vector<T>& w, const std::array<Batch<T>, 3>& batches, const MetaOptions& options,
                       RandomStream* dropout, Vector<T>& out);
  // w -= step * gradient
  double step(Vector<T>& w, const Batch<T>& batch, double step, RandomStream* dropout);
  // w -= step * meta-gradient
  double meta_step(Vector<T>& w, const std::array<Batch<T>, 3>& batches, const MetaOptions& options,
                   double step, RandomStream* dropout);

 private:
  struct Workspace;
  std::unique_ptr<Workspace> workspace_;
};

extern template class Network<float>;
extern template class Network<double>;
extern template class Engine<float>;
extern template class Engine<double>;

}  // namespace skein::nn
