#include "skein/bounds/estimators.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <numeric>

#include "skein/bounds/bounds.h"
#include "skein/learning/local_training.h"
#include "tests/learning/small_training.h"

namespace skein {
namespace {

using Matrix = std::vector<std::vector<double>>;

// Logistic regression: one linear layer, of which everything is known. With x the sample and a 1, p the
// softmax of the outputs and e the label's unit vector,
//   gradient = (p - e) x',  Hessian = (diag(p) - p p') (x) (x x')
// The order of the parameters is this test's own: norms and differences do not depend on it.
class Regression : public ::testing::Test {
 protected:
  static constexpr std::size_t inputs = 3;
  static constexpr std::size_t classes = 3;
  static constexpr std::size_t size = (inputs + 1) * classes;
  static constexpr double inner_step = 0.2;
  using Vector = std::array<double, size>;

  Regression() {
    RandomStream stream(11, "regression");
    data_.name = "points";
    data_.shape = {.height = 1, .width = 1, .channels = inputs};
    data_.class_names = {"a", "b", "c"};
    data_.mean = std::vector<float>(inputs, 0.0F);
    data_.deviation = std::vector<float>(inputs, 1.0F);
    std::vector<float> features;
    for (std::size_t i = 0; i < 60; ++i) {
      data_.labels.push_back(static_cast<std::uint8_t>(stream.below(classes)));
      for (std::size_t c = 0; c < inputs; ++c) {
        features.push_back(static_cast<float>(stream.normal(data_.labels.back(), 1.0)));
      }
    }
    data_.features = features;
    network_ = std::make_unique<nn::Network<double>>(nn::Architecture{
        .input = {.height = 1, .width = 1, .channels = inputs}, .layers = {nn::Linear{.outputs = classes}}});
    losses_ = std::make_unique<SampleLosses>(*network_, data_);
    for (int p = 0; p < 2; ++p) {
      path_.push_back(network_->initial_parameters(stream));
    }
    // Two swarms; workers have unlike numbers of samples, and other weights.
    std::size_t begin = 0;
    for (const std::size_t count : {5, 9, 7, 12}) {
      std::vector<SampleIndex>& samples = samples_.emplace_back(count);
      std::iota(samples.begin(), samples.end(), static_cast<SampleIndex>(begin));
      begin += count;
    }
    swarms_ = {{worker(0, 1.0), worker(1, 3.0)}, {worker(2, 2.0), worker(3, 0.5)}};
  }

  [[nodiscard]] WorkerData worker(std::size_t j, double weight) const { return {j, samples_[j], weight}; }
  [[nodiscard]] EstimatorSetting setting() {
    return {.losses = losses_.get(),
            .swarms = swarms_,
            .inner_step = inner_step,
            .seed = 5,
            .options = {.points = 0, .probes = 4, .power_steps = 300}};
  }

  // --- By hand.
  [[nodiscard]] std::array<double, inputs + 1> extended(SampleIndex sample) const {
    std::array<double, inputs + 1> x{};
    const auto& features = std::get<std::vector<float>>(data_.features);
    std::copy_n(features.begin() + static_cast<std::ptrdiff_t>(sample * inputs), inputs, x.begin());
    x[inputs] = 1.0;
    return x;
  }
  // Softmax at the parameters, moved by `shift` in this test's order.
  [[nodiscard]] std::array<double, classes> probabilities(const Parameters& w, const Vector& shift,
                                                          SampleIndex sample) const {
    const auto x = extended(sample);
    nn::Engine<double> engine(*network_);
    nn::Vector<double> features(inputs);
    std::copy_n(x.begin(), inputs, features.begin());
    nn::Vector<double> out(classes);
    engine.outputs(w, features.data(), 1, out.data());
    std::array<double, classes> p{};
    double sum = 0.0;
    for (std::size_t k = 0; k < classes; ++k) {
      double logit = out[k];
      for (std::size_t i = 0; i <= inputs; ++i) {
        logit += shift[k * (inputs + 1) + i] * x[i];
      }
      p[k] = std::exp(logit);
      sum += p[k];
    }
    for (double& x_k : p) {
      x_k /= sum;
    }
    return p;
  }
  [[nodiscard]] Vector sample_gradient(const Parameters& w, const Vector& shift, SampleIndex sample) const {
    const auto p = probabilities(w, shift, sample);
    const auto x = extended(sample);
    Vector g{};
    for (std::size_t k = 0; k < classes; ++k) {
      for (std::size_t i = 0; i <= inputs; ++i) {
        g[k * (inputs + 1) + i] = (p[k] - (data_.labels[sample] == k ? 1.0 : 0.0)) * x[i];
      }
    }
    return g;
  }
  [[nodiscard]] Vector gradient(const Parameters& w, const Vector& shift, std::size_t j) const {
    Vector mean{};
    for (const SampleIndex sample : samples_[j]) {
      add(1.0 / static_cast<double>(samples_[j].size()), sample_gradient(w, shift, sample), mean);
    }
    return mean;
  }
  [[nodiscard]] Matrix sample_hessian(const Parameters& w, SampleIndex sample) const {
    const auto p = probabilities(w, {}, sample);
    const auto x = extended(sample);
    Matrix h(size, std::vector<double>(size));
    for (std::size_t a = 0; a < size; ++a) {
      for (std::size_t b = 0; b < size; ++b) {
        const std::size_t k = a / (inputs + 1);
        const std::size_t l = b / (inputs + 1);
        h[a][b] = ((k == l ? p[k] : 0.0) - p[k] * p[l]) * x[a % (inputs + 1)] * x[b % (inputs + 1)];
      }
    }
    return h;
  }
  [[nodiscard]] Matrix hessian(const Parameters& w, std::size_t j) const {
    Matrix mean(size, std::vector<double>(size));
    for (const SampleIndex sample : samples_[j]) {
      add(1.0 / static_cast<double>(samples_[j].size()), sample_hessian(w, sample), mean);
    }
    return mean;
  }
  [[nodiscard]] Vector meta_gradient(const Parameters& w, std::size_t j) const {
    Vector shift{};
    add(-inner_step, gradient(w, {}, j), shift);
    const Vector outer = gradient(w, shift, j);
    Vector result = outer;
    const Matrix h = hessian(w, j);
    for (std::size_t a = 0; a < size; ++a) {
      for (std::size_t b = 0; b < size; ++b) {
        result[a] -= inner_step * h[a][b] * outer[b];
      }
    }
    return result;
  }

  static void add(double weight, const Vector& v, Vector& sum) {
    for (std::size_t i = 0; i < size; ++i) {
      sum[i] += weight * v[i];
    }
  }
  static void add(double weight, const Matrix& m, Matrix& sum) {
    for (std::size_t i = 0; i < size; ++i) {
      for (std::size_t j = 0; j < size; ++j) {
        sum[i][j] += weight * m[i][j];
      }
    }
  }
  static double square(const Vector& v) { return std::inner_product(v.begin(), v.end(), v.begin(), 0.0); }
  static double square(const Matrix& m) {  // of the Frobenius norm
    double sum = 0.0;
    for (const auto& row : m) {
      sum += std::inner_product(row.begin(), row.end(), row.begin(), 0.0);
    }
    return sum;
  }
  template <class Value>
  static Value difference(const Value& a, Value b) {
    Value result = a;
    add(-1.0, b, result);
    return result;
  }
  // By squaring the matrix again and again: |A|_2 = lim |A^n|_F^(1/n).
  static double largest_eigenvalue(Matrix m) {
    double log_scale = 0.0;
    double power = 1.0;
    for (int i = 0; i < 40; ++i) {
      const double norm = std::sqrt(square(m));
      log_scale += std::log(norm) / power;
      Matrix product(size, std::vector<double>(size));
      for (std::size_t a = 0; a < size; ++a) {
        for (std::size_t b = 0; b < size; ++b) {
          for (std::size_t c = 0; c < size; ++c) {
            product[a][b] += m[a][c] / norm * (m[c][b] / norm);
          }
        }
      }
      m = product;
      power *= 2.0;
    }
    return std::exp(log_scale);
  }
  // of(j) of the workers: mean squared deviations within each swarm, and between them.
  template <class Of>
  Variability by_hand(const Of& of) {
    using Value = decltype(of(0));
    Variability result;
    std::vector<Value> means;
    std::size_t first = 0;
    for (const SwarmData& swarm : swarms_) {
      const double total = total_weight(swarm);
      Value mean = difference(of(0), of(0));
      for (std::size_t j = 0; j < swarm.size(); ++j) {
        add(swarm[j].weight / total, of(first + j), mean);
      }
      result.within.push_back(0.0);
      for (std::size_t j = 0; j < swarm.size(); ++j) {
        result.within.back() += swarm[j].weight / total * square(difference(of(first + j), mean));
      }
      means.push_back(mean);
      first += swarm.size();
    }
    Value mean = difference(of(0), of(0));
    add(0.5, means[0], mean);
    add(0.5, means[1], mean);
    result.between = 0.5 * (square(difference(means[0], mean)) + square(difference(means[1], mean)));
    mean_square_ = square(mean);
    return result;
  }
  static void expect_near(const Variability& found, const Variability& expected, double tolerance) {
    ASSERT_EQ(found.within.size(), expected.within.size());
    for (std::size_t u = 0; u < found.within.size(); ++u) {
      EXPECT_NEAR(found.within[u] / expected.within[u], 1.0, tolerance);
    }
    EXPECT_NEAR(found.between / expected.between, 1.0, tolerance);
  }

  Dataset data_;
  std::unique_ptr<nn::Network<double>> network_;
  std::unique_ptr<SampleLosses> losses_;
  std::vector<Parameters> path_;
  std::vector<std::vector<SampleIndex>> samples_;
  std::vector<SwarmData> swarms_;
  ThreadPool pool_{2};
  double mean_square_ = 0.0;  // of the last mean by hand
};

TEST_F(Regression, ConstantsAreThoseByHand) {
  const LossEstimates found = estimate_constants(setting(), path_, pool_);
  const double distance = std::sqrt(squared_distance(path_[0], path_[1]));
  constexpr double tolerance = 1e-9;
  ASSERT_EQ(found.workers.size(), 4U);
  WorkerEstimates most;
  for (std::size_t j = 0; j < 4; ++j) {
    WorkerEstimates expected;
    for (const Parameters& w : path_) {
      const Vector g = gradient(w, {}, j);
      Vector shift{};
      add(-inner_step, g, shift);
      expected.gradient_bound =
          std::max({expected.gradient_bound, std::sqrt(square(g)), std::sqrt(square(gradient(w, shift, j)))});
      double variance = 0.0;
      for (const SampleIndex sample : samples_[j]) {
        variance +=
            square(difference(sample_gradient(w, {}, sample), g)) / static_cast<double>(samples_[j].size());
      }
      expected.gradient_variance = std::max(expected.gradient_variance, variance);
      expected.gradient_lipschitz = std::max(expected.gradient_lipschitz, largest_eigenvalue(hessian(w, j)));
    }
    const auto quotient = [&](const Vector& a, const Vector& b) {
      return std::sqrt(square(difference(a, b))) / distance;
    };
    expected.gradient_lipschitz =
        std::max(expected.gradient_lipschitz, quotient(gradient(path_[0], {}, j), gradient(path_[1], {}, j)));
    expected.meta_lipschitz = quotient(meta_gradient(path_[0], j), meta_gradient(path_[1], j));
    expected.hessian_lipschitz =
        largest_eigenvalue(difference(hessian(path_[0], j), hessian(path_[1], j))) / distance;

    const WorkerEstimates& w = found.workers[j];
    EXPECT_NEAR(w.gradient_bound / expected.gradient_bound, 1.0, tolerance);
    EXPECT_NEAR(w.gradient_variance / expected.gradient_variance, 1.0, tolerance);
    EXPECT_NEAR(w.gradient_lipschitz / expected.gradient_lipschitz, 1.0, tolerance);
    EXPECT_NEAR(w.meta_lipschitz / expected.meta_lipschitz, 1.0, tolerance);
    // The largest two eigenvalues of a difference may be close, with either sign.
    EXPECT_NEAR(w.hessian_lipschitz / expected.hessian_lipschitz, 1.0, 1e-3);
    EXPECT_LE(w.hessian_lipschitz, expected.hessian_lipschitz * (1.0 + 1e-9));
    most.gradient_bound = std::max(most.gradient_bound, expected.gradient_bound);
    most.gradient_lipschitz = std::max(most.gradient_lipschitz, expected.gradient_lipschitz);
    most.gradient_variance = std::max(most.gradient_variance, expected.gradient_variance);
    most.meta_lipschitz = std::max(most.meta_lipschitz, expected.meta_lipschitz);
  }
  EXPECT_NEAR(found.constants.gradient_bound, most.gradient_bound, tolerance);
  EXPECT_NEAR(found.constants.gradient_lipschitz, most.gradient_lipschitz, tolerance);
  EXPECT_NEAR(found.constants.gradient_variance, most.gradient_variance, 1e-8);
  EXPECT_NEAR(found.meta_quotient, most.meta_lipschitz, tolerance);
  EXPECT_EQ(found.constants.meta_lipschitz,
            meta_lipschitz(found.constants.gradient_lipschitz, found.hessian_lipschitz,
                           found.constants.gradient_bound, inner_step));
}

TEST_F(Regression, VariabilityIsThatByHand) {
  const LossEstimates found = estimate_constants(setting(), path_, pool_);
  ASSERT_EQ(found.path.size(), 2U);
  double within = 0.0;
  for (std::size_t p = 0; p < 2; ++p) {
    const Variability gradients = by_hand([&](std::size_t j) { return gradient(path_[p], {}, j); });
    const Variability metas = by_hand([&](std::size_t j) { return meta_gradient(path_[p], j); });
    expect_near(found.path[p].gradients, gradients, 1e-9);
    expect_near(found.path[p].metas, metas, 1e-9);
    EXPECT_NEAR(squared_norm(found.path[p].metas.mean) / mean_square_, 1.0, 1e-9);
    within = std::max(within, gradients.largest_within());
  }
  EXPECT_NEAR(found.constants.swarm_gradient_variability, within, 1e-9);
}

// A probe gives a square with a relative deviation of at most sqrt(2): four of them over 4000 probes.
TEST_F(Regression, HessiansAreMeasuredByProbes) {
  EstimatorSetting s = setting();
  s.options = {.points = 0, .probes = 4000, .power_steps = 1};
  const LossEstimates found = estimate_constants(s, std::span(path_).first(1), pool_);
  const double tolerance = 4.0 * std::sqrt(2.0 / 4000.0);
  expect_near(found.path[0].hessians, by_hand([&](std::size_t j) { return hessian(path_[0], j); }),
              tolerance);
  for (std::size_t j = 0; j < 4; ++j) {
    double variance = 0.0;
    for (const SampleIndex sample : samples_[j]) {
      variance += square(difference(sample_hessian(path_[0], sample), hessian(path_[0], j))) /
                  static_cast<double>(samples_[j].size());
    }
    EXPECT_NEAR(found.workers[j].hessian_variance / variance, 1.0, tolerance);
  }
}

// With some of the points only, estimates are right on average over the choice of points.
TEST_F(Regression, FewPointsEstimateAll) {
  EstimatorSetting s = setting();
  s.options = {.points = 0, .probes = 1, .power_steps = 1};
  const auto path = std::span(path_).first(1);
  constexpr std::uint64_t trials = 1000;
  const double all = estimate_constants(s, path, pool_).workers[3].gradient_variance;
  std::vector<double> gradients;  // less what all points give
  std::vector<double> hessians;
  for (std::uint64_t seed = 0; seed < trials; ++seed) {
    s.seed = seed;
    s.options.points = 0;
    const LossEstimates exact = estimate_constants(s, path, pool_);
    s.options.points = 4;
    const LossEstimates found = estimate_constants(s, path, pool_);
    gradients.push_back(found.workers[3].gradient_variance - all);
    hessians.push_back(found.path[0].hessians.between - exact.path[0].hessians.between);
  }
  for (const std::vector<double>& differences : {gradients, hessians}) {
    const double mean = std::accumulate(differences.begin(), differences.end(), 0.0) / trials;
    const double square =
        std::inner_product(differences.begin(), differences.end(), differences.begin(), 0.0);
    EXPECT_NEAR(mean, 0.0, 4.0 * std::sqrt(square) / trials) << "four standard errors";
  }
}

TEST_F(Regression, TheSameBitsForAnyNumberOfThreads) {
  EstimatorSetting s = setting();
  s.options = {.points = 4, .probes = 3, .power_steps = 5};
  std::vector<double> numbers;
  for (const std::size_t threads : {1, 2, 3, 7}) {
    ThreadPool pool(threads);
    const LossEstimates found = estimate_constants(s, path_, pool);
    const BoundConstants& c = found.constants;
    const std::vector<double> now{c.gradient_bound,
                                  c.gradient_lipschitz,
                                  c.meta_lipschitz,
                                  c.gradient_variance,
                                  c.hessian_variance,
                                  c.swarm_gradient_variability,
                                  c.swarm_hessian_variability,
                                  c.network_gradient_variability,
                                  c.network_hessian_variability,
                                  found.path[1].meta_loss};
    numbers = numbers.empty() ? now : numbers;
    EXPECT_EQ(now, numbers);
  }
}

// Without an inner step the meta-gradient is the gradient of the second batch, whose error is sigma^G / n.
TEST_F(Regression, MiniBatchErrorOfPlainGradients) {
  EstimatorSetting s = setting();
  s.inner_step = 0.0;
  const double variance =
      estimate_constants(s, std::span(path_).first(1), pool_).workers[1].gradient_variance;
  SampleLoss loss(*network_, data_);
  const double error = measured_mini_batch_error(s, swarms_[0][1], {1, 5, 1}, path_[0], 4000, loss);
  EXPECT_NEAR(error / (variance / 5.0), 1.0, 0.06) << "about four standard errors";
}

// The lemmas on mini-batch error and variability hold, with constants from all of each worker's points.
TEST_F(Regression, MeasuredValuesStayBelowTheirBounds) {
  SampleLoss loss(*network_, data_);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    RandomStream stream(seed, "lemmas");
    std::vector<Parameters> path{network_->initial_parameters(stream)};
    EstimatorSetting s = setting();
    s.options.probes = 32;
    const LossEstimates first = estimate_constants(s, path, pool_);
    s.inner_step = stream.uniform(0.05, 1.0) / first.constants.gradient_lipschitz;
    const LossEstimates found = estimate_constants(s, path, pool_);
    const ErrorCoefficients k = error_coefficients(found.constants, s.inner_step);
    for (const auto& [u, j] : places_of(swarms_)) {
      const WorkerData& data = swarms_[u][j];
      const auto points = static_cast<double>(data.samples.size());
      const std::array<std::size_t, 3> sizes{1 + stream.below(4), 1 + stream.below(4), 1 + stream.below(4)};
      MiniBatches<double> batches{.points = points};
      for (std::size_t i = 0; i < 3; ++i) {
        batches.ratios[i] = static_cast<double>(sizes[i]) / points;
      }
      EXPECT_LT(measured_mini_batch_error(s, data, sizes, path[0], 200, loss), mini_batch_error(k, batches));
    }
    EXPECT_LT(found.path[0].metas.largest_within(), swarm_variability(found.constants, s.inner_step));
    // docs/notation.md: the proof gives as little as this.
    const double moved = found.constants.gradient_bound * s.inner_step;
    EXPECT_LT(found.path[0].metas.largest_within(),
              2.0 * moved * moved * found.constants.swarm_hessian_variability +
                  32.0 * found.constants.swarm_gradient_variability);
    EXPECT_LT(found.path[0].metas.between, network_variability(found.constants, s.inner_step));
  }
}

TEST(Variability, TakesOutWhatErrorsAdd) {
  ThreadPool pool(1);
  const std::vector<SwarmData> swarms{{{.weight = 1.0}, {.weight = 2.0}, {.weight = 1.0}}, {{.weight = 5.0}}};
  constexpr std::size_t size = 200;
  constexpr double deviation = 0.7;
  RandomStream stream(1, "errors");
  double within = 0.0;
  double between = 0.0;
  constexpr int trials = 200;
  for (int trial = 0; trial < trials; ++trial) {
    const Variability found = variability_of(
        swarms, size,
        [&](std::size_t u, std::size_t j, Parameters& out) {
          for (double& x : out) {
            x = static_cast<double>(j) - static_cast<double>(u) + deviation * stream.normal();
          }
          return static_cast<double>(size) * deviation * deviation;
        },
        pool);
    within += found.within[0] / trials;
    between += found.between / trials;
  }
  // Without errors: the first swarm's are 0, 1, 2 with weights 1/4, 1/2, 1/4; means 1 and -1.
  EXPECT_NEAR(within / size, 0.5, 0.02);
  EXPECT_NEAR(between / size, 1.0, 0.02);
}

TEST(Variability, SpectralNormIsThatOfADiagonal) {
  const std::array<double, 5> diagonal{0.3, -4.0, 2.0, 3.5, 0.0};
  const Operator apply = [&](const Parameters& v, Parameters& out) {
    for (std::size_t i = 0; i < 5; ++i) {
      out[i] = diagonal[i] * v[i];
    }
  };
  EXPECT_NEAR(spectral_norm(5, apply, 200, RandomStream(1, "start")), 4.0, 1e-9);
  double last = 0.0;
  for (const std::size_t steps : {1, 2, 5, 10, 50}) {
    const double norm = spectral_norm(5, apply, steps, RandomStream(1, "start"));
    EXPECT_GE(norm, last);
    EXPECT_LE(norm, 4.0 * (1.0 + 1e-12));
    last = norm;
  }
  EXPECT_EQ(spectral_norm(
                5, [](const Parameters&, Parameters& out) { std::ranges::fill(out, 0.0); }, 9,
                RandomStream(1, "start")),
            0.0);
}

TEST(Estimators, DriftOfEqualSteps) {
  Parameters before(3);
  Parameters after(3);
  for (std::size_t i = 0; i < 3; ++i) {
    before[i] = static_cast<double>(i);
    after[i] = before[i] + 7.0 * 0.5;  // seven steps of half a unit in each of three places
  }
  EXPECT_NEAR(estimated_drift(before, after, 7.0), 0.75, 1e-12);
}

// The double-precision loss agrees with what training computes.
TEST(SampleLoss, MetaGradientIsThatOfTraining) {
  const SmallProblem problem(false);
  const nn::Network<double> network(problem.network.architecture());
  SampleLoss loss(network, problem.data.train);
  const LearningOptions options{.inner_step = 0.05};
  const auto tasks = problem.tasks({1}, options);
  const WorkerTask& worker = tasks[0].workers[0];
  Parameters w(network.num_parameters());
  std::ranges::copy(*tasks[0].model, w.begin());
  Parameters ours(w.size());
  const SampleSet all{std::span<const SampleIndex>(worker.samples)};
  loss.meta_gradient(w, {all, all, all}, options.inner_step, ours);
  const LocalTraining training({.options = options, .data = &problem.data.train});
  Workspace workspace(problem.network);
  Model theirs(w.size());
  training.meta_gradient(worker, 0, worker.samples.size(), workspace, *tasks[0].model, theirs);
  for (std::size_t i = 0; i < w.size(); ++i) {
    EXPECT_NEAR(ours[i], theirs[i], 1e-5);
  }
  // Parts with weights are the weighted mean.
  const auto samples = std::span<const SampleIndex>(worker.samples);
  SampleSet parts;
  parts.parts = {{samples.first(4), 0.25}, {samples.subspan(4, 8), 0.75}};
  Parameters first(w.size());
  Parameters second(w.size());
  const double mean = loss.gradient(w, parts, ours);
  const double a = loss.gradient(w, samples.first(4), first);
  const double b = loss.gradient(w, samples.subspan(4, 8), second);
  EXPECT_NEAR(mean, 0.25 * a + 0.75 * b, 1e-12);
  for (std::size_t i = 0; i < w.size(); ++i) {
    EXPECT_NEAR(ours[i], 0.25 * first[i] + 0.75 * second[i], 1e-12);
  }
}

}  // namespace
}  // namespace skein
