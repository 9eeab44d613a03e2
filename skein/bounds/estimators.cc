#include "skein/bounds/estimators.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "skein/base/expect.h"
#include "skein/bounds/bounds.h"
#include "skein/bounds/drift.h"

namespace skein {
namespace {

// Of vectors, one per sample.
struct SampleStatistics {
  double variance = 0.0;    // in the whole of the worker's data
  double mean_error = 0.0;  // expected square of the error of the mean over the samples
};

// From the squares of n vectors and of their mean; the samples are drawn without replacement from `all`.
SampleStatistics statistics(double mean_square, double square_of_mean, std::size_t n, std::size_t all) {
  const double among_samples = std::max(0.0, mean_square - square_of_mean);
  if (n == all || n < 2) {
    return {.variance = among_samples};
  }
  const auto some = static_cast<double>(n);
  const auto size = static_cast<double>(all);
  const double unbiased = among_samples * some / (some - 1.0);
  return {.variance = unbiased * (size - 1.0) / size, .mean_error = unbiased / some * (1.0 - some / size)};
}

void keep_larger(double& largest, double value) { largest = std::max(largest, value); }

// The work of estimate_constants.
class Estimation {
 public:
  Estimation(const EstimatorSetting& setting, std::span<const Parameters> path, ThreadPool& pool,
             const std::function<void(double)>& progress)
      : setting_(setting),
        path_(path),
        pool_(pool),
        progress_(progress),
        places_(places_of(setting.swarms)),
        size_(setting.losses->num_parameters()) {
    result_.workers.resize(places_.size());
    for (const WorkerPlace& place : places_) {
      few_.push_back(some_samples(worker(place)));
    }
    for (std::size_t k = 0; k < setting.options.probes; ++k) {
      RandomStream stream(setting.seed, "hessian probe", k);
      Parameters& probe = probes_.emplace_back(size_);
      for (double& x : probe) {
        x = stream.bernoulli(0.5) ? 1.0 : -1.0;
      }
    }
  }

  LossEstimates run() {
    for (std::size_t p = 0; p < path_.size(); ++p) {
      result_.path.push_back({.gradients = gradients(p), .hessians = hessians(p)});
      result_.path.back().metas = metas(p, result_.path.back().meta_loss);
      points(p);
      if (p + 1 < path_.size()) {
        differences(p);
      }
    }
    conclude();
    return std::move(result_);
  }

 private:
  [[nodiscard]] const WorkerData& worker(const WorkerPlace& place) const {
    return setting_.swarms[place.swarm][place.member];
  }

  [[nodiscard]] std::vector<SampleIndex> some_samples(const WorkerData& worker) const {
    const std::size_t most = setting_.options.points;
    if (most == 0 || worker.samples.size() <= most) {
      return {worker.samples.begin(), worker.samples.end()};
    }
    std::vector<SampleIndex> chosen;
    RandomStream stream(setting_.seed, "estimator points", worker.worker);
    draw_distinct(worker.samples, most, stream, chosen);
    return chosen;
  }

  // The number of a worker among all.
  [[nodiscard]] std::size_t number(std::size_t swarm, std::size_t member) const {
    std::size_t result = member;
    for (std::size_t u = 0; u < swarm; ++u) {
      result += setting_.swarms[u].size();
    }
    return result;
  }

  // Some vector of every worker, exact.
  template <class Make>
  Variability exact(const Make& make) {
    Variability result = variability_of(
        setting_.swarms, size_,
        [&](std::size_t u, std::size_t j, Parameters& out) {
          setting_.losses->with([&](SampleLoss& loss) { make(u, j, loss, out); });
          return 0.0;
        },
        pool_);
    advance();
    return result;
  }

  Variability gradients(std::size_t p) {
    Variability result = exact([&](std::size_t u, std::size_t j, SampleLoss& loss, Parameters& out) {
      loss.gradient(path_[p], setting_.swarms[u][j].samples, out);
      double& largest = result_.workers[number(u, j)].gradient_bound;
      keep_larger(largest, std::sqrt(squared_norm(out)));
      // The bound is used after the inner step as well.
      Parameters inner(path_[p]);
      add_weighted(-setting_.inner_step, out, inner);
      Parameters after(size_);
      loss.gradient(inner, setting_.swarms[u][j].samples, after);
      keep_larger(largest, std::sqrt(squared_norm(after)));
    });
    result.mean = {};
    return result;
  }

  // Returns the meta-loss.
  double meta_gradient(const WorkerData& data, const Parameters& w, SampleLoss& loss, Parameters& out) const {
    const SampleSet all(data.samples);
    return loss.meta_gradient(w, {all, all, all}, setting_.inner_step, out);
  }

  Variability metas(std::size_t p, double& mean_loss) {
    std::vector<double> losses(places_.size());
    Variability result = exact([&](std::size_t u, std::size_t j, SampleLoss& loss, Parameters& out) {
      losses[number(u, j)] = meta_gradient(setting_.swarms[u][j], path_[p], loss, out);
    });
    mean_loss = 0.0;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      const SwarmData& swarm = setting_.swarms[places_[i].swarm];
      mean_loss += worker(places_[i]).weight / total_weight(swarm) * losses[i] /
                   static_cast<double>(setting_.swarms.size());
    }
    return result;
  }

  // Hessians times each probe; the mean over probes of squares is that of Frobenius norms.
  Variability hessians(std::size_t p) {
    Variability sum{.within = std::vector<double>(setting_.swarms.size(), 0.0)};
    std::vector<double> variances(places_.size(), 0.0);
    const auto count = static_cast<double>(probes_.size());
    for (const Parameters& probe : probes_) {
      const Variability one = variability_of(
          setting_.swarms, size_,
          [&](std::size_t u, std::size_t j, Parameters& out) {
            const std::size_t i = number(u, j);
            SampleStatistics found;
            setting_.losses->with([&](SampleLoss& loss) {
              found = mean_of_samples(i, out, [&](const SampleSet& sample, Parameters& part) {
                loss.hessian_vector(path_[p], probe, sample, part);
              });
            });
            variances[i] += found.variance / count;
            return found.mean_error;
          },
          pool_);
      for (std::size_t u = 0; u < sum.within.size(); ++u) {
        sum.within[u] += one.within[u] / count;
      }
      sum.between += one.between / count;
      advance();
    }
    for (std::size_t i = 0; i < places_.size(); ++i) {
      keep_larger(result_.workers[i].hessian_variance, variances[i]);
    }
    return sum;
  }

  // of(sample, vector) for each of a worker's chosen samples; their mean, and how they spread.
  template <class Of>
  SampleStatistics mean_of_samples(std::size_t i, Parameters& mean, const Of& of) const {
    const std::vector<SampleIndex>& samples = few_[i];
    const auto count = static_cast<double>(samples.size());
    Parameters part(size_);
    std::ranges::fill(mean, 0.0);
    double mean_square = 0.0;
    for (const SampleIndex& sample : samples) {
      of(std::span<const SampleIndex>(&sample, 1), part);
      add_weighted(1.0 / count, part, mean);
      mean_square += squared_norm(part) / count;
    }
    return statistics(mean_square, squared_norm(mean), samples.size(), worker(places_[i]).samples.size());
  }

  // What a model shows by itself, worker by worker.
  void points(std::size_t p) {
    pool_.parallel_for(places_.size(), [&](std::size_t i) {
      setting_.losses->with([&](SampleLoss& loss) {
        WorkerEstimates& found = result_.workers[i];
        Parameters mean(size_);
        keep_larger(found.gradient_variance,
                    mean_of_samples(i, mean, [&](const SampleSet& sample, Parameters& part) {
                      loss.gradient(path_[p], sample, part);
                    }).variance);
        const SampleSet few(few_[i]);
        keep_larger(found.gradient_lipschitz,
                    norm_of(i, "gradient", p, [&](const Parameters& v, Parameters& out) {
                      loss.hessian_vector(path_[p], v, few, out);
                    }));
      });
    });
    advance();
  }

  // From one model to the next.
  void differences(std::size_t p) {
    const double distance = std::sqrt(squared_distance(path_[p], path_[p + 1]));
    if (distance > 0.0) {
      pool_.parallel_for(places_.size(), [&](std::size_t i) {
        setting_.losses->with([&](SampleLoss& loss) { differences(p, i, distance, loss); });
      });
    }
    advance();
  }

  void differences(std::size_t p, std::size_t i, double distance, SampleLoss& loss) {
    const WorkerData& data = worker(places_[i]);
    WorkerEstimates& found = result_.workers[i];
    Parameters a(size_);
    Parameters b(size_);
    loss.gradient(path_[p], data.samples, a);
    loss.gradient(path_[p + 1], data.samples, b);
    keep_larger(found.gradient_lipschitz, std::sqrt(squared_distance(a, b)) / distance);
    meta_gradient(data, path_[p], loss, a);
    meta_gradient(data, path_[p + 1], loss, b);
    keep_larger(found.meta_lipschitz, std::sqrt(squared_distance(a, b)) / distance);
    const SampleSet few(few_[i]);
    const double change = norm_of(i, "hessian", p, [&](const Parameters& v, Parameters& out) {
      loss.hessian_vector(path_[p], v, few, out);
      loss.hessian_vector(path_[p + 1], v, few, a);
      add_weighted(-1.0, a, out);
    });
    keep_larger(found.hessian_lipschitz, change / distance);
  }

  [[nodiscard]] double norm_of(std::size_t i, std::string_view purpose, std::size_t p,
                               const Operator& apply) const {
    return spectral_norm(size_, apply, setting_.options.power_steps,
                         RandomStream(setting_.seed, purpose, worker(places_[i]).worker, p));
  }

  void conclude() {
    BoundConstants& c = result_.constants;
    c = {.gradient_bound = 0.0,
         .gradient_lipschitz = 0.0,
         .gradient_variance = 0.0,
         .hessian_variance = 0.0,
         .swarm_gradient_variability = 0.0,
         .swarm_hessian_variability = 0.0,
         .network_gradient_variability = 0.0,
         .network_hessian_variability = 0.0};
    for (const WorkerEstimates& w : result_.workers) {
      keep_larger(c.gradient_bound, w.gradient_bound);
      keep_larger(c.gradient_lipschitz, w.gradient_lipschitz);
      keep_larger(c.gradient_variance, w.gradient_variance);
      keep_larger(c.hessian_variance, w.hessian_variance);
      keep_larger(result_.hessian_lipschitz, w.hessian_lipschitz);
      keep_larger(result_.meta_quotient, w.meta_lipschitz);
    }
    for (const PathEstimates& at : result_.path) {
      keep_larger(c.swarm_gradient_variability, at.gradients.largest_within());
      keep_larger(c.swarm_hessian_variability, at.hessians.largest_within());
      keep_larger(c.network_gradient_variability, at.gradients.between);
      keep_larger(c.network_hessian_variability, at.hessians.between);
    }
    c.meta_lipschitz = meta_lipschitz(c.gradient_lipschitz, result_.hessian_lipschitz, c.gradient_bound,
                                      setting_.inner_step);
  }

  // Steps of work at a model: gradients, meta-gradients, each probe, points; and differences between models.
  void advance() {
    ++done_;
    if (progress_) {
      const std::size_t all = path_.size() * (3 + probes_.size()) + path_.size() - 1;
      progress_(static_cast<double>(done_) / static_cast<double>(all));
    }
  }

  const EstimatorSetting& setting_;
  std::span<const Parameters> path_;
  ThreadPool& pool_;
  const std::function<void(double)>& progress_;
  std::vector<WorkerPlace> places_;
  std::size_t size_;
  std::vector<std::vector<SampleIndex>> few_;  // of each worker
  std::vector<Parameters> probes_;
  std::size_t done_ = 0;
  LossEstimates result_;
};

}  // namespace

LossEstimates estimate_constants(const EstimatorSetting& setting, std::span<const Parameters> path,
                                 ThreadPool& pool, const std::function<void(double)>& progress) {
  expect(setting.losses != nullptr && !setting.swarms.empty() && !path.empty() &&
             setting.options.probes > 0 && setting.options.power_steps > 0,
         "estimates need losses, swarms, a model, and something to do");
  return Estimation(setting, path, pool, progress).run();
}

double measured_mini_batch_error(const EstimatorSetting& setting, const WorkerData& worker,
                                 const std::array<std::size_t, 3>& batch_sizes, const Parameters& w,
                                 std::size_t num_draws, SampleLoss& loss) {
  Parameters exact(w.size());
  Parameters drawn(w.size());
  const SampleSet all(worker.samples);
  loss.meta_gradient(w, {all, all, all}, setting.inner_step, exact);
  double sum = 0.0;
  for (std::size_t draw = 0; draw < num_draws; ++draw) {
    RandomStream stream(setting.seed, "mini-batch error", worker.worker, draw);
    std::array<std::vector<SampleIndex>, 3> batches;
    for (std::size_t b = 0; b < batches.size(); ++b) {
      for (std::size_t n = 0; n < batch_sizes[b]; ++n) {
        batches[b].push_back(worker.samples[stream.below(worker.samples.size())]);
      }
    }
    loss.meta_gradient(w, {SampleSet(batches[0]), SampleSet(batches[1]), SampleSet(batches[2])},
                       setting.inner_step, drawn);
    sum += squared_distance(exact, drawn);
  }
  return sum / static_cast<double>(num_draws);
}

double estimated_drift(const Parameters& before, const Parameters& after, double num_steps) {
  expect(num_steps >= 1.0, "drift is between two times");
  return drift_estimate(squared_distance(before, after), num_steps);
}

}  // namespace skein
