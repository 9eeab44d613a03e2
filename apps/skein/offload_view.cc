#include "offload_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "skein/offloading/certificate.h"
#include "text_table.h"

namespace skein::app {
namespace {

std::string name_of(const LimitUse& use, const OffloadingProblem& problem) {
  return limit_name(use.kind, use.index, problem.rounds.front().num_workers());
}

std::string percent(double share) {
  if (share == 0.0) {
    return ".";
  }
  return share < 0.0005 ? "<0.05" : fmt::format("{:.1f}", 100.0 * share);
}

std::string uav_name(std::size_t u, std::size_t workers) {
  return u < workers ? fmt::format("W{}", u + 1) : fmt::format("C{}", u - workers + 1);
}

void print_decision(const OffloadingProblem& problem, const TimedOffload& timed, std::size_t round) {
  const OffloadingInstance& p = problem.rounds[round];
  const OffloadResult& result = timed.result;
  const OffloadDecision& x = result.decisions[round];
  const OffloadEvaluation& e = result.evaluations[round];
  const std::size_t workers = p.num_workers();
  constexpr std::size_t most_rows = 20;
  {
    std::vector<std::string> headers{"<from", "points"};
    for (std::size_t u = 0; u < p.num_uavs(); ++u) {
      headers.push_back(fmt::format("to {} (%)", uav_name(u, workers)));
    }
    TextTable table(headers);
    for (std::size_t i = 0; i < std::min(p.num_devices(), most_rows); ++i) {
      std::vector<std::string> row{fmt::format("device {}", i + 1), fmt::format("{:.0f}", p.device_data[i])};
      for (std::size_t u = 0; u < p.num_uavs(); ++u) {
        row.push_back(percent(x.rho(i, u)));
      }
      table.add(row);
    }
    for (std::size_t h = 0; h < p.num_coordinators(); ++h) {
      std::vector<std::string> row{fmt::format("coordinator C{}", h + 1),
                                   fmt::format("{:.0f}", e.data[workers + h])};
      for (std::size_t u = 0; u < p.num_uavs(); ++u) {
        row.push_back(u < workers ? percent(x.varrho(h, u)) : "");
      }
      table.add(row);
    }
    fmt::print("{}{}\n", table.text(),
               p.num_devices() > most_rows
                   ? fmt::format("  and {} more devices\n", p.num_devices() - most_rows)
                   : "");
  }
  TextTable table({"<UAV", "points", "batch ratios", "processed", "clock (MHz)", "gathering (s)",
                   "processing (s)", "energy (J)"});
  for (std::size_t u = 0; u < p.num_uavs(); ++u) {
    const bool used = u < workers && e.processed[u] > 0.0;
    table.add(
        {uav_name(u, workers), fmt::format("{:.1f}", e.data[u]),
         used ? fmt::format("{:.3g} {:.3g} {:.3g}", x.alpha[u][0], x.alpha[u][1], x.alpha[u][2])
              : (u < workers ? "not used" : ""),
         used ? fmt::format("{:.1f}", e.processed[u]) : "",
         used ? fmt::format("{:.1f}", x.clock[u] / 1e6) : "", fmt::format("{:.3f}", e.gathering_time[u]),
         used ? fmt::format("{:.3f}", e.processing_time[u]) : "", fmt::format("{:.4g}", e.uav_energy[u])});
  }
  fmt::print("{}\n", table.text());
}

}  // namespace

void print(const OffloadingProblem& problem, const TimedOffload& timed) {
  const OffloadResult& result = timed.result;
  fmt::print("{}\n", problem.rounds.front().name);
  if (result.status == OffloadStatus::infeasible) {
    fmt::print("  infeasible: {}\n\n", result.culprit);
    return;
  }
  print_decision(problem, timed, 0);
  if (result.decisions.size() > 1) {
    const std::size_t more = result.decisions.size() - 1;
    fmt::print("  and {} more local round{}: see decision.json\n", more, more > 1 ? "s" : "");
  }
  double device = 0.0;
  double relay = 0.0;
  double processing = 0.0;
  for (const OffloadEvaluation& e : result.evaluations) {
    device += e.device_energy;
    relay += e.relay_energy;
    processing += e.processing_energy;
  }
  if (const OffloadEvaluation& first = result.evaluations.front(); first.hovering_energy > 0.0) {
    fmt::print("  the first round lasts {:.4g} s; hovering takes {:.4g} J of it\n", first.round_time,
               first.hovering_energy);
  }
  const OffloadCertificate& c = result.certificate;
  fmt::print(
      "  objective {:.6g}; energy {:.4g} J: devices {:.4g}, relays {:.4g}, processing {:.4g}\n"
      "  {}, {} Newton steps, {:.1f} ms\n"
      "  KKT residual {:.1e}, violation {:.1e}, complementarity {:.1e}, least reduced cost {:.1e}\n",
      result.objective(), device + relay + processing, device, relay, processing, name_of(result.status),
      result.iterations, timed.milliseconds, c.kkt_residual, std::max(0.0, c.violation), c.complementarity,
      c.least_reduced_cost);
  if (!c.binding.empty()) {
    std::string list;
    constexpr std::size_t most = 8;
    for (std::size_t i = 0; i < std::min(c.binding.size(), most); ++i) {
      list += (i > 0 ? ", " : "") + name_of(c.binding[i], problem);
    }
    fmt::print("  binds: {}{}\n", list,
               c.binding.size() > most ? fmt::format(" and {} more", c.binding.size() - most) : "");
  }
  fmt::print("\n");
}

}  // namespace skein::app
