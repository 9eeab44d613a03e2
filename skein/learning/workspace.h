// What a thread needs to train or test a network: an engine, and places for samples.
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

// Samples with the sequence that each was collected in, whose features drift has changed.
struct DriftedSamples {
  std::span<const SampleIndex> samples{};
  std::span<const std::uint32_t> collected{};
  const FeatureDrift* drift = nullptr;  // nullptr: there is none
  // On top of it: each time that a sample is read it is turned by a random angle, so far at most.
  double most_turn_degrees = 0.0;
  RandomStream* turns = nullptr;  // nullptr: none is

  // The sample of the data set.
  [[nodiscard]] SampleIndex sample(SampleIndex place) const {
    return drift == nullptr ? place : samples[place];
  }
};

// One of them as a network sees it. Without drift, its place is the sample itself.
void read_drifted(const Dataset& data, const DriftedSamples& drifted, SampleIndex place,
                  std::span<float> out);

// Samples as a network reads them.
class BatchBuffer {
 public:
  // Valid until the next call. With drift, `samples` are places in `drifted`.
  nn::Batch<float> read(const Dataset& data, std::span<const SampleIndex> samples,
                        const DriftedSamples& drifted = {});

 private:
  nn::Vector<float> features_;
  std::vector<std::uint8_t> labels_;
};

struct Workspace {
  explicit Workspace(const nn::Network<float>& network) : engine(network) {}

  nn::Engine<float> engine;
  std::array<BatchBuffer, 3> batches{};
  std::array<nn::Vector<float>, 3> vectors{};  // of the parameters' size, once somebody needs them
};

// As many as there are threads at work, made when needed and kept.
class Workspaces {
 public:
  // The network must outlive it.
  explicit Workspaces(const nn::Network<float>& network) : network_(network) {}

  [[nodiscard]] const nn::Network<float>& network() const { return network_; }

  // Calls use(Workspace&) with one that no other thread has.
  template <class Use>
  void with(const Use& use) {
    std::unique_ptr<Workspace> mine = take();
    use(*mine);
    give_back(std::move(mine));
  }

 private:
  std::unique_ptr<Workspace> take();
  void give_back(std::unique_ptr<Workspace> workspace);

  const nn::Network<float>& network_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Workspace>> free_;
};

}  // namespace skein
