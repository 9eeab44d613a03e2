// Compares with tests/reference/network_reference.py, which computes the same with PyTorch in double
// precision.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "skein/base/file.h"
#include "skein/base/random.h"
#include "skein/nn/engine.h"
#include "skein/nn/layer_text.h"

namespace skein::nn {
namespace {

using nlohmann::json;

const json& reference() {
  static const json cases =
      json::parse(read_file(SKEIN_SOURCE_DIR "/tests/reference/network_reference.json", 4U << 20U));
  return cases;
}

// A batch owns its numbers here.
template <class T>
struct Samples {
  std::vector<T> features;
  std::vector<std::uint8_t> labels;

  [[nodiscard]] Batch<T> batch() const { return {features.data(), labels.data(), labels.size()}; }
};

// The numbers of a case, drawn as the script says.
template <class T>
class Case {
 public:
  explicit Case(const json& stored)
      : stored_(stored),
        network_(architecture_of(stored)),
        w_(network_.num_parameters()),
        direction_(network_.num_parameters()) {
    const auto seed = stored.at("case").get<std::uint64_t>();
    const auto values = stored.at("values").get<std::string>();
    RandomStream parameters(seed, "reference parameters");
    std::size_t next = 0;
    for (const json& tensor : stored.at("tensors")) {
      for (std::size_t i = 0; i < tensor.at(0); ++i) {
        const double value = tensor.at(1).get<double>() * (2.0 * parameters.uniform() - 1.0);
        w_[next++] = static_cast<T>(values == "grid" ? std::ceil(value * 8.0) / 8.0 : value);
      }
    }
    RandomStream direction(seed, "reference direction");
    for (T& value : direction_) {
      value = static_cast<T>(2.0 * direction.uniform() - 1.0);
    }
    for (std::size_t b = 0; b < stored.at("batches").size(); ++b) {
      for (const json& number : stored.at("batches").at(b)) {
        RandomStream stream(seed, "reference sample", number.get<std::uint64_t>());
        for (std::size_t i = 0; i < network_.num_inputs(); ++i) {
          const double drawn = 2.0 * stream.uniform() - 1.0;
          const double value = values == "sparse" ? (drawn < 0.7 ? 0.0 : drawn)
                               : values == "grid" ? std::ceil(drawn * 4.0) / 4.0
                                                  : drawn;
          samples_[b].features.push_back(static_cast<T>(value));
        }
        samples_[b].labels.push_back(static_cast<std::uint8_t>(stream.below(network_.num_outputs())));
      }
    }
  }

  static Architecture architecture_of(const json& stored) {
    Architecture architecture;
    const json& input = stored.at("input");
    architecture.input = {input.at(0), input.at(1), input.at(2)};
    for (const json& layer : stored.at("layers")) {
      architecture.layers.push_back(parse_layer(layer.get<std::string>()));
    }
    return architecture;
  }

  [[nodiscard]] const Network<T>& network() const { return network_; }
  [[nodiscard]] const Vector<T>& w() const { return w_; }
  [[nodiscard]] const Vector<T>& direction() const { return direction_; }
  [[nodiscard]] Batch<T> first() const { return samples_[0].batch(); }
  [[nodiscard]] std::array<Batch<T>, 3> batches() const {
    return {samples_[0].batch(), samples_[1].batch(), samples_[2].batch()};
  }
  [[nodiscard]] MetaOptions options(MetaGradient kind) const {
    return {.kind = kind, .inner_step = number("inner_step"), .difference_step = number("difference_step")};
  }
  [[nodiscard]] double number(const char* name) const { return stored_.at(name).get<double>(); }
  [[nodiscard]] std::vector<double> numbers(const char* name) const {
    return stored_.at(name).get<std::vector<double>>();
  }

  // The largest difference of a vector from the stored one, as a part of the stored one's largest component.
  // A vector stored in part is compared as a whole by its dot product with the direction, whose rounding
  // grows as the root of its length.
  [[nodiscard]] double deviation(const json& expected, const Vector<T>& ours) const {
    const auto values = expected.at("values").get<std::vector<double>>();
    const auto every = stored_.at("every").get<std::size_t>();
    EXPECT_EQ((ours.size() + every - 1) / every, values.size());
    double largest = 0.0;
    double difference = 0.0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      largest = std::max(largest, std::abs(values[i]));
      difference = std::max(difference, std::abs(static_cast<double>(ours[i * every]) - values[i]));
    }
    double dot = 0.0;
    for (std::size_t i = 0; i < ours.size(); ++i) {
      dot += static_cast<double>(ours[i]) * static_cast<double>(direction_[i]);
    }
    const double dot_difference =
        std::abs(dot - expected.at("dot").get<double>()) / std::sqrt(static_cast<double>(ours.size()));
    return std::max(difference, dot_difference) / largest;
  }

 private:
  const json& stored_;
  Network<T> network_;
  Vector<T> w_;
  Vector<T> direction_;
  std::array<Samples<T>, 3> samples_;
};

std::string describe(const json& stored) {
  return fmt::format("case {}, input {}, layers {}", stored.at("case").dump(), stored.at("input").dump(),
                     stored.at("layers").dump());
}

constexpr std::array kinds{MetaGradient::first_order, MetaGradient::hessian_free, MetaGradient::exact};
constexpr std::array kind_names{"first_order", "hessian_free", "exact"};

// What each result may differ by.
struct Tolerance {
  double value;     // outputs and losses
  double gradient;  // and first-order meta-gradients
  double curvature;
  double difference_growth;  // of a difference of gradients, per inner_step / difference_step
};

template <class T>
void compare_all(const Tolerance& tolerance) {
  for (const json& stored : reference()) {
    SCOPED_TRACE(describe(stored));
    const Case<T> c(stored);
    Engine<T> engine(c.network());

    std::vector<T> outputs(c.first().size * c.network().num_outputs());
    engine.outputs(c.w(), c.first().features, c.first().size, outputs.data());
    const std::vector<double> expected = c.numbers("outputs");
    ASSERT_EQ(outputs.size(), expected.size());
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      EXPECT_NEAR(static_cast<double>(outputs[i]), expected[i], tolerance.value) << "output " << i;
    }

    Vector<T> result(c.w().size());
    EXPECT_NEAR(engine.gradient(c.w(), c.first(), nullptr, result), c.number("loss"), tolerance.value);
    EXPECT_LE(c.deviation(stored.at("gradient"), result), tolerance.gradient);
    EXPECT_NEAR(engine.hessian_vector(c.w(), c.direction(), c.first(), nullptr, result), c.number("loss"),
                tolerance.value);
    EXPECT_LE(c.deviation(stored.at("hessian_vector"), result), tolerance.curvature);

    if (!stored.contains("meta")) {
      continue;
    }
    const json& meta = stored.at("meta");
    for (std::size_t k = 0; k < kinds.size(); ++k) {
      const MetaOptions options = c.options(kinds[k]);
      const double loss = engine.meta_gradient(c.w(), c.batches(), options, nullptr, result);
      EXPECT_NEAR(loss, meta.at("loss").get<double>(), tolerance.value) << kind_names[k];
      const double allowed = kinds[k] == MetaGradient::first_order ? tolerance.gradient
                             : kinds[k] == MetaGradient::exact
                                 ? tolerance.curvature
                                 : tolerance.curvature + tolerance.difference_growth * options.inner_step /
                                                             options.difference_step;
      EXPECT_LE(c.deviation(meta.at(kind_names[k]), result), allowed) << kind_names[k];
    }
  }
}

// Twelve digits are stored; what is left is rounding in sums of other orders.
TEST(NetworkReference, DoubleAgreesWithPyTorch) {
  compare_all<double>({.value = 1e-10, .gradient = 1e-9, .curvature = 1e-9, .difference_growth = 1e-11});
}

// A float has a relative rounding of 6e-8. Sums of up to some hundred terms through ten layers make that some
// 1e-6, a second derivative doubles the number of layers, and samples have no decision nearer than 1e-3 to
// flipping, so nothing jumps. A difference of gradients is divided by 2 difference_step.
TEST(NetworkReference, FloatAgreesWithPyTorch) {
  compare_all<float>({.value = 1e-5, .gradient = 1e-5, .curvature = 5e-5, .difference_growth = 1e-5});
}

TEST(NetworkReference, TensorsAreThoseOfPyTorch) {
  for (const json& stored : reference()) {
    SCOPED_TRACE(describe(stored));
    const std::vector<Tensor> ours = tensors(Case<double>::architecture_of(stored));
    ASSERT_EQ(ours.size(), stored.at("tensors").size());
    std::size_t offset = 0;
    for (std::size_t i = 0; i < ours.size(); ++i) {
      EXPECT_EQ(ours[i].offset, offset);
      EXPECT_EQ(ours[i].size, stored.at("tensors").at(i).at(0).get<std::size_t>());
      EXPECT_NEAR(ours[i].bound, stored.at("tensors").at(i).at(1).get<double>(), 1e-15);
      offset += ours[i].size;
    }
  }
}

// A step in place may take other ways than a gradient (it need not store one), to the same end.
template <class T>
void compare_steps(double gradient_tolerance, double rounding) {
  constexpr double length = 0.75;
  for (const json& stored : reference()) {
    SCOPED_TRACE(describe(stored));
    const Case<T> c(stored);
    Engine<T> engine(c.network());
    const auto expect_step = [&](const Vector<T>& after, const Vector<T>& g, const char* name) {
      double largest = 0.0;
      for (const T value : g) {
        largest = std::max(largest, static_cast<double>(std::abs(value)));
      }
      for (std::size_t i = 0; i < after.size(); ++i) {
        const double before = c.w()[i];
        ASSERT_NEAR(static_cast<double>(after[i]), before - length * static_cast<double>(g[i]),
                    length * gradient_tolerance * largest + rounding * (1.0 + std::abs(before)))
            << name << ", parameter " << i;
      }
    };
    Vector<T> g(c.w().size());
    Vector<T> w = c.w();
    const double loss = engine.gradient(c.w(), c.first(), nullptr, g);
    EXPECT_NEAR(engine.step(w, c.first(), length, nullptr), loss, rounding * 10.0 * (1.0 + loss));
    expect_step(w, g, "step");
    for (std::size_t k = 0; k < (stored.contains("meta") ? kinds.size() : 0); ++k) {
      const MetaOptions options = c.options(kinds[k]);
      w = c.w();
      const double meta_loss = engine.meta_gradient(c.w(), c.batches(), options, nullptr, g);
      EXPECT_NEAR(engine.meta_step(w, c.batches(), options, length, nullptr), meta_loss,
                  rounding * 10.0 * (1.0 + meta_loss))
          << kind_names[k];
      expect_step(w, g, kind_names[k]);
    }
  }
}

TEST(NetworkReference, StepsInPlaceFollowTheGradient) {
  compare_steps<double>(1e-11, 1e-15);
  // Hessian-free differences of rounded gradients: see FloatAgreesWithPyTorch.
  compare_steps<float>(5e-3, 5e-7);
}

}  // namespace
}  // namespace skein::nn
