// What the devices' data tells of models: scores, gradients, how much has changed, constants of the bounds.

#include <algorithm>

#include "skein/base/expect.h"
#include "skein/base/random.h"
#include "skein/bounds/drift.h"
#include "skein/bounds/estimators.h"
#include "skein/learning/evaluation.h"
#include "skein/simulation/data_field.h"

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

double squared_norm(const std::vector<float>& values) {
  double sum = 0.0;
  for (const float value : values) {
    sum += static_cast<double>(value) * static_cast<double>(value);
  }
  return sum;
}

double squared_norm_of_mean(const std::array<std::vector<float>, 2>& halves) {
  double sum = 0.0;
  for (std::size_t i = 0; i < halves[0].size(); ++i) {
    const double mean = 0.5 * (static_cast<double>(halves[0][i]) + static_cast<double>(halves[1][i]));
    sum += mean * mean;
  }
  return sum;
}

}  // namespace

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

std::vector<DataPoint> DataField::all_points(std::size_t cluster) const {
  std::vector<DataPoint> all;
  for (std::size_t device = first_device_[cluster]; device < first_device_[cluster + 1]; ++device) {
    const std::vector<DataPoint> contents = buffers_[device].contents();
    all.insert(all.end(), contents.begin(), contents.end());
  }
  const std::vector<DataPoint> held_out = held_out_points(cluster);
  all.insert(all.end(), held_out.begin(), held_out.end());
  return all;
}

std::vector<DataPoint> DataField::held_out_points(std::size_t cluster) const {
  std::vector<DataPoint> all;
  for (std::size_t device = first_device_[cluster]; !held_out_.empty() && device < first_device_[cluster + 1];
       ++device) {
    const std::vector<DataPoint> contents = held_out_[device].contents();
    all.insert(all.end(), contents.begin(), contents.end());
  }
  return all;
}

std::vector<DataPoint> DataField::cluster_points(std::size_t cluster, std::size_t count) const {
  std::vector<DataPoint> all = all_points(cluster);
  RandomStream stream(setup_.seed, "cluster gradient", cluster, sequence_);
  stream.shuffle(all);
  all.resize(std::min(count, all.size()));
  return all;
}

// Devices are of the first and of the second half by turns, at any time: what one half errs by tells nothing
// of the other's error, then or now. A lone device has its samples of both.
DataField::Halves<std::vector<DataPoint>> DataField::newest_halves(std::size_t cluster) const {
  Halves<std::vector<DataPoint>> halves;
  const std::size_t first = first_device_[cluster];
  const bool is_alone = first_device_[cluster + 1] - first == 1;
  for (std::size_t device = first; device < first_device_[cluster + 1]; ++device) {
    for (const DataPoint& point : buffers_[device].contents()) {
      halves[(is_alone ? point.sample : device - first) % 2].push_back(point);
    }
  }
  for (std::size_t half = 0; half < halves.size(); ++half) {
    std::vector<DataPoint>& points = halves[half];
    RandomStream stream(setup_.seed, "newest points", cluster, sequence_, half);
    stream.shuffle(points);
    std::ranges::stable_sort(points, std::ranges::greater(), &DataPoint::sequence);
    points.resize(std::min(setup_.gradient_points / 2, points.size()));
  }
  return halves;
}

const Model& DataField::model_of(const ClusterModel& model) const {
  const Model& found = model.model != nullptr ? *model.model : handed_[model.cluster].model;
  expect(!found.empty(), "a model was handed over to the cluster");
  return found;
}

std::vector<float> DataField::meta_gradient(const Model& model, std::size_t cluster,
                                            std::span<const DataPoint> data) {
  Points points{.drift = feature_drifts_[cluster].get()};
  for (const DataPoint& point : data) {
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

DataField::Halves<std::vector<float>> DataField::handed_gradients(
    std::size_t cluster, const Halves<std::vector<DataPoint>>& points) {
  return {meta_gradient(handed_[cluster].model, cluster, points[0]),
          meta_gradient(handed_[cluster].model, cluster, points[1])};
}

std::vector<double> DataField::squared_meta_gradients(std::span<const ClusterModel> models) {
  std::vector<double> all(models.size());
  pool_.parallel_for(models.size(), [&](std::size_t i) {
    const std::size_t cluster = models[i].cluster;
    all[i] = squared_norm(
        meta_gradient(model_of(models[i]), cluster, cluster_points(cluster, setup_.gradient_points)));
  });
  return all;
}

std::vector<double> DataField::hand_over(std::span<const std::size_t> clusters, std::vector<Model> models) {
  std::vector<double> all(clusters.size());
  pool_.parallel_for(clusters.size(), [&](std::size_t i) {
    HandedModel& handed = handed_[clusters[i]];
    handed = {.model = std::move(models[i]), .points = newest_halves(clusters[i])};
    all[i] = squared_norm_of_mean(handed_gradients(clusters[i], handed.points));
  });
  return all;
}

std::vector<double> DataField::squared_gradient_changes(std::span<const std::size_t> clusters) {
  std::vector<double> all(clusters.size());
  pool_.parallel_for(clusters.size(), [&](std::size_t i) {
    const std::size_t cluster = clusters[i];
    all[i] = crossed_change(handed_gradients(cluster, handed_[cluster].points),
                            handed_gradients(cluster, newest_halves(cluster)));
  });
  return all;
}

// Labels are of few points: older ones lag behind drift.
ClassReport DataField::class_report(const Model& model, std::size_t cluster) {
  constexpr std::size_t most_labels = 100;
  const std::size_t num_classes = setup_.pools->num_classes();
  ClassReport report{.labels = std::vector<double>(num_classes, 0.0),
                     .points = std::vector<double>(num_classes, 0.0),
                     .hits = std::vector<double>(num_classes, 0.0)};
  std::vector<DataPoint> newest = all_points(cluster);
  RandomStream stream(setup_.seed, "reported points", cluster, sequence_);
  stream.shuffle(newest);
  std::ranges::stable_sort(newest, std::ranges::greater(), &DataPoint::sequence);
  for (std::size_t i = 0; i < std::min(newest.size(), most_labels); ++i) {
    ++report.labels[setup_.pools->label(newest[i].sample)];
  }
  std::vector<Points> of_class(num_classes, Points{.drift = feature_drifts_[cluster].get()});
  for (const DataPoint& point : held_out_points(cluster)) {
    of_class[setup_.pools->label(point.sample)].add(point.sample, point.sequence);
  }
  workspaces_.with([&](Workspace& workspace) {
    for (std::size_t y = 0; y < num_classes; ++y) {
      const Points& points = of_class[y];
      if (!points.samples.empty()) {
        report.points[y] = static_cast<double>(points.samples.size());
        report.hits[y] =
            static_cast<double>(workspace.engine
                                    .score(model, workspace.batches[0].read(
                                                      setup_.data->train, points.to_read(), points.drifted()))
                                    .correct);
      }
    }
  });
  return report;
}

std::vector<ClassReport> DataField::class_reports(std::span<const ClusterModel> models) {
  std::vector<ClassReport> all(models.size());
  pool_.parallel_for(models.size(),
                     [&](std::size_t i) { all[i] = class_report(model_of(models[i]), models[i].cluster); });
  return all;
}

HandedModel DataField::handed(std::size_t cluster) { return handed_[cluster]; }
void DataField::restore(std::size_t cluster, HandedModel handed) { handed_[cluster] = std::move(handed); }

BoundConstants DataField::measure_constants(std::span<const std::size_t> clusters, const Model& before,
                                            const Model& after) {
  // A few clusters, each with two workers that share its data.
  constexpr std::size_t most_clusters = 4;
  constexpr std::size_t points_each = 64;
  clusters = clusters.first(std::min(clusters.size(), most_clusters));
  std::vector<std::vector<DataPoint>> points;
  for (const std::size_t cluster : clusters) {
    points.push_back(cluster_points(cluster, 2 * points_each));
  }
  const bool has_drifted =
      std::ranges::any_of(clusters, [&](std::size_t cluster) { return feature_drifts_[cluster] != nullptr; });
  // Its samples are the points, cluster after cluster.
  const Dataset drifted = has_drifted ? drifted_points(clusters, points) : Dataset{};
  std::vector<std::vector<SampleIndex>> samples(2 * points.size());
  SampleIndex place = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (std::size_t p = 0; p < points[i].size(); ++p, ++place) {
      samples[2 * i + (p < points[i].size() / 2 ? 0 : 1)].push_back(has_drifted ? place
                                                                                : points[i][p].sample);
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
  SampleLosses of_drifted(exact_network_, drifted);
  const LossEstimates found = estimate_constants({.losses = has_drifted ? &of_drifted : &losses_,
                                                  .swarms = data,
                                                  .inner_step = setup_.inner_step,
                                                  .seed = setup_.seed,
                                                  .options = {.points = 8, .probes = 1, .power_steps = 3}},
                                                 path, pool_);
  BoundConstants constants = found.constants;
  constants.meta_lipschitz = found.meta_quotient;  // the formula's is far above what is ever seen
  return constants;
}

// As networks see them: a data set of its own, of a few points.
Dataset DataField::drifted_points(std::span<const std::size_t> clusters,
                                  const std::vector<std::vector<DataPoint>>& points) const {
  const Dataset& train = setup_.data->train;
  Dataset all{.name = train.name,
              .shape = train.shape,
              .class_names = train.class_names,
              .mean = std::vector<float>(train.mean.size(), 0.0F),
              .deviation = std::vector<float>(train.deviation.size(), 1.0F)};
  std::vector<float> values;
  for (std::size_t i = 0; i < clusters.size(); ++i) {
    for (const DataPoint& point : points[i]) {
      const FeatureDrift* drift = feature_drifts_[clusters[i]].get();
      values.resize(values.size() + train.shape.size());
      read_drifted(train, {.samples = {&point.sample, 1}, .collected = {&point.sequence, 1}, .drift = drift},
                   drift != nullptr ? 0 : point.sample, std::span(values).last(train.shape.size()));
      all.labels.push_back(train.labels[point.sample]);
    }
  }
  all.features = std::move(values);
  return all;
}

}  // namespace skein
