#include "skein/learning/workspace.h"

#include "skein/base/expect.h"

namespace skein {

void read_drifted(const Dataset& data, const DriftedSamples& drifted, std::size_t place,
                  std::span<float> out) {
  const FeatureDrift& drift = *drifted.drift;
  const std::uint32_t sequence = drifted.collected[place];
  expect(sequence < drift.transforms.size(), "drift is known for every sequence up to now");
  read_transformed(data, drifted.samples[place], drift.transforms[sequence],
                   {drift.seed, drift.cluster, sequence}, out);
}

nn::Batch<float> BatchBuffer::read(const Dataset& data, std::span<const SampleIndex> samples,
                                   const DriftedSamples& drifted) {
  const std::size_t size = data.shape.size();
  if (features_.size() < samples.size() * size) {
    features_ = nn::Vector<float>(samples.size() * size);
  }
  labels_.resize(samples.size());
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const std::span<float> features = features_.span().subspan(i * size, size);
    SampleIndex sample = samples[i];
    if (drifted.drift == nullptr) {
      data.read(sample, features);
    } else {
      read_drifted(data, drifted, sample, features);
      sample = drifted.samples[sample];
    }
    labels_[i] = data.labels[sample];
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
