// The mission's files, as texts that grow sequence by sequence. They are part of a checkpoint, so that a
// mission that was stopped and continued leaves the same bytes as one that never was.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "skein/simulation/mission_tables.h"
#include "skein/simulation/records.h"
#include "skein/world/state.h"
#include "skein/world/world.h"

namespace skein {

// The mission in a few numbers.
struct Headline {
  double duration_s = 0.0;
  double mean_accuracy = 0.0;   // of clusters' models on their data, averaged over clusters and time
  double worst_accuracy = 0.0;  // of the cluster with the least, averaged over time
  double last_accuracy = 0.0;   // over clusters, at the end
  std::optional<double> oracle_accuracy{};  // as mean_accuracy, of an oracle's models, if there was one
  double mean_age = 0.0;  // sequences since a cluster was visited, averaged over clusters and sequences
  double energy_j = 0.0;  // of UAVs and devices
  std::map<std::string, double> energy_by_kind_j{};
  HoveringRecord hovering{};  // by why
  double recharged_j = 0.0;
  std::size_t recharges = 0;
  std::size_t visits = 0;       // that left a model
  std::size_t idle_visits = 0;  // in vain: nobody could train
  double distance_m = 0.0;
  double data_bits = 0.0;
  double model_bits = 0.0;
  double mean_reward = 0.0;
  std::size_t below_threshold = 0;
  double shortfall_j = 0.0;
  std::size_t sequences = 0;
  std::size_t messages = 0;  // of the protocol
  std::size_t refused_messages = 0;
  std::size_t faults = 0;
  std::size_t rejected_updates = 0;
  std::size_t unreachable_updates = 0;  // swarms' rounds without an access point
};

class MissionRecorder {
 public:
  // The world must outlive it.
  explicit MissionRecorder(const World& world);

  void record(const SequenceRecord& record, const State& state);

  // File name and content: sequences.csv, clusters.csv, swarms.csv, energy.csv, events.jsonl,
  // trajectory.geojson, and an event file for TensorBoard.
  [[nodiscard]] std::map<std::string, std::string> files() const;
  [[nodiscard]] Headline headline(const State& state) const;

  [[nodiscard]] std::string save() const;
  void restore(const std::string& bytes);

 private:
  // The files that grow.
  struct Texts {
    MissionTables tables{};
    std::string events, tensorboard;
  };
  struct Leg {
    double start_s = 0.0, arrival_s = 0.0, finished_s = 0.0;
    std::uint64_t sequence = 0, swarm = 0, from = 0, to = 0;
  };
  // For the headline.
  struct Sums {
    std::vector<double> accuracy_seconds{};  // of each cluster
    std::vector<double> last_accuracy{};
    double oracle_seconds = -1.0;  // mean over clusters; below 0: no oracle
    double age = 0.0, reward = 0.0, distance_m = 0.0, data_bits = 0.0, model_bits = 0.0, shortfall_j = 0.0;
    std::uint64_t sequences = 0, recharges = 0, visits = 0, idle_visits = 0, below_threshold = 0,
                  messages = 0, refused_messages = 0, faults = 0, rejected_updates = 0,
                  unreachable_updates = 0;
    HoveringRecord hovering{};
  };
  template <class Recorder, class Visit>
  static void each_field(Recorder& recorder, const Visit& visit);

  void add_clusters(const SequenceRecord& record);
  void add_swarms(const SequenceRecord& record);

  const World& world_;
  Texts texts_;
  std::vector<Leg> legs_;
  Sums sums_;
};

}  // namespace skein
