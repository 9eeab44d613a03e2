#include "skein/learning/training.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cmath>

#include "skein/learning/algorithm.h"
#include "skein/learning/swarm_trainer.h"
#include "tests/learning/small_training.h"

namespace skein {
namespace {

// A run of the small problem: swarms with two labels each and so many workers, above clusters of their own.
struct SmallRun {
  SmallProblem problem;
  std::vector<std::size_t> workers;
  World world;
  Partition split;
  std::shared_ptr<const Model> initial = problem.initial();

  explicit SmallRun(std::vector<std::size_t> workers_per_swarm, std::size_t points_per_worker = 40)
      : workers(std::move(workers_per_swarm)), world(sampled()), split(deal(points_per_worker)) {}

  [[nodiscard]] World sampled() const {
    std::vector<double> counts(workers.begin(), workers.end());
    const SwarmOptions swarms{.count = workers.size(),
                              .types = {UavType{.name = "leader", .role = Role::leader},
                                        UavType{.name = "worker",
                                                .role = Role::worker,
                                                .count = {list(counts), unit::number, whole_number}}}};
    ThreadPool pool(1);
    return sample_world({.clusters = {.sites = {.count = workers.size()}}}, swarms, {}, 1, pool);
  }
  [[nodiscard]] Partition deal(std::size_t points_per_worker) const {
    const PartitionOptions options{
        .labels_per_group = 2,
        .quantity = {normal(static_cast<double>(points_per_worker), 5), unit::number, whole_positive}};
    return partition(options, workers, problem.pools, 1);
  }

  [[nodiscard]] TrainingSetup setup(LearningOptions options) const {
    return {.options = std::move(options),
            .network = &problem.network,
            .initial = initial,
            .data = &problem.data,
            .pools = &problem.pools,
            .partition = &split,
            .world = &world,
            .model_size = DataSize(1e4),
            .seed = 7};
  }
  [[nodiscard]] TrainingResult train(const LearningOptions& options, std::size_t threads = 1) const {
    ThreadPool pool(threads);
    return run_training(setup(options), pool, {});
  }
};

LearningOptions quick_options(const Algorithm& which) {
  return {.algorithm = which,
          .step = 0.1,
          .inner_step = 0.02,
          .meta_step = 0.1,
          .batch_sizes = {8, 8, 8},
          .local_period = 2,
          .global_period = 2,
          .iterations = 40,
          .gradient_points = 16};
}

class EveryAlgorithm : public ::testing::TestWithParam<Algorithm> {};

TEST_P(EveryAlgorithm, GivesTheSameBitsForAnyNumberOfThreads) {
  for (const LocalStep form : {LocalStep::mini_batch, LocalStep::epoch}) {
    const SmallRun run({3, 1, 2});
    LearningOptions options = quick_options(GetParam());
    options.iterations = 8;
    options.local_step = form;
    options.redraw = form == LocalStep::epoch;
    options.label_shift.smoothing = form == LocalStep::epoch ? 0.5 : 0.0;
    const TrainingResult one = run.train(options, 1);
    ASSERT_EQ(one.records.size(), 3U);
    ASSERT_EQ(one.personalised.size(), 3U);
    for (const std::size_t threads : {2U, 3U}) {
      const TrainingResult many = run.train(options, threads);
      EXPECT_TRUE(same_bits(many.global, one.global));
      for (std::size_t u = 0; u < 3; ++u) {
        EXPECT_TRUE(same_bits(many.personalised[u], one.personalised[u]));
      }
      EXPECT_EQ(metrics_csv(many.records, 3), metrics_csv(one.records, 3));
    }
  }
}

TEST_P(EveryAlgorithm, Learns) {
  const SmallRun run({2, 2});
  const TrainingResult result = run.train(quick_options(GetParam()));
  const TrainingRecord& first = result.records.front();
  const TrainingRecord& last = result.records.back();
  EXPECT_EQ(first.iteration, 0U);
  EXPECT_EQ(last.iteration, 40U);
  EXPECT_LT(last.mean_personalised()->loss, 0.5 * first.mean_personalised()->loss);
  EXPECT_GT(last.mean_personalised()->accuracy, 0.9);
  EXPECT_LT(*last.training_loss, first.global.loss);
  const bool alone = GetParam().shared == Sharing::nothing;
  EXPECT_EQ(result.global.empty(), alone);
  if (!alone) {
    EXPECT_LT(last.global.loss, 0.8 * first.global.loss);
  }
}

TEST_P(EveryAlgorithm, TimeAndEnergyGrow) {
  const SmallRun run({2, 2});
  const TrainingResult result = run.train(quick_options(GetParam()));
  const bool pooled = GetParam().topology == Topology::pooled;
  for (std::size_t i = 1; i < result.records.size(); ++i) {
    const TrainingRecord& record = result.records[i];
    EXPECT_EQ(record.iteration, 4 * i);
    const double before = result.records[i - 1].elapsed.si();
    EXPECT_TRUE(pooled ? record.elapsed.si() == 0.0 : record.elapsed.si() > before);
    EXPECT_TRUE(pooled ? record.total_energy().si() == 0.0
                       : record.total_energy() > result.records[i - 1].total_energy());
  }
}

// Whatever is not asked for is not measured.
TEST_P(EveryAlgorithm, MeasuresWhatIsAskedFor) {
  const SmallRun run({1, 2});
  LearningOptions options = quick_options(GetParam());
  options.gradient_points = 0;
  options.evaluation_period = 4;
  TrainingSetup setup = run.setup(options);
  setup.personalise_always = false;
  ThreadPool pool(1);
  const TrainingResult result = run_training(setup, pool, {});
  ASSERT_EQ(result.records.size(), 4U);
  EXPECT_EQ(result.records[1].iteration, 16U);
  EXPECT_EQ(result.records[2].iteration, 32U);
  EXPECT_EQ(result.records[3].iteration, 40U) << "the last is always evaluated";
  for (const TrainingRecord& record : result.records) {
    EXPECT_FALSE(record.squared_meta_gradient.has_value());
    EXPECT_EQ(record.personalised.size(), record.iteration == 40 ? 2U : 0U);
  }
}

// A run that ends at its target is the beginning of one that does not.
TEST_P(EveryAlgorithm, EndsWhereItsTargetIsReached) {
  const SmallRun run({1, 2});
  LearningOptions options = quick_options(GetParam());
  const TrainingResult whole = run.train(options);
  std::size_t best = 1;
  for (std::size_t i = 2; i < whole.records.size(); ++i) {
    best = whole.records[i].global.accuracy > whole.records[best].global.accuracy ? i : best;
  }
  options.target_accuracy_percent = 100.0 * whole.records[best].global.accuracy;
  const TrainingResult early = run.train(options);
  ASSERT_EQ(early.records.size(), best + 1) << "the best is reached where it is reached first";
  for (std::size_t i = 0; i <= best; ++i) {
    EXPECT_EQ(early.records[i].global.loss, whole.records[i].global.loss);
    EXPECT_EQ(early.records[i].total_energy(), whole.records[i].total_energy());
  }
  EXPECT_EQ(early.personalised.size(), 2U);
}

// A row of one's own keeps the same promises: Per-FedAvg within each swarm, and no more.
const Algorithm own_row{.name = "personal_swarms", .title = "swarms alone", .shared = Sharing::nothing};

std::vector<Algorithm> all_rows() {
  std::vector<Algorithm> rows(algorithms().begin(), algorithms().end());
  rows.push_back(own_row);
  return rows;
}

INSTANTIATE_TEST_SUITE_P(All, EveryAlgorithm, ::testing::ValuesIn(all_rows()),
                         [](const auto& row) { return row.param.name; });

TEST(Training, AlgorithmsByName) {
  for (const char* name : {"hn_pfl", "h_fl", "fed_avg", "per_fed_avg", "local", "central"}) {
    EXPECT_EQ(algorithm(name).name, name);
  }
  EXPECT_EQ(algorithm("hn_pfl"), Algorithm{});
  EXPECT_EQ(algorithms().size(), 6U);
}

// A hierarchy with one swarm and a global aggregation after each local one is a star.
TEST(Training, AHierarchyOfOneSwarmIsAStar) {
  const SmallRun run({4});
  for (const auto& [hierarchy, star] : {std::pair{"h_fl", "fed_avg"}, std::pair{"hn_pfl", "per_fed_avg"}}) {
    LearningOptions options = quick_options(algorithm(hierarchy));
    options.global_period = 1;
    const TrainingResult one = run.train(options);
    options.algorithm = algorithm(star);
    const TrainingResult other = run.train(options);
    EXPECT_TRUE(same_bits(one.global, other.global));
    EXPECT_EQ(metrics_csv(one.records, 1), metrics_csv(other.records, 1));
  }
}

// One worker in all: with or without swarms, and in one place, the same steps are taken.
TEST(Training, OneWorkerIsAllThereIs) {
  const SmallRun run({1});
  const TrainingResult hierarchy = run.train(quick_options(algorithm("h_fl")));
  for (const char* other : {"fed_avg", "central"}) {
    EXPECT_TRUE(same_bits(run.train(quick_options(algorithm(other))).global, hierarchy.global));
  }
}

// Unequal data: a hierarchy gives swarms equal weight, a star gives them weight by data.
TEST(Training, GlobalAveragesAreWeightedByTopology) {
  const SmallRun run({1, 3});
  LearningOptions options = quick_options(algorithm("local"));
  options.local_step = LocalStep::epoch;
  options.local_period = 1;
  options.global_period = 1;
  options.iterations = 1;
  std::vector<double> points;
  for (const GroupShare& group : run.split.groups) {
    points.push_back(0.0);
    for (const auto& member : group.members) {
      points.back() += static_cast<double>(member.size());
    }
  }
  const auto swarm_models = [&] {
    ThreadPool pool(1);
    Workspaces workspaces(run.problem.network);
    SwarmTrainer trainer(
        {.options = options, .data = &run.problem.data.train, .seed = run.setup(options).seed}, workspaces,
        pool);
    std::vector<SwarmTask> tasks;
    std::uint64_t number = 0;
    for (const GroupShare& group : run.split.groups) {
      SwarmTask& task = tasks.emplace_back(SwarmTask{.swarm = tasks.size(), .model = run.initial});
      for (const auto& member : group.members) {
        task.workers.push_back({.worker = number++, .samples = member, .batch_sizes = {8, 8, 8}});
      }
    }
    return trainer.train(tasks, {});
  }();
  for (const char* which : {"h_fl", "fed_avg"}) {
    options.algorithm = algorithm(which);
    const Model global = run.train(options).global;
    const double share =
        options.algorithm.weights == MergeWeights::equal ? 0.5 : points[0] / (points[0] + points[1]);
    for (std::size_t i = 0; i < global.size(); ++i) {
      ASSERT_NEAR(global[i],
                  share * static_cast<double>(swarm_models[0].model[i]) +
                      (1.0 - share) * static_cast<double>(swarm_models[1].model[i]),
                  1e-6);
    }
  }
}

TEST(Training, ShowsProgressAndRecordsAsItGoes) {
  const SmallRun run({2, 1});
  std::vector<double> fractions;
  std::vector<std::size_t> iterations;
  ThreadPool pool(2);
  LearningOptions options = quick_options(algorithm("hn_pfl"));
  options.iterations = 8;
  run_training(run.setup(options), pool,
               {.record = [&](const TrainingRecord& record) { iterations.push_back(record.iteration); },
                .progress = [&](double fraction) { fractions.push_back(fraction); }});
  EXPECT_EQ(iterations, (std::vector<std::size_t>{0, 4, 8}));
  EXPECT_TRUE(std::ranges::is_sorted(fractions));
  EXPECT_EQ(fractions.front(), 0.0);
  EXPECT_EQ(fractions.back(), 1.0);
}

TEST(Training, RecordsUpToADivergenceAreThere) {
  const SmallRun run({2, 1});
  LearningOptions options = quick_options(algorithm("h_fl"));
  options.step_schedule = {{0, 0.01}, {8, 1e30}};
  TrainingSetup setup = run.setup(options);
  setup.personalise_always = false;  // after iteration 8 that takes the large step already
  std::size_t num_records = 0;
  ThreadPool pool(2);
  EXPECT_THROW(run_training(setup, pool, {.record = [&](const auto&) { ++num_records; }}), Divergence);
  EXPECT_EQ(num_records, 3U);  // iterations 0, 4 and 8
}

// One absurd step leaves finite parameters, which workers accept, and the test set shows it.
TEST(Training, WhatIsNoNumberIsNeverRecorded) {
  const SmallRun run({2, 1});
  for (const std::string_view which : {"h_fl", "hn_pfl", "local"}) {
    for (const bool personalise_always : {false, true}) {
      LearningOptions options = quick_options(algorithm(which));
      options.local_period = 1;
      options.global_period = 1;
      options.step_schedule = {{0, 0.01}, {8, 1e30}};
      options.meta_step = which == "hn_pfl" ? 1e30 : options.meta_step;
      TrainingSetup setup = run.setup(options);
      setup.personalise_always = personalise_always;
      std::vector<TrainingRecord> records;
      ThreadPool pool(2);
      EXPECT_THROW(
          run_training(setup, pool, {.record = [&](const auto& record) { records.push_back(record); }}),
          Divergence);
      const std::string table = metrics_csv(records, 2);
      EXPECT_EQ(table.find("nan"), std::string::npos) << table;
      EXPECT_EQ(table.find("inf"), std::string::npos) << table;
    }
  }
}

// With all parameters so large, every output overflows.
TEST(Training, AStartBeyondNumbersIsADivergence) {
  SmallRun run({2, 1});
  Model huge(run.problem.network.num_parameters());
  std::ranges::fill(huge, 3e38F);
  run.initial = std::make_shared<const Model>(std::move(huge));
  std::size_t num_records = 0;
  ThreadPool pool(1);
  try {
    run_training(run.setup(quick_options(algorithm("h_fl"))), pool,
                 {.record = [&](const auto&) { ++num_records; }});
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Divergence& divergence) {
    EXPECT_EQ(divergence.place().iteration, 0U);
    EXPECT_FALSE(std::isfinite(divergence.place().loss));
  }
  EXPECT_EQ(num_records, 0U);
}

// Memory beside the data grows with threads and swarms, not with workers: 300 workers of a network of 1.3 MB
// would need 400 MB if each had a model.
TEST(Training, MemoryDoesNotGrowWithWorkers) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers keep freed memory";
#endif
  const SmallProblem problem;
  const nn::Network<float> network(
      {.input = {.height = 6, .width = 6, .channels = 1},
       .layers = {nn::Linear{.outputs = 8192}, nn::Relu{}, nn::Linear{.outputs = 4}}});
  RandomStream stream(1, "initial model");
  const auto initial = std::make_shared<const Model>(network.initial_parameters(stream));
  const auto peak_megabytes = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_maxrss) / 1024.0;  // NOLINT(cppcoreguidelines-pro-type-union-access)
  };
  const LearningOptions options{.batch_sizes = {4, 4, 4}};
  ThreadPool pool(2);
  Workspaces workspaces(network);
  SwarmTrainer trainer({.options = options, .data = &problem.data.train}, workspaces, pool);
  const auto train = [&](std::size_t num_workers) {
    SwarmTask task{.model = initial};
    for (std::size_t w = 0; w < num_workers; ++w) {
      task.workers.push_back({.worker = w, .samples = {0, 1, 2, 3, 4, 5}, .batch_sizes = {4, 4, 4}});
    }
    trainer.train(std::vector{task}, {});
  };
  train(4);
  const double few = peak_megabytes();
  train(300);
  EXPECT_LT(peak_megabytes() - few, 30.0);
}

}  // namespace
}  // namespace skein
