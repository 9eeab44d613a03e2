// Solved configurations: what training costs and brings, for each timing, swarm and cluster (appendix A of
// the paper stores them before the planner is trained). The offloader fills them, or a file.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "skein/base/input_fault.h"
#include "skein/planning/plan.h"

namespace skein {

struct SolvedEntry {
  double objective = 0.0;
  double training_energy_j = 0.0;
};

// What is known of an entry before it is solved.
struct EntryBounds {
  double least_objective = 0.0;
  double least_training_j = 0.0;
  double most_training_j = 0.0;
};

// Entries that are solved when they are first asked for: the same numbers whatever was asked before, by any
// thread. An index is that of SolvedTables.
class EntrySource {
 public:
  EntrySource() = default;
  virtual ~EntrySource() = default;
  EntrySource(const EntrySource&) = delete;
  EntrySource& operator=(const EntrySource&) = delete;
  EntrySource(EntrySource&&) = delete;
  EntrySource& operator=(EntrySource&&) = delete;

  [[nodiscard]] virtual SolvedEntry entry(std::size_t index) const = 0;
  [[nodiscard]] virtual EntryBounds bounds(std::size_t index) const = 0;
  // They will be asked for: solves them side by side.
  virtual void prepare(std::span<const std::size_t> indices) const = 0;
};

struct SolvedTables {
  std::size_t num_swarms = 0;
  std::size_t num_clusters = 0;
  std::vector<Timing> timings;
  std::vector<double> objective;                // O: timing x swarm x cluster
  std::vector<double> training_energy_j;        // of the swarm's UAV with the least battery; likewise
  std::shared_ptr<const EntrySource> source{};  // where the two lists are empty: what they would have

  [[nodiscard]] std::size_t index(std::size_t timing, std::size_t swarm, std::size_t cluster) const {
    return (timing * num_swarms + swarm) * num_clusters + cluster;
  }
  [[nodiscard]] std::size_t size() const { return timings.size() * num_swarms * num_clusters; }
  [[nodiscard]] double objective_at(std::size_t index) const {
    return source ? source->entry(index).objective : objective[index];
  }
  [[nodiscard]] double training_j_at(std::size_t index) const {
    return source ? source->entry(index).training_energy_j : training_energy_j[index];
  }
  [[nodiscard]] EntryBounds bounds_at(std::size_t index) const {
    return source ? source->bounds(index)
                  : EntryBounds{objective[index], training_energy_j[index], training_energy_j[index]};
  }
  void prepare(std::span<const std::size_t> indices) const {
    if (source) {
      source->prepare(indices);
    }
  }
};

// With every entry solved.
SolvedTables complete(SolvedTables tables);

// The timing that is best on the average; where entries are solved on demand, by what they have at least.
std::size_t usual_timing(const SolvedTables& tables);

// Under keys "timings", "objective", "training_energy_j".
std::vector<InputFault> faults_of(const SolvedTables& tables);

// Between the solved timings, linear in each of T_s, tau_L and tau_G. Nothing outside of them, or where the
// timings are not a full grid.
std::optional<SolvedEntry> interpolated(const SolvedTables& tables, const Timing& timing, std::size_t swarm,
                                        std::size_t cluster);

// All combinations, durations outermost.
std::vector<Timing> timing_grid(const std::vector<double>& durations,
                                const std::vector<double>& local_periods,
                                const std::vector<double>& global_periods);

// A closed form, for a first try without solved configurations: longer training improves the model with
// diminishing returns, aggregating less often costs model quality and saves energy. `load` scales the energy
// of each swarm. Its size is that of the published tables (O 148 to 320, 78 to 153 J).
//   O = 2400 / sqrt(T_s) + 25 (tau_L tau_G - 1) + E / 2
//   E = load (T_s / 4 + 0.3 T_s / tau_L) J
SolvedTables closed_form_tables(const std::vector<Timing>& timings, const std::vector<double>& loads,
                                std::size_t num_clusters);

}  // namespace skein
