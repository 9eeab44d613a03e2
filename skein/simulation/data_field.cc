#include "skein/simulation/data_field.h"

#include <algorithm>
#include <cmath>

#include "skein/base/bytes.h"
#include "skein/base/expect.h"
#include "skein/base/random.h"

namespace skein {
namespace {

void put_drift(ByteWriter& bytes, const ClusterDrift& drift) {
  bytes.put_list(drift.mix);
  bytes.put_list(drift.target);
  bytes.put<std::uint64_t>(drift.num_targets);
  bytes.put<std::uint64_t>(drift.sequence);
}

void get_drift(ByteCursor& bytes, ClusterDrift& drift) {
  drift.mix = bytes.get_list<LabelMix>();
  drift.target = bytes.get_list<LabelMix>();
  drift.num_targets = bytes.get<std::uint64_t>();
  drift.sequence = bytes.get<std::uint64_t>();
}

void put_buffer(ByteWriter& bytes, const DeviceBuffer& buffer) {
  bytes.put<std::uint64_t>(buffer.num_displaced());
  bytes.put_list(buffer.contents());
}

void get_buffer(ByteCursor& bytes, DeviceBuffer& buffer) {
  const auto displaced = bytes.get<std::uint64_t>();
  buffer = DeviceBuffer(buffer.capacity(), bytes.get_list<std::vector<DataPoint>>(), displaced);
}

}  // namespace

DataField::DataField(DataFieldSetup setup, Workspaces& workspaces, ThreadPool& pool)
    : setup_(std::move(setup)),
      pool_(pool),
      workspaces_(workspaces),
      exact_network_(workspaces.network().architecture()),
      losses_(exact_network_, setup_.data->train) {
  first_device_.push_back(0);
  for (const GroupShare& group : setup_.partition->groups) {
    ClusterDrift& drift = drifts_.emplace_back();
    drift.mix = group.mix;
    for (const std::vector<SampleIndex>& samples : group.members) {
      DeviceBuffer& buffer = buffers_.emplace_back(setup_.buffers[buffers_.size()]);
      buffer.push(samples, 0);
    }
    first_device_.push_back(buffers_.size());
  }
  expect(setup_.rates.size() == drifts_.size(), "every cluster has its rates of drift");
  handed_.resize(drifts_.size());
  // By the sample, so that a model has never seen it, not even at another cluster.
  for (std::size_t sample = 0; setup_.held_out > 0.0 && sample < setup_.data->train.size(); ++sample) {
    held_out_.push_back(RandomStream(setup_.seed, "held out", sample).bernoulli(setup_.held_out));
  }
  update_feature_drifts();
}

void DataField::update_feature_drifts() {
  feature_drifts_.resize(drifts_.size());
  for (std::size_t cluster = 0; cluster < drifts_.size(); ++cluster) {
    const ClusterDriftRates& rates = setup_.rates[cluster];
    if (!rates.change_features()) {
      continue;
    }
    // Tasks keep what they were given: a new value, with what is known already.
    std::shared_ptr<const FeatureDrift>& latest = feature_drifts_[cluster];
    FeatureDrift drift = latest != nullptr ? *latest : FeatureDrift{.seed = setup_.seed, .cluster = cluster};
    if (drift.transforms.empty()) {
      drift.transforms.emplace_back();
    }
    for (std::size_t sequence = drift.transforms.size(); sequence <= sequence_; ++sequence) {
      drift.transforms.push_back(skein::advance(drift.transforms.back(), rates, step_after(sequence - 1)));
    }
    latest = std::make_shared<const FeatureDrift>(std::move(drift));
  }
}

std::vector<std::vector<DataPoint>> DataField::offload(std::size_t device, std::span<const double> shares,
                                                       std::uint64_t round) const {
  RandomStream stream(setup_.seed, "offloaded points", device, round);
  const DeviceBuffer& buffer = buffers_[device];
  if (held_out_.empty()) {
    return buffer.sample_for(shares, stream);
  }
  std::vector<DataPoint> points = buffer.contents();
  std::erase_if(points, [&](const DataPoint& point) { return is_held_out(point); });
  return DeviceBuffer(buffer.capacity(), std::move(points), 0).sample_for(shares, stream);
}

std::size_t DataField::num_points(std::size_t device) const {
  std::size_t count = buffers_[device].size();
  for (std::size_t place = 0; !held_out_.empty() && place < buffers_[device].size(); ++place) {
    count -= is_held_out(buffers_[device][place]) ? 1 : 0;
  }
  return count;
}

DriftStep DataField::step_after(std::size_t sequence) const {
  if (setup_.drift.per == DriftOptions::Per::sequence) {
    return {.at = static_cast<double>(sequence)};
  }
  return {.at = starts_h_[sequence], .length = starts_h_[sequence + 1] - starts_h_[sequence]};
}

// What comes by the hour is counted from the start and in whole points, so nothing is lost in between.
std::size_t DataField::num_arrivals(std::size_t device) const {
  std::size_t count = setup_.arrivals[device];
  if (!setup_.hourly_arrivals.empty()) {
    const double rate = setup_.hourly_arrivals[device];
    count += static_cast<std::size_t>(std::floor(rate * starts_h_[sequence_]) -
                                      std::floor(rate * starts_h_[sequence_ - 1]));
  }
  return count;
}

void DataField::advance(Time now) {
  starts_h_.push_back(now.si() / 3600.0);
  const DriftStep step = step_after(sequence_);
  const DriftContext context{.options = setup_.drift, .pools = *setup_.pools, .seed = setup_.seed};
  for (std::size_t cluster = 0; cluster < drifts_.size(); ++cluster) {
    skein::advance(drifts_[cluster], setup_.rates[cluster], cluster, context, step);
  }
  ++sequence_;
  update_feature_drifts();
  for (std::size_t cluster = 0; cluster < drifts_.size(); ++cluster) {
    for (std::size_t device = first_device_[cluster]; device < first_device_[cluster + 1]; ++device) {
      RandomStream stream(setup_.seed, "arrivals", device, sequence_);
      collect(buffers_[device], *setup_.pools, drifts_[cluster].mix, num_arrivals(device),
              static_cast<std::uint32_t>(sequence_), stream);
    }
  }
}

std::string DataField::save() const {
  ByteWriter bytes;
  bytes.put<std::uint64_t>(sequence_);
  bytes.put_list(starts_h_);
  for (const ClusterDrift& drift : drifts_) {
    put_drift(bytes, drift);
  }
  for (const DeviceBuffer& buffer : buffers_) {
    put_buffer(bytes, buffer);
  }
  return bytes.take();
}

void DataField::restore(const std::string& text) {
  ByteCursor bytes(text);
  sequence_ = bytes.get<std::uint64_t>();
  starts_h_ = bytes.get_list<std::vector<double>>();
  for (ClusterDrift& drift : drifts_) {
    get_drift(bytes, drift);
  }
  for (DeviceBuffer& buffer : buffers_) {
    get_buffer(bytes, buffer);
  }
  expect(bytes.at_end(), "a saved field is of the same devices");
  update_feature_drifts();
}

std::string DataField::save(std::size_t cluster) const {
  ByteWriter bytes;
  bytes.put<std::uint64_t>(sequence_);
  bytes.put_list(starts_h_);
  put_drift(bytes, drifts_[cluster]);
  for (std::size_t device = first_device_[cluster]; device < first_device_[cluster + 1]; ++device) {
    put_buffer(bytes, buffers_[device]);
  }
  return bytes.take();
}

void DataField::restore(std::size_t cluster, const std::string& text) {
  ByteCursor bytes(text);
  sequence_ = bytes.get<std::uint64_t>();
  starts_h_ = bytes.get_list<std::vector<double>>();
  get_drift(bytes, drifts_[cluster]);
  for (std::size_t device = first_device_[cluster]; device < first_device_[cluster + 1]; ++device) {
    get_buffer(bytes, buffers_[device]);
  }
  expect(bytes.at_end(), "a saved cluster is of the same devices");
  update_feature_drifts();
}

void DataField::forget() {
  for (DeviceBuffer& buffer : buffers_) {
    buffer = DeviceBuffer(buffer.capacity());
  }
}

}  // namespace skein
