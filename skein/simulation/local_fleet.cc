#include "skein/simulation/local_fleet.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "skein/base/stopwatch.h"

namespace skein {

std::vector<LeaderUpdate> LocalFleet::run(std::span<const LeaderTask> tasks) {
  leaders_.clear();
  std::vector<std::optional<Leader>> leaders(tasks.size());
  pool_.parallel_for(tasks.size(), [&](std::size_t i) { leaders[i].emplace(setup_, tasks[i]); });
  std::size_t num_rounds = 0;
  for (std::optional<Leader>& leader : leaders) {
    num_rounds = std::max(num_rounds, leader->num_local_rounds());
    leaders_.push_back(*std::move(leader));
  }
  for (std::size_t k = 0; k < num_rounds; ++k) {
    train_round();
  }
  std::vector<LeaderUpdate> updates;
  for (Leader& leader : leaders_) {
    updates.push_back(leader.report());
  }
  return updates;
}

void LocalFleet::train_round() {
  std::vector<std::optional<SwarmTask>> gathered(leaders_.size());
  pool_.parallel_for(leaders_.size(), [&](std::size_t i) { gathered[i] = leaders_[i].gather(); });
  std::vector<SwarmTask> tasks;
  std::vector<std::size_t> whose;
  for (std::size_t i = 0; i < leaders_.size(); ++i) {
    if (gathered[i]) {
      whose.push_back(i);
      tasks.push_back(*std::move(gathered[i]));
    }
  }
  if (tasks.empty()) {
    return;
  }
  const Stopwatch watch;
  std::vector<SwarmUpdate> trained = trainer_.train(tasks, {});
  double points = 0.0;
  for (const SwarmUpdate& update : trained) {
    points += update.points_processed();
  }
  const double seconds_per_point = watch.seconds() / std::max(1.0, points);
  for (std::size_t t = 0; t < trained.size(); ++t) {
    const double seconds = seconds_per_point * trained[t].points_processed();
    leaders_[whose[t]].learn(std::move(trained[t]), std::move(tasks[t].workers), seconds);
  }
}

std::vector<Model> LocalFleet::personalise(std::span<const LeaderTask> tasks) {
  std::vector<Model> models(tasks.size());
  std::vector<SwarmTask> training;
  std::vector<std::size_t> whose;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const auto leader = std::ranges::find(leaders_, tasks[i].swarm, &Leader::swarm);
    std::optional<SwarmTask> task;
    if (leader != leaders_.end()) {
      task = leader->personalisation(tasks[i]);
    }
    if (task) {
      whose.push_back(i);
      training.push_back(*std::move(task));
    } else {
      models[i] = *tasks[i].model;
    }
  }
  if (!training.empty()) {
    std::vector<SwarmUpdate> own = trainer_.personalise(training);
    for (std::size_t t = 0; t < own.size(); ++t) {
      models[whose[t]] = std::move(own[t].model);
    }
  }
  return models;
}

}  // namespace skein
