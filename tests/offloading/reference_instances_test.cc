// The reference instances, with the best values that several methods have found
// (tests/reference/offloading_instances.jsonl).

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "skein/base/file.h"
#include "skein/offloading/condensed_offloader.h"
#include "skein/offloading/condensed_program.h"
#include "skein/offloading/instance_json.h"
#include "skein/offloading/newton_offloader.h"
#include "skein/offloading/worker_selection.h"

namespace skein {
namespace {

std::vector<NamedInstance> reference_instances() {
  return read_instances(SKEIN_SOURCE_DIR "/tests/reference/offloading_instances.jsonl");
}

TEST(ReferenceInstances, AllSolvedWithACertificateNearTheBestKnown) {
  const NewtonOffloader offloader;
  double sum = 0.0;
  const std::vector<NamedInstance> instances = reference_instances();
  ASSERT_EQ(instances.size(), 37U);
  for (const NamedInstance& named : instances) {
    const OffloadingInstance& instance = named.instance;
    SCOPED_TRACE(instance.name);
    const OffloadResult result = offloader.solve({&instance, 1}, nullptr);
    ASSERT_EQ(result.status, OffloadStatus::solved);
    EXPECT_LE(result.certificate.kkt_residual, 1e-6);
    EXPECT_LE(result.certificate.violation, 1e-9);
    EXPECT_LE(evaluate(instance, result.decisions.front()).violation, 1e-9);
    EXPECT_GE(result.certificate.least_reduced_cost, -1e-6);
    EXPECT_LE(result.certificate.complementarity, 1e-6);
    const double gap = result.objective() / named.best_known.value() - 1.0;
    EXPECT_LE(gap, 0.03);
    sum += gap;
  }
  EXPECT_LE(sum / static_cast<double>(instances.size()), 0.001);
}

// The study saw 14.6 to 22.0 % for its seeds and weights; here over weights from 0.01 to 0.99.
TEST(ReferenceInstances, LeavingWorkersOutLowersTheOptimum) {
  double sum = 0.0;
  double count = 0.0;
  for (const NamedInstance& named : reference_instances()) {
    const OffloadingInstance& instance = named.instance;
    if (instance.num_devices() > 10) {
      continue;
    }
    const OffloadResult all = NewtonOffloader().solve({&instance, 1}, nullptr);
    const OffloadResult chosen = WorkerSelection().solve({&instance, 1}, nullptr);
    ASSERT_EQ(chosen.status, OffloadStatus::solved) << instance.name;
    EXPECT_LE(chosen.objective(), all.objective() * (1.0 + 1e-6)) << instance.name;
    EXPECT_LE(evaluate(instance, chosen.decisions.front()).violation, 1e-9) << instance.name;
    sum += 1.0 - chosen.objective() / all.objective();
    count += 1.0;
  }
  EXPECT_GT(sum / count, 0.15);
  EXPECT_LT(sum / count, 0.22);
}

// The first condensed programs, solved by cvxopt in another formulation (tests/reference/gp_reference.py).
TEST(ReferenceInstances, CondensedProgramsAgreeWithCvxopt) {
  std::map<std::string, OffloadingInstance> instances;
  for (const NamedInstance& named : reference_instances()) {
    instances[named.instance.name] = named.instance;
  }
  const nlohmann::json reference = nlohmann::json::parse(
      read_file(SKEIN_SOURCE_DIR "/tests/reference/gp_reference.json", std::size_t{1} << 24U));
  ASSERT_GE(reference["condensed"].size(), 5U);
  for (const nlohmann::json& one : reference["condensed"]) {
    const OffloadingInstance& p = instances.at(one["name"].get<std::string>());
    OffloadDecision x;
    x.rho = Table<double>(p.num_devices(), p.num_uavs());
    x.varrho = Table<double>(p.num_coordinators(), p.num_workers());
    std::ranges::fill(x.rho.values, 0.5 / static_cast<double>(p.num_uavs()));
    std::ranges::fill(x.varrho.values, 0.9 / static_cast<double>(p.num_workers()));
    x.alpha.assign(p.num_workers(), {0.6, 0.6, 0.6});
    for (std::size_t j = 0; j < p.num_workers(); ++j) {
      x.clock.push_back(std::sqrt(p.least_clock[j] * p.most_clock[j]));
    }
    CondensedProgram condensed(p, 1e-6);
    condensed.condense_at(condensed.point_of(x));
    const gp::Solution solution = gp::solve(condensed.program());
    ASSERT_EQ(solution.status, gp::Status::solved) << p.name;
    EXPECT_NEAR(std::log(solution.objective), one["log_optimum"].get<double>(), 1e-6) << p.name;
  }
}

}  // namespace
}  // namespace skein
