// Estimates of the constants that the convergence bounds need (the paper, section III-C), from training
// itself: gradients of samples, differences along the path of models, and Hessian-vector products with random
// directions.
//
// The paper's constants hold for all parameters. What is measured holds where training has been: the largest
// value on a path of models. Another path may find larger ones. Norms of Hessians are Frobenius norms, which
// are never below the paper's spectral ones: for random signs v, E |A v|^2 = |A|_F^2. The Lipschitz constants
// are spectral, by power iteration, and approached from below.
//
// The same bits for any number of threads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "skein/base/thread_pool.h"
#include "skein/bounds/sample_loss.h"
#include "skein/bounds/variability.h"
#include "skein/learning/options.h"

namespace skein {

struct EstimatorOptions {
  std::size_t points = 32;       // of each worker, for what is measured point by point; 0: all
  std::size_t probes = 4;        // random directions, for norms of Hessians
  std::size_t power_steps = 10;  // of power iteration, for Lipschitz constants
};

struct WorkerEstimates {
  double gradient_bound = 0.0;      // B_j: of the gradient at the model, and after the inner step
  double gradient_lipschitz = 0.0;  // mu_j^G: of the Hessian, and of differences along the path
  double hessian_lipschitz = 0.0;   // mu_j^H: differences along the path
  double meta_lipschitz = 0.0;      // of meta-gradients, differences along the path
  double gradient_variance = 0.0;   // sigma_j^G
  double hessian_variance = 0.0;    // sigma_j^H
};

// At one model of the path.
struct PathEstimates {
  Variability gradients{};  // gamma_u^G, gamma^G; its mean is not kept
  Variability hessians{};   // gamma_u^H, gamma^H; nor is this one's
  Variability metas{};      // what gamma_u^F and gamma^F bound
  double meta_loss = 0.0;   // F-bar
};

struct LossEstimates {
  // Maxima over workers, swarms and the path. mu^F is by its formula, from mu^G, mu^H and B.
  BoundConstants constants{};
  double hessian_lipschitz = 0.0;          // mu^H
  double meta_quotient = 0.0;              // mu^F from differences of meta-gradients along the path
  std::vector<WorkerEstimates> workers{};  // swarm after swarm
  std::vector<PathEstimates> path{};
};

// What is referred to must outlive the call.
struct EstimatorSetting {
  SampleLosses* losses = nullptr;
  std::span<const SwarmData> swarms{};
  double inner_step = 1e-3;  // eta_1
  std::uint64_t seed = 0;
  EstimatorOptions options{};
};
// The path has at least one model; differences need two. `progress` goes from 0 to 1.
LossEstimates estimate_constants(const EstimatorSetting& setting, std::span<const Parameters> path,
                                 ThreadPool& pool, const std::function<void(double)>& progress = {});

// The mini-batch error of a worker, by drawing batches of these sizes `num_draws` times, independently and
// with replacement: the mean of |grad F~ - grad F|^2.
double measured_mini_batch_error(const EstimatorSetting& setting, const WorkerData& worker,
                                 const std::array<std::size_t, 3>& batch_sizes, const Parameters& w,
                                 std::size_t num_draws, SampleLoss& loss);

// Lambda of a cluster from two meta-gradients of the same model, so many time steps apart: the least drift in
// each step that explains the difference, |g' - g|^2 / n^2.
double estimated_drift(const Parameters& before, const Parameters& after, double num_steps);

}  // namespace skein
