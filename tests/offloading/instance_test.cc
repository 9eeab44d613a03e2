#include "skein/offloading/instance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "skein/base/file.h"
#include "skein/offloading/instance_json.h"
#include "tests/offloading/random_instance.h"

namespace skein {
namespace {

using Json = nlohmann::json;

Table<double> table_of(const Json& rows, std::size_t columns) {
  Table<double> table(rows.size(), columns);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      table(i, j) = rows[i][j].get<double>();
    }
  }
  return table;
}

void expect_near(const std::vector<double>& values, const Json& expected, const std::string& what) {
  ASSERT_EQ(values.size(), expected.size()) << what;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double wanted = expected[i].get<double>();
    EXPECT_NEAR(values[i], wanted, 1e-12 * std::abs(wanted)) << what << " " << i;
  }
}

// tests/reference/offloading_reference.py evaluates the same decisions with exact fractions.
TEST(Instance, EvaluationAgreesWithAnotherOne) {
  std::map<std::string, OffloadingInstance> instances;
  for (const NamedInstance& named :
       read_instances(SKEIN_SOURCE_DIR "/tests/reference/offloading_instances.jsonl")) {
    instances[named.instance.name] = named.instance;
  }
  const Json cases = Json::parse(
      read_file(SKEIN_SOURCE_DIR "/tests/reference/offloading_reference.json", std::size_t{1} << 24U));
  ASSERT_GE(cases.size(), 40U);
  for (const Json& one : cases) {
    const std::string name = one["name"];
    SCOPED_TRACE(name);
    const OffloadingInstance& p = instances.at(name);
    OffloadDecision x;
    x.rho = table_of(one["decision"]["rho"], p.num_uavs());
    x.varrho = table_of(one["decision"]["varrho"], p.num_workers());
    x.alpha = one["decision"]["alpha"].get<std::vector<std::array<double, 3>>>();
    x.clock = one["decision"]["g"].get<std::vector<double>>();
    const OffloadEvaluation e = evaluate(p, x);
    const Json& expected = one["evaluation"];
    const auto near = [&](double value, const char* key) {
      const double wanted = expected[key].get<double>();
      EXPECT_NEAR(value, wanted, 1e-12 * (1.0 + std::abs(wanted))) << key;
    };
    near(e.objective, "objective");
    near(e.learning, "learning");
    near(e.device_energy, "device_energy");
    near(e.relay_energy, "relay_energy");
    near(e.processing_energy, "processing_energy");
    near(e.violation, "violation");
    expect_near(e.data, expected["data"], "data");
    expect_near(e.gathering_time, expected["gathering_time"], "gathering time");
    expect_near(e.processing_time, expected["processing_time"], "processing time");
    expect_near(e.uav_energy, expected["uav_energy"], "energy");
    const std::map<LimitKind, std::string> kinds{{LimitKind::device_share, "device_share"},
                                                 {LimitKind::relay_share, "relay_share"},
                                                 {LimitKind::buffer, "buffer"},
                                                 {LimitKind::time, "time"},
                                                 {LimitKind::energy, "energy"}};
    for (const LimitUse& use : e.limits) {
      const double wanted = expected["uses"][kinds.at(use.kind)][use.index].get<double>();
      EXPECT_NEAR(use.used, wanted, 1e-12 * (1.0 + wanted));
    }
  }
}

TEST(Instance, FaultsAreFoundTogether) {
  OffloadingInstance p = random_instance(1);
  EXPECT_THAT(faults_of(p), testing::IsEmpty());
  p.learning_weight = 1.5;
  p.device_power.pop_back();
  p.cycles[0] = std::nan("");
  p.most_clock[0] = 0.5 * p.least_clock[0];
  EXPECT_EQ(faults_of(p).size(), 4U);
}

TEST(Instance, ALineOfJsonIsTheSameInstance) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    OffloadingInstance p = random_instance(seed);
    // The form has one range of clocks for all workers.
    std::ranges::fill(p.most_clock, p.most_clock.front());
    const std::string line = instance_line(p);
    const std::vector<NamedInstance> read = parse_instances(line + "\n", "file");
    ASSERT_EQ(read.size(), 1U);
    EXPECT_EQ(instance_line(read[0].instance), line);
  }
}

TEST(Instance, WrongLinesAreAllReported) {
  const std::string good = instance_line(random_instance(2));
  Json bad = Json::parse(good);
  bad.erase("buffer");
  bad["device_data"] = "many";
  try {
    parse_instances(good + "\nnot json\n" + bad.dump() + "\n", "file");
    FAIL() << "read";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("line 2"));
    EXPECT_THAT(error.what(), testing::HasSubstr("line 3: buffer"));
    EXPECT_THAT(error.what(), testing::HasSubstr("line 3: device_data"));
  }
}

TEST(Instance, FewerUavsAndBackAgain) {
  const OffloadingInstance p =
      random_instance(5, {.least_devices = 4, .least_workers = 3, .most_coordinators = 3});
  const std::vector<std::size_t> workers{2, 0};
  const std::vector<std::size_t> coordinators = all_indices(p.num_coordinators());
  const OffloadingInstance q = with_workers(p, workers);
  EXPECT_THAT(faults_of(q), testing::IsEmpty());
  EXPECT_EQ(q.device_rate(3, 0), p.device_rate(3, 2));
  EXPECT_EQ(q.energy_budget[1], p.energy_budget[0]);
  OffloadDecision x;
  x.rho = Table<double>(q.num_devices(), q.num_uavs());
  x.varrho = Table<double>(q.num_coordinators(), q.num_workers());
  std::ranges::fill(x.rho.values, 0.1);
  std::ranges::fill(x.varrho.values, 0.3);
  x.alpha.assign(2, {0.2, 0.4, 0.6});
  x.clock = q.most_clock;
  const OffloadEvaluation few = evaluate(q, x);
  const OffloadEvaluation all = evaluate(p, among_all_uavs(p, workers, all_indices(p.num_coordinators()), x));
  EXPECT_NEAR(few.objective, all.objective, 1e-12 * few.objective);
  EXPECT_EQ(all.data[1], 0.0);
  EXPECT_EQ(among_all_uavs(p, workers, coordinators, x).varrho.values,
            among_all_uavs(p, workers, all_indices(p.num_coordinators()), x).varrho.values);
}

}  // namespace
}  // namespace skein
