#include "skein/planning/planner_evaluation.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "skein/base/expect.h"

namespace skein {
namespace {

constexpr std::size_t resamples = 2000;

std::vector<std::vector<double>> drawn_anew(const std::vector<std::vector<double>>& groups,
                                            RandomStream& stream) {
  std::vector<std::vector<double>> drawn;
  for (const std::vector<double>& group : groups) {
    std::vector<double>& values = drawn.emplace_back();
    for (std::size_t i = 0; i < group.size(); ++i) {
      values.push_back(stream.choice(group));
    }
  }
  return drawn;
}

std::vector<double> joined(const std::vector<std::vector<double>>& groups) {
  std::vector<double> all;
  for (const std::vector<double>& group : groups) {
    all.insert(all.end(), group.begin(), group.end());
  }
  return all;
}

Interval with_ends(double value, std::vector<double> samples) {
  std::ranges::sort(samples);
  const auto at = [&](double share) {
    return samples[static_cast<std::size_t>(share * static_cast<double>(samples.size() - 1))];
  };
  return {.value = value, .low = at(0.025), .high = at(0.975)};
}

double share_of_wins(const std::vector<std::vector<double>>& a, const std::vector<std::vector<double>>& b) {
  double sum = 0.0;
  for (std::size_t g = 0; g < a.size(); ++g) {
    double wins = 0.0;
    for (const double x : a[g]) {
      for (const double y : b[g]) {
        wins += x > y ? 1.0 : x == y ? 0.5 : 0.0;
      }
    }
    sum += wins / static_cast<double>(a[g].size() * b[g].size());
  }
  return sum / static_cast<double>(a.size());
}

}  // namespace

std::vector<EpochRecord> fly(const Environment& environment, Planner& planner, std::span<const double> start,
                             std::size_t epochs, std::uint64_t seed) {
  std::vector<double> state(start.begin(), start.end());
  std::vector<EpochRecord> records;
  records.reserve(epochs);
  planner.begin(seed);
  for (std::size_t epoch = 0; epoch < epochs; ++epoch) {
    EpochRecord record{.plan = planner.choose(observe(environment, state))};
    record.outcome =
        step(environment, state, record.plan.destinations, timing_index(environment, record.plan.timing));
    record.state = state;
    records.push_back(std::move(record));
  }
  return records;
}

MissionScore score(const Environment& e, std::span<const EpochRecord> records) {
  expect(!records.empty(), "no epochs");
  const StateLayout at(e);
  MissionScore sum{.visits = std::vector<double>(e.num_sites(), 0.0)};
  const double each = 1.0 / static_cast<double>(records.size());
  const double swarm = each / static_cast<double>(e.num_swarms);
  for (const EpochRecord& record : records) {
    sum.reward += each * record.outcome.reward;
    sum.learning_objective += each * record.outcome.learning_objective;
    sum.violations += each * static_cast<double>(record.outcome.below_threshold);
    for (std::size_t u = 0; u < e.num_swarms; ++u) {
      sum.battery_j += swarm * record.state[at.battery() + u];
      const Site site = record.plan.destinations[u];
      sum.visits[site] += each;
      sum.recharges += e.is_station(site) ? swarm : 0.0;
    }
  }
  return sum;
}

std::vector<MissionScore> evaluate(const Environment& environment, const PlannerFactory& make_planner,
                                   const MissionOptions& options, ThreadPool& pool, Crew& crew) {
  std::vector<MissionScore> scores(options.starts);
  const auto fly_from = [&](std::size_t i) {
    std::vector<double> start(StateLayout(environment).size());
    RandomStream stream(options.seed, "evaluation.start", i);
    start_anywhere(environment, stream, start);
    start_later(environment, options.sequence, start);
    const std::unique_ptr<Planner> planner = make_planner();
    scores[i] = score(environment, fly(environment, *planner, start, options.epochs, options.seed + i));
  };
  shared_for(crew, pool, options.starts,
             {.body = fly_from,
              .write =
                  [&](std::size_t i, ByteWriter& bytes) {
                    const auto& [reward, objective, battery_j, violations, recharges, visits] = scores[i];
                    for (const double value : {reward, objective, battery_j, violations, recharges}) {
                      bytes.put(value);
                    }
                    bytes.put_list(visits);
                  },
              .read =
                  [&](std::size_t i, ByteCursor& bytes) {
                    auto& [reward, objective, battery_j, violations, recharges, visits] = scores[i];
                    for (double* value : {&reward, &objective, &battery_j, &violations, &recharges}) {
                      *value = bytes.get<double>();
                    }
                    visits = bytes.get_list<std::vector<double>>();
                  }});
  return scores;
}

MissionScore mean_of(std::span<const MissionScore> scores) {
  expect(!scores.empty(), "no missions");
  MissionScore mean{.visits = std::vector<double>(scores.front().visits.size(), 0.0)};
  const double each = 1.0 / static_cast<double>(scores.size());
  for (const MissionScore& one : scores) {
    mean.reward += each * one.reward;
    mean.learning_objective += each * one.learning_objective;
    mean.battery_j += each * one.battery_j;
    mean.violations += each * one.violations;
    mean.recharges += each * one.recharges;
    for (std::size_t site = 0; site < mean.visits.size(); ++site) {
      mean.visits[site] += each * one.visits[site];
    }
  }
  return mean;
}

double interquartile_mean(std::span<const double> values) {
  expect(!values.empty(), "no values");
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  const double quarter = static_cast<double>(sorted.size()) / 4.0;
  double sum = 0.0;
  double weight = 0.0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    // The value stands for [i, i + 1] of [0, n]; what of it lies in [n / 4, 3 n / 4].
    const double low = std::max(static_cast<double>(i), quarter);
    const double high = std::min(static_cast<double>(i) + 1.0, 3.0 * quarter);
    const double share = std::max(0.0, high - low);
    sum += share * sorted[i];
    weight += share;
  }
  return sum / weight;
}

Interval bootstrap_interval(const std::vector<std::vector<double>>& groups, std::uint64_t seed) {
  RandomStream stream(seed, "bootstrap");
  std::vector<double> samples;
  for (std::size_t i = 0; i < resamples; ++i) {
    samples.push_back(interquartile_mean(joined(drawn_anew(groups, stream))));
  }
  return with_ends(interquartile_mean(joined(groups)), std::move(samples));
}

Interval improvement_probability(const std::vector<std::vector<double>>& a,
                                 const std::vector<std::vector<double>>& b, std::uint64_t seed) {
  expect(a.size() == b.size() && !a.empty(), "the same groups");
  RandomStream stream(seed, "bootstrap.improvement");
  std::vector<double> samples;
  for (std::size_t i = 0; i < resamples; ++i) {
    samples.push_back(share_of_wins(drawn_anew(a, stream), drawn_anew(b, stream)));
  }
  return with_ends(share_of_wins(a, b), std::move(samples));
}

}  // namespace skein
