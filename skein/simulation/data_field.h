// A field of devices with buffers, whose data comes from a data set with each cluster's label mix.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "skein/base/distribution.h"
#include "skein/base/thread_pool.h"
#include "skein/bounds/sample_loss.h"
#include "skein/data/class_pools.h"
#include "skein/data/data_drift.h"
#include "skein/data/dataset.h"
#include "skein/data/device_buffer.h"
#include "skein/data/partition.h"
#include "skein/learning/workspace.h"
#include "skein/simulation/field.h"

namespace skein {

// What is referred to must outlive the field.
struct DataFieldSetup {
  const DataSplit* data = nullptr;
  const ClassPools* pools = nullptr;       // of the training set
  const ClassPools* test_pools = nullptr;  // of the test set
  const Partition* partition = nullptr;    // a group per cluster, its members the devices
  std::vector<std::size_t> buffers{};      // capacity of each device, in the world's order
  std::vector<std::size_t> arrivals{};     // new points of each device and sequence
  std::vector<double> hourly_arrivals{};   // and of each device and hour; empty: none
  DriftOptions drift{};
  std::vector<ClusterDriftRates> rates{};  // of each cluster
  double held_out = 0.0;  // share of samples that devices send nobody, wherever they are collected
  double inner_step = 1e-3;
  std::size_t test_points = 500;      // that a model is scored on
  std::size_t gradient_points = 128;  // of a cluster, for its meta-gradient
  std::uint64_t seed = 0;
};

class DataField final : public Field {
 public:
  template <class T>
  using Halves = std::array<T, 2>;

  DataField(DataFieldSetup setup, Workspaces& workspaces, ThreadPool& pool);

  [[nodiscard]] std::size_t sequence() const override { return sequence_; }
  [[nodiscard]] std::size_t num_points(std::size_t device) const override { return buffers_[device].size(); }
  [[nodiscard]] std::vector<std::vector<DataPoint>> offload(std::size_t device,
                                                            std::span<const double> shares,
                                                            std::uint64_t round) const override;
  [[nodiscard]] std::shared_ptr<const FeatureDrift> feature_drift(std::size_t cluster) const override {
    return feature_drifts_[cluster];
  }
  [[nodiscard]] LabelMix label_mix(std::size_t cluster) const override { return drifts_[cluster].mix; }
  std::vector<ModelScore> scores(std::span<const ClusterModel> models) override;
  std::vector<double> squared_meta_gradients(std::span<const ClusterModel> models) override;
  std::vector<double> hand_over(std::span<const std::size_t> clusters, std::vector<Model> models) override;
  std::vector<double> squared_gradient_changes(std::span<const std::size_t> clusters) override;
  std::vector<ClassReport> class_reports(std::span<const ClusterModel> models) override;
  [[nodiscard]] HandedModel handed(std::size_t cluster) override;
  void restore(std::size_t cluster, HandedModel handed) override;
  BoundConstants measure_constants(std::span<const std::size_t> clusters, const Model& before,
                                   const Model& after) override;
  void advance(Time now) override;
  [[nodiscard]] std::string save() const override;
  void restore(const std::string& bytes) override;
  [[nodiscard]] std::string save(std::size_t cluster) const override;
  void restore(std::size_t cluster, const std::string& bytes) override;
  void forget() override;
  // Meta-gradients of the model that was handed over, on these of the cluster's points.
  [[nodiscard]] Halves<std::vector<float>> handed_gradients(std::size_t cluster,
                                                            const Halves<std::vector<DataPoint>>& points);

 private:
  [[nodiscard]] const Model& model_of(const ClusterModel& model) const;
  [[nodiscard]] std::vector<float> meta_gradient(const Model& model, std::size_t cluster,
                                                 std::span<const DataPoint> data);
  [[nodiscard]] std::vector<DataPoint> all_points(std::size_t cluster) const;
  [[nodiscard]] std::vector<DataPoint> cluster_points(std::size_t cluster, std::size_t count) const;
  // What has just been collected.
  void keep(std::size_t device, std::span<const SampleIndex> samples);
  [[nodiscard]] ClassReport class_report(const Model& model, std::size_t cluster);
  [[nodiscard]] std::vector<DataPoint> held_out_points(std::size_t cluster) const;
  // Half of the gradient's points of either half of a cluster's devices: the newest.
  [[nodiscard]] Halves<std::vector<DataPoint>> newest_halves(std::size_t cluster) const;
  [[nodiscard]] Dataset drifted_points(std::span<const std::size_t> clusters,
                                       const std::vector<std::vector<DataPoint>>& points) const;
  // Up to the present sequence.
  void update_feature_drifts();
  // From a sequence to the next, by the scenario's unit of drift.
  [[nodiscard]] DriftStep step_after(std::size_t sequence) const;
  // Data points that have come to a device since the sequence before.
  [[nodiscard]] std::size_t num_arrivals(std::size_t device) const;

  DataFieldSetup setup_;
  ThreadPool& pool_;
  Workspaces& workspaces_;
  nn::Network<double> exact_network_;  // for whoever measures
  SampleLosses losses_;
  std::vector<std::size_t> first_device_;  // of each cluster, and the end
  std::vector<DeviceBuffer> buffers_;
  std::vector<DeviceBuffer> held_out_{};  // beside them, of points that nobody sends; empty: none are
  std::vector<ClusterDrift> drifts_;
  std::vector<std::shared_ptr<const FeatureDrift>> feature_drifts_;  // of each cluster; nullptr: none
  std::vector<HandedModel> handed_;                                  // to each cluster; empty: nothing yet
  std::size_t sequence_ = 0;
  std::vector<double> starts_h_{0.0};  // of each sequence up to the present one, in hours
};

}  // namespace skein
