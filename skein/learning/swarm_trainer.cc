#include "skein/learning/swarm_trainer.h"

#include <algorithm>
#include <array>
#include <utility>

#include "skein/base/expect.h"

namespace skein {
namespace {

// The place of a worker in the tasks.
struct Place {
  std::size_t task;
  std::size_t worker;
};

// All workers, by numbers of swarm and worker.
std::vector<Place> in_order(std::span<const SwarmTask> tasks) {
  std::vector<Place> places;
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    for (std::size_t w = 0; w < tasks[t].workers.size(); ++w) {
      places.push_back({t, w});
    }
  }
  std::ranges::sort(places, {}, [&](const Place& place) {
    return std::pair(tasks[place.task].swarm, tasks[place.task].workers[place.worker].worker);
  });
  return places;
}

// Each worker's share of its swarm's average: what it has of something over what the swarm has. One group per
// task.
template <class Quantity>
std::vector<ModelSums::Member> shares(std::span<const SwarmTask> tasks, std::span<const Place> places,
                                      const Quantity& quantity) {
  std::vector<double> totals(tasks.size(), 0.0);
  for (const auto& [task, worker] : places) {
    totals[task] += quantity(tasks[task].workers[worker]);
  }
  std::vector<ModelSums::Member> members;
  members.reserve(places.size());
  for (const auto& [task, worker] : places) {
    members.push_back({task, static_cast<float>(quantity(tasks[task].workers[worker]) / totals[task])});
  }
  return members;
}

}  // namespace

SwarmTrainer::SwarmTrainer(LocalTraining::Setting setting, Workspaces& workspaces, ThreadPool& pool)
    : local_training_(std::move(setting)),
      workspaces_(workspaces),
      sums_(workspaces.network().num_parameters(), pool) {}

std::vector<SwarmUpdate> SwarmTrainer::begin(std::span<const SwarmTask> tasks,
                                             std::size_t num_iterations) const {
  std::vector<SwarmUpdate> updates;
  for (const SwarmTask& task : tasks) {
    expect(task.model != nullptr && task.model->size() == workspaces_.network().num_parameters() &&
               !task.workers.empty(),
           "a swarm has workers, and a model of the network's to start from");
    SwarmUpdate& update = updates.emplace_back(SwarmUpdate{.swarm = task.swarm});
    for (const WorkerTask& worker : task.workers) {
      update.workers.push_back({.worker = worker.worker,
                                .points_processed = static_cast<double>(num_iterations) *
                                                    local_training_.points_per_iteration(worker)});
    }
  }
  return updates;
}

void SwarmTrainer::local_round(std::span<const SwarmTask> tasks, std::vector<SwarmUpdate>& updates,
                               const Work& work) {
  const std::vector<Place> places = in_order(tasks);
  const std::vector<ModelSums::Member> members = shares(
      tasks, places, [&](const WorkerTask& worker) { return local_training_.points_per_iteration(worker); });
  std::vector<Model> averages;
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    averages.emplace_back(workspaces_.network().num_parameters());
  }
  sums_.run(members, averages, [&](std::size_t i, Model& model) {
    const Place& place = places[i];
    const SwarmTask& task = tasks[place.task];
    SwarmUpdate& update = updates[place.task];
    std::ranges::copy(update.model.empty() ? *task.model : update.model, model.begin());
    workspaces_.with([&](Workspace& workspace) {
      update.workers[place.worker].loss = work(task, task.workers[place.worker], workspace, model);
    });
  });
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    updates[t].model = std::move(averages[t]);
  }
}

std::vector<SwarmUpdate> SwarmTrainer::train(std::span<const SwarmTask> tasks, const Progress& progress) {
  if (tasks.empty()) {
    return {};
  }
  const std::size_t local_period = tasks.front().local_period;
  const std::size_t num_rounds = tasks.front().num_local_aggregations;
  expect(std::ranges::all_of(tasks,
                             [&](const SwarmTask& task) {
                               return task.local_period == local_period &&
                                      task.num_local_aggregations == num_rounds;
                             }),
         "the swarms of a global round have the same periods");
  std::vector<SwarmUpdate> updates = begin(tasks, local_period * num_rounds);
  for (std::size_t k = 0; k < num_rounds; ++k) {
    local_round(tasks, updates,
                [&](const SwarmTask& task, const WorkerTask& worker, Workspace& workspace, Model& model) {
                  const LocalTraining::Round round{.swarm = task.swarm,
                                                   .first_iteration = task.first_iteration + k * local_period,
                                                   .num_iterations = local_period};
                  return local_training_.run(worker, round, workspace, model);
                });
    if (progress) {
      progress(static_cast<double>(k + 1) / static_cast<double>(num_rounds));
    }
  }
  return updates;
}

std::vector<SwarmUpdate> SwarmTrainer::personalise(std::span<const SwarmTask> tasks) {
  std::vector<SwarmUpdate> updates = begin(tasks, 1);
  local_round(tasks, updates,
              [&](const SwarmTask& task, const WorkerTask& worker, Workspace& workspace, Model& model) {
                return local_training_.personalise(
                    worker, {.swarm = task.swarm, .first_iteration = task.first_iteration}, workspace, model);
              });
  const LabelShiftOptions& shift = local_training_.options().label_shift;
  for (std::size_t t = 0; t < tasks.size() && shift.smoothing > 0.0; ++t) {
    const LabelCounts counts = local_training_.label_counts(tasks[t].workers, tasks[t].first_iteration);
    add_to_biases(updates[t].model, lasting_label_shift(counts, shift), 1.0);
  }
  return updates;
}

double SwarmTrainer::squared_meta_gradient(std::span<const SwarmTask> tasks, std::size_t num_points) {
  const std::vector<Place> places = in_order(tasks);
  std::vector<ModelSums::Member> members = shares(
      tasks, places, [](const WorkerTask& worker) { return static_cast<double>(worker.samples.size()); });
  for (ModelSums::Member& member : members) {
    member = {0, member.weight / static_cast<float>(tasks.size())};
  }
  std::array<Model, 1> mean{Model(workspaces_.network().num_parameters())};
  sums_.run(members, mean, [&](std::size_t i, Model& gradient) {
    const SwarmTask& task = tasks[places[i].task];
    const WorkerTask& worker = task.workers[places[i].worker];
    workspaces_.with([&](Workspace& workspace) {
      local_training_.meta_gradient(worker, task.first_iteration, num_points, workspace, *task.model,
                                    gradient);
    });
  });
  double sum = 0.0;
  for (const float value : mean[0]) {
    sum += static_cast<double>(value) * static_cast<double>(value);
  }
  return sum;
}

}  // namespace skein
