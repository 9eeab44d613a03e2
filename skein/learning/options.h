// What a scenario says about learning: the algorithm, its steps and periods, and the constants of its bounds.
#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "skein/base/distribution.h"
#include "skein/base/names.h"
#include "skein/learning/algorithm.h"
#include "skein/learning/label_shift.h"
#include "skein/nn/engine.h"

namespace skein {

using nn::MetaGradient;
enum class LocalStep {
  mini_batch,  // one local iteration is one update, as in the paper's text
  epoch,       // one local iteration is a pass over the worker's data, as in the published study
};
constexpr auto names_of(LocalStep) { return names_for<LocalStep>("mini_batch", "epoch"); }

// Constants of the paper's assumptions on the loss (section III-C); defaults from appendix A, and from the
// published code where the text gives none (the Lipschitz constants).
struct BoundConstants {
  double gradient_bound = 500.0;               // B: norm of a gradient
  double gradient_lipschitz = 10.0;            // mu^G
  double meta_lipschitz = 20.0;                // mu^F; the paper's own formula gives at least 4 mu^G
  double gradient_variance = 50.0;             // sigma^G: of a sample's gradient in a worker's data
  double hessian_variance = 50.0;              // sigma^H
  double swarm_gradient_variability = 0.05;    // gamma_u^G: between workers of a swarm
  double swarm_hessian_variability = 0.1;      // gamma_u^H
  double network_gradient_variability = 0.05;  // gamma^G: between swarms
  double network_hessian_variability = 0.1;    // gamma^H
};

// Which network is trained.
struct NetworkOptions {
  // The paper's convolutional networks, the MNIST one with pools of stride 2, a multilayer perceptron, or
  // `layers`.
  std::string preset = "automatic";  // by data source: the paper's network for it
  // One layer each, for preset = "layers": "conv 16 2x2", "relu", "pool 2x2 stride 1", "linear 128".
  std::vector<std::string> layers{};
};

// How models are made the swarm's own, for the personalised metric and at the end of a sequence.
enum class Personalisation {
  step,   // gradient steps at each worker, then the swarm's average; one step, as in the paper's text
  epoch,  // further local iterations, one in the published study
};
constexpr auto names_of(Personalisation) { return names_for<Personalisation>("step", "epoch"); }

// Swarms that do not train while others do, when these bring their models.
enum class AbsentSwarms {
  left_out,   // the global model is the mean of those that have come, as in the paper, where all do
  as_global,  // they count in it with the global model as it was: each swarm has the same part in it
};
constexpr auto names_of(AbsentSwarms) { return names_for<AbsentSwarms>("left_out", "as_global"); }

struct LearningOptions {
  Algorithm algorithm{};  // a scenario chooses one of algorithms()
  NetworkOptions network{};
  MetaGradient meta_gradient = MetaGradient::first_order;
  LocalStep local_step = LocalStep::mini_batch;
  double step = 1e-3;             // eta: of plain gradient steps (H-FL, FedAvg, local, central)
  double inner_step = 1e-3;       // eta_1
  double meta_step = 5e-3;        // eta_2; the bounds need eta_2 < 1 / (6 mu^F)
  double difference_step = 1e-3;  // of Hessian-free meta-gradients
  // From local iteration `first` on, `step` and `inner_step` are `value`: [[0, 1e-2], [10, 5e-3]].
  std::vector<std::array<double, 2>> step_schedule{};
  std::array<double, 3> batch_ratios{0.1, 0.1, 0.1};  // alpha_1, alpha_2, alpha_3
  // Sizes instead of ratios, if not 0. A plain gradient step takes as many points as the three together.
  std::array<std::size_t, 3> batch_sizes{0, 0, 0};
  std::size_t local_period = 1;   // tau^L: local iterations between local aggregations
  std::size_t global_period = 1;  // tau^G: local aggregations between global ones
  std::size_t iterations = 40;
  std::size_t evaluation_period = 1;     // global aggregations between evaluations in `skein train`
  double target_accuracy_percent = 0.0;  // of the global model, where `skein train` ends early; 0: nowhere
  // `skein train` puts data straight on the workers, as the paper's proof of concept does (section VI-A).
  Distribution<double> points_per_worker{normal(2500, 250), unit::number, Range{.low = 1.0, .whole = true}};
  // Every local round, of tau^L local iterations, draws each worker's data anew, as in the published study.
  bool redraw = false;
  Personalisation personalisation = Personalisation::step;
  std::size_t personal_steps = 1;   // gradient steps, or local iterations
  double personal_step_size = 0.0;  // of gradient steps; 0: the algorithm's
  std::size_t personal_batch = 0;  // points of a gradient step; 0: as many as the three mini-batches together
  // Points that are used in a mission, the newest, for each of the cluster's devices; 0: all.
  std::size_t personal_newest = 0;
  LabelShiftOptions label_shift{};
  AbsentSwarms absent_swarms = AbsentSwarms::left_out;
  // Each time that a worker reads a point, it turns it by a random angle up to this: the carrier phase, of
  // waveforms. Against rotation that is still to come; 0: as they are.
  double augment_rotation_degrees = 0.0;
  // Safetensors to start from, or torch.manual_seed(N); empty: PyTorch's default start, by the run's seed.
  std::filesystem::path initial_model{};
  std::size_t gradient_points = 64;  // of each worker, for the norm of the global meta-gradient; 0: none
  BoundConstants bound{};
};

}  // namespace skein
