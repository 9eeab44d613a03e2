// Label shift (logit adjustment): what a model knows of the classes is kept apart from how often they occur.
//
// A worker that lacks a class would unlearn it, for all others too. So it trains with a shift on the last
// layer's biases, one number per class, which says how often the class occurs in its own data,
//
//   log(K pi_y),   pi_y = (n_y + s) / (n + K s)
//
// and takes it off again before models are averaged (K classes, n_y of its n points of class y, s > 0 the
// smoothing). What is averaged is then as if all classes had been equally frequent. To a model that is handed
// over it is added for good, as log(K ((1 - u) pi_y + u / K)): u is the share of points that drift will have
// given any class by the time that the model is used. (Menon et al., "Long-tail learning via logit
// adjustment", 2021.)
//
// The last layer must be linear: then a shift of its biases is a shift of the logits, in every batch of a
// meta-gradient and in its inner step too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "skein/base/expect.h"
#include "skein/nn/architecture.h"
#include "skein/nn/vector.h"

namespace skein {

struct LabelShiftOptions {
  double smoothing = 0.0;  // s; 0: no shift
  double mix = 0.1;        // u
};

// Points of each class.
using LabelCounts = std::vector<std::size_t>;

// A number per class; `smoothing` is above 0.
std::vector<double> label_shift(const LabelCounts& counts, double smoothing);
std::vector<double> lasting_label_shift(const LabelCounts& counts, const LabelShiftOptions& options);

// Whether its last layer is linear. The architecture must be without faults.
bool ends_with_biases(const nn::Architecture& architecture);
// Adds `factor` times the shift to the biases of the last layer, which are a flat vector's last numbers.
template <class T>
void add_to_biases(nn::Vector<T>& model, std::span<const double> shift, double factor) {
  expect(shift.size() <= model.size(), "a model has a bias for each class");
  const std::size_t first = model.size() - shift.size();
  for (std::size_t y = 0; y < shift.size(); ++y) {
    model[first + y] = static_cast<T>(static_cast<double>(model[first + y]) + factor * shift[y]);
  }
}

}  // namespace skein
