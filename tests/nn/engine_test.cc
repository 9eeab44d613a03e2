#include "skein/nn/engine.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "skein/nn/presets.h"
#include "tests/nn/random_problem.h"

namespace skein::nn {
namespace {

struct Layers {
  const char* name;
  Shape input;
  std::vector<std::string> layers;
};

const std::vector<Layers>& networks() {
  static const std::vector<Layers> all = {
      {"linear", {1, 1, 7}, {"linear 5"}},
      {"two linear", {2, 3, 2}, {"linear 9", "linear 4"}},
      {"narrow linear", {1, 1, 2}, {"linear 1", "tanh", "linear 2", "linear 3"}},
      {"relu", {1, 1, 8}, {"linear 13", "relu", "linear 3"}},
      {"tanh", {1, 1, 8}, {"linear 6", "tanh", "linear 3"}},
      {"sigmoid", {1, 1, 8}, {"linear 6", "sigmoid", "linear 3"}},
      {"softmax", {1, 1, 8}, {"linear 6", "softmax", "linear 5", "softmax"}},
      {"convolution", {5, 4, 2}, {"conv 3 2x3", "tanh", "conv 5 3x2", "linear 3"}},
      {"strided convolution", {7, 6, 3}, {"conv 4 3x2 stride 2x3", "tanh", "linear 3"}},
      {"padded convolution",
       {4, 3, 2},
       {"conv 9 3x3 padding 1x2", "sigmoid", "conv 3 2x2 stride 2", "linear 3"}},
      {"convolution with relu", {6, 6, 1}, {"conv 4 3x3", "relu", "conv 3 2x2", "relu", "linear 3"}},
      {"pool", {6, 6, 1}, {"conv 3 2x2", "tanh", "pool 2x2", "linear 3"}},
      {"overlapping pool", {6, 7, 1}, {"conv 3 2x2", "pool 3x2 stride 2x1", "tanh", "linear 3"}},
      {"pool of stride 1 with relu", {6, 6, 2}, {"conv 4 2x2", "relu", "pool 2x2 stride 1", "linear 3"}},
      {"pool with gaps", {7, 7, 1}, {"conv 2 2x2", "relu", "pool 1x2 stride 3", "linear 2"}},
      {"pool over 300 places", {16, 21, 1}, {"conv 2 2x2", "tanh", "pool 15x20", "linear 3"}},
      {"lstm", {5, 1, 3}, {"lstm 4", "linear 3"}},
      {"lstm of images", {4, 3, 2}, {"lstm 5 sequence", "lstm 3", "linear 2"}},
      {"lstm as the last layer", {3, 1, 2}, {"lstm 6 sequence"}},
      {"image, sequence, image",
       {6, 4, 1},
       {"conv 3 2x2", "tanh", "lstm 5 sequence", "conv 2 2x1", "linear 2"}},
      {"dropout", {1, 1, 9}, {"linear 11", "tanh", "dropout 0.4", "linear 3"}},
      {"dropout everywhere",
       {6, 6, 1},
       {"dropout 0.2", "conv 4 2x2", "relu", "pool 2x2 stride 1", "dropout 0.25", "conv 3 2x2", "tanh",
        "dropout 0.5", "linear 7", "dropout 0.1", "linear 3", "dropout 0.3"}},
      {"low rank", {1, 10, 20}, {"linear 96", "tanh", "linear 180", "tanh", "linear 3"}},
      {"low rank before dropout",
       {1, 10, 20},
       {"linear 96", "dropout 0.3", "linear 180", "tanh", "linear 3"}},
      // Linear layers whose inputs are mostly zeros, with and without kernels for both parts of their
      // backward pass in one go; gradients behind pools that overlap.
      {"zeros behind relu and dropout",
       {1, 1, 20},
       {"linear 320", "relu", "dropout 0.5", "linear 64", "tanh", "linear 3"}},
      {"more zeros behind relu and dropout",
       {1, 1, 5},
       {"linear 172", "relu", "dropout 0.6", "linear 96", "tanh", "linear 3"}},
      {"zeros of which some count",
       {1, 1, 20},
       {"linear 320", "tanh", "dropout 0.5", "linear 64", "tanh", "linear 3"}},
      {"dropout behind overlapping pools",
       {6, 6, 1},
       {"conv 8 2x2", "tanh", "dropout 0.3", "conv 5 2x2", "relu", "pool 2x2 stride 1", "dropout 0.5",
        "conv 9 2x2", "tanh", "linear 3"}},
      // A few samples of these fill the cache: batches go through in parts.
      {"large images",
       {20, 20, 2},
       {"conv 24 3x3", "relu", "pool 2x2", "conv 9 2x2", "tanh", "pool 2x2", "linear 3"}},
  };
  return all;
}

constexpr std::uint64_t num_seeds = 12;

// A difference quotient is wrong if a ReLU or a pool decides otherwise at one of its ends. Few steps do that,
// so one of three is right.
template <class Error>
testing::AssertionResult some_step_agrees(double tolerance, const Error& error) {
  double last = 0.0;
  for (const double h : {1e-5, 1e-4, 1e-6}) {
    last = error(h);
    if (last < tolerance) {
      return testing::AssertionSuccess();
    }
  }
  return testing::AssertionFailure() << "differs by " << last << ", allowed " << tolerance;
}

void expect_differences_agree(const Layers& layers, std::uint64_t seed, bool with_dropout) {
  SCOPED_TRACE(fmt::format("{}, seed {}, {}", layers.name, seed, with_dropout ? "masks" : "no masks"));
  Problem<double> p(architecture(layers.input, layers.layers), 1 + seed % 9, seed);
  const RandomStream masks(seed, "masks");
  // Every call draws the same masks from its own copy.
  const auto gradient = [&](const Vector<double>& at, double* loss = nullptr) {
    RandomStream stream = masks;
    Vector<double> g(at.size());
    const double value = p.engine.gradient(at, p.batch(), with_dropout ? &stream : nullptr, g);
    if (loss != nullptr) {
      *loss = value;
    }
    return g;
  };
  const auto loss = [&](const Vector<double>& at) {
    double value = 0.0;
    gradient(at, &value);
    return value;
  };
  const Vector<double> g = gradient(p.w);
  // Each parameter on its own, and all together along a direction.
  double largest = 0.0;
  for (const double value : g) {
    largest = std::max(largest, std::abs(value));
  }
  const std::size_t every = 1 + g.size() / 97;
  for (std::size_t i = seed % every; i < g.size(); i += every) {
    Vector<double> unit(g.size());
    unit[i] = 1.0;
    EXPECT_TRUE(some_step_agrees(1e-7 * std::max(largest, 0.1),
                                 [&](double h) {
                                   const double slope =
                                       (loss(sum(p.w, h, unit)) - loss(sum(p.w, -h, unit))) / (2.0 * h);
                                   return std::abs(slope - g[i]);
                                 }))
        << "parameter " << i;
  }
  EXPECT_TRUE(some_step_agrees(1e-7 * std::max(norm(g) * norm(p.v), 0.1), [&](double h) {
    const double slope = (loss(sum(p.w, h, p.v)) - loss(sum(p.w, -h, p.v))) / (2.0 * h);
    return std::abs(slope - dot(g, p.v));
  }));

  RandomStream stream = masks;
  const Vector<double> product = p.hessian_vector(p.v, with_dropout ? &stream : nullptr);
  EXPECT_TRUE(some_step_agrees(1e-6 * std::max(norm(product), 0.1), [&](double h) {
    const Vector<double> rise = sum(gradient(sum(p.w, h, p.v)), -1.0, gradient(sum(p.w, -h, p.v)));
    return norm(sum(rise, -2.0 * h, product)) / (2.0 * h);
  }));
}

TEST(Engine, GradientAndCurvatureFollowDifferences) {
  for (const Layers& layers : networks()) {
    for (std::uint64_t seed = 0; seed < num_seeds; ++seed) {
      expect_differences_agree(layers, seed, false);
    }
  }
}

TEST(Engine, GradientAndCurvatureFollowDifferencesUnderTheSameMasks) {
  for (const Layers& layers : networks()) {
    if (std::string_view(layers.name).find("dropout") != std::string_view::npos) {
      for (std::uint64_t seed = 0; seed < num_seeds; ++seed) {
        expect_differences_agree(layers, seed, true);
      }
    }
  }
}

TEST(Engine, CurvatureIsLinearAndSymmetric) {
  for (const Layers& layers : networks()) {
    for (std::uint64_t seed = 0; seed < num_seeds; ++seed) {
      SCOPED_TRACE(fmt::format("{}, seed {}", layers.name, seed));
      Problem<double> p(architecture(layers.input, layers.layers), 1 + seed % 9, seed);
      RandomStream stream(seed, "second direction");
      const Vector<double> u = Problem<double>::drawn(p.w.size(), stream);
      const Vector<double> hu = p.hessian_vector(u);
      const Vector<double> hv = p.hessian_vector(p.v);
      const double scale = norm(hu) * norm(p.v) + norm(hv) * norm(u);
      EXPECT_NEAR(dot(p.v, hu), dot(u, hv), 1e-13 * scale);
      const Vector<double> both = p.hessian_vector(sum(u, -0.75, p.v));
      EXPECT_LT(norm(sum(both, -1.0, sum(hu, -0.75, hv))), 1e-13 * (norm(hu) + norm(hv)));
    }
  }
}

// Samples do not see each other, and every batch size is cut into registers and blocks in its own way.
TEST(Engine, BatchIsTheMeanOfItsSamples) {
  for (const Layers& layers : networks()) {
    for (const std::size_t size : {1, 2, 3, 5, 8, 13, 16, 17, 33, 70}) {
      SCOPED_TRACE(fmt::format("{}, batch {}", layers.name, size));
      Problem<double> p(architecture(layers.input, layers.layers), size, size);
      Vector<double> mean(p.w.size());
      Vector<double> mean_curvature(p.w.size());
      double mean_loss = 0.0;
      std::size_t correct = 0;
      Vector<double> one(p.w.size());
      std::vector<double> outputs(p.network.num_outputs());
      std::vector<double> all_outputs(size * outputs.size());
      p.engine.outputs(p.w, p.features.data(), size, all_outputs.data());
      for (std::size_t i = 0; i < size; ++i) {
        const double share = 1.0 / static_cast<double>(size);
        mean_loss += share * p.engine.gradient(p.w, p.sample(i), nullptr, one);
        mean = sum(mean, share, one);
        p.engine.hessian_vector(p.w, p.v, p.sample(i), nullptr, one);
        mean_curvature = sum(mean_curvature, share, one);
        p.engine.outputs(p.w, p.sample(i).features, 1, outputs.data());
        for (std::size_t k = 0; k < outputs.size(); ++k) {
          ASSERT_NEAR(outputs[k], all_outputs[i * outputs.size() + k], 1e-14);
        }
        correct += std::ranges::max_element(outputs) - outputs.begin() == p.labels[i] ? 1 : 0;
      }
      const Vector<double> whole = p.gradient(p.w);
      EXPECT_LT(deviation(whole, mean), 1e-12);
      EXPECT_LT(deviation(p.hessian_vector(p.v), mean_curvature), 1e-12);
      const Score score = p.engine.score(p.w, p.batch());
      EXPECT_EQ(score.correct, correct);
      EXPECT_NEAR(score.loss_sum, mean_loss * static_cast<double>(size), 1e-12 * static_cast<double>(size));
    }
  }
}

// Whatever an engine did before, with other batch sizes, masks and kinds of call.
TEST(Engine, ResultsDependOnArgumentsAlone) {
  for (const Layers& layers : networks()) {
    SCOPED_TRACE(layers.name);
    Problem<float> fresh(architecture(layers.input, layers.layers), 5, 1);
    Problem<float> used(architecture(layers.input, layers.layers), 5, 1);
    Problem<float> other(architecture(layers.input, layers.layers), 19, 2);
    Vector<float> ignored(used.w.size());
    RandomStream stream(3, "masks");
    used.engine.hessian_vector(other.w, other.v, other.batch(), &stream, ignored);
    used.engine.meta_gradient(other.w, {other.batch(), other.sample(0), other.batch()},
                              {.kind = MetaGradient::hessian_free}, &stream, ignored);
    used.engine.score(other.w, other.batch());
    for (const bool with_masks : {false, true}) {
      RandomStream a(4, "masks");
      RandomStream b(4, "masks");
      EXPECT_TRUE(same_bits(used.gradient(used.w, with_masks ? &a : nullptr),
                            fresh.gradient(fresh.w, with_masks ? &b : nullptr)));
      EXPECT_TRUE(same_bits(used.hessian_vector(used.v, with_masks ? &a : nullptr),
                            fresh.hessian_vector(fresh.v, with_masks ? &b : nullptr)));
      EXPECT_EQ(a.state(), b.state());
    }
    for (const MetaGradient kind :
         {MetaGradient::first_order, MetaGradient::hessian_free, MetaGradient::exact}) {
      Vector<float> one = used.w;
      Vector<float> two = fresh.w;
      RandomStream a(5, "masks");
      RandomStream b(5, "masks");
      for (int i = 0; i < 3; ++i) {
        used.engine.meta_step(one, {used.batch(), used.sample(1), used.batch()}, {.kind = kind}, 0.1, &a);
        fresh.engine.meta_step(two, {fresh.batch(), fresh.sample(1), fresh.batch()}, {.kind = kind}, 0.1, &b);
      }
      EXPECT_TRUE(same_bits(one, two));
    }
  }
}

// Nothing is written outside the result: neither the slack past its end nor what was read.
TEST(Engine, ArgumentsStayAsTheyAre) {
  for (const Layers& layers : networks()) {
    SCOPED_TRACE(layers.name);
    Problem<float> p(architecture(layers.input, layers.layers), 5, 1);
    const Vector<float> w = p.w;
    const Vector<float> v = p.v;
    const Vector<float> features = p.features;
    Vector<float> result(w.size());
    float* const slack = result.data() + result.size();
    std::fill_n(slack, Vector<float>::slack, 7.0F);
    const auto expect_intact = [&] {
      EXPECT_EQ(std::count(slack, slack + Vector<float>::slack, 7.0F), Vector<float>::slack);
      EXPECT_TRUE(same_bits(p.w, w));
      EXPECT_TRUE(same_bits(p.v, v));
      EXPECT_TRUE(same_bits(p.features, features));
    };
    p.engine.gradient(p.w, p.batch(), nullptr, result);
    expect_intact();
    p.engine.hessian_vector(p.w, p.v, p.batch(), nullptr, result);
    expect_intact();
    for (const MetaGradient kind :
         {MetaGradient::first_order, MetaGradient::hessian_free, MetaGradient::exact}) {
      p.engine.meta_gradient(p.w, {p.batch(), p.batch(), p.batch()}, {.kind = kind}, nullptr, result);
      expect_intact();
    }
    result = p.w;
    std::fill_n(result.data() + result.size(), Vector<float>::slack, 7.0F);
    p.engine.step(result, p.batch(), 0.1, nullptr);
    EXPECT_EQ(
        std::count(result.data() + result.size(), result.data() + result.size() + Vector<float>::slack, 7.0F),
        Vector<float>::slack);
  }
}

// The meta-gradient put together from its parts, masks included: each batch draws its own, in order, and both
// ends of a difference share the third batch's.
TEST(Engine, MetaGradientIsMadeOfGradientsAndCurvature) {
  for (const Layers& layers : networks()) {
    for (std::uint64_t seed = 0; seed < num_seeds; ++seed) {
      SCOPED_TRACE(fmt::format("{}, seed {}", layers.name, seed));
      const Architecture network = architecture(layers.input, layers.layers);
      Problem<double> p(network, 1 + seed % 9, seed);
      const Problem<double> second(network, 1 + (seed + 3) % 9, seed + 1000);
      const Problem<double> third(network, 1 + (seed + 5) % 9, seed + 2000);
      const std::array<Batch<double>, 3> batches{p.batch(), second.batch(), third.batch()};
      const double inner = 0.25;
      const double d = 0.0625;

      RandomStream stream(seed, "masks");
      const Vector<double> after = sum(p.w, -inner, p.gradient(p.w, &stream));
      Vector<double> v(p.w.size());
      p.engine.gradient(after, second.batch(), &stream, v);
      RandomStream same = stream;
      Vector<double> product(p.w.size());
      p.engine.hessian_vector(p.w, v, third.batch(), &stream, product);
      const Vector<double> exact = sum(v, -inner, product);
      Vector<double> ahead(p.w.size());
      Vector<double> behind(p.w.size());
      RandomStream again = same;
      p.engine.gradient(sum(p.w, d, v), third.batch(), &same, ahead);
      p.engine.gradient(sum(p.w, -d, v), third.batch(), &again, behind);
      const Vector<double> hessian_free = sum(v, -inner / (2.0 * d), sum(ahead, -1.0, behind));

      const auto expect_equal = [&](MetaGradient kind, const Vector<double>& expected) {
        const MetaOptions options{.kind = kind, .inner_step = inner, .difference_step = d};
        Vector<double> result(p.w.size());
        RandomStream masks(seed, "masks");
        p.engine.meta_gradient(p.w, batches, options, &masks, result);
        EXPECT_LT(deviation(result, expected), 1e-11);
        Vector<double> moved = p.w;
        masks = RandomStream(seed, "masks");
        p.engine.meta_step(moved, batches, options, 0.5, &masks);
        EXPECT_LT(norm(sum(moved, -1.0, sum(p.w, -0.5, expected))),
                  1e-12 * (1.0 + norm(p.w) + norm(expected)));
      };
      expect_equal(MetaGradient::first_order, v);
      expect_equal(MetaGradient::hessian_free, hessian_free);
      expect_equal(MetaGradient::exact, exact);
    }
  }
}

// The paper's networks in their true sizes. In single precision a ReLU or a pool may decide otherwise than in
// double, which moves a gradient by far more than rounding; still only a few of some ten thousand do.
TEST(Engine, SingleAndDoublePrecisionAgreeOnThePapersNetworks) {
  struct Preset {
    const char* name;
    Shape input;
    std::size_t classes;
  };
  for (const Preset& preset_case :
       {Preset{"mnist_cnn", {28, 28, 1}, 10}, Preset{"mnist_cnn_stride2", {28, 28, 1}, 10},
        Preset{"mnist_cnn_published", {28, 28, 1}, 10}, Preset{"cifar10_cnn", {32, 32, 3}, 10},
        Preset{"radioml_cnn", {2, 128, 1}, 4}}) {
    for (const std::size_t size : {1, 4, 11}) {
      SCOPED_TRACE(fmt::format("{}, batch {}", preset_case.name, size));
      const Architecture network{.input = preset_case.input,
                                 .layers = preset(preset_case.name, preset_case.classes)};
      Problem<float> single(network, size, size);
      Problem<double> twice(network, size, size);
      for (std::size_t i = 0; i < twice.w.size(); ++i) {
        twice.w[i] = static_cast<double>(single.w[i]);
        twice.v[i] = static_cast<double>(single.v[i]);
      }
      for (std::size_t i = 0; i < twice.features.size(); ++i) {
        twice.features[i] = static_cast<double>(single.features[i]);
      }
      const auto widened = [](const Vector<float>& narrow) {
        Vector<double> wide(narrow.size());
        std::ranges::copy(narrow, wide.begin());
        return wide;
      };
      RandomStream a(1, "masks");
      RandomStream b(1, "masks");
      EXPECT_LT(deviation(widened(single.gradient(single.w, &a)), twice.gradient(twice.w, &b)), 5e-3);
      EXPECT_EQ(a.state(), b.state());
      EXPECT_LT(deviation(widened(single.hessian_vector(single.v)), twice.hessian_vector(twice.v)), 2e-2);
      // The loss along the gradient itself: kinks are passed by the hundred, each with little weight.
      const Vector<double> g = twice.gradient(twice.w);
      const double h = 1e-6 / norm(g);
      const auto loss = [&](double step) {
        return twice.engine.score(sum(twice.w, step, g), twice.batch()).loss_sum / static_cast<double>(size);
      };
      EXPECT_NEAR((loss(h) - loss(-h)) / (2.0 * h), dot(g, g), 1e-5 * dot(g, g));
    }
  }
}

// This program again, with the other build of the kernels: it must agree with PyTorch just as well.
TEST(Engine, BaselineKernelsAgreeWithPyTorch) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  const std::string command = fmt::format(
      "SKEIN_KERNELS=baseline '{}' --gtest_filter='NetworkReference.*:Dropout.*' > /dev/null 2>&1", self);
  EXPECT_EQ(std::system(command.c_str()), 0) << "for what differs: " << command;
}

}  // namespace
}  // namespace skein::nn
