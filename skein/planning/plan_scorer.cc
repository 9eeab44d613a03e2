#include "skein/planning/plan_scorer.h"

#include <algorithm>
#include <array>

#include "skein/bounds/drift.h"

namespace skein {
namespace {

constexpr double age_unit = 10.0;    // sequences
constexpr double travel_unit = 1e4;  // J

void add(float* to, const float* row, float factor, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    to[i] += factor * row[i];
  }
}

}  // namespace

PlanEncoder::PlanEncoder(const Environment& e)
    : environment_(e), at_(e), training_j_(e.num_swarms * e.num_clusters, 0.0) {
  const double share = 1.0 / static_cast<double>(e.tables.timings.size());
  for (std::size_t t = 0; t < e.tables.timings.size(); ++t) {
    for (std::size_t i = 0; i < training_j_.size(); ++i) {
      training_j_[i] += share * e.tables.training_j_at(t * training_j_.size() + i);
    }
  }
  drift_unit_ = std::max({1e-6, std::ranges::max(e.drift.start), std::ranges::max(e.drift.end)});
  gradient_unit_ = e.reward.gradient == GradientForm::capped_age
                       ? age_unit * drift_unit_
                       : drifted_gradient(e.reward.visited_gradient, age_unit * drift_unit_, age_unit);
  for (const Timing& timing : e.tables.timings) {
    longest_.duration = std::max(longest_.duration, timing.duration);
    longest_.local_period = std::max(longest_.local_period, timing.local_period);
    longest_.global_period = std::max(longest_.global_period, timing.global_period);
  }
}

std::size_t PlanEncoder::num_features() const {
  return environment_.num_swarms * (environment_.num_sites() + 2) + 3 * environment_.num_clusters + 3;
}
std::size_t PlanEncoder::num_plan_features() const { return reward_at() + 1; }
std::size_t PlanEncoder::destination_at(std::size_t swarm) const { return swarm * environment_.num_sites(); }
std::size_t PlanEncoder::battery_at() const { return destination_at(environment_.num_swarms); }
std::size_t PlanEncoder::age_at() const { return battery_at() + environment_.num_swarms; }
std::size_t PlanEncoder::gradient_at() const { return age_at() + environment_.num_clusters; }
std::size_t PlanEncoder::timing_at() const { return gradient_at() + environment_.num_clusters; }

float PlanEncoder::battery(std::span<const double> state, std::size_t swarm, std::size_t site) const {
  const Environment& e = environment_;
  const auto here = static_cast<std::size_t>(state[at_.position() + swarm]);
  double left = state[at_.battery() + swarm] - e.travel(swarm, here, site);
  if (e.is_station(site)) {
    left = e.recharge_j > 0.0 ? std::min(e.capacity_j[swarm], left + e.recharge_j) : e.capacity_j[swarm];
  } else {
    left -= training_j_[swarm * e.num_clusters + site];
  }
  return static_cast<float>((left - e.threshold_j[swarm]) / (e.capacity_j[swarm] - e.threshold_j[swarm]));
}

float PlanEncoder::travel(std::span<const double> state, std::size_t swarm, std::size_t site) const {
  const auto here = static_cast<std::size_t>(state[at_.position() + swarm]);
  return static_cast<float>(environment_.travel(swarm, here, site) / travel_unit);
}

float PlanEncoder::age(std::span<const double> state, std::size_t cluster) const {
  return static_cast<float>(std::min(state[at_.age() + cluster] + 1.0, environment_.reward.age_cap) /
                            age_unit);
}

float PlanEncoder::gradient(std::span<const double> state, std::size_t cluster) const {
  const double drift = state[at_.drift() + cluster];
  return static_cast<float>(environment_.gradient(state[at_.age() + cluster] + 1.0, drift,
                                                  state[at_.drift_sum() + cluster] + drift,
                                                  state[at_.gradient() + cluster]) /
                            gradient_unit_);
}

void PlanEncoder::timing(std::size_t index, float* out) const {
  const Timing& timing = environment_.tables.timings[index];
  out[0] = static_cast<float>(timing.duration / longest_.duration);
  out[1] = static_cast<float>(timing.local_period / longest_.local_period);
  out[2] = static_cast<float>(timing.global_period / longest_.global_period);
}

void PlanEncoder::state(std::span<const double> state, float* out) const {
  const Environment& e = environment_;
  std::fill_n(out, num_features(), 0.0F);
  for (std::size_t u = 0; u < e.num_swarms; ++u) {
    const auto here = static_cast<std::size_t>(state[at_.position() + u]);
    out[here] = 1.0F;
    out += e.num_sites();
    *out++ = static_cast<float>((state[at_.battery() + u] - e.threshold_j[u]) /
                                (e.capacity_j[u] - e.threshold_j[u]));
    *out++ = e.is_station(here) ? 0.0F : 1.0F;
  }
  for (std::size_t c = 0; c < e.num_clusters; ++c) {
    const double age = state[at_.age() + c];
    const double gradient = age > 0.0 ? e.gradient(age, state[at_.drift() + c], state[at_.drift_sum() + c],
                                                   state[at_.gradient() + c])
                                      : 0.0;
    *out++ = static_cast<float>(std::min(age, e.reward.age_cap) / age_unit);
    *out++ = static_cast<float>(gradient / gradient_unit_);
    *out++ = static_cast<float>(state[at_.drift() + c] / drift_unit_);
  }
  timing(static_cast<std::size_t>(state[at_.timing()]), out);
}

void PlanEncoder::window(std::span<const std::span<const double>> history, std::size_t window,
                         float* out) const {
  for (std::size_t i = 0; i < window; ++i) {
    const std::size_t back = window - 1 - i;
    state(history[history.size() > back ? history.size() - 1 - back : 0], out + i * num_features());
  }
}

void PlanEncoder::plan(std::span<const double> state, std::span<const Site> destinations, std::size_t index,
                       double reward, float* out) const {
  const Environment& e = environment_;
  std::fill_n(out, num_plan_features(), 0.0F);
  for (std::size_t c = 0; c < e.num_clusters; ++c) {
    out[age_at() + c] = age(state, c);
    out[gradient_at() + c] = gradient(state, c);
  }
  for (std::size_t u = 0; u < e.num_swarms; ++u) {
    const Site site = destinations[u];
    out[destination_at(u) + site] = 1.0F;
    out[battery_at() + u] = battery(state, u, site);
    out[travel_at()] += travel(state, u, site);
    if (!e.is_station(site) && !is_lost(at_, state, u)) {
      out[age_at() + site] = 0.0F;
      out[gradient_at() + site] = 0.0F;
    }
  }
  timing(index, out + timing_at());
  out[reward_at()] = static_cast<float>(reward / reward_unit);
}

// All sums of the first layer are linear in a plan's features, so that what each destination adds can be
// known before plans are put together.
void PlanScorer::sum_of_state(const nn::Vector<float>& w, std::span<const std::span<const double>> history) {
  const Environment& e = environment_;
  const QShape& s = network_.shape();
  const std::size_t hidden = s.hidden;
  const std::span<const double> state = history.back();
  const StateLayout at(e);
  window_.resize(s.window * s.features + nn::Vector<float>::slack);
  encoder_.window(history, s.window, window_.data());
  network_.remember(w, window_.data(), 1, tape_);
  grow(base_, hidden);
  std::copy_n(w.data() + network_.at().bias1, hidden, base_.data());
  for (std::size_t i = 0; i < s.remembered(); ++i) {
    if (tape_.result[i] != 0.0F) {
      add(base_.data(), w.data() + network_.at().from_memory + i * hidden, tape_.result[i], hidden);
    }
  }
  const auto row = [&](std::size_t feature) { return w.data() + network_.at().from_plan + feature * hidden; };
  grow(places_, e.num_swarms * e.num_sites() * hidden);
  std::vector<float> visit(hidden);
  for (std::size_t site = 0; site < e.num_sites(); ++site) {
    std::ranges::fill(visit, 0.0F);
    if (!e.is_station(site)) {
      const float age = encoder_.age(state, site);
      const float gradient = encoder_.gradient(state, site);
      add(base_.data(), row(encoder_.age_at() + site), age, hidden);
      add(base_.data(), row(encoder_.gradient_at() + site), gradient, hidden);
      add(visit.data(), row(encoder_.age_at() + site), -age, hidden);
      add(visit.data(), row(encoder_.gradient_at() + site), -gradient, hidden);
    }
    for (std::size_t u = 0; u < e.num_swarms; ++u) {
      float* place = &places_[(u * e.num_sites() + site) * hidden];
      if (is_lost(at, state, u)) {
        std::fill_n(place, hidden, 0.0F);
      } else {
        std::ranges::copy(visit, place);
      }
      add(place, row(encoder_.destination_at(u) + site), 1.0F, hidden);
      add(place, row(encoder_.battery_at() + u), encoder_.battery(state, u, site), hidden);
      add(place, row(encoder_.travel_at()), encoder_.travel(state, u, site), hidden);
    }
  }
  grow(timings_, e.tables.timings.size() * hidden);
  for (std::size_t t = 0; t < e.tables.timings.size(); ++t) {
    std::array<float, 3> features{};
    encoder_.timing(t, features.data());
    float* sums = &timings_[t * hidden];
    std::fill_n(sums, hidden, 0.0F);
    for (std::size_t i = 0; i < 3; ++i) {
      add(sums, row(encoder_.timing_at() + i), features[i], hidden);
    }
  }
}

// Plans come with the first swarms' destinations outermost: sums up to the swarm before the last are mostly
// those of the plan before.
void PlanScorer::first_layer(const nn::Vector<float>& w, const Choices& choices, std::size_t first,
                             std::size_t end) {
  const Environment& e = environment_;
  const std::size_t hidden = network_.shape().hidden;
  const std::size_t last = e.num_swarms - 1;
  const float* by_reward = w.data() + network_.at().from_plan + encoder_.reward_at() * hidden;
  grow(sums_, (end - first) * hidden);
  grow(partial_, (last + 1) * hidden);
  std::copy_n(base_.data(), hidden, partial_.data());
  for (std::size_t plan = first; plan < end; ++plan) {
    const auto sites = choices.of(plan);
    std::size_t same = 0;
    while (plan > first && same < last && sites[same] == choices.of(plan - 1)[same]) {
      ++same;
    }
    for (std::size_t u = same; u < last; ++u) {
      const float* place = &places_[(u * e.num_sites() + sites[u]) * hidden];
      const float* before = &partial_[u * hidden];
      float* after = &partial_[(u + 1) * hidden];
      for (std::size_t i = 0; i < hidden; ++i) {
        after[i] = before[i] + place[i];
      }
    }
    const auto reward = static_cast<float>(choices.rewards[plan] / reward_unit);
    const float* timing = &timings_[choices.timings[plan] * hidden];
    const float* place = &places_[(last * e.num_sites() + sites[last]) * hidden];
    const float* before = &partial_[last * hidden];
    float* sums = &sums_[(plan - first) * hidden];
    for (std::size_t i = 0; i < hidden; ++i) {
      const float sum = (before[i] + place[i]) + (timing[i] + reward * by_reward[i]);
      sums[i] = sum > 0.0F ? sum : 0.0F;
    }
  }
}

void PlanScorer::score(const nn::Vector<float>& w, std::span<const std::span<const double>> history,
                       const Choices& choices, std::span<float> q) {
  sum_of_state(w, history);
  first_layer(w, choices, 0, choices.size());
  grow(scratch_, choices.size() * network_.shape().hidden2);
  network_.finish(w, sums_.data(), scratch_.data(), choices.size(), q.data());
}

float PlanScorer::score_one(const nn::Vector<float>& w, std::span<const std::span<const double>> history,
                            const Choices& choices, std::size_t plan) {
  sum_of_state(w, history);
  first_layer(w, choices, plan, plan + 1);
  grow(scratch_, network_.shape().hidden2);
  float q = 0.0F;
  network_.finish(w, sums_.data(), scratch_.data(), 1, &q);
  return q;
}

}  // namespace skein
