#include "skein/learning/data_field.h"

#include <algorithm>

#include "skein/base/bytes.h"
#include "skein/base/expect.h"
#include "skein/base/random.h"
#include "skein/learning/evaluation.h"

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

DataField::DataField(DataFieldSetup setup, const nn::Network<float>& network, ThreadPool& pool)
    : setup_(std::move(setup)), pool_(pool), workspaces_(network) {
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
}

std::vector<std::vector<SampleIndex>> DataField::offload(std::size_t device, std::span<const double> shares,
                                                         std::uint64_t round) const {
  RandomStream stream(setup_.seed, "offloaded points", device, round);
  std::vector<std::vector<SampleIndex>> sent;
  for (const std::vector<DataPoint>& points : buffers_[device].sample_for(shares, stream)) {
    std::vector<SampleIndex>& samples = sent.emplace_back();
    samples.reserve(points.size());
    for (const DataPoint& point : points) {
      samples.push_back(point.sample);
    }
  }
  return sent;
}

std::vector<ModelScore> DataField::scores(std::span<const ClusterModel> models) {
  std::vector<ModelScore> all(models.size());
  pool_.parallel_for(models.size(), [&](std::size_t i) {
    const auto [cluster, model] = models[i];
    RandomStream stream(setup_.seed, "cluster test", cluster, sequence_);
    const std::vector<SampleIndex> samples =
        draw(*setup_.test_pools, drifts_[cluster].mix, setup_.test_points, stream);
    const Evaluation evaluation = evaluate(*model, setup_.data->test, samples, workspaces_, pool_);
    all[i] = {.accuracy = evaluation.accuracy, .loss = evaluation.loss};
  });
  return all;
}

std::vector<SampleIndex> DataField::cluster_samples(std::size_t cluster, std::size_t count) const {
  std::vector<SampleIndex> all;
  for (std::size_t device = first_device_[cluster]; device < first_device_[cluster + 1]; ++device) {
    for (const DataPoint& point : buffers_[device].contents()) {
      all.push_back(point.sample);
    }
  }
  RandomStream stream(setup_.seed, "cluster gradient", cluster, sequence_);
  stream.shuffle(all);
  all.resize(std::min(count, all.size()));
  return all;
}

std::vector<float> DataField::meta_gradient(std::size_t cluster, const Model& model) {
  const std::vector<SampleIndex> samples = cluster_samples(cluster, setup_.gradient_points);
  std::vector<float> gradient(model.size(), 0.0F);
  if (samples.empty()) {
    return gradient;
  }
  workspaces_.with([&](Workspace& workspace) {
    const nn::Batch<float> batch = workspace.batches[0].read(setup_.data->train, samples);
    Model& out = workspace.vectors[0];
    if (out.size() != model.size()) {
      out = Model(model.size());
    }
    workspace.engine.meta_gradient(model, {batch, batch, batch},
                                   {.kind = nn::MetaGradient::first_order, .inner_step = setup_.inner_step},
                                   nullptr, out);
    std::ranges::copy(out, gradient.begin());
  });
  return gradient;
}

std::vector<std::vector<float>> DataField::meta_gradients(std::span<const ClusterModel> models) {
  std::vector<std::vector<float>> all(models.size());
  pool_.parallel_for(models.size(),
                     [&](std::size_t i) { all[i] = meta_gradient(models[i].cluster, *models[i].model); });
  return all;
}

void DataField::advance() {
  const DriftContext context{.options = setup_.drift, .pools = *setup_.pools, .seed = setup_.seed};
  for (std::size_t cluster = 0; cluster < drifts_.size(); ++cluster) {
    skein::advance(drifts_[cluster], setup_.rates[cluster], cluster, context);
  }
  ++sequence_;
  for (std::size_t cluster = 0; cluster < drifts_.size(); ++cluster) {
    for (std::size_t device = first_device_[cluster]; device < first_device_[cluster + 1]; ++device) {
      RandomStream stream(setup_.seed, "arrivals", device, sequence_);
      collect(buffers_[device], *setup_.pools, drifts_[cluster].mix, setup_.arrivals[device],
              static_cast<std::uint32_t>(sequence_), stream);
    }
  }
}

std::string DataField::save() const {
  ByteWriter bytes;
  bytes.put<std::uint64_t>(sequence_);
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
  for (ClusterDrift& drift : drifts_) {
    get_drift(bytes, drift);
  }
  for (DeviceBuffer& buffer : buffers_) {
    get_buffer(bytes, buffer);
  }
  expect(bytes.at_end(), "a saved field is of the same devices");
}

std::string DataField::save(std::size_t cluster) const {
  ByteWriter bytes;
  bytes.put<std::uint64_t>(sequence_);
  put_drift(bytes, drifts_[cluster]);
  for (std::size_t device = first_device_[cluster]; device < first_device_[cluster + 1]; ++device) {
    put_buffer(bytes, buffers_[device]);
  }
  return bytes.take();
}

void DataField::restore(std::size_t cluster, const std::string& text) {
  ByteCursor bytes(text);
  sequence_ = bytes.get<std::uint64_t>();
  get_drift(bytes, drifts_[cluster]);
  for (std::size_t device = first_device_[cluster]; device < first_device_[cluster + 1]; ++device) {
    get_buffer(bytes, buffers_[device]);
  }
  expect(bytes.at_end(), "a saved cluster is of the same devices");
}

void DataField::forget() {
  for (DeviceBuffer& buffer : buffers_) {
    buffer = DeviceBuffer(buffer.capacity());
  }
}

}  // namespace skein
