#include "skein/simulation/oracle.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "skein/base/random.h"
#include "skein/learning/label_shift.h"

namespace skein {
namespace {

// More steps bring no more, on Fashion-MNIST and MNIST (docs/results.md).
constexpr std::size_t first_steps = 4000;
constexpr std::size_t later_steps = 400;
constexpr std::size_t batch = 32;
constexpr double step = 0.1;
constexpr double last_step = 0.02;      // in the last of the first steps, and later
constexpr double share_of_long = 0.75;  // of the first steps
// A class that a cluster has less of than this is not ruled out.
constexpr double least_share = 1e-3;

}  // namespace

std::vector<double> Oracle::accuracies(Field& field, FractionListener progress) {
  bool features_drift = false;
  for (std::size_t c = 0; c < setup_.num_clusters; ++c) {
    features_drift = features_drift || field.feature_drift(c) != nullptr;
  }
  if (num_steps_ == 0 || features_drift) {
    learn(field, num_steps_ == 0 ? first_steps : later_steps, progress);
  }
  const LabelMix trained = setup_.pools->frequencies();
  std::vector<Model> models;
  std::vector<ClusterModel> whose;
  for (std::size_t c = 0; c < setup_.num_clusters; ++c) {
    const LabelMix mix = field.label_mix(c);
    std::vector<double> shift;
    for (std::size_t y = 0; y < mix.size(); ++y) {
      shift.push_back(trained[y] > 0.0 ? std::log(std::max(mix[y], least_share) / trained[y]) : 0.0);
    }
    add_to_biases(models.emplace_back(model_), shift, 1.0);
  }
  for (std::size_t c = 0; c < setup_.num_clusters; ++c) {
    whose.push_back({c, &models[c]});
  }
  std::vector<double> accuracies;
  for (const ModelScore& score : field.scores(whose)) {
    accuracies.push_back(score.accuracy);
  }
  return accuracies;
}

// Each batch is fresh, and has the features of one cluster.
void Oracle::learn(const Field& field, std::size_t steps, FractionListener progress) {
  const auto now = static_cast<std::uint32_t>(field.sequence());
  workspaces_.with([&](Workspace& workspace) {
    for (std::size_t i = 0; i < steps; ++i, ++num_steps_) {
      RandomStream stream(setup_.seed, "oracle", num_steps_);
      const std::shared_ptr<const FeatureDrift> drift =
          field.feature_drift(stream.below(setup_.num_clusters));
      std::vector<SampleIndex> samples;
      draw_distinct(setup_.pools->all(), std::min(batch, setup_.pools->size()), stream, samples);
      std::vector<SampleIndex> places;
      for (std::size_t p = 0; p < samples.size(); ++p) {
        places.push_back(static_cast<SampleIndex>(p));
      }
      const std::vector<std::uint32_t> collected(samples.size(), now);
      const nn::Batch<float> points =
          drift != nullptr
              ? workspace.batches[0].read(*setup_.data, places,
                                          {.samples = samples, .collected = collected, .drift = drift.get()})
              : workspace.batches[0].read(*setup_.data, samples);
      const bool is_long = static_cast<double>(num_steps_) < share_of_long * first_steps;
      workspace.engine.step(model_, points, is_long ? step : last_step, &stream);
      progress(static_cast<double>(i + 1) / static_cast<double>(steps));
    }
  });
}

void Oracle::restore(Model model, std::size_t num_steps) {
  model_ = std::move(model);
  num_steps_ = num_steps;
}

}  // namespace skein
