#include "skein/learning/label_shift.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "skein/base/file.h"
#include "skein/learning/evaluation.h"
#include "skein/learning/swarm_trainer.h"
#include "skein/nn/layer_text.h"
#include "tests/learning/small_training.h"

namespace skein {
namespace {

using nlohmann::json;

// 3, 0 and 1 points, each half a point more: 3.5, 0.5 and 1.5 of 5.5.
TEST(LabelShift, ByHand) {
  const std::vector<double> shift = label_shift({3, 0, 1}, 0.5);
  EXPECT_NEAR(shift[0], std::log(3.0 * 3.5 / 5.5), 1e-15);
  EXPECT_NEAR(shift[1], std::log(3.0 * 0.5 / 5.5), 1e-15);
  EXPECT_NEAR(shift[2], std::log(3.0 * 1.5 / 5.5), 1e-15);
  // A tenth of all points of any class.
  const std::vector<double> lasting = lasting_label_shift({3, 0, 1}, {.smoothing = 0.5, .mix = 0.1});
  EXPECT_NEAR(lasting[1], std::log(3.0 * (0.9 * 0.5 / 5.5 + 0.1 / 3.0)), 1e-15);
  EXPECT_NEAR(lasting_label_shift({3, 0, 1}, {.smoothing = 0.5, .mix = 1.0})[0], 0.0, 1e-15);

  nn::Vector<double> model(std::vector<double>{1, 2, 3, 4, 5});
  add_to_biases(model, shift, 2.0);
  EXPECT_EQ(model[1], 2.0);
  EXPECT_EQ(model[2], 3.0 + 2.0 * shift[0]);
  EXPECT_EQ(model[4], 5.0 + 2.0 * shift[2]);
}

TEST(LabelShift, NeedsALinearLayerAtTheEnd) {
  nn::Architecture architecture = SmallProblem::architecture(true);
  EXPECT_TRUE(ends_with_biases(architecture));
  architecture.layers.emplace_back(nn::Softmax{});
  EXPECT_FALSE(ends_with_biases(architecture));
}

// Samples as network_reference.py draws them.
struct Samples {
  std::vector<double> features{};
  std::vector<std::uint8_t> labels{};

  [[nodiscard]] nn::Batch<double> batch() const { return {features.data(), labels.data(), labels.size()}; }
};

// PyTorch has the shift on the logits, we on the biases: the same model comes out.
TEST(LabelShift, AStepIsThatOfPyTorch) {
  const json cases =
      json::parse(read_file(SKEIN_SOURCE_DIR "/tests/reference/label_shift_reference.json", 1U << 20U));
  ASSERT_EQ(cases.size(), 5U);
  for (const json& stored : cases) {
    SCOPED_TRACE(stored.at("layers").dump());
    const auto seed = stored.at("case").get<std::uint64_t>();
    nn::Architecture architecture{
        .input = {stored.at("input").at(0), stored.at("input").at(1), stored.at("input").at(2)}};
    for (const json& layer : stored.at("layers")) {
      architecture.layers.push_back(nn::parse_layer(layer.get<std::string>()));
    }
    const nn::Network<double> network(architecture);
    nn::Engine<double> engine(network);
    nn::Vector<double> start(network.num_parameters());
    RandomStream parameters(seed, "reference parameters");
    for (const nn::Tensor& tensor : nn::tensors(architecture)) {
      for (std::size_t i = 0; i < tensor.size; ++i) {
        start[tensor.offset + i] = tensor.bound * (2.0 * parameters.uniform() - 1.0);
      }
    }
    std::array<Samples, 3> samples;
    std::uint64_t number = 0;
    for (const auto& [place, size] : {std::pair{0, 5}, {1, 4}, {2, 6}}) {
      for (int i = 0; i < size; ++i) {
        RandomStream stream(seed, "reference sample", number++);
        for (std::size_t k = 0; k < network.num_inputs(); ++k) {
          samples[place].features.push_back(2.0 * stream.uniform() - 1.0);
        }
        samples[place].labels.push_back(static_cast<std::uint8_t>(stream.below(network.num_outputs())));
      }
    }

    const auto counts = stored.at("counts").get<LabelCounts>();
    const LabelShiftOptions options{.smoothing = stored.at("smoothing"), .mix = stored.at("mix")};
    const std::vector<double> shift = label_shift(counts, options.smoothing);
    const std::vector<double> lasting = lasting_label_shift(counts, options);
    for (std::size_t y = 0; y < counts.size(); ++y) {
      EXPECT_NEAR(shift[y], stored.at("shift").at(y).get<double>(), 1e-12);
      EXPECT_NEAR(lasting[y], stored.at("lasting_shift").at(y).get<double>(), 1e-12);
    }
    const auto expect_step = [&](const char* name, const auto& step) {
      nn::Vector<double> w = start;
      add_to_biases(w, shift, 1.0);
      step(w);
      add_to_biases(w, shift, -1.0);
      const auto expected = stored.at(name).get<std::vector<double>>();
      ASSERT_EQ(w.size(), expected.size());
      for (std::size_t i = 0; i < w.size(); ++i) {
        ASSERT_NEAR(w[i], expected[i], 1e-9) << name << ", parameter " << i;
      }
    };
    expect_step("step", [&](nn::Vector<double>& w) {
      EXPECT_NEAR(engine.step(w, samples[0].batch(), 0.75, nullptr), stored.at("loss").get<double>(), 1e-9);
    });
    for (const auto& [kind, name] : {std::pair{nn::MetaGradient::first_order, "first_order"},
                                     {nn::MetaGradient::hessian_free, "hessian_free"},
                                     {nn::MetaGradient::exact, "exact"}}) {
      expect_step(name, [&, k = kind](nn::Vector<double>& w) {
        engine.meta_step(w, {samples[0].batch(), samples[1].batch(), samples[2].batch()},
                         {.kind = k, .inner_step = 0.125, .difference_step = 0.01}, 0.75, nullptr);
      });
    }
  }
}

class LabelShiftInTraining : public ::testing::Test {
 protected:
  LabelShiftInTraining() { options_.label_shift = {.smoothing = 0.5, .mix = 0.1}; }

  LocalTraining training(const LearningOptions& options) const {
    return LocalTraining(
        {.options = options, .data = &problem_.data.train, .pools = &problem_.pools, .seed = 9});
  }
  static LearningOptions without(LearningOptions options) {
    options.label_shift = {};
    return options;
  }
  LabelCounts counts_of(const WorkerTask& worker) const {
    LabelCounts counts(4, 0);
    for (const SampleIndex sample : worker.samples) {
      ++counts[problem_.data.train.labels[sample]];
    }
    return counts;
  }
  static Model shifted(Model model, const std::vector<double>& shift, double factor) {
    add_to_biases(model, shift, factor);
    return model;
  }
  double accuracy(const Model& model) {
    std::vector<SampleIndex> all(problem_.data.test.size());
    std::iota(all.begin(), all.end(), SampleIndex{0});
    return evaluate(model, problem_.data.test, all, workspaces_, pool_).accuracy;
  }

  SmallProblem problem_{false};
  ThreadPool pool_{2};
  Workspaces workspaces_{problem_.network};
  Workspace workspace_{problem_.network};
  LearningOptions options_{
      .step = 0.1, .inner_step = 0.05, .meta_step = 0.1, .batch_sizes = {4, 5, 6}, .local_period = 3};
};

// All forms of steps: the training of a model whose biases are shifted, and the shift off again.
TEST_F(LabelShiftInTraining, IsOnWhileAWorkerTrains) {
  WorkerTask worker = problem_.tasks({1}, options_)[0].workers[0];
  const std::vector<double> shift = label_shift(counts_of(worker), 0.5);
  const LocalTraining::Round round{.num_iterations = 3};
  for (const char* name : {"h_fl", "hn_pfl"}) {
    for (const LocalStep form : {LocalStep::mini_batch, LocalStep::epoch}) {
      options_.algorithm = algorithm(name);
      options_.local_step = form;
      Model expected = shifted(*problem_.initial(), shift, 1.0);
      training(without(options_)).run(worker, round, workspace_, expected);
      Model model = *problem_.initial();
      training(options_).run(worker, round, workspace_, model);
      EXPECT_TRUE(same_bits(model, shifted(std::move(expected), shift, -1.0)));

      expected = shifted(*problem_.initial(), shift, 1.0);
      training(without(options_)).personalise(worker, round, workspace_, expected);
      model = *problem_.initial();
      training(options_).personalise(worker, round, workspace_, model);
      EXPECT_TRUE(same_bits(model, shifted(std::move(expected), shift, -1.0)));
    }
  }
  // Where drift has changed features, labels are still those of the samples.
  worker.drift = std::make_shared<const FeatureDrift>(FeatureDrift{.transforms = {{}}, .seed = 4});
  worker.collected.assign(worker.samples.size(), 0);
  EXPECT_EQ(training(options_).label_counts(std::vector{worker}, 0), counts_of(worker));
}

// The swarm's model, and the shift of all that its workers have.
TEST_F(LabelShiftInTraining, StaysWithAModelThatIsHandedOver) {
  options_.algorithm = algorithm("h_fl");
  const std::vector<SwarmTask> tasks = problem_.tasks({3, 1}, options_);
  const std::vector<SwarmUpdate> updates =
      SwarmTrainer({.options = options_, .data = &problem_.data.train, .seed = 9}, workspaces_, pool_)
          .personalise(tasks);
  LabelCounts all(4, 0);
  for (const WorkerTask& worker : tasks[0].workers) {
    const LabelCounts counts = counts_of(worker);
    std::ranges::transform(all, counts, all.begin(), std::plus());
  }
  EXPECT_EQ(training(options_).label_counts(tasks[0].workers, 0), all);
  for (std::size_t u = 0; u < 2; ++u) {
    options_.label_shift.mix = 1.0;  // the shift of even labels: none
    const std::vector<SwarmUpdate> even =
        SwarmTrainer({.options = options_, .data = &problem_.data.train, .seed = 9}, workspaces_, pool_)
            .personalise(tasks);
    const LabelCounts counts = u == 0 ? all : counts_of(tasks[1].workers[0]);
    const Model expected =
        shifted(even[u].model, lasting_label_shift(counts, {.smoothing = 0.5, .mix = 0.1}), 1.0);
    EXPECT_LT(largest_difference(updates[u].model, expected), 1e-6);
    EXPECT_GT(largest_difference(updates[u].model, even[u].model), 0.5);
  }
}

// Two swarms with two classes each, and a long time until they average: each unlearns the other's classes.
TEST_F(LabelShiftInTraining, KeepsWorkersFromUnlearningClasses) {
  options_.algorithm = algorithm("h_fl");
  options_.step = 0.3;
  options_.local_period = 60;
  const auto errors = [&](const LearningOptions& options) {
    SwarmTrainer trainer({.options = options, .data = &problem_.data.train, .seed = 9}, workspaces_, pool_);
    std::vector<SwarmTask> tasks = problem_.tasks({1, 1, 1}, options);
    tasks.erase(tasks.begin() + 1);  // classes 0 and 1, 2 and 3
    for (std::size_t round = 0; round < 3; ++round) {
      const Model merged = merge(trainer.train(tasks, {}), MergeWeights::equal, pool_);
      for (SwarmTask& task : tasks) {
        task.model = std::make_shared<const Model>(merged);
        task.first_iteration += options.local_period;
      }
    }
    // One swarm more is where it is seen.
    return 1.0 - accuracy(trainer.train({tasks.data(), 1}, {})[0].model);
  };
  EXPECT_GT(errors(without(options_)), 0.1);
  EXPECT_LT(errors(options_), 0.3 * errors(without(options_)));
}

}  // namespace
}  // namespace skein
