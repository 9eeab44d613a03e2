// The loss of some samples as a function of the parameters, with its derivatives, in double precision and
// without dropout: for whoever measures rather than trains.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "skein/data/class_pools.h"
#include "skein/data/dataset.h"
#include "skein/data/feature_transform.h"
#include "skein/nn/engine.h"

namespace skein {

using Parameters = nn::Vector<double>;

// Whose loss: a weighted mean of the mean losses of some parts; samples may look as they do after drift.
struct SampleSet {
  struct Part {
    std::span<const SampleIndex> samples;
    double weight = 1.0;
  };
  std::vector<Part> parts{};  // weights add up to 1
  FeatureTransform transform{};
  NoiseSource noise{};

  SampleSet() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): samples are a set
  SampleSet(std::span<const SampleIndex> samples) : parts{{samples, 1.0}} {}
};

// One thread's: it has places of its own.
class SampleLoss {
 public:
  // Both must outlive it.
  SampleLoss(const nn::Network<double>& network, const Dataset& data);

  // All return the loss; `out` has the parameters' size.
  double gradient(const Parameters& w, const SampleSet& samples, Parameters& out);
  // out = H(w) v
  double hessian_vector(const Parameters& w, const Parameters& v, const SampleSet& samples, Parameters& out);
  // (I - inner_step H(w | third)) g(w - inner_step g(w | first) | second), exactly; the loss of the second
  // after the inner step.
  double meta_gradient(const Parameters& w, const std::array<SampleSet, 3>& batches, double inner_step,
                       Parameters& out);

  [[nodiscard]] std::size_t num_parameters() const { return part_.size(); }

 private:
  template <class Work>
  double mean(const SampleSet& set, Parameters& out, const Work& work);
  nn::Batch<double> read(const SampleSet& set, std::span<const SampleIndex> samples);

  const Dataset& data_;
  nn::Engine<double> engine_;
  Parameters part_;
  Parameters inner_;
  Parameters outer_;
  std::vector<float> sample_;
  nn::Vector<double> features_;
  std::vector<std::uint8_t> labels_;
};

// As many as there are threads at work, made when needed and kept.
class SampleLosses {
 public:
  SampleLosses(const nn::Network<double>& network, const Dataset& data) : network_(network), data_(data) {}

  [[nodiscard]] std::size_t num_parameters() const { return network_.num_parameters(); }

  // Calls use(SampleLoss&) with one that no other thread has.
  template <class Use>
  void with(const Use& use) {
    std::unique_ptr<SampleLoss> mine = take();
    use(*mine);
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(mine));
  }

 private:
  std::unique_ptr<SampleLoss> take();

  const nn::Network<double>& network_;
  const Dataset& data_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<SampleLoss>> free_;
};

double squared_norm(const Parameters& v);
double squared_distance(const Parameters& a, const Parameters& b);
// sum += weight * v
void add_weighted(double weight, const Parameters& v, Parameters& sum);

}  // namespace skein
