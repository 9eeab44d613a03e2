#include "skein/planning/agent.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "skein/base/file.h"
#include "skein/nn/tensor_file.h"

namespace skein {
namespace {

constexpr std::size_t most_bytes = std::size_t{1} << 30U;

struct NamedTensor {
  const char* name;
  std::size_t offset;
  std::vector<std::size_t> shape;
};

std::vector<NamedTensor> tensors_of(const QShape& s) {
  const QOffsets at(s);
  std::vector<NamedTensor> list;
  if (s.memory > 0) {
    list.push_back({"lstm.input", at.input, {s.features, 4 * s.memory}});
    list.push_back({"lstm.recurrent", at.recurrent, {s.memory, 4 * s.memory}});
    list.push_back({"lstm.bias", at.gate_bias, {4 * s.memory}});
  }
  list.push_back({"first.from_memory", at.from_memory, {s.remembered(), s.hidden}});
  list.push_back({"first.from_plan", at.from_plan, {s.plan_features, s.hidden}});
  list.push_back({"first.bias", at.bias1, {s.hidden}});
  list.push_back({"second.weight", at.second, {s.hidden, s.hidden2}});
  list.push_back({"second.bias", at.bias2, {s.hidden2}});
  list.push_back({"third.weight", at.third, {s.hidden2}});
  list.push_back({"third.bias", at.bias3, {1}});
  return list;
}

std::size_t count_of(const std::vector<std::size_t>& shape) {
  std::size_t count = 1;
  for (const std::size_t size : shape) {
    count *= size;
  }
  return count;
}

}  // namespace

QShape q_shape(const Environment& environment, const LearnerOptions& options) {
  const PlanEncoder encoder(environment);
  return {.features = encoder.num_features(),
          .plan_features = encoder.num_plan_features(),
          .window = options.memory > 0 ? options.window : 1,
          .memory = options.memory,
          .hidden = options.hidden,
          .hidden2 = options.hidden2};
}

void save_agent(const std::filesystem::path& file, const Agent& agent) {
  nn::TensorFile content;
  content.metadata["skein.agent"] = "recurrent Q(state, plan)";
  content.metadata["discount"] = fmt::format("{}", agent.discount);
  content.metadata["model_reward"] = agent.model_reward ? "true" : "false";
  content.metadata["window"] = fmt::format("{}", agent.shape.window);
  for (const NamedTensor& tensor : tensors_of(agent.shape)) {
    const float* first = agent.parameters.data() + tensor.offset;
    content.tensors.push_back({tensor.name, tensor.shape, {first, first + count_of(tensor.shape)}});
  }
  write_file(file, nn::to_bytes(content));
}

Agent load_agent(const std::filesystem::path& file, const Environment& environment) {
  const nn::TensorFile content = nn::parse_tensor_file(read_file(file, most_bytes), file.string());
  InputFaults faults;
  const auto fault = [&](std::string key, std::string message) {
    faults.add({.file = file.string(), .key = std::move(key), .message = std::move(message)});
  };
  const auto note = [&](const std::string& key) -> std::string {
    const auto found = content.metadata.find(key);
    if (found == content.metadata.end()) {
      fault(key, "is missing: not an agent of `skein plan train`");
      return "";
    }
    return found->second;
  };
  const auto find = [&](const char* name) {
    const auto found = std::ranges::find(content.tensors, name, &nn::StoredTensor::name);
    return found == content.tensors.end() ? nullptr : &*found;
  };
  note("skein.agent");
  const std::string discount = note("discount");
  const std::string model_reward = note("model_reward");
  const std::string window = note("window");
  faults.throw_if_any();

  const PlanEncoder encoder(environment);
  Agent agent{.shape = {.features = encoder.num_features(), .plan_features = encoder.num_plan_features()},
              .discount = std::strtod(discount.c_str(), nullptr),
              .model_reward = model_reward == "true"};
  agent.shape.window = static_cast<std::size_t>(std::strtoul(window.c_str(), nullptr, 10));
  const nn::StoredTensor* recurrent = find("lstm.recurrent");
  const nn::StoredTensor* second = find("second.weight");
  if (second == nullptr || second->shape.size() != 2 || agent.shape.window < 1 || agent.shape.window > 64 ||
      (recurrent != nullptr && recurrent->shape.size() != 2)) {
    fault("second.weight", "is missing or has another form than an agent's");
    faults.throw_if_any();
  }
  agent.shape.memory = recurrent != nullptr ? recurrent->shape[0] : 0;
  agent.shape.hidden = second->shape[0];
  agent.shape.hidden2 = second->shape[1];
  if (agent.shape.memory % 8 != 0 || agent.shape.hidden % 8 != 0 || agent.shape.hidden2 % 8 != 0) {
    fault("second.weight", "has layers whose sizes are not multiples of 8");
    faults.throw_if_any();
  }
  agent.parameters = nn::Vector<float>(QOffsets(agent.shape).size);
  const std::vector<NamedTensor> expected = tensors_of(agent.shape);
  for (const NamedTensor& tensor : expected) {
    const nn::StoredTensor* stored = find(tensor.name);
    if (stored == nullptr || stored->shape != tensor.shape) {
      fault(tensor.name, fmt::format("is not of shape [{}]: the agent was trained for another number of "
                                     "swarms, clusters or stations",
                                     fmt::join(tensor.shape, ", ")));
      continue;
    }
    std::ranges::copy(stored->values, agent.parameters.data() + tensor.offset);
  }
  faults.throw_if_any();
  return agent;
}

std::size_t best_choice(const Choices& choices, std::span<const float> q, bool model_reward) {
  std::size_t best = 0;
  double highest = 0.0;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    const double value = static_cast<double>(q[i]) + (model_reward ? choices.rewards[i] / reward_unit : 0.0);
    if (i == 0 || value > highest) {
      highest = value;
      best = i;
    }
  }
  return best;
}

LearnedPlanner::LearnedPlanner(const std::shared_ptr<const Environment>& environment,
                               std::shared_ptr<const Agent> agent)
    : ModelPlanner(environment), agent_(std::move(agent)), scorer_(*environment, agent_->shape) {}

void LearnedPlanner::begin(std::uint64_t seed) {
  ModelPlanner::begin(seed);
  past_.clear();
}

std::size_t LearnedPlanner::decide(std::span<const double> state, std::span<Site> destinations) {
  past_.emplace_back(state.begin(), state.end());
  if (past_.size() > agent_->shape.window) {
    past_.erase(past_.begin());
  }
  const std::vector<std::span<const double>> history(past_.begin(), past_.end());
  finder().find(state, choices_);
  q_.resize(choices_.size());
  scorer_.score(agent_->parameters, history, choices_, q_);
  const std::size_t best = best_choice(choices_, q_, agent_->model_reward);
  std::vector<double> values;
  for (std::size_t i = 0; i < choices_.size(); ++i) {
    values.push_back(reward_unit * (static_cast<double>(q_[i]) +
                                    (agent_->model_reward ? choices_.rewards[i] / reward_unit : 0.0)));
  }
  weighed(best_alternatives(choices_, values, most_alternatives));
  std::ranges::copy(choices_.of(best), destinations.begin());
  return choices_.timings[best];
}

AgentForesight::AgentForesight(std::shared_ptr<const Environment> environment,
                               std::shared_ptr<const Agent> agent)
    : environment_(std::move(environment)), agent_(std::move(agent)), scorer_(*environment_, agent_->shape) {}

void AgentForesight::look(std::span<const std::span<const double>> history, const Choices& choices,
                          std::span<double> worth) {
  q_.resize(choices.size());
  scorer_.score(agent_->parameters, history, choices, q_);
  for (std::size_t i = 0; i < choices.size(); ++i) {
    worth[i] = reward_unit * static_cast<double>(q_[i]) - (agent_->model_reward ? 0.0 : choices.rewards[i]);
  }
}

}  // namespace skein
