#include "skein/bounds/bound_study.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "skein/base/expect.h"
#include "skein/bounds/drift.h"
#include "skein/learning/local_training.h"
#include "skein/learning/swarm_trainer.h"

namespace skein {
namespace {

LearningOptions as_bounded(LearningOptions options, std::vector<std::string>& notes) {
  const auto replace = [&](auto& value, const auto& other, const char* note) {
    if (value != other) {
      value = other;
      notes.emplace_back(note);
    }
  };
  replace(options.algorithm, Algorithm{}, "the bounds are of hn_pfl: it is trained here");
  replace(options.local_step, LocalStep::mini_batch,
          "the bounds are of one update per iteration: local_step = \"mini_batch\" here");
  replace(options.redraw, false, "the bounds are of data that stays during a sequence: redraw = false here");
  replace(options.step_schedule, std::vector<std::array<double, 2>>{},
          "the bounds are of constant steps: no step_schedule here");
  return options;
}

Parameters to_double(const Model& model) {
  Parameters w(model.size());
  std::ranges::copy(model, w.begin());
  return w;
}

// The data of a cluster: its label mix over a few samples of each class.
class ClusterSamples {
 public:
  ClusterSamples(const ClassPools& pools, std::size_t most, std::uint64_t seed) {
    for (std::size_t label = 0; label < pools.num_classes(); ++label) {
      RandomStream stream(seed, "cluster points", label);
      std::vector<SampleIndex>& chosen = by_class_.emplace_back();
      draw_distinct(pools.of(label), std::min(most, pools.of(label).size()), stream, chosen);
    }
  }

  // Refers to this object.
  [[nodiscard]] SampleSet with_mix(const LabelMix& mix) const {
    SampleSet set;
    for (std::size_t label = 0; label < mix.size(); ++label) {
      if (mix[label] > 0.0) {
        set.parts.push_back({by_class_[label], mix[label]});
      }
    }
    return set;
  }

 private:
  std::vector<std::vector<SampleIndex>> by_class_;
};

// Measured on the way, to be set beside bounds.
struct Measurements {
  double mini_batch_error = 0.0;
  double within = 0.0;  // of models
  double between = 0.0;
  double squared_gradient = 0.0;  // of the global meta-loss, mean over the path
  double mismatch = 0.0;
};

// The bounds with one set of constants.
struct Bounds {
  LogNumber error{};
  LogNumber swarm{};
  LogNumber network{};
  ParameterVariability<LogNumber> parameters{};
  std::optional<GradientBound<LogNumber>> gradient{};
  LogNumber mismatch{};
};

class Study {
 public:
  Study(const BoundStudySetup& setup, ThreadPool& pool, const StudyProgress& progress)
      : setup_(setup),
        pool_(pool),
        progress_(progress),
        options_(as_bounded(setup.training.options, result_.notes)),
        network_(setup.training.network->architecture()),
        losses_(network_, setup.training.data->train),
        workspaces_(*setup.training.network),
        training_{.options = options_,
                  .data = &setup.training.data->train,
                  .pools = setup.training.pools,
                  .seed = setup.training.seed},
        local_(training_),
        cluster_samples_(*setup.training.pools, setup.cluster_points, setup.training.seed) {
    TrainingSetup training = setup.training;
    training.options = options_;
    tasks_ = swarm_tasks(training);
    limit_data();
    for (const SwarmTask& task : tasks_) {
      SwarmData& swarm = swarms_.emplace_back();
      for (const WorkerTask& worker : task.workers) {
        swarm.push_back({worker.worker, worker.samples, local_.points_per_iteration(worker)});
      }
    }
  }

  BoundStudy run() {
    train();
    result_.estimates = estimate_constants(estimator(), path_, pool_,
                                           [&](double done) { show("measuring constants", done); });
    measure();
    drift();
    conclude();
    return std::move(result_);
  }

 private:
  // A worker's samples are in random order.
  void limit_data() {
    std::size_t most = 0;
    for (SwarmTask& task : tasks_) {
      for (WorkerTask& worker : task.workers) {
        most = std::max(most, worker.samples.size());
        if (setup_.most_points > 0 && worker.samples.size() > setup_.most_points) {
          worker.samples.resize(setup_.most_points);
          worker.batch_sizes = batch_sizes(options_, worker.samples.size());
        }
      }
    }
    if (setup_.most_points > 0 && most > setup_.most_points) {
      result_.notes.push_back(
          fmt::format("workers have at most {} points here, of up to {}", setup_.most_points, most));
    }
  }

  [[nodiscard]] EstimatorSetting estimator() {
    return {.losses = &losses_,
            .swarms = swarms_,
            .inner_step = options_.inner_step,
            .seed = setup_.training.seed,
            .options = setup_.estimator};
  }

  void show(std::string_view stage, double done) const {
    if (progress_) {
      progress_(stage, done);
    }
  }

  void train() {
    SwarmTrainer trainer(training_, workspaces_, pool_);
    std::shared_ptr<const Model> model = setup_.training.initial;
    path_.push_back(to_double(*model));
    for (std::size_t round = 0; round < setup_.num_rounds; ++round) {
      for (SwarmTask& task : tasks_) {
        task.model = model;
        task.first_iteration = round * options_.local_period * options_.global_period;
        task.local_period = options_.local_period;
        task.num_local_aggregations = options_.global_period;
      }
      models_before_merge(trainer);
      model = std::make_shared<const Model>(merge(trainer.train(tasks_, {}), MergeWeights::equal, pool_));
      path_.push_back(to_double(*model));
      show("training", static_cast<double>(round + 1) / static_cast<double>(setup_.num_rounds));
    }
  }

  // How workers' models deviate at the end of a round, before they are averaged: the last local round again,
  // with the same random streams.
  void models_before_merge(SwarmTrainer& trainer) {
    std::vector<std::shared_ptr<const Model>> starts(tasks_.size(), tasks_.front().model);
    if (options_.global_period > 1) {
      std::vector<SwarmTask> shorter = tasks_;
      for (SwarmTask& task : shorter) {
        task.num_local_aggregations = options_.global_period - 1;
      }
      std::vector<SwarmUpdate> updates = trainer.train(shorter, {});
      for (std::size_t u = 0; u < updates.size(); ++u) {
        starts[u] = std::make_shared<const Model>(std::move(updates[u].model));
      }
    }
    const Variability models = variability_of(
        swarms_, losses_.num_parameters(),
        [&](std::size_t u, std::size_t j, Parameters& out) {
          Model model = *starts[u];
          const SwarmTask& task = tasks_[u];
          workspaces_.with([&](Workspace& workspace) {
            local_.run(task.workers[j],
                       {.swarm = u,
                        .first_iteration =
                            task.first_iteration + (options_.global_period - 1) * options_.local_period,
                        .num_iterations = options_.local_period},
                       workspace, model);
          });
          // Deviations, which are small beside the models themselves.
          for (std::size_t i = 0; i < out.size(); ++i) {
            out[i] = static_cast<double>(model[i]) - static_cast<double>((*task.model)[i]);
          }
          return 0.0;
        },
        pool_);
    if (models.mean_within() + models.between > measured_.within + measured_.between) {
      measured_.within = models.mean_within();
      measured_.between = models.between;
    }
  }

  void measure() {
    const Parameters& last = path_.back();
    const std::vector<WorkerPlace> places = places_of(swarms_);
    std::vector<double> errors(places.size());
    pool_.parallel_for(places.size(), [&](std::size_t i) {
      const WorkerPlace& at = places[i];
      losses_.with([&](SampleLoss& loss) {
        errors[i] = measured_mini_batch_error(estimator(), swarms_[at.swarm][at.member],
                                              tasks_[at.swarm].workers[at.member].batch_sizes, last,
                                              setup_.num_draws, loss);
      });
    });
    measured_.mini_batch_error = mean_of_workers([&](std::size_t i) { return errors[i]; });
    for (const PathEstimates& at : result_.estimates.path) {
      measured_.squared_gradient += squared_norm(at.metas.mean) / static_cast<double>(path_.size());
    }
    // All clusters at once: a swarm of one each.
    const std::vector<SwarmData> clusters(swarms_.size(), SwarmData(1));
    const Variability at_clusters = variability_of(
        clusters, losses_.num_parameters(),
        [&](std::size_t u, std::size_t, Parameters& out) {
          cluster_gradient(cluster_samples_.with_mix(mix(u)), out);
          return 0.0;
        },
        pool_);
    measured_.mismatch = squared_distance(result_.estimates.path.back().metas.mean, at_clusters.mean);
    show("measuring errors", 1.0);
  }

  // Over swarms with equal weight, over their workers by data.
  template <class Of>
  double mean_of_workers(const Of& of) const {
    double sum = 0.0;
    std::size_t i = 0;
    for (const SwarmData& swarm : swarms_) {
      const double total = total_weight(swarm) * static_cast<double>(swarms_.size());
      for (const WorkerData& worker : swarm) {
        sum += worker.weight / total * of(i++);
      }
    }
    return sum;
  }

  [[nodiscard]] const LabelMix& mix(std::size_t swarm) const {
    return setup_.training.partition->groups[swarm].mix;
  }

  // The meta-gradient at the last model.
  void cluster_gradient(const SampleSet& samples, Parameters& out) {
    losses_.with([&](SampleLoss& loss) {
      loss.meta_gradient(path_.back(), {samples, samples, samples}, options_.inner_step, out);
    });
  }

  void drift() {
    const std::uint64_t seed = setup_.training.seed;
    const std::vector<ClusterDriftRates> rates = sample_drift_rates(setup_.drift, setup_.num_clusters, seed);
    const DriftContext context{setup_.drift, *setup_.training.pools, seed};
    result_.drift.resize(swarms_.size());
    pool_.parallel_for(swarms_.size(), [&](std::size_t u) {
      ClusterDriftStudy& study = result_.drift[u];
      study.cluster = u % setup_.num_clusters;
      ClusterDrift state{.mix = mix(u)};
      Parameters before(losses_.num_parameters());
      Parameters after(losses_.num_parameters());
      cluster_gradient(cluster_samples_.with_mix(state.mix), before);
      study.gradient = squared_norm(before);
      for (std::size_t sequence = 1; sequence <= setup_.num_sequences; ++sequence) {
        advance(state, rates[study.cluster], study.cluster, context);
        SampleSet samples = cluster_samples_.with_mix(state.mix);
        samples.transform = feature_transform(rates[study.cluster], sequence);
        samples.noise = {.seed = seed, .cluster = study.cluster, .sequence = sequence};
        cluster_gradient(samples, after);
        study.drift = std::max(study.drift, estimated_drift(before, after, 1.0));
        std::swap(before, after);
      }
      study.measured = squared_norm(before);
      const auto steps = static_cast<double>(setup_.num_sequences);
      study.bound = drifted_gradient(study.gradient, steps * study.drift, steps);
      study.triangle = drifted_gradient_triangle(study.gradient, study.drift, steps);
    });
    show("measuring drift", 1.0);
  }

  [[nodiscard]] Bounds bounds_with(const BoundConstants& constants) const {
    const BoundSteps steps = bound_steps(options_);
    const ErrorCoefficients k = error_coefficients(constants, steps.inner_step);
    Bounds bounds;
    const std::vector<WorkerPlace> places = places_of(swarms_);
    bounds.error = mean_of_workers([&](std::size_t i) {
      const WorkerPlace& place = places[i];
      const WorkerTask& worker = tasks_[place.swarm].workers[place.member];
      MiniBatches<double> batches{.points = static_cast<double>(worker.samples.size())};
      for (std::size_t b = 0; b < 3; ++b) {
        batches.ratios[b] = static_cast<double>(worker.batch_sizes[b]) / batches.points;
      }
      return mini_batch_error(k, batches);
    });
    bounds.mismatch = mean_of_workers([&](std::size_t i) {
      const WorkerPlace& place = places[i];
      return sampling_error(k, static_cast<double>(swarms_[place.swarm][place.member].samples.size()));
    });
    bounds.swarm = swarm_variability(constants, steps.inner_step);
    bounds.network = network_variability(constants, steps.inner_step);
    bounds.parameters = parameter_variability(
        steps, constants, steady_inputs(steps, bounds.error, bounds.swarm, bounds.network));
    if (gradient_bound_holds(steps, constants)) {
      bounds.gradient = gradient_bound<LogNumber>(
          steps, constants,
          {// The meta-loss is not below zero.
           .start_gap = result_.estimates.path.front().meta_loss,
           .num_updates = steps.global_updates() * static_cast<double>(setup_.num_rounds),
           .error = bounds.error,
           .parameters = bounds.parameters.total(),
           .swarm_variability = bounds.swarm});
    }
    return bounds;
  }

  void conclude() {
    const BoundConstants& guessed = setup_.training.options.bound;
    const BoundConstants& found = result_.estimates.constants;
    const Bounds by_scenario = bounds_with(guessed);
    const Bounds by_measurement = bounds_with(found);
    double swarm = 0.0;
    double network = 0.0;
    for (const PathEstimates& at : result_.estimates.path) {
      swarm = std::max(swarm, at.metas.largest_within());
      network = std::max(network, at.metas.between);
    }
    const auto add = [&](BoundTerm term, const auto& of) {
      term.by_scenario = of(by_scenario);
      term.by_measurement = of(by_measurement);
      result_.terms.push_back(term);
    };
    using Maybe = std::optional<LogNumber>;
    const auto part = [](const auto& of) {
      return [of](const Bounds& b) { return b.gradient ? Maybe(of(*b.gradient)) : std::nullopt; };
    };
    using Gradient = GradientBound<LogNumber>;
    add({"mini_batch_error", "mini-batch error, mean of workers", "sigma^F", "nat^2",
         measured_.mini_batch_error},
        [](const Bounds& b) { return b.error; });
    add({"swarm_variability", "variability in a swarm, largest", "gamma_u^F", "nat^2", swarm},
        [](const Bounds& b) { return b.swarm; });
    add({"network_variability", "variability between swarms", "gamma^F", "nat^2", network},
        [](const Bounds& b) { return b.network; });
    add({"parameters_within", "variance of models in swarms", "Upsilon (a)", "1", measured_.within},
        [](const Bounds& b) { return b.parameters.within; });
    add({"parameters_between", "variance of models between swarms", "Upsilon (b)", "1", measured_.between},
        [](const Bounds& b) { return b.parameters.between; });
    add({"parameters", "variance of models", "Upsilon", "1", measured_.within + measured_.between},
        [](const Bounds& b) { return b.parameters.total(); });
    add({"gradient_start", "meta-gradient: from the start", "Xi, F(w0) - F*", "nat^2"},
        part([](const Gradient& g) { return g.start; }));
    add({"gradient_error", "meta-gradient: from mini-batches", "Xi, sigma^F", "nat^2"},
        part([](const Gradient& g) { return g.error; }));
    add({"gradient_parameters", "meta-gradient: from the variance of models", "Xi, Upsilon", "nat^2"},
        part([](const Gradient& g) { return g.parameters; }));
    add({"gradient_variability", "meta-gradient: from variability", "Xi, gamma_u^F", "nat^2"},
        part([](const Gradient& g) { return g.variability; }));
    add({"gradient", "squared global meta-gradient, mean", "Xi", "nat^2", measured_.squared_gradient},
        part([](const Gradient& g) { return g.total(); }));
    add({"mismatch", "mismatch of swarms and clusters", "Xi^", "nat^2", measured_.mismatch},
        [](const Bounds& b) { return b.mismatch; });

    const BoundSteps steps = bound_steps(options_);
    for (const BoundTerm& term : result_.terms) {
      if (term.measured && term.by_scenario && term.by_scenario->value() < *term.measured) {
        result_.exceeded.push_back(fmt::format("{}: {:.4g} is measured, above its bound {:.4g}", term.symbol,
                                               *term.measured, term.by_scenario->value()));
      }
    }
    result_.unmet_by_scenario = unmet_conditions(steps, guessed);
    result_.unmet_by_measurement = unmet_conditions(steps, found);
    if (const auto coefficients = swarm_bound_coefficients({.constants = guessed, .steps = steps})) {
      result_.growth = growth_report(*coefficients, steps);
    }
  }

  const BoundStudySetup& setup_;
  ThreadPool& pool_;
  const StudyProgress& progress_;
  BoundStudy result_;
  LearningOptions options_;
  nn::Network<double> network_;
  SampleLosses losses_;
  Workspaces workspaces_;
  LocalTraining::Setting training_;
  LocalTraining local_;
  ClusterSamples cluster_samples_;
  std::vector<SwarmTask> tasks_;
  std::vector<SwarmData> swarms_;  // refers to the tasks' samples
  std::vector<Parameters> path_;
  Measurements measured_;
};

}  // namespace

BoundStudy study_bounds(const BoundStudySetup& setup, ThreadPool& pool, const StudyProgress& progress) {
  expect(setup.num_rounds > 0 && setup.num_draws > 0 && setup.num_sequences > 0 && setup.cluster_points > 0 &&
             setup.num_clusters > 0,
         "a study needs something to do");
  return Study(setup, pool, progress).run();
}

}  // namespace skein
