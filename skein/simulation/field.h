// What the devices have, and how models do on it: the learning block's other face to the rest of the system.
//
// Data stays still during a training sequence; between sequences new points arrive and distributions drift.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "skein/base/quantity.h"
#include "skein/data/class_pools.h"
#include "skein/data/device_buffer.h"
#include "skein/learning/trainer.h"

namespace skein {

struct ModelScore {
  double accuracy = 0.0;  // share of samples, 0 to 1
  double loss = 0.0;      // mean cross-entropy, nats
};

// A model above a cluster's data.
struct ClusterModel {
  std::size_t cluster = 0;
  const Model* model = nullptr;  // nullptr: the one that was handed over there
};

// What a swarm leaves at a cluster.
struct HandedModel {
  Model model{};
  // The newest points there and then, of either half of the devices: on them its meta-gradients are compared
  // with those of later. A gradient would be as large as the model.
  std::array<std::vector<DataPoint>, 2> points{};
};

// What a cluster's devices count of their newest points, class by class.
struct ClassReport {
  std::vector<double> labels{};  // of their newest points
  std::vector<double> points{};  // of the newest that were held out
  std::vector<double> hits{};    // of these: whose class a model finds
};

class Field {
 public:
  Field() = default;
  virtual ~Field() = default;
  Field(const Field&) = delete;
  Field& operator=(const Field&) = delete;
  Field(Field&&) = delete;
  Field& operator=(Field&&) = delete;

  // The sequence that the data is of.
  [[nodiscard]] virtual std::size_t sequence() const = 0;
  // Data points of a device (of the world's list) that it may send: all, but those that are held out.
  [[nodiscard]] virtual std::size_t num_points(std::size_t device) const = 0;
  // What a device sends to each of several receivers in one local round: these shares of its buffer, no point
  // twice. The round names the random draw.
  [[nodiscard]] virtual std::vector<std::vector<DataPoint>> offload(std::size_t device,
                                                                    std::span<const double> shares,
                                                                    std::uint64_t round) const = 0;
  // How a cluster's features have drifted up to now; nullptr: they have not.
  [[nodiscard]] virtual std::shared_ptr<const FeatureDrift> feature_drift(std::size_t cluster) const = 0;
  // How labels are distributed at a cluster now. No UAV knows.
  [[nodiscard]] virtual LabelMix label_mix(std::size_t cluster) const = 0;
  // Each model on its cluster's data of now: fresh samples, of its present mix and features.
  virtual std::vector<ModelScore> scores(std::span<const ClusterModel> models) = 0;
  // The squared norm of each model's meta-gradient on what its cluster's devices hold now.
  virtual std::vector<double> squared_meta_gradients(std::span<const ClusterModel> models) = 0;
  // The devices of each cluster get a model in place of the last one. Returns the squared norms of the
  // models' meta-gradients on the devices' newest points, which are kept with them.
  virtual std::vector<double> hand_over(std::span<const std::size_t> clusters, std::vector<Model> models) = 0;
  // How far the meta-gradients of the models that were handed over there have moved since: estimates of the
  // squared norms from the newest points of then and now, right on average, so some are below 0.
  virtual std::vector<double> squared_gradient_changes(std::span<const std::size_t> clusters) = 0;
  // What devices tell of each model and of themselves. Points must be held out.
  virtual std::vector<ClassReport> class_reports(std::span<const ClusterModel> models) = 0;
  // What was handed over to a cluster, to be saved; and back.
  [[nodiscard]] virtual HandedModel handed(std::size_t cluster) = 0;
  virtual void restore(std::size_t cluster, HandedModel handed) = 0;
  // The constants of the convergence bounds, measured on what these clusters' devices hold, at two models of
  // the path that training has taken: what the core network tells the leaders.
  virtual BoundConstants measure_constants(std::span<const std::size_t> clusters, const Model& before,
                                           const Model& after) = 0;

  // To the next sequence, which begins now: arrivals and drift.
  virtual void advance(Time now) = 0;

  // All of the data that changes, as bytes; and back.
  [[nodiscard]] virtual std::string save() const = 0;
  virtual void restore(const std::string& bytes) = 0;
  // The same of one cluster, for a field elsewhere that needs no more than some, and forgets them.
  [[nodiscard]] virtual std::string save(std::size_t cluster) const = 0;
  virtual void restore(std::size_t cluster, const std::string& bytes) = 0;
  virtual void forget() = 0;
};

}  // namespace skein
