#include "skein/simulation/fleet_bytes.h"

#include <algorithm>
#include <type_traits>

namespace skein {
namespace {

// All fields of a value, for writing and for reading alike. A field that is added to a value and forgotten
// here does not compile: the names must be as many as there are fields.
template <class Value, class Visit>
requires std::is_same_v<std::remove_const_t<Value>, LeaderTask>
void each_field(Value& value, Visit&& visit) {
  auto& [swarm, cluster, sequence, global_round, num_global_rounds, local_period, global_period,
         first_iteration, model, batteries, members, silent_devices, conditions, has_constants, constants,
         slowest_trip_s] = value;
  visit(swarm, cluster, sequence, global_round, num_global_rounds, local_period, global_period,
        first_iteration, model, batteries, members, silent_devices, conditions, has_constants, constants,
        slowest_trip_s);
}

template <class Value, class Visit>
requires std::is_same_v<std::remove_const_t<Value>, SwarmMembers>
void each_field(Value& value, Visit&& visit) {
  auto& [leader, has_leader, workers, coordinators] = value;
  visit(leader, has_leader, workers, coordinators);
}

template <class Value, class Visit>
requires std::is_same_v<std::remove_const_t<Value>, LinkConditions>
void each_field(Value& value, Visit&& visit) {
  auto& [rate_factor, access_points_out] = value;
  visit(rate_factor, access_points_out);
}

template <class Value, class Visit>
requires std::is_same_v<std::remove_const_t<Value>, OffloadSummary>
void each_field(Value& value, Visit&& visit) {
  auto& [objective, energy, planned_learning, gradient_bound, kkt_residual, data, processed, clock,
         processing_s, device_flow, relay_flow] = value;
  visit(objective, energy, planned_learning, gradient_bound, kkt_residual, data, processed, clock,
        processing_s, device_flow, relay_flow);
}

template <class Value, class Visit>
requires std::is_same_v<std::remove_const_t<Value>, SwarmUpdate>
void each_field(Value& value, Visit&& visit) {
  auto& [swarm, model, workers] = value;
  visit(swarm, model, workers);
}

template <class Value, class Visit>
requires std::is_same_v<std::remove_const_t<Value>, LeaderUpdate>
void each_field(Value& value, Visit&& visit) {
  auto& [swarm, trained, rounds, culprit, energy, duration, data_bits, model_bits, points_sent,
         points_trained, seconds] = value;
  visit(swarm, trained, rounds, culprit, energy, duration, data_bits, model_bits, points_sent, points_trained,
        seconds);
}

template <class Value, class Visit>
requires std::is_same_v<std::remove_const_t<Value>, Divergence::Place>
void each_field(Value& value, Visit&& visit) {
  auto& [iteration, swarm, worker, loss, likely_cause] = value;
  visit(iteration, swarm, worker, loss, likely_cause);
}

using SharedModel = std::shared_ptr<const Model>;

class Writer {
 public:
  explicit Writer(ByteWriter& bytes) : bytes_(bytes) {}

  template <class... Fields>
  void operator()(const Fields&... fields) {
    (write(fields), ...);
  }

 private:
  template <class T>
  void write(const T& value) {
    if constexpr (std::is_trivially_copyable_v<T>) {
      bytes_.put(value);
    } else {
      each_field(value, *this);
    }
  }
  void write(const std::string& text) { bytes_.put_text(text); }
  void write(const Model& model) { bytes_.put_list(model); }
  void write(const SharedModel& model) {
    const auto found = std::ranges::find(models_, model.get());
    bytes_.put<std::uint64_t>(static_cast<std::uint64_t>(found - models_.begin()));
    if (found == models_.end()) {
      models_.push_back(model.get());
      bytes_.put_list(*model);
    }
  }
  template <class T>
  void write(const std::vector<T>& values) {
    if constexpr (std::is_trivially_copyable_v<T>) {
      bytes_.put_list(values);
    } else {
      bytes_.put<std::uint64_t>(values.size());
      for (const T& value : values) {
        write(value);
      }
    }
  }

  ByteWriter& bytes_;
  std::vector<const Model*> models_;
};

class Reader {
 public:
  explicit Reader(ByteCursor& bytes) : bytes_(bytes) {}

  template <class... Fields>
  void operator()(Fields&... fields) {
    (read(fields), ...);
  }

 private:
  template <class T>
  void read(T& value) {
    if constexpr (std::is_trivially_copyable_v<T>) {
      value = bytes_.get<T>();
    } else {
      each_field(value, *this);
    }
  }
  void read(std::string& text) { text = bytes_.get_text(); }
  void read(Model& model) { model = bytes_.get_list<Model>(); }
  void read(SharedModel& model) {
    const auto index = bytes_.get<std::uint64_t>();
    if (index == models_.size()) {
      models_.push_back(std::make_shared<const Model>(bytes_.get_list<Model>()));
    }
    model = models_.at(index);
  }
  template <class T>
  void read(std::vector<T>& values) {
    if constexpr (std::is_trivially_copyable_v<T>) {
      values = bytes_.get_list<std::vector<T>>();
    } else {
      values.resize(bytes_.get<std::uint64_t>());
      for (T& value : values) {
        read(value);
      }
    }
  }

  ByteCursor& bytes_;
  std::vector<SharedModel> models_;
};

}  // namespace

void put_tasks(ByteWriter& bytes, std::span<const LeaderTask> tasks) {
  bytes.put<std::uint64_t>(tasks.size());
  Writer write(bytes);
  for (const LeaderTask& task : tasks) {
    write(task);
  }
}

std::vector<LeaderTask> get_tasks(ByteCursor& bytes) {
  std::vector<LeaderTask> tasks(bytes.get<std::uint64_t>());
  Reader read(bytes);
  for (LeaderTask& task : tasks) {
    read(task);
  }
  return tasks;
}

void put_divergence(ByteWriter& bytes, const Divergence::Place& place) { Writer{bytes}(place); }

Divergence::Place get_divergence(ByteCursor& bytes) {
  Divergence::Place place;
  Reader{bytes}(place);
  return place;
}

void put_update(ByteWriter& bytes, const LeaderUpdate& update) { Writer{bytes}(update); }

LeaderUpdate get_update(ByteCursor& bytes) {
  LeaderUpdate update;
  Reader{bytes}(update);
  return update;
}

}  // namespace skein
