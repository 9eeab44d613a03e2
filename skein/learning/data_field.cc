#include "skein/learning/data_field.h"

#include <algorithm>

#include "skein/base/bytes.h"
#include "skein/base/expect.h"
#include "skein/base/random.h"
#include "skein/learning/estimators.h"
#include "skein/learning/evaluation.h"

namespace skein {
DataField::DataField(DataFieldSetup setup, const nn::Network<float>& network, ThreadPool& pool)
    : setup_(std::move(setup)),
      pool_(pool),
      workspaces_(network),
      exact_network_(network.architecture()),
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

ModelScore DataField::score(std::size_t cluster, const Model& model) {
  RandomStream stream(setup_.seed, "cluster test", cluster, sequence_);
  const std::vector<SampleIndex> samples =
      draw(*setup_.test_pools, drifts_[cluster].mix, setup_.test_points, stream);
  const Evaluation evaluation = evaluate(model, setup_.data->test, samples, workspaces_, pool_);
  return {.accuracy = evaluation.accuracy, .loss = evaluation.loss};
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

BoundConstants DataField::measure_constants(std::span<const std::vector<WorkerTask>> swarms,
                                            const Model& before, const Model& after) {
  // A few of each: every leader gets the same numbers, and the largest swarm must not cost more than a small.
  constexpr std::size_t most_swarms = 4;
  constexpr std::size_t most_workers = 2;
  std::vector<SwarmData> data;
  for (const std::vector<WorkerTask>& workers : swarms) {
    SwarmData swarm;
    for (const WorkerTask& worker : workers) {
      if (!worker.samples.empty() && swarm.size() < most_workers) {
        swarm.push_back({.worker = worker.worker,
                         .samples = worker.samples,
                         .weight = static_cast<double>(worker.samples.size())});
      }
    }
    if (!swarm.empty() && data.size() < most_swarms) {
      data.push_back(std::move(swarm));
    }
  }
  expect(!data.empty(), "constants are measured on data");
  std::vector<Parameters> path;
  for (const Model* model : {&before, &after}) {
    Parameters& parameters = path.emplace_back(model->size());
    std::ranges::copy(*model, parameters.begin());
  }
  const LossEstimates found = estimate_constants({.losses = &losses_,
                                                  .swarms = data,
                                                  .inner_step = setup_.inner_step,
                                                  .seed = setup_.seed,
                                                  .options = {.points = 8, .probes = 1, .power_steps = 3}},
                                                 path, pool_);
  BoundConstants constants = found.constants;
  constants.meta_lipschitz = found.meta_quotient;  // the formula's is far above what is ever seen
  return constants;
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
    bytes.put_list(drift.mix);
    bytes.put_list(drift.target);
    bytes.put<std::uint64_t>(drift.num_targets);
    bytes.put<std::uint64_t>(drift.sequence);
  }
  for (const DeviceBuffer& buffer : buffers_) {
    bytes.put<std::uint64_t>(buffer.num_displaced());
    bytes.put_list(buffer.contents());
  }
  return bytes.take();
}

void DataField::restore(const std::string& text) {
  ByteCursor reader(text);
  sequence_ = reader.get<std::uint64_t>();
  for (ClusterDrift& drift : drifts_) {
    drift.mix = reader.get_list<LabelMix>();
    drift.target = reader.get_list<LabelMix>();
    drift.num_targets = reader.get<std::uint64_t>();
    drift.sequence = reader.get<std::uint64_t>();
  }
  for (DeviceBuffer& buffer : buffers_) {
    const auto displaced = reader.get<std::uint64_t>();
    buffer = DeviceBuffer(buffer.capacity(), reader.get_list<std::vector<DataPoint>>(), displaced);
  }
  expect(reader.at_end(), "a saved field is of the same devices");
}

}  // namespace skein
