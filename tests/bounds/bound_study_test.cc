#include "skein/bounds/bound_study.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "skein/learning/local_training.h"
#include "tests/learning/small_training.h"

namespace skein {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Two swarms with two and three workers, data of two classes each.
class BoundStudyTest : public ::testing::Test {
 protected:
  BoundStudyTest() : problem_(false), initial_(problem_.initial()) {
    const std::vector<std::size_t> workers{2, 3};
    const std::vector<SwarmTask> tasks = problem_.tasks(workers, {});
    for (std::size_t u = 0; u < tasks.size(); ++u) {
      GroupShare& group = partition_.groups.emplace_back();
      group.mix = LabelMix(4, 0.0);
      group.mix[u] = group.mix[u + 1] = 0.5;
      for (const WorkerTask& worker : tasks[u].workers) {
        group.members.push_back(worker.samples);
      }
    }
  }

  [[nodiscard]] BoundStudySetup setup(const LearningOptions& options, std::uint64_t seed = 1) const {
    BoundStudySetup result{.training = {.options = options,
                                        .network = &problem_.network,
                                        .initial = initial_,
                                        .data = &problem_.data,
                                        .pools = &problem_.pools,
                                        .partition = &partition_,
                                        .seed = seed}};
    result.drift.label_mix.start = {constant(0.1), unit::number, ratio};
    result.drift.rotation.start = {constant(10.0), unit::number, Range{.low = -360.0, .high = 360.0}};
    result.num_clusters = 3;
    result.num_draws = 8;
    result.estimator = {.points = 16, .probes = 4, .power_steps = 10};
    return result;
  }
  static const BoundTerm& term(const BoundStudy& study, std::string_view name) {
    return *std::ranges::find(study.terms, name, &BoundTerm::name);
  }

  SmallProblem problem_;
  std::shared_ptr<const Model> initial_;
  Partition partition_;
  ThreadPool pool_{2};
};

LearningOptions options(std::size_t local_period, std::size_t global_period) {
  return {.inner_step = 1e-2,
          .meta_step = 5e-3,
          .batch_ratios = {0.3, 0.3, 0.3},
          .local_period = local_period,
          .global_period = global_period};
}

TEST_F(BoundStudyTest, MeasuredValuesStayBelowBoundsWithMeasuredConstants) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    for (const auto& [local, global] : {std::pair<std::size_t, std::size_t>{1, 1}, {2, 2}, {3, 1}, {1, 3}}) {
      const BoundStudy study = study_bounds(setup(options(local, global), seed), pool_);
      EXPECT_TRUE(study.unmet_by_measurement.empty()) << study.unmet_by_measurement.front();
      std::size_t compared = 0;
      for (const BoundTerm& term : study.terms) {
        ASSERT_TRUE(term.by_measurement) << term.name;
        if (term.measured) {
          EXPECT_GE(*term.measured, 0.0) << term.name;
          EXPECT_LT(LogNumber(*term.measured), *term.by_measurement) << term.name;
          ++compared;
        }
      }
      EXPECT_EQ(compared, 8U);
      ASSERT_EQ(study.drift.size(), 2U);
      for (const ClusterDriftStudy& drift : study.drift) {
        EXPECT_GT(drift.drift, 0.0);
        EXPECT_LE(drift.measured, drift.triangle * (1.0 + 1e-12));
        EXPECT_LE(drift.triangle, drift.bound * (1.0 + 1e-12));
      }
    }
  }
}

// Every worker's model by itself, as training moves it.
TEST_F(BoundStudyTest, VarianceOfModelsIsThatOfTraining) {
  const LearningOptions chosen = options(2, 3);
  BoundStudySetup s = setup(chosen);
  s.num_rounds = 1;
  const BoundStudy study = study_bounds(s, pool_);

  const LocalTraining training(
      {.options = chosen, .data = &problem_.data.train, .pools = &problem_.pools, .seed = 1});
  std::vector<SwarmTask> tasks = swarm_tasks(s.training);
  Workspace workspace(problem_.network);
  double within = 0.0;
  std::vector<Parameters> means;
  for (const SwarmTask& task : tasks) {
    Model start = *initial_;
    for (std::size_t k = 0; k < 3; ++k) {
      std::vector<Model> models;
      Parameters mean(start.size());
      double total = 0.0;
      for (const WorkerTask& worker : task.workers) {
        total += training.points_per_iteration(worker);
      }
      for (const WorkerTask& worker : task.workers) {
        Model& model = models.emplace_back(start);
        training.run(worker, {.swarm = task.swarm, .first_iteration = 2 * k, .num_iterations = 2}, workspace,
                     model);
        for (std::size_t i = 0; i < model.size(); ++i) {
          mean[i] += training.points_per_iteration(worker) / total * static_cast<double>(model[i]);
        }
      }
      if (k == 2) {
        for (std::size_t j = 0; j < models.size(); ++j) {
          Parameters model(mean.size());
          std::ranges::copy(models[j], model.begin());
          within +=
              0.5 * training.points_per_iteration(task.workers[j]) / total * squared_distance(model, mean);
        }
        means.push_back(mean);
      }
      for (std::size_t i = 0; i < start.size(); ++i) {
        start[i] = static_cast<float>(mean[i]);
      }
    }
  }
  // Models are averaged in single precision during training.
  EXPECT_NEAR(*term(study, "parameters_within").measured / within, 1.0, 1e-3);
  EXPECT_NEAR(*term(study, "parameters_between").measured / (0.25 * squared_distance(means[0], means[1])),
              1.0, 1e-3);
}

TEST_F(BoundStudyTest, LongPeriodsDoNotOverflow) {
  BoundStudySetup s = setup(options(20, 18));
  s.training.options.meta_step = 1e-4;
  s.num_rounds = 1;
  s.estimator = {.points = 4, .probes = 1, .power_steps = 2};
  const BoundStudy study = study_bounds(s, pool_);
  const BoundTerm& models = term(study, "parameters");
  EXPECT_GT(models.by_scenario->log10(), 308.0);
  EXPECT_TRUE(std::isfinite(models.by_scenario->log10()));
  EXPECT_TRUE(std::isfinite(term(study, "gradient").by_scenario->log10()));
  EXPECT_THAT(study.growth, HasSubstr("tau_L = 20, tau_G = 18"));
}

TEST_F(BoundStudyTest, LimitsData) {
  BoundStudySetup s = setup(options(1, 1));
  s.most_points = 25;  // workers have 20 to 40
  const BoundStudy study = study_bounds(s, pool_);
  EXPECT_THAT(study.notes, ElementsAre("workers have at most 25 points here, of up to 40"));
  const double mismatch = term(study, "mismatch").by_scenario->value();
  s.most_points = 0;
  EXPECT_GT(mismatch, term(study_bounds(s, pool_), "mismatch").by_scenario->value());
}

TEST_F(BoundStudyTest, TheSameBitsForAnyNumberOfThreads) {
  std::vector<double> numbers;
  for (const std::size_t threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    const BoundStudy study = study_bounds(setup(options(2, 2)), pool);
    std::vector<double> now;
    for (const BoundTerm& term : study.terms) {
      now.push_back(term.measured.value_or(0.0));
      now.push_back(term.by_measurement->log());
    }
    for (const ClusterDriftStudy& drift : study.drift) {
      now.push_back(drift.measured);
    }
    numbers = numbers.empty() ? now : numbers;
    EXPECT_EQ(now, numbers);
  }
}

TEST_F(BoundStudyTest, SaysWhereItIsNotTheScenario) {
  LearningOptions other = options(1, 1);
  EXPECT_TRUE(study_bounds(setup(other), pool_).notes.empty());
  other.algorithm = algorithm("h_fl");
  other.local_step = LocalStep::epoch;
  other.step_schedule = {{0.0, 0.1}};
  other.meta_step = 0.02;  // above 1 / (6 * 20)
  const BoundStudy study = study_bounds(setup(other), pool_);
  EXPECT_THAT(study.notes, ElementsAre(HasSubstr("hn_pfl"), HasSubstr("mini_batch"), HasSubstr("schedule")));
  EXPECT_THAT(study.unmet_by_scenario.front(), HasSubstr("1 / (6 mu^F)"));
  EXPECT_FALSE(term(study, "gradient").by_scenario);
  EXPECT_TRUE(term(study, "parameters").by_scenario);
}

}  // namespace
}  // namespace skein
