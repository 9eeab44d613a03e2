#include "skein/learning/adaptation.h"

#include <memory>

#include "skein/learning/evaluation.h"
#include "skein/learning/swarm_trainer.h"
#include "skein/learning/workspace.h"

namespace skein {

std::vector<double> accuracy_after_step(const Model& model, std::span<const double> step_sizes,
                                        const AdaptationSetup& setup, ThreadPool& pool) {
  Workspaces workspaces(*setup.network);
  const ClassPools test_pools(setup.data->test);
  const auto start = std::make_shared<const Model>(model);
  std::vector<SwarmTask> tasks;
  std::uint64_t worker = 0;
  for (const GroupShare& group : setup.partition->groups) {
    SwarmTask& task = tasks.emplace_back(SwarmTask{.swarm = tasks.size(), .model = start});
    for (const std::vector<SampleIndex>& samples : group.members) {
      // A step takes as many points as the three mini-batches together.
      task.workers.push_back(
          {.worker = worker++, .samples = samples, .batch_sizes = {setup.batch_points, 0, 0}});
    }
  }
  std::vector<double> accuracies;
  for (const double step : step_sizes) {
    LearningOptions options{.personalisation = Personalisation::step};
    options.algorithm.local_update = LocalUpdate::gradient;
    options.algorithm.personal_step = PersonalStep::step;
    options.step = step;
    SwarmTrainer trainer({.options = options, .data = &setup.data->train, .seed = setup.seed}, workspaces,
                         pool);
    const std::vector<SwarmUpdate> updates = trainer.personalise(tasks);
    double sum = 0.0;
    for (std::size_t u = 0; u < updates.size(); ++u) {
      const LabelMix& mix = setup.partition->groups[u].mix;
      sum += evaluate(updates[u].model, setup.data->test, mix, test_pools, workspaces, pool).accuracy;
    }
    accuracies.push_back(sum / static_cast<double>(updates.size()));
  }
  return accuracies;
}

}  // namespace skein
