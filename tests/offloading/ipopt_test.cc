// Ipopt as an oracle: it solves the same programs by a method and with a linear solver of its own.

#include <gtest/gtest.h>

#include <cmath>

#include "skein/offloading/condensed_offloader.h"
#include "skein/offloading/direct_program.h"
#include "skein/offloading/instance_json.h"
#include "skein/offloading/newton_offloader.h"
#include "tests/offloading/random_instance.h"
#ifdef SKEIN_HAS_IPOPT
#include "ipopt_peer.h"
#endif

namespace skein {
namespace {

#ifdef SKEIN_HAS_IPOPT

TEST(Ipopt, FindsTheSameOptimaOfGeometricPrograms) {
  std::size_t compared = 0;
  for (const NamedInstance& named :
       read_instances(SKEIN_SOURCE_DIR "/tests/reference/offloading_instances.jsonl")) {
    const OffloadingInstance& p = named.instance;
    if (p.num_devices() > 50) {
      continue;
    }
    CondensedProgram condensed(p, 1e-6);
    const std::vector<double> point = condensed.point_of(feasible_start(p, {}, 1.0, {}));
    condensed.condense_at(point);
    gp::Solver solver(condensed.program());
    const gp::Solution ours = solver.solve_from(point, {.tolerance = 1e-8});
    const IpoptResult theirs = solve_with_ipopt(condensed.program(), point, 1e-9);
    ASSERT_EQ(ours.status, gp::Status::solved) << p.name;
    ASSERT_TRUE(theirs.solved) << p.name;
    EXPECT_NEAR(std::log(ours.objective), std::log(theirs.objective), 1e-6) << p.name;
    ++compared;
  }
  EXPECT_GE(compared, 30U);
}

// Random instances, some with limits that leave nothing. Where there is a decision, ours is not worse than
// what Ipopt finds from one start.
TEST(Ipopt, AgreesWithTheVerdicts) {
  std::size_t solved = 0;
  std::size_t infeasible = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const OffloadingInstance p = random_instance(seed, {.impossible = 0.2});
    const OffloadResult ours = NewtonOffloader().solve({&p, 1}, nullptr);
    if (ours.status == OffloadStatus::infeasible) {
      EXPECT_TRUE(is_impossible(p)) << seed << " " << ours.culprit;
      ++infeasible;
      continue;
    }
    ASSERT_EQ(ours.status, OffloadStatus::solved) << seed;
    DirectProgram program({&p, 1}, {});
    const OffloadDecision start = feasible_start(p, {}, 1.0, {});
    const double scale = evaluate(p, start).objective;
    program.set_scale(scale);
    const IpoptResult theirs = solve_with_ipopt(program, program.point_of({&start, 1}), 1e-8);
    if (theirs.solved) {
      EXPECT_LE(ours.objective(), 1.001 * theirs.objective * scale) << seed;
      ++solved;
    }
  }
  EXPECT_GE(solved, 15U);
  EXPECT_GE(infeasible, 3U);
}

#else

TEST(Ipopt, FindsTheSameOptimaOfGeometricPrograms) {
  GTEST_SKIP() << "Ipopt is not here (coinor-libipopt-dev)";
}
TEST(Ipopt, AgreesWithTheVerdicts) { GTEST_SKIP() << "Ipopt is not here (coinor-libipopt-dev)"; }

#endif

}  // namespace
}  // namespace skein
