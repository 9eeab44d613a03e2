#include "skein/learning/workspace.h"

#include "skein/base/expect.h"

namespace skein {

void read_drifted(const Dataset& data, const DriftedSamples& drifted, SampleIndex place,
                  std::span<float> out) {
  FeatureTransform transform;
  NoiseSource noise;
  if (drifted.drift != nullptr) {
    const FeatureDrift& drift = *drifted.drift;
    const std::uint32_t sequence = drifted.collected[place];
    expect(sequence < drift.transforms.size(), "drift is known for every sequence up to now");
    transform = drift.transforms[sequence];
    noise = {drift.seed, drift.cluster, sequence};
  }
  if (drifted.turns != nullptr) {
    transform.rotation_degrees +=
        drifted.turns->uniform(-drifted.most_turn_degrees, drifted.most_turn_degrees);
  }
  read_transformed(data, drifted.sample(place), transform, noise, out);
}

nn::Batch<float> BatchBuffer::read(const Dataset& data, std::span<const SampleIndex> samples,
                                   const DriftedSamples& drifted) {
  const std::size_t size = data.shape.size();
  if (features_.size() < samples.size() * size) {
    features_ = nn::Vector<float>(samples.size() * size);
  }
  labels_.resize(samples.size());
  for (std::size_t i = 0; i < samples.size(); ++i) {
    read_drifted(data, drifted, samples[i], features_.span().subspan(i * size, size));
    labels_[i] = data.labels[drifted.sample(samples[i])];
  }
  return {.features = features_.data(), .labels = labels_.data(), .size = samples.size()};
}

std::unique_ptr<Workspace> Workspaces::take() {
  {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      std::unique_ptr<Workspace> workspace = std::move(free_.back());
      free_.pop_back();
      return workspace;
    }
  }
  return std::make_unique<Workspace>(network_);
}

void Workspaces::give_back(std::unique_ptr<Workspace> workspace) {
  const std::lock_guard lock(mutex_);
  free_.push_back(std::move(workspace));
}

}  // namespace skein
