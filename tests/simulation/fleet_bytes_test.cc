#include "skein/simulation/fleet_bytes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <type_traits>

#include "skein/base/random.h"

namespace skein {
namespace {

// A value with every field filled at random. A field that is added to a value must be named here, and is then
// compared: so it cannot be forgotten on its way.
class Filler {
 public:
  explicit Filler(std::uint64_t seed) : stream_(seed, "filler") {}

  LeaderTask task() {
    LeaderTask value;
    auto& [swarm, cluster, sequence, global_round, num_global_rounds, local_period, global_period,
           first_iteration, model, batteries, members, silent_devices, conditions, has_constants, constants,
           slowest_trip_s] = value;
    fill(swarm, cluster, sequence, global_round, num_global_rounds, local_period, global_period,
         first_iteration, batteries, silent_devices, constants.gradient_bound,
         constants.network_hessian_variability, slowest_trip_s);
    auto& [leader, has_leader, workers, coordinators] = members;
    fill(leader, workers, coordinators);
    auto& [rate_factor, access_points_out, way] = conditions;
    fill(rate_factor, access_points_out, way.access_point);
    way.flown = Length(stream_.uniform(0.0, 1e3));
    has_leader = stream_.below(2) == 1;
    has_constants = stream_.below(2) == 1;
    model = std::make_shared<const Model>(this->model());
    return value;
  }
  LeaderUpdate update() {
    LeaderUpdate value;
    auto& [swarm, trained, rounds, culprit, energy, duration, data_bits, model_bits, points_sent,
           points_trained, personal_iterations, seconds] = value;
    fill(duration, data_bits, model_bits, points_sent, points_trained, personal_iterations, seconds, culprit);
    trained = stream_.below(2) == 1;
    swarm.swarm = stream_.below(1000);
    swarm.model = model();
    for (std::size_t i = stream_.below(4); i > 0; --i) {
      auto& [worker, points_processed, loss] = swarm.workers.emplace_back();
      fill(worker, points_processed, loss);
    }
    for (std::size_t i = stream_.below(4); i > 0; --i) {
      auto& [objective, used, learning, bound, kkt_residual, data, processed, clock, processing_s,
             device_flow, relay_flow] = rounds.emplace_back();
      fill(objective, used, learning, bound, kkt_residual, data, processed, clock, processing_s, device_flow,
           relay_flow);
    }
    for (std::size_t i = stream_.below(6); i > 0; --i) {
      auto& [is_device, index, kind, joules] = energy.emplace_back();
      fill(index, joules);
      is_device = stream_.below(2) == 1;
      kind = static_cast<EnergyKind>(stream_.below(5));
    }
    return value;
  }
  Model model() {
    Model values(stream_.below(20));
    for (float& value : values) {
      value = static_cast<float>(stream_.uniform(-1.0, 1.0));
    }
    return values;
  }

 private:
  template <class... Fields>
  void fill(Fields&... fields) {
    (fill_one(fields), ...);
  }
  void fill_one(double& value) { value = stream_.uniform(-1.0, 1.0); }
  void fill_one(std::uint64_t& value) { value = stream_.below(std::uint64_t{1} << 40U) + 1; }
  void fill_one(std::vector<double>& values) {
    values.resize(stream_.below(5));
    for (double& value : values) {
      fill_one(value);
    }
  }
  void fill_one(std::vector<std::size_t>& values) {
    values.resize(stream_.below(5));
    for (std::size_t& value : values) {
      fill_one(value);
    }
  }
  void fill_one(std::string& text) { text.assign(stream_.below(30), 'x'); }

  RandomStream stream_;
};

template <class T>
bool same(const T& a, const T& b) {
  return a == b;
}
bool same(const Model& a, const Model& b) { return std::ranges::equal(a, b); }
bool same(const EnergyUse& a, const EnergyUse& b) {
  const auto& [device, index, kind, joules] = a;
  return device == b.is_device && index == b.index && kind == b.kind && joules == b.joules;
}
bool same(const WorkerReport& a, const WorkerReport& b) {
  const auto& [worker, points, loss] = a;
  return worker == b.worker && points == b.points_processed && loss == b.loss;
}
bool same(const OffloadSummary& a, const OffloadSummary& b) {
  const auto& [objective, used, learning, bound, residual, data, processed, clock, processing_s, device_flow,
               relay_flow] = a;
  return objective == b.objective && used == b.energy && learning == b.planned_learning &&
         bound == b.gradient_bound && processing_s == b.processing_s && residual == b.kkt_residual &&
         data == b.data && processed == b.processed && clock == b.clock && device_flow == b.device_flow &&
         relay_flow == b.relay_flow;
}
template <class T>
bool all_same(const std::vector<T>& a, const std::vector<T>& b) {
  return std::ranges::equal(a, b, [](const T& x, const T& y) { return same(x, y); });
}

TEST(FleetBytes, TasksComeBackWithEveryField) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Filler filler(seed);
    std::vector<LeaderTask> tasks;
    for (std::size_t i = 0; i < 5; ++i) {
      tasks.push_back(filler.task());
    }
    tasks[3].model = tasks[1].model;
    ByteWriter writer;
    put_tasks(writer, tasks);
    const std::string bytes = writer.take();
    ByteCursor cursor(bytes);
    const std::vector<LeaderTask> back = get_tasks(cursor);
    EXPECT_TRUE(cursor.at_end());
    ASSERT_EQ(back.size(), tasks.size());
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      const auto& [swarm, cluster, sequence, global_round, num_global_rounds, local_period, global_period,
                   first_iteration, model, batteries, members, silent_devices, conditions, has_constants,
                   constants, slowest_trip_s] = tasks[i];
      EXPECT_EQ(swarm, back[i].swarm);
      EXPECT_EQ(cluster, back[i].cluster);
      EXPECT_EQ(sequence, back[i].sequence);
      EXPECT_EQ(global_round, back[i].global_round);
      EXPECT_EQ(num_global_rounds, back[i].num_global_rounds);
      EXPECT_EQ(local_period, back[i].local_period);
      EXPECT_EQ(global_period, back[i].global_period);
      EXPECT_EQ(first_iteration, back[i].first_iteration);
      EXPECT_TRUE(same(*model, *back[i].model));
      EXPECT_EQ(batteries, back[i].batteries);
      EXPECT_EQ(members, back[i].members);
      EXPECT_EQ(silent_devices, back[i].silent_devices);
      EXPECT_EQ(conditions.rate_factor, back[i].conditions.rate_factor);
      EXPECT_EQ(conditions.access_points_out, back[i].conditions.access_points_out);
      EXPECT_EQ(conditions.way.access_point, back[i].conditions.way.access_point);
      EXPECT_EQ(conditions.way.flown, back[i].conditions.way.flown);
      EXPECT_EQ(has_constants, back[i].has_constants);
      EXPECT_EQ(constants.gradient_bound, back[i].constants.gradient_bound);
      EXPECT_EQ(constants.network_hessian_variability, back[i].constants.network_hessian_variability);
      EXPECT_EQ(slowest_trip_s, back[i].slowest_trip_s);
    }
    EXPECT_EQ(back[3].model, back[1].model) << "a shared model is one";
  }
}

TEST(FleetBytes, UpdatesComeBackWithEveryField) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const LeaderUpdate update = Filler(seed).update();
    ByteWriter writer;
    put_update(writer, update);
    const std::string bytes = writer.take();
    ByteCursor cursor(bytes);
    const LeaderUpdate back = get_update(cursor);
    EXPECT_TRUE(cursor.at_end());
    const auto& [swarm, trained, rounds, culprit, energy, duration, data_bits, model_bits, points_sent,
                 points_trained, personal_iterations, seconds] = update;
    EXPECT_EQ(swarm.swarm, back.swarm.swarm);
    EXPECT_TRUE(same(swarm.model, back.swarm.model));
    EXPECT_TRUE(all_same(swarm.workers, back.swarm.workers));
    EXPECT_EQ(trained, back.trained);
    EXPECT_TRUE(all_same(rounds, back.rounds));
    EXPECT_EQ(culprit, back.culprit);
    EXPECT_TRUE(all_same(energy, back.energy));
    EXPECT_EQ(duration, back.duration);
    EXPECT_EQ(data_bits, back.data_bits);
    EXPECT_EQ(model_bits, back.model_bits);
    EXPECT_EQ(points_sent, back.points_sent);
    EXPECT_EQ(points_trained, back.points_trained);
    EXPECT_EQ(personal_iterations, back.personal_iterations);
    EXPECT_EQ(seconds, back.seconds);
  }
}

TEST(FleetBytes, ADivergenceComesBack) {
  ByteWriter writer;
  put_divergence(writer, {.iteration = 7, .swarm = 2, .worker = 9, .loss = 1e9, .likely_cause = "a step"});
  const std::string bytes = writer.take();
  ByteCursor cursor(bytes);
  const Divergence::Place place = get_divergence(cursor);
  EXPECT_TRUE(cursor.at_end());
  EXPECT_EQ(place.iteration, 7U);
  EXPECT_EQ(place.swarm, 2U);
  EXPECT_EQ(place.worker, 9U);
  EXPECT_EQ(place.loss, 1e9);
  EXPECT_EQ(place.likely_cause, "a step");
}

TEST(FleetBytes, CutBytesAreRefused) {
  ByteWriter writer;
  put_tasks(writer, std::vector{Filler(1).task()});
  const std::string bytes = writer.take();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const std::string cut = bytes.substr(0, size);
    ByteCursor cursor(cut);
    EXPECT_ANY_THROW(get_tasks(cursor)) << size;
  }
}

}  // namespace
}  // namespace skein
