#include "skein/learning/data_field.h"

#include <algorithm>

#include "skein/base/bytes.h"
#include "skein/base/expect.h"
#include "skein/base/random.h"
#include "skein/learning/estimators.h"
#include "skein/learning/evaluation.h"

namespace skein {
namespace {

// Points as evaluate and BatchBuffer take them.
struct Points {
  std::vector<SampleIndex> samples{};
  std::vector<std::uint32_t> collected{};
  std::vector<SampleIndex> places{};
  const FeatureDrift* drift = nullptr;

  void add(SampleIndex sample, std::uint32_t sequence) {
    places.push_back(static_cast<SampleIndex>(samples.size()));
    samples.push_back(sample);
    collected.push_back(sequence);
  }
  [[nodiscard]] std::span<const SampleIndex> to_read() const { return drift != nullptr ? places : samples; }
  [[nodiscard]] DriftedSamples drifted() const {
    return {.samples = samples, .collected = collected, .drift = drift};
  }
};

}  // namespace

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
    for (std::size_t sequence = drift.transforms.size(); sequence <= sequence_; ++sequence) {
      drift.transforms.push_back(feature_transform(rates, sequence));
    }
    latest = std::make_shared<const FeatureDrift>(std::move(drift));
  }
}

std::vector<std::vector<DataPoint>> DataField::offload(std::size_t device, std::span<const double> shares,
                                                       std::uint64_t round) const {
  RandomStream stream(setup_.seed, "offloaded points", device, round);
  return buffers_[device].sample_for(shares, stream);
}

ModelScore DataField::score(std::size_t cluster, const Model& model) {
  RandomStream stream(setup_.seed, "cluster test", cluster, sequence_);
  Points points{.drift = feature_drifts_[cluster].get()};
  for (const SampleIndex sample :
       draw(*setup_.test_pools, drifts_[cluster].mix, setup_.test_points, stream)) {
    points.add(sample, static_cast<std::uint32_t>(sequence_));
  }
  const Evaluation evaluation =
      evaluate(model, setup_.data->test, points.to_read(), workspaces_, pool_, points.drifted());
  return {.accuracy = evaluation.accuracy, .loss = evaluation.loss};
}

std::vector<DataPoint> DataField::cluster_points(std::size_t cluster, std::size_t count) const {
  std::vector<DataPoint> all;
  for (std::size_t device = first_device_[cluster]; device < first_device_[cluster + 1]; ++device) {
    const std::vector<DataPoint> contents = buffers_[device].contents();
    all.insert(all.end(), contents.begin(), contents.end());
  }
  RandomStream stream(setup_.seed, "cluster gradient", cluster, sequence_);
  stream.shuffle(all);
  all.resize(std::min(count, all.size()));
  return all;
}

std::vector<float> DataField::meta_gradient(std::size_t cluster, const Model& model) {
  Points points{.drift = feature_drifts_[cluster].get()};
  for (const DataPoint& point : cluster_points(cluster, setup_.gradient_points)) {
    points.add(point.sample, point.sequence);
  }
  std::vector<float> gradient(model.size(), 0.0F);
  if (points.samples.empty()) {
    return gradient;
  }
  workspaces_.with([&](Workspace& workspace) {
    const nn::Batch<float> batch =
        workspace.batches[0].read(setup_.data->train, points.to_read(), points.drifted());
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
  update_feature_drifts();
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
  update_feature_drifts();
}

}  // namespace skein
