#include "skein/learning/trainer.h"

#include <gtest/gtest.h>

#include "skein/base/expect.h"
#include "skein/learning/swarm_trainer.h"
#include "tests/learning/small_training.h"

namespace skein {
namespace {

SwarmUpdate update(std::size_t swarm, std::vector<float> model, double points) {
  return {.swarm = swarm, .model = Model(model), .workers = {{.points_processed = points}}};
}

TEST(Merge, ByHand) {
  ThreadPool pool(2);
  const std::vector<SwarmUpdate> updates{update(2, {4, 8}, 1), update(0, {0, 2}, 2), update(1, {2, 2}, 1)};
  const Model equal = merge(updates, MergeWeights::equal, pool);
  EXPECT_FLOAT_EQ(equal[0], 2.0F);
  EXPECT_FLOAT_EQ(equal[1], 4.0F);
  const Model by_data = merge(updates, MergeWeights::by_data, pool);
  EXPECT_FLOAT_EQ(by_data[0], 1.5F);
  EXPECT_FLOAT_EQ(by_data[1], 3.5F);
  EXPECT_THROW(merge({}, MergeWeights::equal, pool), ProgrammingError);
}

TEST(Merge, DoesNotDependOnOrderOrThreads) {
  RandomStream stream(1, "merge");
  std::vector<SwarmUpdate> updates;
  for (std::size_t u = 0; u < 7; ++u) {
    Model model(200'000);
    for (float& value : model) {
      value = static_cast<float>(stream.normal());
    }
    updates.push_back({.swarm = u,
                       .model = std::move(model),
                       .workers = {{.points_processed = 1.0 + static_cast<double>(u)}}});
  }
  ThreadPool one(1);
  ThreadPool three(3);
  const Model expected = merge(updates, MergeWeights::by_data, one);
  stream.shuffle(updates);
  EXPECT_TRUE(same_bits(merge(updates, MergeWeights::by_data, three), expected));
}

// What every trainer promises, for each form of local update.
struct Form {
  bool meta;
  LocalStep local_step;
  MetaGradient meta_gradient;
  bool redraw;
  Personalisation personalisation;
};

class TrainerContract : public ::testing::TestWithParam<Form> {
 protected:
  static LearningOptions options() {
    return {.algorithm = algorithm(GetParam().meta ? "hn_pfl" : "h_fl"),
            .meta_gradient = GetParam().meta_gradient,
            .local_step = GetParam().local_step,
            .step = 0.05,
            .inner_step = 0.02,
            .meta_step = 0.05,
            .batch_sizes = {6, 6, 6},
            .local_period = 2,
            .global_period = 3,
            .redraw = GetParam().redraw,
            .personalisation = GetParam().personalisation};
  }

  // Calls use(trainer) with a trainer on so many threads.
  template <class Use>
  auto with_trainer(std::size_t threads, const Use& use) const {
    ThreadPool pool(threads);
    Workspaces workspaces(problem_.network);
    SwarmTrainer trainer(
        {.options = options(), .data = &problem_.data.train, .pools = &problem_.pools, .seed = 4}, workspaces,
        pool);
    return use(trainer);
  }
  std::vector<SwarmUpdate> train(const std::vector<SwarmTask>& tasks, std::size_t threads = 1) const {
    return with_trainer(threads, [&](SwarmTrainer& trainer) { return trainer.train(tasks, {}); });
  }
  std::vector<SwarmUpdate> personalise(const std::vector<SwarmTask>& tasks, std::size_t threads = 1) const {
    return with_trainer(threads, [&](SwarmTrainer& trainer) { return trainer.personalise(tasks); });
  }

  SmallProblem problem_;
};

void expect_same(const std::vector<SwarmUpdate>& a, const std::vector<SwarmUpdate>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t u = 0; u < a.size(); ++u) {
    EXPECT_EQ(a[u].swarm, b[u].swarm);
    EXPECT_TRUE(same_bits(a[u].model, b[u].model)) << "swarm " << u;
    ASSERT_EQ(a[u].workers.size(), b[u].workers.size());
    for (std::size_t w = 0; w < a[u].workers.size(); ++w) {
      EXPECT_EQ(a[u].workers[w].worker, b[u].workers[w].worker);
      EXPECT_EQ(a[u].workers[w].loss, b[u].workers[w].loss);
      EXPECT_EQ(a[u].workers[w].points_processed, b[u].workers[w].points_processed);
    }
  }
}

TEST_P(TrainerContract, SameBitsForAnyNumberOfThreads) {
  const std::vector<SwarmTask> tasks = problem_.tasks({3, 1, 2, 4}, options());
  const std::vector<SwarmUpdate> one = train(tasks, 1);
  expect_same(train(tasks, 2), one);
  expect_same(train(tasks, 3), one);
  const std::vector<SwarmUpdate> own = personalise(tasks, 1);
  expect_same(personalise(tasks, 2), own);
  expect_same(personalise(tasks, 3), own);
  const auto gradient = [&](std::size_t threads) {
    return with_trainer(threads,
                        [&](SwarmTrainer& trainer) { return trainer.squared_meta_gradient(tasks, 16); });
  };
  EXPECT_EQ(gradient(1), gradient(3));
  EXPECT_GT(gradient(1), 0.0);
}

TEST_P(TrainerContract, SameBitsForAnyOrderOfSwarmsAndWorkers) {
  std::vector<SwarmTask> tasks = problem_.tasks({3, 2, 4}, options());
  const std::vector<SwarmUpdate> in_order = train(tasks);
  std::swap(tasks[0], tasks[2]);
  std::ranges::reverse(tasks[0].workers);
  std::swap(tasks[2].workers[0], tasks[2].workers[2]);
  std::vector<SwarmUpdate> other = train(tasks, 2);
  std::swap(other[0], other[2]);
  for (std::size_t u = 0; u < 3; ++u) {
    EXPECT_EQ(other[u].swarm, u);
    EXPECT_TRUE(same_bits(other[u].model, in_order[u].model));
  }
  EXPECT_EQ(other[2].workers[0].worker, in_order[2].workers[3].worker) << "reports in the task's order";
  EXPECT_EQ(other[2].workers[0].loss, in_order[2].workers[3].loss);
}

// A swarm's average, from workers trained one by one.
TEST_P(TrainerContract, AveragesByDataProcessed) {
  LearningOptions once = options();
  once.local_period = 1;
  once.global_period = 1;
  const std::vector<SwarmTask> together = problem_.tasks({3}, once);
  std::vector<SwarmTask> apart;
  for (std::size_t w = 0; w < 3; ++w) {
    SwarmTask task = together[0];
    task.swarm = w;
    task.workers = {together[0].workers[w]};
    apart.push_back(std::move(task));
  }
  const std::vector<SwarmUpdate> alone = train(apart);
  const SwarmUpdate swarm = train(together)[0];
  // Epochs process all data: 20, 25 and 30 points. Mini-batches are of equal size.
  const std::array<double, 3> points =
      GetParam().local_step == LocalStep::epoch ? std::array{20.0, 25.0, 30.0} : std::array{18.0, 18.0, 18.0};
  const double total = points[0] + points[1] + points[2];
  EXPECT_EQ(swarm.points_processed(), total);
  for (std::size_t i = 0; i < swarm.model.size(); ++i) {
    double average = 0.0;
    for (std::size_t w = 0; w < 3; ++w) {
      average += points[w] / total * static_cast<double>(alone[w].model[i]);
    }
    ASSERT_NEAR(swarm.model[i], average, 1e-6);
  }
}

TEST_P(TrainerContract, RoundsCanBeCutAtLocalAggregations) {
  LearningOptions one_round = options();
  one_round.global_period = 1;
  const std::vector<SwarmUpdate> whole = train(problem_.tasks({2, 3}, options()));
  std::vector<SwarmTask> tasks = problem_.tasks({2, 3}, one_round);
  std::vector<SwarmUpdate> updates;
  for (std::size_t k = 0; k < 3; ++k) {
    updates = train(tasks);
    for (std::size_t u = 0; u < tasks.size(); ++u) {
      tasks[u].model = std::make_shared<const Model>(updates[u].model);
      tasks[u].first_iteration += one_round.local_period;
    }
  }
  for (std::size_t u = 0; u < tasks.size(); ++u) {
    EXPECT_TRUE(same_bits(updates[u].model, whole[u].model));
    EXPECT_EQ(whole[u].points_processed(), 3 * updates[u].points_processed());
  }
}

TEST_P(TrainerContract, TellsHowFarItIs) {
  std::vector<double> fractions;
  const std::vector<SwarmTask> tasks = problem_.tasks({1, 1}, options());
  with_trainer(2, [&](SwarmTrainer& trainer) {
    return trainer.train(tasks, [&](double fraction) { fractions.push_back(fraction); });
  });
  EXPECT_EQ(fractions, (std::vector<double>{1.0 / 3, 2.0 / 3, 1.0}));
}

INSTANTIATE_TEST_SUITE_P(
    Forms, TrainerContract,
    ::testing::Values(
        Form{true, LocalStep::mini_batch, MetaGradient::first_order, false, Personalisation::step},
        Form{true, LocalStep::mini_batch, MetaGradient::hessian_free, true, Personalisation::epoch},
        Form{true, LocalStep::mini_batch, MetaGradient::exact, false, Personalisation::step},
        Form{true, LocalStep::epoch, MetaGradient::first_order, true, Personalisation::epoch},
        Form{true, LocalStep::epoch, MetaGradient::exact, false, Personalisation::step},
        Form{false, LocalStep::mini_batch, MetaGradient::first_order, false, Personalisation::step},
        Form{false, LocalStep::epoch, MetaGradient::first_order, true, Personalisation::epoch}));

// The mean over swarms of the mean over workers, weighted by their data, of the exact meta-gradient.
TEST(SwarmTrainer, SquaredMetaGradientByHand) {
  const SmallProblem problem;
  const LearningOptions options{.inner_step = 0.3, .batch_sizes = {4, 4, 4}};
  const std::vector<SwarmTask> tasks = problem.tasks({2, 1}, options);
  ThreadPool pool(1);
  Workspaces workspaces(problem.network);
  SwarmTrainer trainer({.options = options, .data = &problem.data.train}, workspaces, pool);

  std::vector<double> mean(problem.network.num_parameters(), 0.0);
  const std::array<double, 3> weights{20.0 / 45 / 2, 25.0 / 45 / 2, 0.5};
  Workspace workspace(problem.network);
  for (std::size_t w = 0; w < 3; ++w) {
    const WorkerTask& worker = w < 2 ? tasks[0].workers[w] : tasks[1].workers[0];
    const nn::Batch<float> batch =
        workspace.batches[0].read(problem.data.train, std::span(worker.samples).first(20));
    Model gradient(mean.size());
    workspace.engine.meta_gradient(*tasks[0].model, {batch, batch, batch},
                                   {.kind = MetaGradient::exact, .inner_step = 0.3}, nullptr, gradient);
    for (std::size_t i = 0; i < mean.size(); ++i) {
      mean[i] += weights[w] * static_cast<double>(gradient[i]);
    }
  }
  double expected = 0.0;
  for (const double value : mean) {
    expected += value * value;
  }
  EXPECT_NEAR(trainer.squared_meta_gradient(tasks, 20), expected, 1e-5 * expected);
}

// One worker's divergence ends the round, and it is the same one for any number of threads.
TEST(SwarmTrainer, TheFirstDivergenceIsReported) {
  const SmallProblem problem;
  const LearningOptions options{
      .algorithm = algorithm("h_fl"), .step = 1e25, .batch_sizes = {4, 4, 4}, .local_period = 4};
  const std::vector<SwarmTask> tasks = problem.tasks({2, 3}, options);
  for (const std::size_t threads : {1U, 2U, 3U}) {
    ThreadPool pool(threads);
    Workspaces workspaces(problem.network);
    SwarmTrainer trainer({.options = options, .data = &problem.data.train}, workspaces, pool);
    try {
      trainer.train(tasks, {});
      ADD_FAILURE() << "nothing was thrown";
    } catch (const Divergence& divergence) {
      EXPECT_EQ(divergence.place().worker, 0U);
      EXPECT_EQ(divergence.place().swarm, 0U);
    }
  }
}

}  // namespace
}  // namespace skein
