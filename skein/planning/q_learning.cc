#include "skein/planning/q_learning.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "skein/base/expect.h"
#include "skein/planning/heuristics.h"
#include "skein/planning/q_learning_inside.h"

namespace skein {
namespace {

constexpr std::size_t episode = 250;      // steps until an environment starts anew
constexpr std::size_t curve_points = 40;  // of a training

// Mean reward of the myopic plan: rewards are counted from here.
double myopic_reward(const Environment& e, std::uint64_t seed) {
  constexpr std::size_t starts = 4;
  constexpr std::size_t epochs = 50;
  const ChoiceFinder finder(e);
  Choices choices;
  std::vector<double> state(StateLayout(e).size());
  double sum = 0.0;
  for (std::size_t i = 0; i < starts; ++i) {
    RandomStream stream(seed, "learner.myopic", i);
    start_anywhere(e, stream, state);
    for (std::size_t epoch = 0; epoch < epochs; ++epoch) {
      finder.find(state, choices);
      const std::size_t best = choices.best();
      sum += step(e, state, choices.of(best), choices.timings[best]).reward;
    }
  }
  return sum / static_cast<double>(starts * epochs);
}

}  // namespace

QLearner::Inside::Inside(std::shared_ptr<const Environment> e, const PlanningOptions& o, std::uint64_t s)
    : environment(std::move(e)),
      options(o),
      seed(s),
      finder(*environment),
      encoder(*environment),
      network(q_shape(*environment, o.learner)),
      centre(myopic_reward(*environment, s)),
      adam(network.num_parameters()),
      states(*environment, o.learner.environments),
      remembered(*environment, capacity() * o.learner.environments),
      taken(capacity() * o.learner.environments),
      destinations(taken.size() * environment->num_swarms),
      fresh(o.learner.environments, 0.0),
      sums(6 + environment->num_sites(), 0.0),
      gradient(network.num_parameters()) {
  RandomStream stream(seed, "learner.network");
  train = network.initial_parameters(stream);
  target = train;
  for (std::size_t i = 0; i < std::max(o.learner.batch, o.learner.environments); ++i) {
    lanes.push_back(std::make_unique<Lane>(*environment, network.shape()));
  }
  for (std::size_t i = 0; i < o.learner.environments; ++i) {
    start(i);
  }
}

void QLearner::Inside::start(std::size_t i) {
  RandomStream stream(seed, "learner.start", steps, i);
  start_anywhere(*environment, stream, states[i]);
  // Where drift moves, any moment of it may be the first, so that all of it is seen all the time. Online it
  // is the same moment everywhere: that of the training.
  start_later(*environment, options.learner.online ? steps : stream.below(environment->drift.sequences + 1),
              states[i]);
  fresh[i] = 1.0;
}

double QLearner::Inside::exploration() const {
  const double share =
      std::min(1.0, static_cast<double>(steps) /
                        (options.learner.decay_share * static_cast<double>(options.learner.steps)));
  return options.exploration + share * (options.least_exploration - options.exploration);
}

std::vector<Site> QLearner::Inside::sites_of(std::size_t at) const {
  std::vector<Site> sites(environment->num_swarms);
  std::ranges::transform(std::span(&destinations[at * sites.size()], sites.size()), sites.begin(),
                         [](double site) { return static_cast<Site>(site); });
  return sites;
}

std::vector<std::span<const double>> QLearner::Inside::history(std::size_t step, std::size_t i) const {
  std::vector<std::span<const double>> list;
  for (std::size_t back = 0; back < network.shape().window; ++back) {
    list.push_back(remembered[slot(step - back, i)]);
    if (taken[slot(step - back, i)].fresh != 0.0 || step == back) {
      break;
    }
  }
  std::ranges::reverse(list);
  return list;
}

void QLearner::Inside::remember(std::size_t i) {
  const std::size_t at = slot(steps, i);
  std::ranges::copy(states[i], remembered[at].begin());
  taken[at].fresh = fresh[i];
  fresh[i] = 0.0;
}

void QLearner::Inside::choose(std::size_t i) {
  const Environment& e = *environment;
  Lane& lane = *lanes[i];
  const std::size_t at = slot(steps, i);
  finder.find(states[i], lane.choices);
  RandomStream stream(seed, "learner.explore", steps, i);
  std::size_t plan = 0;
  std::size_t timing = 0;
  if (stream.bernoulli(exploration())) {
    plan = stream.below(lane.choices.size());
    timing = stream.below(e.tables.timings.size());
  } else {
    lane.q.resize(lane.choices.size());
    lane.scorer.score(train, history(steps, i), lane.choices, lane.q);
    plan = best_choice(lane.choices, lane.q, options.learner.model_reward);
    timing = lane.choices.timings[plan];
  }
  std::ranges::copy(lane.choices.of(plan), &destinations[at * e.num_swarms]);
  taken[at].timing = static_cast<double>(timing);
}

void QLearner::Inside::carry_out(std::size_t i) {
  const std::size_t at = slot(steps, i);
  Lane& lane = *lanes[i];
  lane.outcome =
      skein::step(*environment, states[i], sites_of(at), static_cast<std::size_t>(taken[at].timing));
  taken[at].reward = lane.outcome.reward;
  // The model is the environment: its one-step reward is what came.
  taken[at].model_reward = lane.outcome.reward;
}

QLearner::Inside::Transition QLearner::Inside::sampled(std::size_t b) const {
  const LearnerOptions& o = options.learner;
  const std::size_t oldest = steps > o.replay_steps ? steps - o.replay_steps : 0;
  // Steps that the environment went on from: the state after one that ended an episode is not kept.
  RandomStream stream(seed, "learner.sample", updates, b);
  Transition one;
  do {
    one.step = oldest + stream.below(steps - 1 - oldest);
    one.environment = stream.below(o.environments);
  } while (taken[slot(one.step + 1, one.environment)].fresh != 0.0);
  return one;
}

void QLearner::Inside::encode(std::size_t b) {
  const QShape& shape = network.shape();
  const auto [at_step, i] = sampled(b);
  const std::size_t at = slot(at_step, i);
  encoder.window(history(at_step, i), shape.window, &windows[b * shape.window * shape.features]);
  encoder.plan(remembered[at], sites_of(at), static_cast<std::size_t>(taken[at].timing),
               taken[at].model_reward, &plans[b * shape.plan_features]);
}

float QLearner::Inside::target_of(std::size_t b) {
  const LearnerOptions& o = options.learner;
  Lane& lane = *lanes[b];
  const auto [at_step, i] = sampled(b);
  const std::size_t at = slot(at_step, i);
  const auto later = history(at_step + 1, i);
  finder.find(remembered[slot(at_step + 1, i)], lane.choices);
  lane.q.resize(lane.choices.size());
  lane.scorer.score(train, later, lane.choices, lane.q);
  const std::size_t best = best_choice(lane.choices, lane.q, o.model_reward);
  double value = lane.scorer.score_one(target, later, lane.choices, best);
  if (!o.model_reward) {
    return static_cast<float>((taken[at].reward - centre) / reward_unit + options.discount * value);
  }
  value += (lane.choices.rewards[best] - centre) / reward_unit;
  return static_cast<float>((taken[at].reward - taken[at].model_reward) / reward_unit +
                            options.discount * value);
}

void QLearner::Inside::update(ThreadPool& pool, Crew& crew) {
  const LearnerOptions& o = options.learner;
  const QShape& shape = network.shape();
  windows.resize(o.batch * shape.window * shape.features + nn::Vector<float>::slack);
  plans.resize(o.batch * shape.plan_features + nn::Vector<float>::slack);
  targets.resize(o.batch);
  shared_for(crew, pool, o.batch,
             {.body =
                  [&](std::size_t b) {
                    encode(b);
                    targets[b] = target_of(b);
                  },
              .write = [&](std::size_t b, ByteWriter& bytes) { bytes.put(targets[b]); },
              .read =
                  [&](std::size_t b, ByteCursor& bytes) {
                    encode(b);
                    targets[b] = bytes.get<float>();
                  }});
  sums[4] += network.gradient(train, windows.data(), plans.data(), targets, gradient);
  sums[5] += 1.0;
  const double share = static_cast<double>(steps) / static_cast<double>(o.steps);
  adam.step(train, gradient, o.step * std::pow(o.last_step / o.step, share));
  ++updates;
  if (updates % o.target_period == 0) {
    target = train;
  }
}

void QLearner::Inside::add_to_curve() {
  const Environment& e = *environment;
  const StateLayout at(e);
  const std::size_t count = options.learner.environments;
  for (std::size_t i = 0; i < count; ++i) {
    sums[0] += lanes[i]->outcome.reward;
    sums[1] += lanes[i]->outcome.learning_objective;
    sums[3] += static_cast<double>(lanes[i]->outcome.below_threshold);
    for (std::size_t u = 0; u < e.num_swarms; ++u) {
      sums[2] += states[i][at.battery() + u] / static_cast<double>(e.num_swarms);
      sums[6 + static_cast<std::size_t>(states[i][at.position() + u])] += 1.0;
    }
  }
  const std::size_t period = std::max<std::size_t>(1, options.learner.steps / curve_points);
  if (steps % period != 0) {
    return;
  }
  const double each = 1.0 / static_cast<double>(period * count);
  CurvePoint point{.step = steps,
                   .reward = each * sums[0],
                   .learning_objective = each * sums[1],
                   .battery_j = each * sums[2],
                   .violations = each * sums[3],
                   .exploration = exploration(),
                   .loss = sums[4] / std::max(1.0, sums[5])};
  for (std::size_t site = 0; site < e.num_sites(); ++site) {
    point.visits.push_back(each * sums[6 + site]);
  }
  curve.push_back(std::move(point));
  std::ranges::fill(sums, 0.0);
}

QLearner::QLearner(std::shared_ptr<const Environment> environment, const PlanningOptions& options,
                   std::uint64_t seed)
    : inside_(std::make_unique<Inside>(std::move(environment), options, seed)) {}
QLearner::~QLearner() = default;

const Environment& QLearner::environment() const { return *inside_->environment; }
std::size_t QLearner::num_steps() const { return inside_->steps; }
std::size_t QLearner::num_updates() const { return inside_->updates; }
bool QLearner::done() const { return inside_->steps >= inside_->options.learner.steps; }
double QLearner::progress() const {
  return static_cast<double>(inside_->steps) / static_cast<double>(inside_->options.learner.steps);
}
const std::vector<CurvePoint>& QLearner::curve() const { return inside_->curve; }

void QLearner::step(ThreadPool& pool, Crew& crew) {
  Inside& in = *inside_;
  const LearnerOptions& o = in.options.learner;
  expect(!done(), "training is over");
  const std::size_t swarms = in.environment->num_swarms;
  shared_for(crew, pool, o.environments,
             {.body =
                  [&](std::size_t i) {
                    in.remember(i);
                    in.choose(i);
                    in.carry_out(i);
                  },
              .write =
                  [&](std::size_t i, ByteWriter& bytes) {
                    const std::size_t at = in.slot(in.steps, i);
                    bytes.put(in.taken[at].timing);
                    for (std::size_t u = 0; u < swarms; ++u) {
                      bytes.put(in.destinations[at * swarms + u]);
                    }
                  },
              .read =
                  [&](std::size_t i, ByteCursor& bytes) {
                    const std::size_t at = in.slot(in.steps, i);
                    in.remember(i);
                    in.taken[at].timing = bytes.get<double>();
                    for (std::size_t u = 0; u < swarms; ++u) {
                      in.destinations[at * swarms + u] = bytes.get<double>();
                    }
                    in.carry_out(i);
                  }});
  ++in.steps;
  in.add_to_curve();
  // Environments start anew at different times.
  for (std::size_t i = 0; i < o.environments; ++i) {
    if ((in.steps + i * episode / o.environments) % episode == 0) {
      in.start(i);
    }
  }
  if (in.steps * o.environments >= 4 * o.batch && in.steps > 2 && in.steps % o.update_period == 0) {
    in.update(pool, crew);
  }
}

Agent QLearner::agent() const {
  return {.shape = inside_->network.shape(),
          .discount = inside_->options.discount,
          .model_reward = inside_->options.learner.model_reward,
          .parameters = inside_->train};
}

}  // namespace skein
