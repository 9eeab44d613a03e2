#include "skein/learning/adaptation.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "skein/learning/evaluation.h"
#include "tests/learning/small_training.h"

namespace skein {
namespace {

// Without a step, every swarm has the model itself: the mean over swarms, each with its own mix.
TEST(Adaptation, AStepOfSizeZeroTestsTheModelAsItIs) {
  const SmallProblem problem;
  const Model model = *problem.initial();
  const ClassPools test_pools(problem.data.test);
  Workspaces workspaces(problem.network);
  ThreadPool pool(2);
  Partition partition;
  double expected = 0.0;
  for (const LabelMix& mix : {LabelMix{0.9, 0.1, 0.0, 0.0}, LabelMix{0.0, 0.2, 0.3, 0.5}}) {
    RandomStream stream(1, "data", partition.groups.size());
    partition.groups.push_back({.mix = mix, .members = {draw(problem.pools, mix, 40, stream)}});
    expected += evaluate(model, problem.data.test, mix, test_pools, workspaces, pool).accuracy / 2;
  }
  const std::vector<double> steps{0.0};
  const std::vector<double> accuracies = accuracy_after_step(
      model, steps, {.network = &problem.network, .data = &problem.data, .partition = &partition, .seed = 3},
      pool);
  ASSERT_EQ(accuracies.size(), 1U);
  EXPECT_NEAR(accuracies[0], expected, 1e-12);
}

// Each worker's step by hand, and their average by data, for swarms with workers of 30 and 60 points.
TEST(Adaptation, IsOneStepOfEachWorkerAndTheSwarmsAverage) {
  const SmallProblem problem(false);
  const Model model = *problem.initial();
  const ClassPools test_pools(problem.data.test);
  Workspaces workspaces(problem.network);
  ThreadPool pool(2);
  nn::Engine<float> engine(problem.network);
  Partition partition;
  for (const LabelMix& mix : {LabelMix{0.5, 0.5, 0.0, 0.0}, LabelMix{0.0, 0.2, 0.3, 0.5}}) {
    GroupShare& group = partition.groups.emplace_back(GroupShare{.mix = mix});
    for (const std::size_t points : {30U, 60U}) {
      RandomStream stream(1, "data", 10 * partition.groups.size() + points);
      group.members.push_back(draw(problem.pools, mix, points, stream));
    }
  }
  const std::vector<double> steps{0.0, 0.03, 0.3, 1.0};
  std::vector<double> expected;
  for (const double step : steps) {
    double sum = 0.0;
    for (const GroupShare& group : partition.groups) {
      std::vector<double> average(model.size(), 0.0);
      for (const std::vector<SampleIndex>& samples : group.members) {
        BatchBuffer buffer;
        Model own = model;
        engine.step(own, buffer.read(problem.data.train, samples), step, nullptr);
        for (std::size_t i = 0; i < own.size(); ++i) {
          average[i] += static_cast<double>(own[i]) * static_cast<double>(samples.size()) / 90.0;
        }
      }
      Model swarm = model;
      std::ranges::transform(average, swarm.begin(), [](double value) { return static_cast<float>(value); });
      sum += evaluate(swarm, problem.data.test, group.mix, test_pools, workspaces, pool).accuracy;
    }
    expected.push_back(sum / 2.0);
  }
  const std::vector<double> accuracies = accuracy_after_step(
      model, steps, {.network = &problem.network, .data = &problem.data, .partition = &partition, .seed = 3},
      pool);
  ASSERT_EQ(accuracies.size(), steps.size());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    EXPECT_NEAR(accuracies[i], expected[i], 1e-9) << "step " << steps[i];
  }
  EXPECT_GT(accuracies[2], accuracies[0] + 0.1) << "else nothing was learnt";
}

}  // namespace
}  // namespace skein
