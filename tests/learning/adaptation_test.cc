#include "skein/learning/adaptation.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace skein
