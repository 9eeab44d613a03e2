// One mission over several processes. The first has the core network, the planner and all devices' data; it
// sends tasks, and the data of clusters to those who lack it, and takes updates. The models that clusters
// have been handed are spread: each is in the process that scores it. The others remember nothing else from
// one training sequence to the next, and a checkpoint has all models, so a mission goes on with any number of
// them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "skein/base/crew.h"
#include "skein/simulation/field.h"
#include "skein/simulation/fleet.h"

namespace skein {

// Who does which task: heavy ones first, each to the process with the least to do so far. Indices of tasks
// for each process, ascending.
std::vector<std::vector<std::size_t>> balance(std::span<const double> loads, std::size_t num_processes);

// How one process has fared.
struct RankReport {
  double busy_s = 0.0;       // at tasks, scores and gradients
  double waiting_s = 0.0;    // for messages
  double processor_s = 0.0;  // of all its threads, from its start
  double peak_memory_bytes = 0.0;
};

struct MissionTraffic {
  std::uint64_t messages = 0;  // in both directions, of the first process
  std::uint64_t bytes = 0;
  std::vector<RankReport> ranks{};  // once it is finished
};

class MissionRanks {
 public:
  // This process's own field and fleet. What is given must outlive it.
  MissionRanks(Crew& crew, Field& field, Fleet& fleet);
  ~MissionRanks();
  MissionRanks(const MissionRanks&) = delete;
  MissionRanks& operator=(const MissionRanks&) = delete;
  MissionRanks(MissionRanks&&) = delete;
  MissionRanks& operator=(MissionRanks&&) = delete;

  // For the core network, at the first process.
  [[nodiscard]] Field& field();
  [[nodiscard]] Fleet& fleet();
  // Ends serve() of the others.
  void finish();
  [[nodiscard]] const MissionTraffic& traffic() const { return traffic_; }

  // At the others: does what the first asks for, until that is all.
  void serve();

 private:
  enum class Request : std::uint8_t {
    finish,
    run,
    personalise,
    scores,
    gradients,
    hand_over,
    changes,
    reports,
    handed,
    restore
  };
  using Items = std::vector<std::size_t>;
  class SharedField;
  class SharedFleet;

  // The beginning of a request: what it is, and data of clusters that the process lacks.
  ByteWriter begin(Request request, std::size_t rank, std::span<const std::size_t> clusters);
  void send(std::size_t rank, std::string bytes);
  std::string receive(std::size_t rank);
  [[nodiscard]] RankReport report() const;
  std::vector<LeaderUpdate> run(std::span<const LeaderTask> tasks);
  std::vector<Model> personalise(std::span<const LeaderTask> tasks);
  [[nodiscard]] std::size_t home_of(std::size_t cluster) const { return cluster % crew_.size(); }
  // Something of each model, at the homes of their clusters: own(models) for this process; sent(i) when the
  // i-th is on its way.
  template <class Result, class Own>
  std::vector<Result> at_homes(
      Request request, std::span<const ClusterModel> models, const Own& own,
      const std::function<void(std::size_t)>& sent = [](std::size_t) {});
  std::vector<double> hand_over(std::span<const std::size_t> clusters, std::vector<Model> models);
  [[nodiscard]] HandedModel handed(std::size_t cluster);
  void restore(std::size_t cluster, HandedModel handed);
  // A message for each task, so that nobody has all of them twice; or one, of a divergence.
  std::vector<std::string> answer_tasks(Request request, const std::vector<LeaderTask>& tasks);
  std::string answer(Request request, ByteCursor& bytes);

  Crew& crew_;
  Field& own_field_;
  Fleet& own_fleet_;
  std::unique_ptr<SharedField> field_;
  std::unique_ptr<SharedFleet> fleet_;
  std::map<std::size_t, double> loads_;       // s, of each swarm's last task
  std::map<std::size_t, std::size_t> hosts_;  // the process that had each swarm in the last round
  // [process][cluster]: one more than the sequence of the cluster's data that it has.
  std::vector<std::map<std::size_t, std::size_t>> known_;
  double busy_s_ = 0.0;
  double waiting_s_ = 0.0;
  MissionTraffic traffic_;
};

}  // namespace skein
