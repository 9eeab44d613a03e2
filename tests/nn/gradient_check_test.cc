#include "skein/nn/gradient_check.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "skein/base/random.h"
#include "tests/nn/random_problem.h"

namespace skein::nn {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Field;
using ::testing::IsEmpty;
using ::testing::Not;

// Right but for what a test breaks.
class BrokenDerivatives final : public EngineDerivatives {
 public:
  using Change = std::function<void(Vector<double>&)>;
  using EngineDerivatives::EngineDerivatives;

  Vector<double> gradient(std::size_t batch, const Vector<double>& w) override {
    return changed(EngineDerivatives::gradient(batch, w), break_gradient);
  }
  Vector<double> hessian_vector(std::size_t batch, const Vector<double>& w,
                                const Vector<double>& v) override {
    return changed(EngineDerivatives::hessian_vector(batch, w, v), break_hessian_vector);
  }
  Vector<double> meta_gradient(const Vector<double>& w, const MetaOptions& options) override {
    Vector<double> result = EngineDerivatives::meta_gradient(w, options);
    if (options.kind == MetaGradient::hessian_free && hessian_factor != 1.0) {
      const Vector<double> first_order =
          EngineDerivatives::meta_gradient(w, {.inner_step = options.inner_step});
      result = sum(first_order, hessian_factor, sum(result, -1.0, first_order));
    }
    return options.kind == MetaGradient::exact ? changed(std::move(result), break_exact) : result;
  }

  Change break_gradient;
  Change break_hessian_vector;
  Change break_exact;
  double hessian_factor = 1.0;

 private:
  static Vector<double> changed(Vector<double> vector, const Change& change) {
    if (change) {
      change(vector);
    }
    return vector;
  }
};

const MetaOptions training{.inner_step = 1e-2, .difference_step = 1e-4};

// The rows of several rounds, after `prepare` has broken what it likes.
std::vector<CheckedRow> check(const Architecture& network_architecture, std::uint64_t seed,
                              const std::function<void(BrokenDerivatives&)>& prepare = {}) {
  std::vector<std::vector<CheckedError>> rounds;
  const Network<double> network(network_architecture);
  RandomStream parameters(seed, "parameters");
  const Vector<double> w = network.initial_parameters(parameters);
  for (std::uint64_t round = 0; round < 5; ++round) {
    std::array<Problem<double>, 3> problems{Problem<double>(network_architecture, 3, 3 * round),
                                            Problem<double>(network_architecture, 4, 3 * round + 1),
                                            Problem<double>(network_architecture, 5, 3 * round + 2)};
    BrokenDerivatives derivatives(network, {problems[0].batch(), problems[1].batch(), problems[2].batch()},
                                  RandomStream(seed, "dropout", round));
    if (prepare) {
      prepare(derivatives);
    }
    RandomStream directions(seed, "directions", round);
    rounds.push_back(check_derivatives(derivatives, w, tensors(network_architecture), training, directions));
  }
  return summarise(rounds);
}

std::vector<std::string> wrong_rows(const std::vector<CheckedRow>& rows) {
  std::vector<std::string> names;
  for (const CheckedRow& row : rows) {
    if (!row.passes()) {
      names.push_back(row.what + ": " + row.of);
    }
  }
  return names;
}

const Architecture& small_network() {
  static const Architecture network =
      architecture({6, 6, 2}, {"conv 3 2x2 padding 1", "relu", "pool 2x2 stride 1", "dropout 0.25",
                               "conv 4 3x3 stride 2", "tanh", "linear 6", "relu", "linear 4"});
  return network;
}

TEST(GradientCheck, RightDerivativesPass) {
  const std::vector<std::vector<std::string>> networks = {
      {"linear 4"},
      {"linear 8", "relu", "linear 4"},
      {"conv 3 2x2", "relu", "pool 2x2 stride 1", "linear 8", "sigmoid", "linear 4", "softmax"},
      {"lstm 5 sequence", "tanh", "lstm 4", "dropout 0.5", "linear 4"},
      {"dropout 0.3", "conv 4 3x3 stride 2 padding 1", "relu", "linear 200", "relu", "linear 4"},
  };
  for (std::size_t i = 0; i < networks.size(); ++i) {
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      EXPECT_THAT(wrong_rows(check(architecture({6, 5, 2}, networks[i]), seed)), IsEmpty())
          << i << ' ' << seed;
    }
  }
  EXPECT_THAT(wrong_rows(check(small_network(), 1)), IsEmpty());
}

TEST(GradientCheck, EveryTensorAndEveryFormHasItsRow) {
  const std::vector<CheckedRow> rows = check(small_network(), 1);
  for (const Tensor& tensor : tensors(small_network())) {
    EXPECT_EQ(std::ranges::count(rows, tensor.name, &CheckedRow::of), 3) << tensor.name;
  }
  EXPECT_EQ(std::ranges::count(rows, "all", &CheckedRow::of), 7);
  EXPECT_EQ(std::ranges::count_if(rows, &CheckedRow::is_information), 2);
}

TEST(GradientCheck, AGradientThatIsOffInOneTensorIsFoundThere) {
  for (const Tensor& tensor : tensors(small_network())) {
    const std::vector<CheckedRow> rows = check(small_network(), 1, [&](BrokenDerivatives& derivatives) {
      derivatives.break_gradient = [&](Vector<double>& g) {
        for (std::size_t i = 0; i < tensor.size; ++i) {
          g[tensor.offset + i] *= 1.0001;
        }
      };
    });
    const auto is_wrong = [](std::string_view what, std::string_view of) {
      return Contains(fmt::format("{}: {}", what, of));
    };
    EXPECT_THAT(wrong_rows(rows), is_wrong("gradient along a direction", tensor.name));
    EXPECT_THAT(wrong_rows(rows), is_wrong("Hessian-vector product", tensor.name));
    for (const Tensor& other : tensors(small_network())) {
      if (other.name != tensor.name) {
        EXPECT_THAT(wrong_rows(rows), Not(is_wrong("gradient along a direction", other.name)));
      }
    }
  }
}

TEST(GradientCheck, AGradientThatIsOffInOneNumberIsFound) {
  // The border of a kernel, forgotten.
  const Tensor tensor = tensors(small_network())[0];
  const std::vector<CheckedRow> rows = check(small_network(), 1, [&](BrokenDerivatives& derivatives) {
    derivatives.break_gradient = [&](Vector<double>& g) { g[tensor.offset + 5] = 0.0; };
  });
  EXPECT_THAT(wrong_rows(rows), Contains("gradient along a direction: conv1.weight"));
}

TEST(GradientCheck, AWrongHessianIsFound) {
  EXPECT_THAT(wrong_rows(check(small_network(), 1,
                               [](BrokenDerivatives& derivatives) {
                                 derivatives.break_hessian_vector = [](Vector<double>& h) { h[3] = -h[3]; };
                               })),
              testing::ElementsAre("Hessian-vector product: conv1.weight"));
  EXPECT_THAT(wrong_rows(check(small_network(), 1,
                               [](BrokenDerivatives& derivatives) {
                                 derivatives.break_exact = [](Vector<double>& m) {
                                   for (double& value : m) {
                                     value *= 1.0 + 1e-4;
                                   }
                                 };
                               })),
              AllOf(Contains("exact meta-gradient along a direction: all"),
                    Contains("exact meta-gradient, Hessian's part: all")));
}

TEST(GradientCheck, AHessianFreeFormThatIsOffByTwoIsFound) {
  EXPECT_THAT(wrong_rows(check(small_network(), 1,
                               [](BrokenDerivatives& derivatives) { derivatives.hessian_factor = 2.0; })),
              testing::ElementsAre("Hessian-free meta-gradient, Hessian's part: all"));
}

TEST(GradientCheck, NotANumberIsWrong) {
  const std::vector<CheckedRow> rows = check(small_network(), 1, [](BrokenDerivatives& derivatives) {
    derivatives.break_gradient = [](Vector<double>& g) { g[0] = std::nan(""); };
  });
  EXPECT_THAT(wrong_rows(rows), Contains("gradient along a direction: all"));
}

TEST(GradientCheck, FirstOrderLeavesOutTheHessian) {
  const std::vector<CheckedRow> rows = check(small_network(), 1);
  const auto left_out =
      std::ranges::find(rows, "first-order meta-gradient, what it leaves out", &CheckedRow::what);
  ASSERT_NE(left_out, rows.end());
  EXPECT_GT(left_out->median, 1e-5);
  EXPECT_TRUE(left_out->passes()) << "it is information";
}

TEST(GradientCheck, TheMedianDecides) {
  const auto round = [](double error) {
    return std::vector<CheckedError>{{"gradient", "all", error, 1e-6}, {"note", "all", error, 0.0}};
  };
  const auto summary = [&](const std::vector<double>& errors) {
    std::vector<std::vector<CheckedError>> rounds;
    std::ranges::transform(errors, std::back_inserter(rounds), round);
    return summarise(rounds);
  };
  const std::vector<CheckedRow> kink = summary({1e-9, 0.5, 2e-9, 3e-9, 0.7});
  EXPECT_EQ(kink[0].median, 3e-9);
  EXPECT_EQ(kink[0].worst, 0.7);
  EXPECT_TRUE(kink[0].passes());
  EXPECT_FALSE(summary({1e-9, 0.5, 2e-9, 0.6, 0.7})[0].passes());
  EXPECT_FALSE(summary({1e-9, 0.5})[0].passes()) << "of two, the larger";
  EXPECT_TRUE(summary({0.5})[1].passes());
  EXPECT_FALSE(summary({0.5})[0].passes());
}

}  // namespace
}  // namespace skein::nn
