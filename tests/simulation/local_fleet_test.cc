// Leaders with a field of known points and a trainer that only looks: who gets which data, and what it costs.
#include "skein/simulation/local_fleet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <numeric>
#include <set>
#include <string>

#include "skein/base/random.h"
#include "skein/scenario/scenario.h"
#include "tests/simulation/sampled_world.h"

namespace skein {
namespace {

constexpr SampleIndex points_per_device = 40;

// Device i holds the samples [i * points_per_device, ...): a sample tells whose it is. Ten of them are of
// each sequence.
class NumberedField final : public Field {
 public:
  explicit NumberedField(std::size_t num_devices) {
    for (std::size_t device = 0; device < num_devices; ++device) {
      DeviceBuffer& buffer = buffers_.emplace_back(points_per_device);
      for (SampleIndex i = 0; i < points_per_device; ++i) {
        buffer.push({.sample = static_cast<SampleIndex>(device) * points_per_device + i, .sequence = i / 10});
      }
    }
  }

  [[nodiscard]] std::size_t sequence() const override { return 0; }
  [[nodiscard]] std::size_t num_points(std::size_t device) const override { return buffers_[device].size(); }
  [[nodiscard]] std::vector<std::vector<DataPoint>> offload(std::size_t device,
                                                            std::span<const double> shares,
                                                            std::uint64_t round) const override {
    RandomStream stream(1, "offload", device, round);
    return buffers_[device].sample_for(shares, stream);
  }
  [[nodiscard]] std::shared_ptr<const FeatureDrift> feature_drift(std::size_t /*cluster*/) const override {
    return nullptr;
  }
  [[nodiscard]] LabelMix label_mix(std::size_t /*cluster*/) const override { return {1.0}; }
  std::vector<ModelScore> scores(std::span<const ClusterModel> models) override {
    return std::vector<ModelScore>(models.size());
  }
  std::vector<double> squared_meta_gradients(std::span<const ClusterModel> models) override {
    return std::vector<double>(models.size());
  }
  std::vector<double> hand_over(std::span<const std::size_t> clusters,
                                std::vector<Model> /*models*/) override {
    return std::vector<double>(clusters.size());
  }
  std::vector<double> squared_gradient_changes(std::span<const std::size_t> clusters) override {
    return std::vector<double>(clusters.size());
  }
  std::vector<ClassReport> class_reports(std::span<const ClusterModel> models) override {
    return std::vector<ClassReport>(models.size());
  }
  [[nodiscard]] HandedModel handed(std::size_t /*cluster*/) override { return {}; }
  void restore(std::size_t /*cluster*/, HandedModel /*handed*/) override {}
  BoundConstants measure_constants(std::span<const std::size_t> /*clusters*/, const Model& /*before*/,
                                   const Model& /*after*/) override {
    return {};
  }
  void advance(Time /*now*/) override {}
  [[nodiscard]] std::string save() const override { return {}; }
  void restore(const std::string& /*bytes*/) override {}
  [[nodiscard]] std::string save(std::size_t /*cluster*/) const override { return {}; }
  void restore(std::size_t /*cluster*/, const std::string& /*bytes*/) override {}
  void forget() override {}

 private:
  std::vector<DeviceBuffer> buffers_;
};

// Adds 1 to every parameter in a round, 100 when it makes a model a swarm's own; keeps what it was given.
class CountingTrainer final : public Trainer {
 public:
  std::vector<SwarmUpdate> train(std::span<const SwarmTask> tasks, const Progress& /*progress*/) override {
    calls.emplace_back(tasks.begin(), tasks.end());
    return updated(tasks, 1.0F);
  }
  std::vector<SwarmUpdate> personalise(std::span<const SwarmTask> tasks) override {
    personalised.assign(tasks.begin(), tasks.end());
    return updated(tasks, 100.0F);
  }

  std::vector<std::vector<SwarmTask>> calls;
  std::vector<SwarmTask> personalised;

 private:
  static std::vector<SwarmUpdate> updated(std::span<const SwarmTask> tasks, float change) {
    std::vector<SwarmUpdate> updates;
    for (const SwarmTask& task : tasks) {
      SwarmUpdate& update = updates.emplace_back();
      update.swarm = task.swarm;
      update.model = Model(task.model->size());
      for (std::size_t i = 0; i < task.model->size(); ++i) {
        update.model[i] = (*task.model)[i] + change;
      }
      for (const WorkerTask& worker : task.workers) {
        update.workers.push_back(
            {.worker = worker.worker, .points_processed = static_cast<double>(worker.samples.size())});
      }
    }
    return updates;
  }
};

// Any shares that add up to at most 1; all that a coordinator has is relayed. Worker 1 has no mini-batch.
class RandomOffloader final : public Offloader {
 public:
  explicit RandomOffloader(std::uint64_t seed) : seed_(seed) {}

  [[nodiscard]] std::string_view name() const override { return "random"; }
  [[nodiscard]] OffloadResult solve(std::span<const OffloadingInstance> rounds,
                                    const OffloadResult* /*previous*/) const override {
    OffloadResult result;
    result.status = OffloadStatus::solved;
    for (std::size_t k = 0; k < rounds.size(); ++k) {
      const OffloadingInstance& p = rounds[k];
      {
        const std::lock_guard lock(mutex_);
        seen_data_[p.name] = p.device_data;
      }
      RandomStream random(seed_, "decision", p.num_workers(), k);
      OffloadDecision& d = result.decisions.emplace_back();
      d.rho = Table<double>(p.device_data.size(), p.num_uavs());
      d.varrho = Table<double>(p.num_coordinators(), p.num_workers());
      for (double& share : d.rho.values) {
        share = random.uniform() / static_cast<double>(p.num_uavs());
      }
      for (std::size_t h = 0; h < p.num_coordinators(); ++h) {
        double sum = 0.0;
        for (std::size_t j = 0; j < p.num_workers(); ++j) {
          sum += d.varrho(h, j) = random.uniform();
        }
        for (std::size_t j = 0; j < p.num_workers(); ++j) {
          d.varrho(h, j) /= sum;
        }
      }
      d.alpha.assign(p.num_workers(), {0.5, 0.25, 0.125});
      d.alpha[1] = {0.0, 0.0, 0.0};
      d.clock.assign(p.num_workers(), 2e7);
      result.evaluations.push_back(evaluate(p, d));
    }
    return result;
  }
  // Of the swarm's devices, by the name of its problem.
  [[nodiscard]] std::vector<double> seen_data(const std::string& problem) const {
    return seen_data_.at(problem);
  }

 private:
  std::uint64_t seed_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, std::vector<double>> seen_data_;
};

class LocalFleetTest : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  LeaderTask task_of(std::size_t swarm, std::size_t cluster) const {
    LeaderTask task{.swarm = swarm,
                    .cluster = cluster,
                    .local_period = 2,
                    .global_period = 3,
                    .model = std::make_shared<const Model>(4),
                    .members = FaultSchedule().members(world_, swarm, {})};
    for (std::size_t id = world_.swarms[swarm].leader; id < world_.swarms[swarm].coordinators.end(); ++id) {
      task.batteries.push_back(world_.uavs[id].battery.si());
    }
    return task;
  }
  LocalFleet fleet() {
    return {{.world = &world_, .field = &field_, .problems = &problems_, .offloader = &offloader_},
            trainer_,
            pool_};
  }
  // Points of the paper's size, in batteries that last.
  static SwarmProblemSetting setting() {
    SwarmProblemSetting setting;
    setting.offloading.point_size.spread = constant(6.272);
    setting.offloading.model_size.spread = constant(1000);
    setting.offloading.battery = BatterySharing::joint;
    return setting;
  }

  World world_ = sampled_world(GetParam());
  NumberedField field_{world_.devices.size()};
  CountingTrainer trainer_;
  ThreadPool pool_{2};
  SwarmProblems problems_{setting(), world_};
  RandomOffloader offloader_{GetParam()};
};

// Where time is priced, what the first local round gathers stays with the workers.
TEST_P(LocalFleetTest, PointsAreSentOnceWhereTimeIsPriced) {
  SwarmProblemSetting priced = setting();
  priced.offloading.time = TimeChoice::priced;
  const SwarmProblems problems(priced, world_);
  LocalFleet leaders({.world = &world_, .field = &field_, .problems = &problems, .offloader = &offloader_},
                     trainer_, pool_);
  const std::vector<LeaderTask> tasks{task_of(0, 2)};
  const std::vector<LeaderUpdate> updates = leaders.run(tasks);
  ASSERT_EQ(trainer_.calls.size(), 3U) << "one call for each local round";
  const LeaderUpdate& update = updates.front();
  ASSERT_EQ(update.rounds.size(), 3U);
  const auto sent = [](const OffloadSummary& round) {
    return std::accumulate(round.device_flow.begin(), round.device_flow.end(), 0.0);
  };
  EXPECT_GT(sent(update.rounds[0]), 0.0);
  EXPECT_EQ(static_cast<double>(update.points_sent), sent(update.rounds[0]));
  for (std::size_t round = 1; round < 3; ++round) {
    EXPECT_EQ(sent(update.rounds[round]), 0.0);
    EXPECT_EQ(trainer_.calls[round][0].workers.size(), trainer_.calls[0][0].workers.size());
    for (std::size_t w = 0; w < trainer_.calls[0][0].workers.size(); ++w) {
      EXPECT_EQ(trainer_.calls[round][0].workers[w].samples, trainer_.calls[0][0].workers[w].samples);
      EXPECT_FALSE(trainer_.calls[round][0].workers[w].samples.empty());
    }
  }
}

TEST_P(LocalFleetTest, TrainsOnWhatWasSentAndNothingElse) {
  LocalFleet leaders = fleet();
  std::vector<LeaderTask> tasks{task_of(0, 2), task_of(1, 0)};
  tasks[0].silent_devices = {1};
  const std::vector<LeaderUpdate> updates = leaders.run(tasks);
  EXPECT_EQ(offloader_.seen_data("swarm 1 above C:3, round 1")[1], 0.0)
      << "a leader does not count on a silent device";
  ASSERT_EQ(trainer_.calls.size(), 3U) << "one call for each local round";
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const Swarm& swarm = world_.swarms[tasks[i].swarm];
    const IndexRange& devices = world_.clusters[tasks[i].cluster].devices;
    const std::size_t uavs = swarm.workers.count + swarm.coordinators.count;
    double sent = 0.0;
    std::uint64_t trained = 0;
    for (std::size_t round = 0; round < 3; ++round) {
      const OffloadSummary& summary = updates[i].rounds[round];
      sent += std::accumulate(summary.device_flow.begin(), summary.device_flow.end(), 0.0);
      std::set<SampleIndex> used;
      for (const WorkerTask& worker : trainer_.calls[round][i].workers) {
        const std::size_t j = worker.worker - swarm.workers.first;
        EXPECT_NE(j, 1U) << "who has no mini-batch does not train";
        double arrived = 0.0;  // at this worker
        for (std::size_t d = 0; d < devices.count; ++d) {
          arrived += summary.device_flow[d * uavs + j];
        }
        for (std::size_t h = 0; h < swarm.coordinators.count; ++h) {
          arrived += summary.relay_flow[h * swarm.workers.count + j];
        }
        EXPECT_EQ(static_cast<double>(worker.samples.size()), arrived);
        trained += worker.samples.size();
        for (const SampleIndex sample : worker.samples) {
          EXPECT_TRUE(used.insert(sample).second) << "two workers have the same point";
          const std::size_t device = sample / points_per_device;
          EXPECT_GE(device, devices.first);
          EXPECT_LT(device, devices.end());
          EXPECT_FALSE(i == 0 && device == devices.first + 1) << "of a silent device";
        }
        // Mini-batches are shares of what is there, to the nearest point.
        EXPECT_NEAR(static_cast<double>(worker.batch_sizes[0]), 0.5 * arrived, 0.5);
        EXPECT_NEAR(static_cast<double>(worker.batch_sizes[2]), std::max(1.0, 0.125 * arrived), 0.5);
      }
    }
    EXPECT_EQ(updates[i].points_sent, static_cast<std::uint64_t>(sent));
    EXPECT_EQ(updates[i].points_trained, trained);
    EXPECT_EQ(updates[i].swarm.model[0], 3.0F) << "a local round starts where the last one ended";
  }
}

// P times bits / rate for every transfer, from the flows that were reported.
TEST_P(LocalFleetTest, EnergiesAreThoseOfWhatWasSent) {
  LocalFleet leaders = fleet();
  const LeaderTask task = task_of(0, 1);
  const std::vector<LeaderUpdate> updates = leaders.run(std::vector{task});
  const SwarmLinks links = swarm_links(world_, 0, 1, 0);
  const Swarm& swarm = world_.swarms[0];
  const IndexRange& devices = world_.clusters[1].devices;
  const std::size_t uavs = swarm.workers.count + swarm.coordinators.count;
  std::map<std::size_t, double> device_j, relay_j;
  double bits = 0.0;
  for (const OffloadSummary& round : updates[0].rounds) {
    for (std::size_t i = 0; i < devices.count; ++i) {
      for (std::size_t u = 0; u < uavs; ++u) {
        const double flow = 6272.0 * round.device_flow[i * uavs + u];
        device_j[devices.first + i] +=
            world_.devices[devices.first + i].transmit_power.si() * flow / links.device_to_uav(i, u).si();
        bits += flow;
      }
    }
    for (std::size_t h = 0; h < swarm.coordinators.count; ++h) {
      for (std::size_t j = 0; j < swarm.workers.count; ++j) {
        const double flow = 6272.0 * round.relay_flow[h * swarm.workers.count + j];
        relay_j[swarm.coordinators.first + h] +=
            world_.uavs[swarm.coordinators.first + h].transmit_power.si() * flow /
            links.coordinator_to_worker(h, j).si();
        bits += flow;
      }
    }
  }
  EXPECT_NEAR(updates[0].data_bits, bits, 1e-9 * bits);
  double processing = 0.0;
  for (const EnergyUse& use : updates[0].energy) {
    ASSERT_GT(use.joules, 0.0);
    if (use.kind == EnergyKind::data_transmission) {
      EXPECT_TRUE(use.is_device);
      device_j[use.index] -= use.joules;
    } else if (use.kind == EnergyKind::relay) {
      relay_j[use.index] -= use.joules;
    } else if (use.kind == EnergyKind::processing) {
      EXPECT_NE(use.index, swarm.workers.first + 1) << "who has no mini-batch does not compute";
      processing += use.joules;
    }
  }
  EXPECT_GT(processing, 0.0);
  for (const auto& [index, rest] : device_j) {
    EXPECT_NEAR(rest, 0.0, 1e-12) << "device " << index;
  }
  for (const auto& [index, rest] : relay_j) {
    EXPECT_NEAR(rest, 0.0, 1e-12) << "UAV " << index;
  }
}

TEST_P(LocalFleetTest, AModelIsMadeTheSwarmsOwnOnTheDataOfTheLastRound) {
  LocalFleet leaders = fleet();
  std::vector<LeaderTask> tasks{task_of(0, 2), task_of(1, 0)};
  tasks[1].members.workers.clear();  // nobody is left to train
  const std::vector<LeaderUpdate> updates = leaders.run(tasks);
  EXPECT_TRUE(updates[0].trained);
  EXPECT_FALSE(updates[1].trained);
  EXPECT_EQ(updates[1].culprit, "no worker is left");
  EXPECT_EQ(updates[1].points_sent, 0U);
  EXPECT_TRUE(updates[1].energy.empty());
  const std::vector<Model> own = leaders.personalise(tasks);
  EXPECT_EQ(own[0][0], 100.0F);
  EXPECT_EQ(own[1][0], 0.0F) << "as it came";
  ASSERT_EQ(trainer_.personalised.size(), 1U);
  ASSERT_EQ(trainer_.personalised[0].workers.size(), trainer_.calls[2][0].workers.size());
  for (std::size_t w = 0; w < trainer_.personalised[0].workers.size(); ++w) {
    EXPECT_EQ(trainer_.personalised[0].workers[w].samples, trainer_.calls[2][0].workers[w].samples);
  }
}

// Of five points for each device every worker keeps its share: its newest. Three steps on 25 of them, or on
// as many as an iteration had, if there are so many, are paid for.
TEST_P(LocalFleetTest, ModelsAreMadeTheSwarmsOwnOnTheNewestPoints) {
  for (const std::size_t batch : {0U, 25U}) {
    SwarmProblemSetting setting = this->setting();
    setting.learning.personal_newest = 5;
    setting.learning.personal_steps = 3;
    setting.learning.personal_batch = batch;
    const SwarmProblems problems(setting, world_);
    LocalFleet leaders{{.world = &world_, .field = &field_, .problems = &problems, .offloader = &offloader_},
                       trainer_,
                       pool_};
    const std::vector<LeaderTask> tasks{task_of(0, 2)};
    const LeaderUpdate update = leaders.run(tasks)[0];
    leaders.personalise(tasks);
    const std::vector<WorkerTask>& trained = trainer_.calls.back()[0].workers;
    std::size_t all = 0;
    for (const WorkerTask& worker : trained) {
      all += worker.samples.size();
    }
    const double share =
        5.0 * static_cast<double>(world_.clusters[2].devices.count) / static_cast<double>(all);
    ASSERT_LT(share, 1.0);
    ASSERT_EQ(trainer_.personalised[0].workers.size(), trained.size());
    for (std::size_t w = 0; w < trained.size(); ++w) {
      const WorkerTask& kept = trainer_.personalised[0].workers[w];
      const auto num_kept = static_cast<double>(kept.samples.size());
      EXPECT_NEAR(num_kept, share * static_cast<double>(trained[w].samples.size()), 0.5);
      const std::uint32_t oldest = *std::ranges::min_element(kept.collected);
      for (std::size_t i = 0; i < trained[w].samples.size(); ++i) {
        const bool is_kept = std::ranges::find(kept.samples, trained[w].samples[i]) != kept.samples.end();
        EXPECT_TRUE(is_kept || trained[w].collected[i] <= oldest);
        EXPECT_EQ(trained[w].collected[i], trained[w].samples[i] % points_per_device / 10);
      }
      const std::size_t j = kept.worker - world_.swarms[0].workers.first;
      const double processed = update.rounds.back().processed[j];
      EXPECT_NEAR(update.personal_iterations[j] * processed,
                  3.0 * std::min(batch > 0 ? 25.0 : processed, num_kept), 1e-9);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, LocalFleetTest, ::testing::Values(1U, 2U, 3U, 4U, 5U));

}  // namespace
}  // namespace skein
