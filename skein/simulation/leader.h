// A leader: the UAV that orchestrates its swarm (the paper, sections III and IV).
//
// It takes a task of one global round, decides by problem P who sends which data where and who processes it
// how fast, has the cluster's devices send that data, round after round, has its workers train on it, and
// answers with the swarm's model and what all of it has cost. Afterwards it still has its workers' data, to
// make a model the swarm's own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "skein/learning/trainer.h"
#include "skein/offloading/offloader.h"
#include "skein/offloading/swarm_problem.h"
#include "skein/simulation/field.h"
#include "skein/simulation/fleet.h"
#include "skein/world/gathering.h"
#include "skein/world/links.h"
#include "skein/world/world.h"

namespace skein {

// What all leaders have in common, and must outlive them.
struct LeaderSetup {
  const World* world = nullptr;
  Field* field = nullptr;
  const SwarmProblems* problems = nullptr;
  const Offloader* offloader = nullptr;
};

// Of so many points of a worker, those that it keeps for personalisation by a share of the newest.
std::size_t kept_points(double share, std::size_t points);
// The steps of personalisation on kept points, in local iterations that process so many.
double personal_iterations(const LearningOptions& learning, double processed, std::size_t points);

class Leader {
 public:
  // Decides for all of the task's local rounds.
  Leader(const LeaderSetup& setup, LeaderTask task);

  [[nodiscard]] std::size_t swarm() const { return task_.swarm; }
  [[nodiscard]] std::size_t num_local_rounds() const { return task_.global_period; }

  // The next local round: devices send their data. What the workers are to do with it; nothing if nobody has
  // any.
  [[nodiscard]] std::optional<SwarmTask> gather();
  // What has come of it, after so many seconds of computing; the workers keep their data.
  void learn(SwarmUpdate trained, std::vector<WorkerTask> workers, double seconds);
  // After the last local round, once.
  [[nodiscard]] LeaderUpdate report();

  // What the workers are to do to make this task's model the swarm's own; nothing if they have no data.
  [[nodiscard]] std::optional<SwarmTask> personalisation(const LeaderTask& task) const;

 private:
  // Data of one local round: who holds what, and what was sent.
  struct Gathered {
    std::vector<std::vector<DataPoint>> workers;
    Gathering transfers;                            // for times, and for energies below
    std::vector<std::vector<DataShare>> by_device;  // [device of the cluster]
    std::vector<double> device_flow, relay_flow;    // points
    std::uint64_t points_sent = 0;
    double bits = 0.0;
  };

  [[nodiscard]] const Swarm& members() const { return setup_.world->swarms[task_.swarm]; }
  [[nodiscard]] const IndexRange& devices() const { return setup_.world->clusters[task_.cluster].devices; }
  [[nodiscard]] bool is_silent(std::size_t device) const;
  [[nodiscard]] std::vector<double> device_data() const;
  [[nodiscard]] OffloadingSite site() const;
  [[nodiscard]] OffloadResult decide();
  [[nodiscard]] Gathered nothing_sent() const;
  [[nodiscard]] Gathered collect(const OffloadDecision& decision) const;
  // What its coordinators hold goes on to the workers.
  void relay(const OffloadDecision& decision, std::vector<std::vector<DataPoint>> held, std::uint64_t round,
             Gathered& gathered) const;
  // Energies and time of the round, as it was carried out.
  void book(const OffloadDecision& decision, const Gathered& gathered);
  void book_workers(const OffloadDecision& decision, const Gathered& gathered);
  void use(bool is_device, std::size_t index, EnergyKind kind, Energy energy);
  [[nodiscard]] OffloadSummary summary(Gathered& gathered) const;
  [[nodiscard]] SwarmTask training(const OffloadDecision& decision, const Gathered& gathered);
  // Of what the workers hold, so much of the newest as models are made the swarm's own with.
  void keep_newest();
  [[nodiscard]] std::vector<double> personal_iterations() const;

  LeaderSetup setup_;
  LeaderTask task_;
  OffloadResult decisions_;
  SwarmLinks links_;
  std::size_t round_ = 0;  // local rounds that were gathered for
  bool data_stays_ = false;
  std::vector<std::vector<DataPoint>> points_;  // at each worker, where data stays
  LeaderUpdate update_;
  std::vector<WorkerTask> held_;  // by the workers, after the last local round in which they trained
};

}  // namespace skein
