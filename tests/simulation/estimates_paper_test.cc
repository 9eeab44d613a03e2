// What a mission estimates of its clusters beside the truth, over the visits of default missions. Minutes, so
// they run by name only (scripts/test -L paper).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "skein/data/data_source.h"
#include "skein/learning/network_choice.h"
#include "skein/learning/workspace.h"
#include "skein/mission/prepare_mission.h"
#include "skein/planning/planners.h"

namespace skein {
namespace {

struct Pairs {
  std::vector<double> estimates;
  std::vector<double> truths;

  void add(double estimate, double truth) {
    estimates.push_back(estimate);
    truths.push_back(truth);
  }
  [[nodiscard]] double rms() const {
    double errors = 0.0;
    for (std::size_t i = 0; i < truths.size(); ++i) {
      errors += std::pow(estimates[i] - truths[i], 2);
    }
    return std::sqrt(errors / static_cast<double>(truths.size()));
  }
  // 1 - sum of squared errors / sum of squared deviations of the truth.
  [[nodiscard]] double r2() const {
    double mean = 0.0;
    for (const double truth : truths) {
      mean += truth / static_cast<double>(truths.size());
    }
    double deviations = 0.0;
    for (const double truth : truths) {
      deviations += std::pow(truth - mean, 2);
    }
    return 1.0 - std::pow(rms(), 2) * static_cast<double>(truths.size()) / deviations;
  }
};

struct Found {
  Pairs before;   // accuracy on arrival
  Pairs after;    // and when models are handed over
  Pairs changes;  // of squared gradients since models were left
};

// The squared change of a model's meta-gradient between two mixes of labels, on many points of each.
class TrueChange {
 public:
  TrueChange(const DataSplit& data, const nn::Network<float>& network, double inner_step)
      : data_(data.train), pools_(data.train), workspaces_(network), inner_step_(inner_step) {}

  double of(const Model& model, const LabelMix& then, const LabelMix& now) {
    const Model before = gradient(model, then);
    const Model after = gradient(model, now);
    double square = 0.0;
    for (std::size_t i = 0; i < model.size(); ++i) {
      square += std::pow(static_cast<double>(after[i]) - static_cast<double>(before[i]), 2);
    }
    return square;
  }

 private:
  Model gradient(const Model& model, const LabelMix& mix) {
    Model out(model.size());
    RandomStream stream(1, "points of a mix");
    const std::vector<SampleIndex> samples = draw(pools_, mix, 3000, stream);
    workspaces_.with([&](Workspace& workspace) {
      const nn::Batch<float> batch = workspace.batches[0].read(data_, samples);
      workspace.engine.meta_gradient(model, {batch, batch, batch},
                                     {.kind = nn::MetaGradient::first_order, .inner_step = inner_step_},
                                     nullptr, out);
    });
    return out;
  }

  const Dataset& data_;
  ClassPools pools_;
  Workspaces workspaces_;
  double inner_step_;
};

void fly(std::uint64_t seed, Found& found) {
  const Scenario scenario =
      load_scenario(SKEIN_SOURCE_DIR "/scenarios/default.toml",
                    {.settings = {fmt::format("run.seed={}", seed), "planning.planner=beam",
                                  "planning.estimates.held_out=0.2"}});
  const auto data = std::make_shared<const DataSplit>(load_data(scenario.data.source, scenario.run.seed));
  ThreadPool pool(2);
  PreparedMission prepared(scenario, data, pool, alone(), [](double) {});
  const std::unique_ptr<Planner> planner =
      planner_factory(scenario.planning.planner, prepared.environment(), scenario.planning, {})();
  Field& field = prepared.field();
  CoreNetwork core = prepared.start(*planner, field, prepared.fleet());
  const nn::Network<float> network(build_architecture(scenario.learning.network, scenario.data.source));
  TrueChange truth(*data, network, scenario.learning.inner_step);
  const std::size_t num_clusters = prepared.world().clusters.size();
  std::vector<LabelMix> left(num_clusters);  // when the model was handed over; empty: never
  while (!core.done()) {
    std::vector<std::size_t> with_model;
    std::vector<Model> models(num_clusters);
    std::vector<LabelMix> now;
    for (std::size_t c = 0; c < num_clusters; ++c) {
      now.push_back(field.label_mix(c));
      if (!left[c].empty()) {
        with_model.push_back(c);
        models[c] = core.cluster_model(c);
      }
    }
    const std::vector<double> changes = field.squared_gradient_changes(with_model);
    const SequenceRecord record = core.step([](double) {});
    for (std::size_t i = 0; i < with_model.size(); ++i) {
      const std::size_t c = with_model[i];
      if (record.clusters[c].estimated_before) {
        found.before.add(*record.clusters[c].estimated_before, record.clusters[c].accuracy_before);
        found.changes.add(changes[i], truth.of(models[c], left[c], now[c]));
      }
    }
    for (std::size_t c = 0; c < num_clusters; ++c) {
      if (record.clusters[c].visited) {
        left[c] = now[c];
        found.after.add(*record.clusters[c].estimated_after, record.clusters[c].accuracy_after);
      }
    }
  }
}

TEST(EstimatesPaper, TellTheTruthOfRevisitedClusters) {
  Found found;
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    fly(seed, found);
  }
  fmt::print(
      "{} visits: R2 of accuracy before {:.3f}, of gradient changes {:.3f}; error of accuracy after {:.3f}\n",
      found.before.truths.size(), found.before.r2(), found.changes.r2(), found.after.rms());
  EXPECT_GE(found.before.truths.size(), 100U);
  EXPECT_GE(found.before.r2(), 0.9);
  EXPECT_GE(found.changes.r2(), 0.9);
  // They differ little from one another: what some 200 points tell, and 500 of the truth.
  EXPECT_LE(found.after.rms(), 0.03);
}

}  // namespace
}  // namespace skein
