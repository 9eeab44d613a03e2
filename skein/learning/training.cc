#include "skein/learning/training.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "skein/base/expect.h"
#include "skein/learning/swarm_trainer.h"
#include "skein/learning/training_costs.h"

namespace skein {
namespace {

// One worker with the data of all.
SwarmTask pooled_task(const TrainingSetup& setup, std::span<const SwarmTask> tasks) {
  WorkerTask pooled{};
  LabelMix mix(setup.pools->num_classes(), 0.0);
  for (const SwarmTask& task : tasks) {
    const LabelMix& swarm_mix = setup.partition->groups[task.swarm].mix;
    for (const WorkerTask& worker : task.workers) {
      pooled.samples.insert(pooled.samples.end(), worker.samples.begin(), worker.samples.end());
      for (std::size_t label = 0; label < mix.size(); ++label) {
        mix[label] += swarm_mix[label] * static_cast<double>(worker.samples.size());
      }
    }
  }
  for (double& probability : mix) {
    probability /= static_cast<double>(pooled.samples.size());
  }
  pooled.batch_sizes = batch_sizes(setup.options, pooled.samples.size());
  pooled.redraw = setup.options.redraw ? mix : LabelMix{};
  return {.workers = {std::move(pooled)}};
}

double mean_loss(std::span<const SwarmUpdate> updates) {
  double sum = 0.0;
  std::size_t count = 0;
  for (const SwarmUpdate& update : updates) {
    for (const WorkerReport& worker : update.workers) {
      sum += worker.loss;
      ++count;
    }
  }
  return sum / static_cast<double>(count);
}

class Training {
 public:
  Training(TrainingSetup setup, ThreadPool& pool, const TrainingObserver& observer)
      : setup_(std::move(setup)),
        algorithm_(setup_.options.algorithm),
        pool_(pool),
        observer_(observer),
        workspaces_(*setup_.network),
        trainer_(std::in_place,
                 LocalTraining::Setting{.options = setup_.options,
                                        .data = &setup_.data->train,
                                        .pools = setup_.pools,
                                        .seed = setup_.seed},
                 workspaces_, pool),
        costs_(*setup_.world, setup_.model_size),
        swarms_(swarm_tasks(setup_)),
        test_pools_(setup_.data->test),
        test_samples_(setup_.data->test.size()) {
    std::iota(test_samples_.begin(), test_samples_.end(), SampleIndex{0});
    if (algorithm_.topology == Topology::pooled) {
      pooled_.push_back(pooled_task(setup_, swarms_));
    }
    set_models(std::exchange(setup_.initial, nullptr));
    // A star has nobody to average with in between.
    const bool star = algorithm_.topology == Topology::star;
    round_ = {.local_period = setup_.options.local_period * (star ? setup_.options.global_period : 1),
              .num_local_aggregations = star ? 1 : setup_.options.global_period,
              .visits_access_point = algorithm_.shared != Sharing::nothing};
  }

  TrainingResult run() {
    const std::size_t period = round_.local_period * round_.num_local_aggregations;
    const std::size_t iterations = setup_.options.iterations;
    expect(iterations % period == 0, "iterations are whole global rounds");
    record(0, std::nullopt, false);
    for (std::size_t iteration = 0; iteration < iterations; iteration += period) {
      const double loss = global_round(iteration, [&](double done) {
        show_progress(static_cast<double>(iteration) + done * static_cast<double>(period));
      });
      const std::size_t done = iteration + period;
      if (done / period % setup_.options.evaluation_period == 0 || done == iterations) {
        record(done, loss, done == iterations);
        if (reached(result_.records.back().global)) {
          break;
        }
      }
    }
    trainer_.reset();  // makes room
    if (algorithm_.shared == Sharing::model) {
      result_.global = *swarms_.front().model;
    }
    return std::move(result_);
  }

 private:
  void set_models(const std::shared_ptr<const Model>& model) {
    for (std::vector<SwarmTask>* tasks : {&swarms_, &pooled_}) {
      for (SwarmTask& task : *tasks) {
        task.model = model;
      }
    }
  }

  // Returns the mean training loss.
  double global_round(std::size_t iteration, const Trainer::Progress& progress) {
    std::vector<SwarmTask>& tasks = pooled_.empty() ? swarms_ : pooled_;
    for (SwarmTask& task : tasks) {
      task.first_iteration = iteration;
      task.local_period = round_.local_period;
      task.num_local_aggregations = round_.num_local_aggregations;
    }
    std::vector<SwarmUpdate> updates = trainer_->train(tasks, progress);
    // Training in one place is a reference outside of the network: no UAV works for it.
    if (pooled_.empty()) {
      costs_.book(updates, round_);
    }
    if (algorithm_.shared == Sharing::nothing) {
      for (std::size_t u = 0; u < updates.size(); ++u) {
        swarms_[u].model = std::make_shared<const Model>(std::move(updates[u].model));
      }
    } else {
      set_models(nullptr);  // makes room
      set_models(std::make_shared<const Model>(merge(updates, algorithm_.weights, pool_)));
    }
    return mean_loss(updates);
  }

  void record(std::size_t iteration, std::optional<double> training_loss, bool last) {
    for (SwarmTask& task : swarms_) {
      task.first_iteration = iteration;
    }
    TrainingRecord record{
        .iteration = iteration, .elapsed = costs_.elapsed(), .training_loss = training_loss};
    std::ranges::transform(all_energy_kinds, record.energy.begin(),
                           [&](EnergyKind kind) { return costs_.spent_on(kind); });
    record.global = global_evaluation(iteration);
    last = last || (iteration > 0 && reached(record.global));
    if (setup_.options.gradient_points > 0) {
      const double norm = trainer_->squared_meta_gradient(swarms_, setup_.options.gradient_points);
      // Beyond the range of numbers it cannot be told.
      record.squared_meta_gradient = std::isfinite(norm) ? std::optional(norm) : std::nullopt;
    }
    if (setup_.personalise_always || last) {
      record.personalised = personalise(last);
    }
    result_.records.push_back(std::move(record));
    if (observer_.record) {
      observer_.record(result_.records.back());
    }
    show_progress(static_cast<double>(iteration));
  }

  [[nodiscard]] bool reached(const Evaluation& evaluation) const {
    const double target = setup_.options.target_accuracy_percent;
    return target > 0.0 && 100.0 * evaluation.accuracy >= target;
  }

  // Workers see their own losses and parameters only: an average can still be beyond numbers on the test
  // set. `iteration` is that of the last steps.
  [[nodiscard]] Evaluation finite(const Evaluation& evaluation, std::size_t iteration,
                                  std::size_t swarm) const {
    if (!std::isfinite(evaluation.loss)) {
      throw Divergence({.iteration = iteration,
                        .swarm = swarm,
                        .worker = swarms_[swarm].workers.front().worker,
                        .loss = evaluation.loss,
                        .likely_cause = "seen on the test set; " + likely_cause(setup_.options, iteration)});
    }
    return evaluation;
  }

  Evaluation global_evaluation(std::size_t iteration) {
    const auto of = [&](const SwarmTask& task) {
      return finite(evaluate(*task.model, setup_.data->test, test_samples_, workspaces_, pool_),
                    std::max<std::size_t>(iteration, 1) - 1, task.swarm);
    };
    if (algorithm_.shared == Sharing::model) {
      return of(swarms_.front());
    }
    std::vector<Evaluation> evaluations;
    std::ranges::transform(swarms_, std::back_inserter(evaluations), of);
    return mean_of(evaluations);
  }

  std::vector<Evaluation> personalise(bool keep) {
    std::vector<SwarmUpdate> updates = trainer_->personalise(swarms_);
    std::vector<Evaluation> evaluations;
    for (SwarmUpdate& update : updates) {
      const LabelMix& mix = setup_.partition->groups[update.swarm].mix;
      evaluations.push_back(
          finite(evaluate(update.model, setup_.data->test, mix, test_pools_, workspaces_, pool_),
                 swarms_[update.swarm].first_iteration, update.swarm));
      if (keep) {
        result_.personalised.push_back(std::move(update.model));
      }
    }
    return evaluations;
  }

  void show_progress(double iterations_done) const {
    if (observer_.progress) {
      observer_.progress(iterations_done / static_cast<double>(setup_.options.iterations));
    }
  }

  TrainingSetup setup_;
  const Algorithm& algorithm_;
  ThreadPool& pool_;
  const TrainingObserver& observer_;
  Workspaces workspaces_;
  std::optional<SwarmTrainer> trainer_;
  TrainingCosts costs_;
  TrainingCosts::Round round_;
  std::vector<SwarmTask> swarms_;
  std::vector<SwarmTask> pooled_;  // the one task of training in one place
  ClassPools test_pools_;
  std::vector<SampleIndex> test_samples_;
  TrainingResult result_;
};

}  // namespace

std::vector<SwarmTask> swarm_tasks(const TrainingSetup& setup) {
  std::vector<SwarmTask> tasks;
  std::uint64_t number = 0;
  for (const GroupShare& group : setup.partition->groups) {
    SwarmTask& task = tasks.emplace_back(SwarmTask{.swarm = tasks.size()});
    for (const std::vector<SampleIndex>& samples : group.members) {
      task.workers.push_back({.worker = number++,
                              .samples = samples,
                              .batch_sizes = batch_sizes(setup.options, samples.size()),
                              .redraw = setup.options.redraw ? group.mix : LabelMix{}});
    }
  }
  return tasks;
}

TrainingResult run_training(TrainingSetup setup, ThreadPool& pool, const TrainingObserver& observer) {
  return Training(std::move(setup), pool, observer).run();
}

}  // namespace skein
