// What a visit costs by the decision of its rounds: the times and energies that a mission books for it.

#include <algorithm>
#include <cmath>
#include <numeric>

#include "skein/mission/visit_solver.h"
#include "skein/protocol/signalling.h"
#include "skein/simulation/leader.h"
#include "skein/world/energy.h"

namespace skein {
namespace {

// Points are sent whole.
bool has_work(double points) { return points >= 0.5; }

class VisitBook {
 public:
  VisitBook(const SwarmProblems& problems, const Visit& visit, const OffloadResult& result)
      : problems_(problems),
        world_(problems.world()),
        swarm_(world_.swarms[visit.swarm]),
        visit_(visit),
        links_(visit.problem.links),
        decision_(result.decisions.front()),
        evaluation_(result.evaluations.front()),
        leader_(world_.uavs[swarm_.leader]),
        model_(problems.sizes().model) {
    find_times();
  }

  [[nodiscard]] double duration_s() const {
    return training_s_ + global_rounds() * (flight_s_ + exchange_s_) + hand_over_s_;
  }

  [[nodiscard]] double energy_j() const {
    const double local_rounds = visit_.num_rounds();
    double joules = local_rounds * (evaluation_.processing_energy + evaluation_.relay_energy) + leader_j();
    for (std::size_t u = 0; u < evaluation_.data.size(); ++u) {
      joules += hovering_j(u);
    }
    for (std::size_t j = 0; j < workers(); ++j) {
      joules += trains(j) ? (local_rounds + 1.0) * upload_j(j) + personal_j(j) : 0.0;
    }
    return joules;
  }

 private:
  [[nodiscard]] std::size_t workers() const { return swarm_.workers.count; }
  [[nodiscard]] double global_rounds() const {
    return static_cast<double>(visit_.rounds.global_aggregations);
  }
  // Workers first, then coordinators.
  [[nodiscard]] const Uav& uav(std::size_t u) const { return world_.uavs[swarm_.workers.first + u]; }
  [[nodiscard]] bool is_idle(std::size_t u) const {
    return decision_.is_idle(u) || !has_work(evaluation_.data[u]);
  }
  [[nodiscard]] bool trains(std::size_t worker) const {
    return !is_idle(worker) && evaluation_.processed[worker] > 0.0;
  }
  [[nodiscard]] bool rests(std::size_t u) const {
    return is_idle(u) && problems_.setting().waiting == WaitChoice::cheaper;
  }
  [[nodiscard]] double send_s(DataRate rate) const { return transfer_time(model_, rate).si(); }

  void find_times() {
    double upload_s = 0.0;
    double to_trained_s = 0.0;
    double personal_s = 0.0;
    for (std::size_t j = 0; j < workers(); ++j) {
      if (trains(j)) {
        upload_s = std::max(upload_s, send_s(links_.worker_to_leader[j]));
        to_trained_s = std::max(to_trained_s, send_s(links_.leader_to_worker[j]));
        personal_s = std::max(personal_s, evaluation_.processing_time[j] /
                                              static_cast<double>(visit_.local_period) * personal(j));
      }
    }
    const double broadcast_s = broadcast_time(model_, links_.leader_to_worker).si();
    training_s_ = visit_.num_rounds() * (evaluation_.round_time + upload_s + broadcast_s);
    flight_s_ = access_point_time(trips(1)).si();
    exchange_s_ = 2.0 * send_s(links_.leader_to_access_point);
    hand_over_s_ = to_trained_s + personal_s + upload_s + distribution_s();
  }

  // From the leader to those who hand the model over, and on to the devices, all at once.
  [[nodiscard]] double distribution_s() const {
    const Table<DataRate>& rates = links_.device_to_uav;
    double slowest_s = 0.0;
    double relayed_s = 0.0;
    for (std::size_t i = 0; i < rates.rows; ++i) {
      std::size_t best = rates.columns;
      for (std::size_t u = 0; u < rates.columns; ++u) {
        if (!rests(u) && (best == rates.columns || rates(i, u) > rates(i, best))) {
          best = u;
        }
      }
      if (best < rates.columns) {
        const DataRate rate =
            best < workers() ? links_.leader_to_worker[best] : DataRate(SwarmDescription{}.control_rate);
        relayed_s = std::max(relayed_s, send_s(rate));
        slowest_s = std::max(slowest_s, send_s(rates(i, best)));
      }
    }
    return relayed_s + slowest_s;
  }

  // Steps of personalisation, in local iterations.
  [[nodiscard]] double personal(std::size_t worker) const {
    const LearningOptions& learning = problems_.setting().learning;
    const double all = std::accumulate(
        evaluation_.data.begin(), evaluation_.data.begin() + static_cast<std::ptrdiff_t>(workers()), 0.0);
    const auto newest = static_cast<double>(learning.personal_newest * links_.device_to_uav.rows);
    const auto points = static_cast<std::size_t>(std::llround(evaluation_.data[worker]));
    return personal_iterations(learning, evaluation_.processed[worker],
                               newest > 0.0 && newest < all ? kept_points(newest / all, points) : points);
  }

  [[nodiscard]] double upload_j(std::size_t worker) const {
    return model_upload_energy({.model_size = model_, .power = uav(worker).transmit_power},
                               links_.worker_to_leader[worker])
        .si();
  }
  [[nodiscard]] double personal_j(std::size_t worker) const {
    return processing_energy({.cycles_per_datapoint = uav(worker).cycles_per_point,
                              .sampled_ratio = 1.0,
                              .num_datapoints = evaluation_.processed[worker] * personal(worker),
                              .frequency = Frequency(decision_.clock[worker])},
                             uav(worker).capacitance)
        .si();
  }

  [[nodiscard]] AccessPointTrips trips(std::size_t rounds) const {
    return {.num_aggregations = static_cast<int>(rounds),
            .one_way = {.distance = links_.access_point_distance, .speed = leader_.cruise_speed}};
  }

  [[nodiscard]] double leader_j() const {
    const double hovers_s = training_s_ + global_rounds() * exchange_s_ + hand_over_s_;
    // The paper's leader sends nothing to an access point that it has flown to.
    const double sends_s =
        world_.way == WayChoice::decide ? global_rounds() * send_s(links_.leader_to_access_point) : 0.0;
    return (hovering_energy(leader_.propulsion, Time(hovers_s)) +
            access_point_energy(leader_.propulsion, trips(visit_.rounds.global_aggregations)) +
            model_broadcast_energy({.num_aggregations = static_cast<int>(visit_.rounds.local_aggregations),
                                    .model_size = model_,
                                    .power = leader_.transmit_power},
                                   links_.leader_to_worker) +
            leader_.transmit_power * Time(sends_s))
        .si();
  }

  // Of a worker or coordinator, which may land while the leader is away, or because it has nothing to do.
  [[nodiscard]] double hovering_j(std::size_t u) const {
    const Waiter waiter = waiting_of(uav(u), problems_.setting().waiting);
    const double rounds = global_rounds();
    if (rests(u)) {
      const Time round((training_s_ / rounds) + flight_s_ + exchange_s_);
      return landing_pays(waiter, round) ? 0.0 : (waiter.hover * ((rounds - 1.0) * round)).si();
    }
    const Time away(flight_s_ + exchange_s_);
    const Energy waits =
        landing_pays(waiter, away) ? rounds * waiter.takeoff : waiter.hover * (rounds * away);
    return (waiter.hover * Time(training_s_ + hand_over_s_) + waits).si();
  }

  const SwarmProblems& problems_;
  const World& world_;
  const Swarm& swarm_;
  const Visit& visit_;
  const SwarmLinks& links_;
  const OffloadDecision& decision_;
  const OffloadEvaluation& evaluation_;
  const Uav& leader_;
  DataSize model_;
  double training_s_ = 0.0;   // all local rounds: gathering, processing, models to the leader and back
  double flight_s_ = 0.0;     // of the leader in a global round, there and back
  double exchange_s_ = 0.0;   // of models between it and the core network, in a global round
  double hand_over_s_ = 0.0;  // with personalisation
};

}  // namespace

VisitCost visit_cost(const SwarmProblems& problems, const Visit& visit, const OffloadResult& result) {
  const VisitBook book(problems, visit, result);
  const bool predicts = visit.problem.rounds.front().accuracy.has_value();
  return {.possible = true,
          .duration_s = book.duration_s(),
          .energy_j = book.energy_j(),
          .accuracy_loss = predicts ? result.evaluations.front().learning : 0.0};
}

}  // namespace skein
