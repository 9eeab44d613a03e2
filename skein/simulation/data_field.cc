#include "skein/simulation/data_field.h"

#include <algorithm>
#include <cmath>

#include "skein/base/bytes.h"
#include "skein/base/expect.h"
#include "skein/base/random.h"

namespace skein {
namespace {

constexpr std::size_t most_held_out = 300;  // points that the devices of a cluster keep for tests

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
      buffers_.emplace_back(setup_.buffers[buffers_.size()]);
      if (setup_.held_out > 0.0) {
        held_out_.emplace_back(std::max<std::size_t>(1, most_held_out / group.members.size()));
      }
      keep(buffers_.size() - 1, samples);
    }
    first_device_.push_back(buffers_.size());
  }
  expect(setup_.rates.size() == drifts_.size(), "every cluster has its rates of drift");
  handed_.resize(drifts_.size());
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
  return buffers_[device].sample_for(shares, stream);
}

// Held out is a sample, so no model has ever seen it, not even at another cluster.
void DataField::keep(std::size_t device, std::span<const SampleIndex> samples) {
  for (const SampleIndex sample : samples) {
    const bool is_held_out =
        setup_.held_out > 0.0 && RandomStream(setup_.seed, "held out", sample).bernoulli(setup_.held_out);
    (is_held_out ? held_out_ : buffers_)[device].push(
        {.sample = sample, .sequence = static_cast<std::uint32_t>(sequence_)});
  }
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
      keep(device, draw(*setup_.pools, drifts_[cluster].mix, num_arrivals(device), stream));
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
  for (const auto* buffers : {&buffers_, &held_out_}) {
    for (const DeviceBuffer& buffer : *buffers) {
      put_buffer(bytes, buffer);
    }
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
  for (auto* buffers : {&buffers_, &held_out_}) {
    for (DeviceBuffer& buffer : *buffers) {
      get_buffer(bytes, buffer);
    }
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
    if (!held_out_.empty()) {
      put_buffer(bytes, held_out_[device]);
    }
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
    if (!held_out_.empty()) {
      get_buffer(bytes, held_out_[device]);
    }
  }
  expect(bytes.at_end(), "a saved cluster is of the same devices");
  update_feature_drifts();
}

void DataField::forget() {
  for (auto* buffers : {&buffers_, &held_out_}) {
    for (DeviceBuffer& buffer : *buffers) {
      buffer = DeviceBuffer(buffer.capacity());
    }
  }
}

}  // namespace skein
