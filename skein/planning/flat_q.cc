#include "skein/planning/flat_q.h"

#include <algorithm>
#include <cmath>

#include "skein/base/expect.h"
#include "skein/nn/kernels.h"

namespace skein {
namespace {

using nn::kernels;

constexpr std::size_t memory = 64;
constexpr std::size_t remembered_steps = 300;
constexpr std::size_t batch = 20;
constexpr std::size_t target_period = 20;
constexpr double step_size = 1e-3;

// The number of a plan: its destinations as digits of a mixed base (sites not taken by earlier swarms), then
// the timing.
std::size_t plan_number(const Environment& e, std::span<const Site> destinations, std::size_t timing) {
  std::size_t number = 0;
  for (std::size_t u = 0; u < destinations.size(); ++u) {
    std::size_t digit = destinations[u];
    for (std::size_t v = 0; v < u; ++v) {
      digit -= destinations[v] < destinations[u] ? 1 : 0;
    }
    // Where a lost swarm lies another one may be: then any number will do.
    number = number * (e.num_sites() - u) + std::min(digit, e.num_sites() - u - 1);
  }
  return number * e.tables.timings.size() + timing;
}

struct BestPlan {
  std::size_t choice = 0;
  std::size_t timing = 0;
  float q = 0.0F;
};

BestPlan best_plan(const Environment& e, const Choices& choices, const float* q) {
  BestPlan best;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    const std::size_t first = plan_number(e, choices.of(i), 0);
    for (std::size_t t = 0; t < e.tables.timings.size(); ++t) {
      if ((i == 0 && t == 0) || q[first + t] > best.q) {
        best = {.choice = i, .timing = t, .q = q[first + t]};
      }
    }
  }
  return best;
}

}  // namespace

std::size_t num_flat_plans(const Environment& e) {
  std::size_t count = e.tables.timings.size();
  for (std::size_t u = 0; u < e.num_swarms; ++u) {
    count *= e.num_sites() - u;
    if (count > most_flat_plans) {
      return 0;
    }
  }
  return count;
}

FlatNetwork::FlatNetwork(const Environment& e)
    : environment_(e),
      lstm_{.features = 1,
            .window = 2 * e.num_swarms + 2 * e.num_clusters + e.num_stations + 3,
            .memory = memory},
      sizes_{memory, 60, 80, 60, num_flat_plans(e)},
      size_(lstm_.num_parameters()) {
  expect(sizes_.back() > 0, "too many joint plans for one output each");
  for (std::size_t layer = 1; layer < sizes_.size(); ++layer) {
    weights_.push_back(size_);
    size_ += (sizes_[layer - 1] + 1) * sizes_[layer];
  }
  values_.resize(sizes_.size());
  d_values_.resize(sizes_.size());
}

nn::Vector<float> FlatNetwork::initial_parameters(RandomStream& stream) const {
  nn::Vector<float> w(size_);
  const auto fill = [&](std::size_t first, std::size_t end, std::size_t fan_in) {
    const double bound = 1.0 / std::sqrt(static_cast<double>(fan_in));
    for (std::size_t i = first; i < end; ++i) {
      w[i] = static_cast<float>(stream.uniform(-bound, bound));
    }
  };
  fill(0, lstm_.num_parameters(), memory);
  for (std::size_t layer = 1; layer < sizes_.size(); ++layer) {
    const std::size_t first = weights_[layer - 1];
    fill(first, first + (sizes_[layer - 1] + 1) * sizes_[layer], sizes_[layer - 1]);
  }
  return w;
}

void FlatNetwork::features(std::span<const double> state, float* out) const {
  const Environment& e = environment_;
  const StateLayout at(e);
  for (std::size_t u = 0; u < e.num_swarms; ++u) {
    *out++ = e.is_station(static_cast<std::size_t>(state[at.position() + u])) ? 0.0F : 1.0F;
  }
  for (std::size_t c = 0; c < e.num_clusters; ++c) {
    *out++ = static_cast<float>(state[at.age() + c] * state[at.drift() + c]);
  }
  for (std::size_t u = 0; u < e.num_swarms; ++u) {
    *out++ = static_cast<float>(state[at.battery() + u]);
  }
  for (std::size_t c = 0; c < e.num_clusters; ++c) {
    *out++ = static_cast<float>(state[at.age() + c]);
  }
  out = std::fill_n(out, e.num_stations, 0.0F);
  const Timing& timing = e.tables.timings[static_cast<std::size_t>(state[at.timing()])];
  *out++ = static_cast<float>(timing.duration);
  *out++ = static_cast<float>(timing.local_period);
  *out++ = static_cast<float>(timing.global_period);
}

void FlatNetwork::outputs(const nn::Vector<float>& w, const float* rows, std::size_t count,
                          nn::Vector<float>& q) {
  lstm_forward(lstm_, w.data(), rows, count, tape_);
  grow(values_[0], count * memory);
  std::copy_n(tape_.result.data(), count * memory, values_[0].data());
  for (std::size_t layer = 1; layer < sizes_.size(); ++layer) {
    const bool last = layer + 1 == sizes_.size();
    const std::size_t inputs = sizes_[layer - 1];
    const std::size_t outputs = sizes_[layer];
    nn::Vector<float>& to = last ? q : values_[layer];
    // Kernels write whole registers: rows are as far apart as those.
    const std::size_t stride = nn::padded<float>(outputs);
    grow(to, count * stride);
    kernels<float>().multiply({.rows = count,
                               .columns = outputs,
                               .a = values_[layer - 1].data(),
                               .a_stride = nn::padded<float>(inputs),
                               .run_length = inputs,
                               .b = w.data() + weights_[layer - 1],
                               .b_stride = outputs,
                               .bias = w.data() + weights_[layer - 1] + inputs * outputs,
                               .c = to.data(),
                               .c_stride = stride});
    for (std::size_t i = 0; i < count * stride && !last; ++i) {
      to[i] = i % stride < outputs && to[i] > 0.0F ? to[i] : 0.0F;
    }
  }
}

double FlatNetwork::gradient(const nn::Vector<float>& w, const float* rows,
                             std::span<const std::size_t> plans, std::span<const float> targets,
                             nn::Vector<float>& out) {
  const std::size_t count = plans.size();
  outputs(w, rows, count, values_.back());
  std::ranges::fill(out, 0.0F);
  double loss = 0.0;
  for (std::size_t layer = 0; layer + 1 < sizes_.size(); ++layer) {
    grow(d_values_[layer], count * nn::padded<float>(sizes_[layer]));
    std::ranges::fill(d_values_[layer], 0.0F);
  }
  // One output of each row counts, so the last layer's work is a column per row.
  const std::size_t last = sizes_.size() - 1;
  const std::size_t in_stride = nn::padded<float>(sizes_[last - 1]);
  for (std::size_t r = 0; r < count; ++r) {
    const float error = values_[last][r * nn::padded<float>(sizes_[last]) + plans[r]] - targets[r];
    loss += static_cast<double>(error) * error / static_cast<double>(count);
    const float d = 2.0F * error / static_cast<float>(count);
    for (std::size_t i = 0; i < sizes_[last - 1]; ++i) {
      const std::size_t place = weights_[last - 1] + i * sizes_[last] + plans[r];
      out[place] += d * values_[last - 1][r * in_stride + i];
      d_values_[last - 1][r * in_stride + i] += d * w[place];
    }
    out[weights_[last - 1] + sizes_[last - 1] * sizes_[last] + plans[r]] += d;
  }
  for (std::size_t layer = last - 1; layer > 0; --layer) {
    const std::size_t inputs = sizes_[layer - 1];
    const std::size_t outputs = sizes_[layer];
    const std::size_t to_stride = nn::padded<float>(inputs);
    const std::size_t from_stride = nn::padded<float>(outputs);
    for (std::size_t r = 0; r < count; ++r) {
      for (std::size_t o = 0; o < outputs; ++o) {
        const float d =
            values_[layer][r * from_stride + o] > 0.0F ? d_values_[layer][r * from_stride + o] : 0.0F;
        if (d == 0.0F) {
          continue;
        }
        for (std::size_t i = 0; i < inputs; ++i) {
          const std::size_t place = weights_[layer - 1] + i * outputs + o;
          out[place] += d * values_[layer - 1][r * to_stride + i];
          d_values_[layer - 1][r * to_stride + i] += d * w[place];
        }
        out[weights_[layer - 1] + inputs * outputs + o] += d;
      }
    }
  }
  lstm_backward(lstm_, w.data(), rows, count, tape_, d_values_[0].data(), out.data());
  return loss;
}

FlatPlanner::FlatPlanner(const std::shared_ptr<const Environment>& environment,
                         std::shared_ptr<const FlatAgent> agent)
    : ModelPlanner(environment), agent_(std::move(agent)), network_(*environment) {
  features_.resize(network_.num_features() + nn::Vector<float>::slack);
}

std::size_t FlatPlanner::decide(std::span<const double> state, std::span<Site> destinations) {
  finder().find(state, choices_);
  network_.features(state, features_.data());
  network_.outputs(agent_->parameters, features_.data(), 1, q_);
  const BestPlan best = best_plan(environment(), choices_, q_.data());
  std::ranges::copy(choices_.of(best.choice), destinations.begin());
  return best.timing;
}

FlatTraining train_flat_agent(const std::shared_ptr<const Environment>& environment, double discount,
                              std::size_t epochs, std::uint64_t seed,
                              const std::function<void(double)>& progress) {
  const Environment& e = *environment;
  FlatNetwork network(e);
  const ChoiceFinder finder(e);
  RandomStream stream(seed, "flat.network");
  nn::Vector<float> train = network.initial_parameters(stream);
  nn::Vector<float> target = train;
  nn::Vector<float> gradient(train.size());
  Adam adam(train.size());
  States states(e, remembered_steps + 1);  // a ring: the state of epoch t is in row t modulo its size
  std::vector<std::size_t> plans(states.size());
  std::vector<double> rewards(states.size());
  const std::size_t features = network.num_features();
  std::vector<float> now(batch * features + nn::Vector<float>::slack);
  std::vector<float> later(now.size());
  nn::Vector<float> q;
  Choices choices;
  FlatTraining result{.agent = nullptr, .rewards = std::vector<double>(10, 0.0)};
  start_anywhere(e, stream, states[0]);
  for (std::size_t t = 0; t < epochs; ++t) {
    const std::span<const double> state = states[t % states.size()];
    finder.find(state, choices);
    RandomStream explore(seed, "flat.explore", t);
    BestPlan plan{.choice = explore.below(choices.size()), .timing = explore.below(e.tables.timings.size())};
    if (!explore.bernoulli(std::max(0.005, 0.7 * std::pow(0.999, static_cast<double>(t))))) {
      network.features(state, now.data());
      network.outputs(train, now.data(), 1, q);
      plan = best_plan(e, choices, q.data());
    }
    plans[t % states.size()] = plan_number(e, choices.of(plan.choice), plan.timing);
    const std::span<double> next = states[(t + 1) % states.size()];
    std::ranges::copy(state, next.begin());
    rewards[t % states.size()] = step(e, next, choices.of(plan.choice), plan.timing).reward;
    result.rewards[t * 10 / epochs] += rewards[t % states.size()] / (static_cast<double>(epochs) / 10.0);
    if (t > batch) {
      std::vector<std::size_t> taken(batch);
      std::vector<float> targets(batch);
      RandomStream sample(seed, "flat.sample", t);
      const std::size_t oldest = t + 1 > remembered_steps ? t + 1 - remembered_steps : 0;
      std::vector<std::size_t> at(batch);
      for (std::size_t b = 0; b < batch; ++b) {
        at[b] = oldest + sample.below(t + 1 - oldest);
        network.features(states[at[b] % states.size()], &now[b * features]);
        network.features(states[(at[b] + 1) % states.size()], &later[b * features]);
        taken[b] = plans[at[b] % states.size()];
      }
      network.outputs(target, later.data(), batch, q);
      const std::size_t stride = nn::padded<float>(network.num_outputs());
      for (std::size_t b = 0; b < batch; ++b) {
        finder.find(states[(at[b] + 1) % states.size()], choices);
        targets[b] = static_cast<float>(rewards[at[b] % states.size()] +
                                        discount * best_plan(e, choices, &q[b * stride]).q);
      }
      network.gradient(train, now.data(), taken, targets, gradient);
      adam.step(train, gradient, step_size);
      if (t % target_period == 0) {
        target = train;
      }
    }
    if (progress) {
      progress(static_cast<double>(t + 1) / static_cast<double>(epochs));
    }
  }
  result.agent = std::make_shared<const FlatAgent>(FlatAgent{.parameters = train});
  return result;
}

}  // namespace skein
