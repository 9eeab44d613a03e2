#include "skein/simulation/data_field.h"

#include <algorithm>

#include "skein/base/bytes.h"
#include "skein/base/expect.h"
#include "skein/base/random.h"
#include "skein/bounds/estimators.h"
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

double squared_change(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double change = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    sum += change * change;
  }
  return sum;
}

double squared_norm(const std::vector<float>& values) {
  double sum = 0.0;
  for (const float value : values) {
    sum += static_cast<double>(value) * static_cast<double>(value);
  }
  return sum;
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

std::vector<ModelScore> DataField::scores(std::span<const ClusterModel> models) {
  std::vector<ModelScore> all(models.size());
  pool_.parallel_for(models.size(), [&](std::size_t i) {
    const std::size_t cluster = models[i].cluster;
    RandomStream stream(setup_.seed, "cluster test", cluster, sequence_);
    Points points{.drift = feature_drifts_[cluster].get()};
    for (const SampleIndex sample :
         draw(*setup_.test_pools, drifts_[cluster].mix, setup_.test_points, stream)) {
      points.add(sample, static_cast<std::uint32_t>(sequence_));
    }
    const Evaluation evaluation = evaluate(model_of(models[i]), setup_.data->test, points.to_read(),
                                           workspaces_, pool_, points.drifted());
    all[i] = {.accuracy = evaluation.accuracy, .loss = evaluation.loss};
  });
  return all;
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

const Model& DataField::model_of(const ClusterModel& model) const {
  const Model& found = model.model != nullptr ? *model.model : handed_[model.cluster].model;
  expect(!found.empty(), "a model was handed over to the cluster");
  return found;
}

std::vector<float> DataField::meta_gradient(const ClusterModel& cluster_model) {
  const std::size_t cluster = cluster_model.cluster;
  const Model& model = model_of(cluster_model);
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

std::vector<double> DataField::squared_meta_gradients(std::span<const ClusterModel> models) {
  std::vector<double> all(models.size());
  pool_.parallel_for(models.size(), [&](std::size_t i) { all[i] = squared_norm(meta_gradient(models[i])); });
  return all;
}

std::vector<double> DataField::hand_over(std::span<const std::size_t> clusters, std::vector<Model> models) {
  std::vector<double> all(clusters.size());
  pool_.parallel_for(clusters.size(), [&](std::size_t i) {
    HandedModel& handed = handed_[clusters[i]];
    handed = {.model = std::move(models[i])};
    handed.gradient = meta_gradient({clusters[i]});
    all[i] = squared_norm(handed.gradient);
  });
  return all;
}

std::vector<double> DataField::squared_gradient_changes(std::span<const std::size_t> clusters) {
  std::vector<double> all(clusters.size());
  pool_.parallel_for(clusters.size(), [&](std::size_t i) {
    all[i] = squared_change(meta_gradient({clusters[i]}), handed_[clusters[i]].gradient);
  });
  return all;
}

HandedModel DataField::handed(std::size_t cluster) { return handed_[cluster]; }
void DataField::restore(std::size_t cluster, HandedModel handed) { handed_[cluster] = std::move(handed); }

BoundConstants DataField::measure_constants(std::span<const std::size_t> clusters, const Model& before,
                                            const Model& after) {
  // A few clusters, each with two workers that share its data: every leader gets the same numbers.
  constexpr std::size_t most_clusters = 4;
  constexpr std::size_t points_each = 64;
  std::vector<std::vector<SampleIndex>> samples;
  for (const std::size_t cluster : clusters.first(std::min(clusters.size(), most_clusters))) {
    const std::vector<DataPoint> points = cluster_points(cluster, 2 * points_each);
    for (const bool second : {false, true}) {
      std::vector<SampleIndex>& half = samples.emplace_back();
      for (std::size_t i = second ? points.size() / 2 : 0; i < (second ? points.size() : points.size() / 2);
           ++i) {
        half.push_back(points[i].sample);
      }
    }
  }
  std::vector<SwarmData> data;
  for (std::size_t i = 0; i < samples.size(); i += 2) {
    if (!samples[i].empty()) {
      data.push_back({{.worker = i, .samples = samples[i]}, {.worker = i + 1, .samples = samples[i + 1]}});
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
  update_feature_drifts();
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
  update_feature_drifts();
}

void DataField::forget() {
  for (DeviceBuffer& buffer : buffers_) {
    buffer = DeviceBuffer(buffer.capacity());
  }
}

}  // namespace skein
