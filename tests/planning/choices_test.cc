#include "skein/planning/choices.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "tests/planning/reference_environment.h"

namespace skein {
namespace {

// A state after some random legal plans, batteries somewhere on the way.
std::vector<double> some_state(const Environment& e, const ChoiceFinder& finder, RandomStream& stream) {
  std::vector<double> state(StateLayout(e).size());
  start_anywhere(e, stream, state);
  Choices choices;
  for (std::size_t i = stream.below(30); i > 0; --i) {
    finder.find(state, choices);
    step(e, state, choices.of(stream.below(choices.size())), stream.below(e.tables.timings.size()));
  }
  return state;
}

// In many worlds and states: every plan is legal, its reward is that of step(), and with the mask nobody ends
// below the threshold as long as nobody has to.
TEST(Choices, AreLegalAndWorthWhatStepSays) {
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    RandomStream stream(seed, "test.choices");
    const Size size{
        .swarms = 1 + stream.below(3), .clusters = 3 + stream.below(6), .stations = 1 + stream.below(3)};
    const auto e = random_environment(size, seed);
    ASSERT_TRUE(faults_of(*e).empty());
    e->reward.gradient = seed % 2 == 0 ? GradientForm::capped_age : GradientForm::bound;
    e->battery_mask = seed % 5 != 0;
    const ChoiceFinder finder(*e);
    const StateLayout at(*e);
    const std::vector<double> state = some_state(*e, finder, stream);
    Choices choices;
    finder.find(state, choices);
    ASSERT_GT(choices.size(), 0U);
    std::set<std::vector<Site>> different;
    for (std::size_t i = 0; i < choices.size(); ++i) {
      const std::vector<Site> sites(choices.of(i).begin(), choices.of(i).end());
      EXPECT_EQ(std::set<Site>(sites.begin(), sites.end()).size(), sites.size()) << "two swarms at one site";
      different.insert(sites);
      for (std::size_t u = 0; u < sites.size(); ++u) {
        const auto here = static_cast<std::size_t>(state[at.position() + u]);
        EXPECT_TRUE(sites[u] == here || state[at.battery() + u] >= e->travel(u, here, sites[u]))
            << "out of reach";
      }
      std::vector<double> after = state;
      const Outcome outcome = step(*e, after, sites, choices.timings[i]);
      EXPECT_NEAR(choices.rewards[i], outcome.reward, 1e-8 * std::abs(outcome.reward)) << seed;
    }
    EXPECT_EQ(different.size(), choices.size());
    EXPECT_EQ(choices.best(),
              static_cast<std::size_t>(std::ranges::max_element(choices.rewards) - choices.rewards.begin()));
  }
}

// The timing of each plan is the best one.
TEST(Choices, HaveTheBestTiming) {
  const auto e = reference_environment();
  const ChoiceFinder finder(*e);
  RandomStream stream(3, "test.timing");
  const std::vector<double> state = some_state(*e, finder, stream);
  Choices choices;
  finder.find(state, choices);
  for (std::size_t i = 0; i < choices.size(); ++i) {
    for (std::size_t t = 0; t < e->tables.timings.size(); ++t) {
      std::vector<double> after = state;
      EXPECT_LE(step(*e, after, choices.of(i), t).reward, choices.rewards[i] + 1e-9);
    }
  }
}

// With full batteries nothing is masked: all 720 ordered choices of 3 out of 10 sites.
TEST(Choices, AreCompleteWhereEverythingIsPossible) {
  const auto e = reference_environment();
  const ChoiceFinder finder(*e);
  Choices choices;
  finder.find(reference_file().start, choices);
  EXPECT_EQ(choices.size(), 720U);
}

// Random legal plans never violate a threshold in a world that has stations enough.
TEST(Choices, TheMaskKeepsEveryoneAboveTheThreshold) {
  for (const double threshold : {16880.0, 25320.0, 33760.0}) {
    const auto e = reference_environment(threshold);
    const ChoiceFinder finder(*e);
    Choices choices;
    std::vector<double> state = reference_file().start;
    RandomStream stream(1, "test.mask");
    for (std::size_t i = 0; i < 3000; ++i) {
      finder.find(state, choices);
      const Outcome outcome =
          step(*e, state, choices.of(stream.below(choices.size())), stream.below(e->tables.timings.size()));
      ASSERT_EQ(outcome.below_threshold, 0U) << threshold << " " << i;
    }
  }
}

// With a lost swarm too, a plan's reward is what step() gives.
TEST(Choices, OfALostSwarmAreWorthWhatStepSays) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    RandomStream stream(seed, "test.lost choices");
    const auto e = random_environment({.swarms = 3, .clusters = 6, .stations = 2}, seed);
    const StateLayout at(*e);
    std::vector<double> state(at.size());
    start_anywhere(*e, stream, state);
    state[at.battery() + stream.below(3)] = lost_battery_j;
    for (const std::size_t most : {std::size_t{5000}, std::size_t{1}}) {  // enumerated, assigned
      Choices choices;
      ChoiceFinder(*e, {.most_plans = most}).find(state, choices);
      ASSERT_GT(choices.size(), 0U);
      for (std::size_t i = 0; i < choices.size(); ++i) {
        std::vector<double> after = state;
        const double reward = step(*e, after, choices.of(i), choices.timings[i]).reward;
        EXPECT_NEAR(choices.rewards[i], reward, 1e-9 * std::abs(reward));
      }
    }
  }
}

// Swarm after swarm finds the best plan as well, in worlds where both can be tried.
TEST(Choices, AssignmentFindsWhatEnumerationDoes) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const auto e = random_environment({.swarms = 3, .clusters = 9, .stations = 2}, seed);
    const ChoiceFinder all(*e);
    const ChoiceFinder some(*e, {.most_plans = 0, .assignment_width = 64});
    RandomStream stream(seed, "test.assignment");
    const std::vector<double> state = some_state(*e, all, stream);
    Choices enumerated;
    Choices assigned;
    all.find(state, enumerated);
    some.find(state, assigned);
    EXPECT_LE(assigned.size(), 64U);
    const double best = enumerated.rewards[enumerated.best()];
    EXPECT_NEAR(assigned.rewards[assigned.best()], best, 1e-3 * std::abs(best)) << seed;
  }
}

TEST(Choices, SomeoneWhoCanGoNowhereStays) {
  const auto e = reference_environment();
  std::vector<double> state = reference_file().start;
  const StateLayout at(*e);
  state[at.battery() + 1] = 100.0;  // not enough for any flight
  const ChoiceFinder finder(*e);
  Choices choices;
  finder.find(state, choices);
  ASSERT_GT(choices.size(), 0U);
  for (std::size_t i = 0; i < choices.size(); ++i) {
    EXPECT_EQ(choices.of(i)[1], static_cast<Site>(state[at.position() + 1]));
  }
}

// Entries known by bounds until they are asked for.
class CountingSource final : public EntrySource {
 public:
  CountingSource(SolvedTables tables, double looseness) : tables_(std::move(tables)), looseness_(looseness) {
    tables_.source = nullptr;
  }
  [[nodiscard]] SolvedEntry entry(std::size_t index) const override {
    asked_.insert(index);
    return {tables_.objective_at(index), tables_.training_j_at(index)};
  }
  [[nodiscard]] EntryBounds bounds(std::size_t index) const override {
    RandomStream stream(index, "test.bounds");
    const double training = tables_.training_j_at(index);
    return {(1.0 - looseness_) * tables_.objective_at(index),
            training * (1.0 - looseness_ * stream.uniform(0.0, 1.0)),
            training * (1.0 + looseness_ * stream.uniform(0.0, 1.0))};
  }
  void prepare(std::span<const std::size_t> indices) const override {
    asked_.insert(indices.begin(), indices.end());
  }
  [[nodiscard]] std::size_t asked() const { return asked_.size(); }

 private:
  SolvedTables tables_;
  double looseness_;
  mutable std::set<std::size_t> asked_;
};

// The same plans with entries that are solved on demand as with all of them, of which many are never asked
// for where plans are too many to look at each.
TEST(Choices, OnDemandAreThoseOfCompleteTables) {
  std::size_t asked = 0;
  std::size_t all = 0;
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    RandomStream stream(seed, "test.on_demand");
    const bool many = seed % 2 == 0;
    const auto e = random_environment(
        {.swarms = many ? 6U : 2U, .clusters = many ? 30U : 5U, .stations = 1 + stream.below(3)}, seed);
    for (std::size_t i = 0; i < e->tables.size(); ++i) {
      e->tables.objective[i] *= stream.uniform(0.9, 1.1);
      e->tables.training_energy_j[i] *= stream.uniform(1.0, 40.0);
    }
    e->battery_mask = seed % 5 != 0;
    const ChoiceOptions options{.assignment_width = 8};
    const ChoiceFinder complete(*e, options);
    std::vector<double> state = some_state(*e, complete, stream);
    if (seed % 7 == 0) {
      state[StateLayout(*e).battery()] = lost_battery_j;
    }
    auto lazy = *e;
    const auto source = std::make_shared<CountingSource>(e->tables, seed % 3 == 0 ? 0.3 : 0.01);
    lazy.tables.source = source;
    lazy.tables.objective.clear();
    lazy.tables.training_energy_j.clear();
    const ChoiceFinder on_demand(lazy, options);
    EXPECT_EQ(source->asked(), 0U);
    Choices expected;
    Choices found;
    complete.find(state, expected);
    on_demand.find(state, found);
    EXPECT_EQ(found.destinations, expected.destinations) << seed;
    EXPECT_EQ(found.timings, expected.timings);
    EXPECT_EQ(found.rewards, expected.rewards);
    if (many) {
      asked += source->asked();
      all += e->tables.size();
    }
  }
  EXPECT_LT(asked, all / 3);
}

}  // namespace
}  // namespace skein
