// Solves the leader's problem P for one swarm above a cluster: who sends which data where, how large the
// mini-batches are and how fast processors run, so that learning gets on and little energy is spent. By the
// optimum and by a baseline: offloading_problem scenarios/paper/offloading-published.toml [LEARNING_WEIGHT]
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "skein/mission/build.h"
#include "skein/offloading/certificate.h"
#include "skein/offloading/offloaders.h"
#include "skein/offloading/swarm_problem.h"
#include "skein/scenario/scenario.h"

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s SCENARIO [LEARNING_WEIGHT]\n", argv[0]);
    return 2;
  }
  skein::Scenario scenario = skein::load_scenario(argv[1]);
  if (argc > 2) {
    scenario.offloading.learning_weight = std::atof(argv[2]);
  }
  skein::ThreadPool pool(0);
  const skein::World world = skein::build_world(scenario, pool);
  const std::size_t swarm = 0;
  const std::size_t cluster = world.swarms[swarm].start_cluster;

  const skein::SwarmProblems problems(skein::problem_setting(scenario), world);
  const skein::OffloadingProblem problem =
      problems.problem(skein::offloading_site(scenario.learning, swarm, cluster),
                       skein::initial_device_data(scenario, world, cluster), skein::full_batteries(world));

  for (const char* method : {"newton", "greedy"}) {
    const std::unique_ptr<skein::Offloader> offloader = skein::build_offloader(method);
    const skein::OffloadResult result = problems.solve(*offloader, problem);
    if (result.status == skein::OffloadStatus::infeasible) {
      std::printf("%s: infeasible: %s\n", method, result.culprit.c_str());
      continue;
    }
    const skein::OffloadDecision& decision = result.decisions.front();  // of the first local round
    const skein::OffloadEvaluation& outcome = result.evaluations.front();
    std::printf("%s: objective %.4f, energy %.3f J, KKT residual %.1e\n", method, result.objective(),
                outcome.energy(), result.certificate.kkt_residual);
    for (std::size_t worker = 0; worker < decision.clock.size(); ++worker) {
      std::printf("  worker %zu: gets %6.1f points in %.2f s, mini-batches of %6.1f, %6.1f MHz, %.2f s\n",
                  worker + 1, outcome.data[worker], outcome.gathering_time[worker], outcome.processed[worker],
                  decision.clock[worker] / 1e6, outcome.processing_time[worker]);
    }
    for (const skein::LimitUse& limit : result.certificate.binding) {
      std::printf("  binds: %s\n", skein::limit_name(limit.kind, limit.index, decision.clock.size()).c_str());
    }
  }
}
