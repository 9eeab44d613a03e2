#include "skein/planning/q_learning.h"

#include <gtest/gtest.h>

#include <cmath>

#include "skein/base/file.h"
#include "tests/planning/reference_environment.h"
#include "tests/planning/train_agent.h"
#include "tests/temporary_directory.h"

namespace skein {
namespace {

PlanningOptions small_training() {
  PlanningOptions options;
  options.learner.steps = 120;
  options.learner.memory = 16;
  options.learner.hidden = 24;
  options.learner.hidden2 = 16;
  options.learner.target_period = 10;
  return options;
}

std::vector<float> numbers_of(const Agent& agent) {
  return {agent.parameters.begin(), agent.parameters.end()};
}

// In float, central differences are good to some 1e-3 of the largest gradient.
TEST(QNetwork, TheGradientAgreesWithDifferences) {
  for (const std::size_t memory : {std::size_t{0}, std::size_t{8}}) {
    const QShape shape{.features = 7,
                       .plan_features = 5,
                       .window = memory > 0 ? std::size_t{3} : std::size_t{1},
                       .memory = memory,
                       .hidden = 16,
                       .hidden2 = 8};
    QNetwork network(shape);
    RandomStream stream(5, "test.gradient", memory);
    nn::Vector<float> w(network.num_parameters());
    for (float& x : w) {
      x = static_cast<float>(stream.normal(0.0, 0.4));
    }
    constexpr std::size_t rows = 5;
    std::vector<float> windows(rows * shape.window * shape.features + 16);
    std::vector<float> plans(rows * shape.plan_features + 16);
    std::vector<float> targets(rows);
    for (auto* values : {&windows, &plans, &targets}) {
      for (float& x : *values) {
        x = static_cast<float>(stream.normal());
      }
    }
    nn::Vector<float> gradient(w.size());
    nn::Vector<float> unused(w.size());
    network.gradient(w, windows.data(), plans.data(), targets, gradient);
    double largest = 0.0;
    for (const float g : gradient) {
      largest = std::max(largest, std::abs(static_cast<double>(g)));
    }
    ASSERT_GT(largest, 0.01);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < w.size(); ++i) {
      constexpr float step = 2e-3F;
      nn::Vector<float> moved = w;
      moved[i] = w[i] + step;
      const double up = network.gradient(moved, windows.data(), plans.data(), targets, unused);
      moved[i] = w[i] - step;
      const double down = network.gradient(moved, windows.data(), plans.data(), targets, unused);
      wrong += std::abs((up - down) / (2.0 * step) - gradient[i]) > 3e-3 * largest ? 1 : 0;
    }
    // A kink of a relu may lie within the step.
    EXPECT_LE(wrong, w.size() / 100) << memory;
  }
}

// The fast sums over destinations are the network on the plan's features.
TEST(PlanScorer, GivesWhatTheNetworkDoes) {
  for (const std::size_t memory : {std::size_t{0}, std::size_t{16}}) {
    const auto e = reference_environment();
    PlanningOptions options = small_training();
    options.learner.memory = memory;
    QNetwork network(q_shape(*e, options.learner));
    const QShape& shape = network.shape();
    RandomStream stream(9, "test.scorer");
    nn::Vector<float> w = network.initial_parameters(stream);
    for (float& x : w) {
      x += static_cast<float>(stream.normal(0.0, 0.05));
    }
    const ChoiceFinder finder(*e);
    PlanScorer scorer(*e, shape);
    Choices choices;
    std::vector<std::vector<double>> past{reference_file().start};
    for (int epoch = 0; epoch < 6; ++epoch) {
      const std::vector<std::span<const double>> history(past.begin(), past.end());
      finder.find(past.back(), choices);
      std::vector<float> q(choices.size());
      scorer.score(w, history, choices, q);
      std::vector<float> window(shape.window * shape.features + 16);
      std::vector<float> plan(shape.plan_features + 16);
      scorer.encoder().window(history, shape.window, window.data());
      nn::Vector<float> gradient(w.size());
      for (std::size_t i = 0; i < choices.size(); i += 37) {
        scorer.encoder().plan(past.back(), choices.of(i), choices.timings[i], choices.rewards[i],
                              plan.data());
        // The loss is 0 where the target is q itself.
        const std::vector<float> target{q[i]};
        EXPECT_LT(network.gradient(w, window.data(), plan.data(), target, gradient), 1e-9) << i;
        EXPECT_EQ(scorer.score_one(w, history, choices, i), q[i]);
      }
      past.push_back(past.back());
      step(*e, past.back(), choices.of(stream.below(choices.size())), 2);
    }
  }
}

TEST(QLearner, TheSameBitsForAnyNumberOfThreads) {
  const auto e = reference_environment();
  ThreadPool one(1);
  ThreadPool three(3);
  const auto a = train_agent(e, small_training(), 4, one);
  const auto b = train_agent(e, small_training(), 4, three);
  EXPECT_EQ(numbers_of(*a), numbers_of(*b));
  const auto c = train_agent(e, small_training(), 5, one);
  EXPECT_NE(numbers_of(*a), numbers_of(*c));
}

TEST(QLearner, GoesOnFromACheckpointWithTheSameBits) {
  const auto e = reference_environment();
  const TemporaryDirectory directory;
  const auto file = directory.path() / "checkpoint";
  ThreadPool pool(2);
  const auto whole = train_agent(e, small_training(), 4, pool);
  for (const std::size_t cut : {std::size_t{1}, std::size_t{57}, std::size_t{120}}) {
    {
      QLearner first(e, small_training(), 4);
      while (first.num_steps() < cut) {
        first.step(pool);
      }
      first.save(file);
    }
    QLearner second(e, small_training(), 4);
    second.restore(file);
    EXPECT_EQ(second.num_steps(), cut);
    while (!second.done()) {
      second.step(pool);
    }
    EXPECT_EQ(numbers_of(second.agent()), numbers_of(*whole));
    EXPECT_EQ(second.curve().size(), 40U);
  }
}

TEST(QLearner, RefusesForeignAndDamagedCheckpoints) {
  const auto e = reference_environment();
  const TemporaryDirectory directory;
  const auto file = directory.path() / "checkpoint";
  ThreadPool pool(1);
  QLearner learner(e, small_training(), 4);
  learner.step(pool);
  learner.save(file);
  EXPECT_THROW(QLearner(e, small_training(), 5).restore(file), InputError);
  PlanningOptions other = small_training();
  other.discount = 0.8;
  EXPECT_THROW(QLearner(e, other, 4).restore(file), InputError);
  other = small_training();
  other.learner.online = true;
  EXPECT_THROW(QLearner(e, other, 4).restore(file), InputError);
  EXPECT_THROW(QLearner(reference_environment(20000.0), small_training(), 4).restore(file), InputError);
  const std::string bytes = read_file(file, std::size_t{1} << 28U);
  for (const std::size_t size : {std::size_t{0}, std::size_t{10}, bytes.size() / 2, bytes.size() - 1}) {
    write_file(file, bytes.substr(0, size));
    EXPECT_THROW(QLearner(e, small_training(), 4).restore(file), InputError) << size;
  }
  std::string changed = bytes;
  changed[changed.size() / 3] = static_cast<char>(changed[changed.size() / 3] + 1);
  write_file(file, changed);
  EXPECT_THROW(QLearner(e, small_training(), 4).restore(file), InputError);
}

TEST(Agent, ComesBackFromItsFile) {
  const auto e = reference_environment();
  const TemporaryDirectory directory;
  const auto file = directory.path() / "agent.safetensors";
  ThreadPool pool(1);
  const auto agent = train_agent(e, small_training(), 4, pool);
  save_agent(file, *agent);
  const Agent loaded = load_agent(file, *e);
  EXPECT_EQ(loaded.shape, agent->shape);
  EXPECT_EQ(loaded.discount, agent->discount);
  EXPECT_EQ(numbers_of(loaded), numbers_of(*agent));
  EXPECT_THROW(load_agent(file, *random_environment({.swarms = 2, .clusters = 8, .stations = 2}, 1)),
               InputError);
}

// All drift moves from C:1 to C:8; without exploration visits follow what the state says about it.
TEST(QLearner, DriftMovesWhileItLearnsOnline) {
  const auto e = reference_environment();
  e->drift = {.start = {20, 1, 1, 1, 1, 1, 1, 1}, .end = {1, 1, 1, 1, 1, 1, 1, 20}, .sequences = 400};
  PlanningOptions options = small_training();
  options.learner.steps = 400;
  options.exploration = 0.0;
  options.least_exploration = 0.0;
  ThreadPool pool(0);
  for (const bool online : {true, false}) {
    options.learner.online = online;
    QLearner learner(e, options, 1);
    while (!learner.done()) {
      learner.step(pool);
    }
    const std::vector<CurvePoint>& curve = learner.curve();
    const auto visits = [&](std::size_t cluster, std::size_t first) {
      double sum = 0.0;
      for (std::size_t i = first; i < first + 10; ++i) {
        sum += 0.1 * curve[i].visits[cluster];
      }
      return sum;
    };
    const double moved = visits(0, 0) - visits(7, 0) + visits(7, 30) - visits(0, 30);
    if (online) {
      EXPECT_GT(moved, 0.5);
    } else {
      EXPECT_LT(std::abs(moved), 0.5);  // starts are at any moment from the first step on
    }
  }
}

// A few seconds of training are ahead of the myopic plan, which sees the same one-step rewards.
TEST(QLearner, LearnsToLookAhead) {
  const auto e = reference_environment();
  PlanningOptions options;
  options.learner.steps = 1500;
  ThreadPool pool(0);
  const auto agent = train_agent(e, options, 1, pool);
  double learned = 0.0;
  LearnedPlanner planner(e, agent);
  std::vector<double> state = reference_file().start;
  planner.begin(1);
  std::size_t below = 0;
  for (int epoch = 0; epoch < 600; ++epoch) {
    const Plan plan = planner.choose(observe(*e, state));
    const Outcome outcome = step(*e, state, plan.destinations, timing_index(*e, plan.timing));
    learned += outcome.reward / 600.0;
    below += outcome.below_threshold;
  }
  EXPECT_EQ(below, 0U);
  EXPECT_GT(learned, 645.0);  // the myopic plan has 631, the full training more than 690
}

}  // namespace
}  // namespace skein
