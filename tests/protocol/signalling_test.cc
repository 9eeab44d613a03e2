#include "skein/protocol/signalling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "skein/base/input_fault.h"
#include "skein/base/thread_pool.h"
#include "skein/world/gathering.h"
#include "tests/protocol/sequences.h"

namespace skein {
namespace {

std::uint64_t refusals(const SignallingReport& report) {
  std::uint64_t sum = 0;
  for (const std::uint64_t count : report.records.refusals) {
    sum += count;
  }
  return sum;
}

std::uint64_t refusals(const SignallingReport& report, Refusal reason) {
  return report.records.refusals[static_cast<std::size_t>(reason)];
}

const KindTally& tally(const SignallingReport& report, MessageType type) {
  return report.records.kinds[static_cast<std::size_t>(type) - 1];
}

// sent + duplicated = received + lost + corrupted, in messages and bits, for every type.
void expect_conservation(const SignallingReport& report) {
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  for (const KindTally& kind : report.records.kinds) {
    EXPECT_EQ(kind.sent.bits + kind.duplicated.bits,
              kind.received.bits + kind.lost.bits + kind.corrupted.bits);
    EXPECT_EQ(kind.sent.messages + kind.duplicated.messages,
              kind.received.messages + kind.lost.messages + kind.corrupted.messages);
    sent += kind.sent.bits;
    received += kind.received.bits;
  }
  std::uint64_t party_sent = 0;
  std::uint64_t party_received = 0;
  for (const auto& [party, part] : report.records.parties) {
    party_sent += part.sent_bits;
    party_received += part.received_bits;
  }
  EXPECT_EQ(party_sent, sent);
  EXPECT_EQ(party_received, received);
}

std::vector<DataTransfer> described_transfers(const SequenceDescription& sequence,
                                              const SwarmDescription& swarm) {
  std::vector<DataTransfer> list;
  const std::uint32_t first = sequence.first_round;
  const std::size_t locals = 1 + swarm.later_rounds.size();
  for (std::size_t n = 0; n < locals * (sequence.end_round - first); ++n) {
    const auto k = static_cast<std::uint32_t>(first + n / locals);
    const auto l = static_cast<std::uint32_t>(n % locals);
    const SwarmDescription::RoundShares& round = l == 0 ? swarm.rounds[k - first] : swarm.later_rounds[l - 1];
    for (std::uint32_t i = 0; i < swarm.num_devices; ++i) {
      for (std::uint32_t j = 0; j < swarm.num_workers + swarm.num_coordinators; ++j) {
        const Party uav = j < swarm.num_workers
                              ? Party{PartyKind::worker, swarm.swarm, j}
                              : Party{PartyKind::coordinator, swarm.swarm, j - swarm.num_workers};
        list.push_back({k, l, {PartyKind::device, swarm.swarm, i}, uav, round.device_to_uav(i, j)});
      }
    }
    for (std::uint32_t h = 0; h < swarm.num_coordinators; ++h) {
      for (std::uint32_t j = 0; j < swarm.num_workers; ++j) {
        list.push_back({k,
                        l,
                        {PartyKind::coordinator, swarm.swarm, h},
                        {PartyKind::worker, swarm.swarm, j},
                        round.coordinator_to_worker(h, j)});
      }
    }
  }
  std::erase_if(list, [](const DataTransfer& t) { return t.bits == 0; });
  return list;
}

auto by_place(const DataTransfer& t) { return std::tuple(t.round, t.local_round, t.from, t.to); }

TEST(Signalling, EverySequenceWithoutFaultsEndsWithAllDataAndModelsDelivered) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    const SequenceDescription sequence = random_sequence(seed, seed % 2 == 1);
    const SignallingReport report = simulate_signalling(sequence);
    ASSERT_TRUE(report.completed) << report.losses();
    EXPECT_EQ(report.losses(), "");
    // A coordinator may announce data to a worker that has not yet got its shares: it says so again.
    EXPECT_EQ(refusals(report), refusals(report, Refusal::wrong_state) +
                                    refusals(report, Refusal::wrong_round) +
                                    refusals(report, Refusal::unknown_peer));
    EXPECT_EQ(tally(report, MessageType::data).repeated.messages, 0);
    expect_conservation(report);
    std::size_t transfers = 0;
    for (std::size_t u = 0; u < sequence.swarms.size(); ++u) {
      const SwarmDescription& swarm = sequence.swarms[u];
      std::vector<DataTransfer> received = report.swarms[u].transfers;
      std::vector<DataTransfer> described = described_transfers(sequence, swarm);
      std::ranges::sort(received, {}, by_place);
      std::ranges::sort(described, {}, by_place);
      EXPECT_EQ(received, described);
      EXPECT_EQ(report.swarms[u].devices_with_model.size(), swarm.num_devices);
      transfers += described.size();
    }
    EXPECT_EQ(tally(report, MessageType::data).received.messages, transfers);
    const std::uint64_t per_round = sequence.swarms.size() * sequence.num_rounds * 2;  // two hops
    EXPECT_EQ(tally(report, MessageType::swarm_update).received.messages, per_round);
    EXPECT_EQ(tally(report, MessageType::global_model).received.messages, per_round);
  }
}

TEST(Signalling, ModelsAreCountedAsInThePaper) {
  // Each of W workers that train: tau_G models up in each of K_G rounds, and one personalised.
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const SequenceDescription sequence = random_sequence(seed);
    const SignallingReport report = simulate_signalling(sequence);
    std::uint64_t expected = 0;
    for (const SwarmDescription& swarm : sequence.swarms) {
      for (std::uint32_t k = 0; k < sequence.num_rounds; ++k) {
        for (std::uint32_t j = 0; j < swarm.num_workers; ++j) {
          std::uint64_t data = 0;
          for (std::uint32_t i = 0; i < swarm.num_devices; ++i) {
            data += swarm.rounds[k].device_to_uav(i, j);
          }
          for (std::uint32_t h = 0; h < swarm.num_coordinators; ++h) {
            data += swarm.rounds[k].coordinator_to_worker(h, j);
          }
          if (data > 0) {
            expected += sequence.global_period + (k + 1 == sequence.num_rounds ? 1 : 0);
          }
        }
      }
    }
    EXPECT_EQ(tally(report, MessageType::model).received.messages, expected);
    EXPECT_EQ(tally(report, MessageType::model_announced).received.messages, expected);
  }
}

// One swarm, one worker, one coordinator, one device that sends to both; all rates 1 Mbit/s.
SequenceDescription small_sequence() {
  SequenceDescription sequence;
  sequence.model_bits = 10'000;
  sequence.global_period = 2;
  sequence.local_period = 3;
  SwarmDescription swarm;
  swarm.num_workers = 1;
  swarm.num_coordinators = 1;
  swarm.num_devices = 1;
  swarm.device_to_uav_rate = Table<double>(1, 2);
  swarm.device_to_uav_rate.values = {1e6, 1e6};
  swarm.coordinator_to_worker_rate = Table<double>(1, 1);
  swarm.coordinator_to_worker_rate.values = {1e6};
  swarm.worker_to_leader_rate = {1e6};
  swarm.leader_to_worker_rate = {1e6};
  swarm.leader_to_access_point_rate = 1e6;
  swarm.control_rate = 1e6;
  swarm.flight_time = 10;
  swarm.scatter_time = 2;
  swarm.access_point_flight_time = 5;
  swarm.decide_time = 0.5;
  swarm.aggregate_time = 0.25;
  swarm.compute_time = {1};
  swarm.personalise_time = {0.5};
  swarm.rounds.resize(1);
  swarm.rounds[0].device_to_uav = Table<std::uint64_t>(1, 2);
  swarm.rounds[0].device_to_uav.values = {100'000, 200'000};
  swarm.rounds[0].coordinator_to_worker = Table<std::uint64_t>(1, 1);
  swarm.rounds[0].coordinator_to_worker.values = {150'000};
  sequence.swarms = {swarm};
  return sequence;
}

// Each local round's data goes out before it, and nothing of a later one: so nobody holds more than its
// buffer.
TEST(Signalling, LaterLocalRoundsBringTheirOwnData) {
  SequenceDescription sequence = small_sequence();
  sequence.global_period = 3;
  SwarmDescription& swarm = sequence.swarms[0];
  const SwarmDescription::RoundShares first = swarm.rounds[0];
  SwarmDescription::RoundShares nothing = first;
  std::ranges::fill(nothing.device_to_uav.values, 0);
  std::ranges::fill(nothing.coordinator_to_worker.values, 0);
  nothing.keeps = {true};
  swarm.later_rounds = {first, nothing};
  const SignallingReport report = simulate_signalling(sequence);
  ASSERT_TRUE(report.completed) << report.losses();
  std::vector<DataTransfer> described = described_transfers(sequence, swarm);
  std::vector<DataTransfer> received = report.swarms[0].transfers;
  std::ranges::sort(received, {}, by_place);
  std::ranges::sort(described, {}, by_place);
  EXPECT_EQ(received, described);
  EXPECT_EQ(received.back().local_round, 1U);
  // It trains in all three local rounds, twice on new data, and makes the model its own at the end.
  EXPECT_EQ(tally(report, MessageType::model).received.messages, 3 + 1);
  EXPECT_EQ(tally(report, MessageType::next_round).received.messages, 1);
  swarm.later_rounds[1].keeps = {false};
  EXPECT_EQ(tally(simulate_signalling(sequence), MessageType::model).received.messages, 2);
}

TEST(Signalling, TimesAreThoseOfPayloadsAndWorkWhereSignallingIsSmall) {
  // The worker gets 0.1 s of data from the device and, at the same time, the coordinator 0.2 s; then 0.15 s
  // are relayed. Messages of some hundred bits add up to milliseconds.
  const SignallingReport report = simulate_signalling(small_sequence());
  ASSERT_TRUE(report.completed);
  const RoundTimes& round = report.swarms[0].rounds[0];
  const double slack = 0.02;
  EXPECT_NEAR(round.begin, 10.0, slack);
  EXPECT_NEAR(round.gathered, 10.0 + 0.5 + 2.0 + 0.35, slack);
  // Twice: compute, upload 0.01, aggregate; in between 0.01 back to the worker.
  EXPECT_NEAR(round.trained - round.gathered, 2 * (1 + 0.01 + 0.25) + 0.01, slack);
  EXPECT_NEAR(round.synchronised - round.trained, 5 + 2 * 0.01, slack);
  EXPECT_NEAR(round.back - round.synchronised, 5, slack);
  // Model to the worker, one step, model back, aggregate, to the UAV, to the device.
  EXPECT_NEAR(report.swarms[0].end - round.back, 0.01 + 0.5 + 0.01 + 0.25 + 0.01 + 0.01, slack);
  EXPECT_GE(report.duration, report.swarms[0].end);
}

TEST(Signalling, GatheringKeepsTheBoundsOfTheWorldsSchedule) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    SequenceDescription sequence = random_sequence(seed);
    sequence.model_bits = 0;  // so that nobody waits for the model
    const SignallingReport report = simulate_signalling(sequence);
    for (std::size_t u = 0; u < sequence.swarms.size(); ++u) {
      const SwarmDescription& swarm = sequence.swarms[u];
      Gathering gathering{.datapoint_size = DataSize(1)};
      const SwarmDescription::RoundShares& shares = swarm.rounds[0];
      const auto devices_of = [&](std::uint32_t uav) {
        std::vector<DataShare> list;
        for (std::uint32_t i = 0; i < swarm.num_devices; ++i) {
          list.push_back({static_cast<double>(shares.device_to_uav(i, uav)),
                          DataRate(swarm.device_to_uav_rate(i, uav))});
        }
        return list;
      };
      for (std::uint32_t j = 0; j < swarm.num_workers; ++j) {
        gathering.to_worker.push_back(devices_of(j));
      }
      for (std::uint32_t h = 0; h < swarm.num_coordinators; ++h) {
        gathering.to_coordinator.push_back(devices_of(swarm.num_workers + h));
        std::vector<DataShare> relays;
        for (std::uint32_t j = 0; j < swarm.num_workers; ++j) {
          relays.push_back({static_cast<double>(shares.coordinator_to_worker(h, j)),
                            DataRate(swarm.coordinator_to_worker_rate(h, j))});
        }
        gathering.relay.push_back(relays);
      }
      const GatheringTimes paper = paper_gathering_times(gathering);
      double least = 0.0;
      for (const Time& time : paper.workers) {
        least = std::max(least, time.si());
      }
      const RoundTimes& round = report.swarms[u].rounds[0];
      if (round.gathered == 0.0) {
        continue;  // nobody had data
      }
      const double took = round.gathered - round.begin - swarm.decide_time - swarm.scatter_time;
      EXPECT_GE(took, least);
      // Store and forward, in any order that leaves nobody idle (skein/world/gathering.h): the latest device
      // data, the longest forwarding of a coordinator, the longest receiving of a worker from coordinators.
      const auto seconds = [](const DataShare& share) { return share.num_datapoints / share.rate.si(); };
      double devices = 0.0;
      std::size_t transfers = 0;
      for (const auto* part : {&gathering.to_worker, &gathering.to_coordinator}) {
        for (const std::vector<DataShare>& shares_of_uav : *part) {
          double sum = 0.0;
          for (const DataShare& share : shares_of_uav) {
            sum += seconds(share);
          }
          devices = std::max(devices, sum);
          transfers += shares_of_uav.size();
        }
      }
      double forwarding = 0.0;
      std::vector<double> receiving(swarm.num_workers, 0.0);
      for (const std::vector<DataShare>& relays : gathering.relay) {
        double sum = 0.0;
        for (std::size_t j = 0; j < relays.size(); ++j) {
          sum += seconds(relays[j]);
          receiving[j] += seconds(relays[j]);
        }
        forwarding = std::max(forwarding, sum);
        transfers += relays.size();
      }
      // Every transfer has up to four messages of some 600 bit around it, at 1 Mbit/s or more; a shares
      // message may have 2,500.
      const double signalling = 0.01 + 0.0024 * static_cast<double>(transfers);
      EXPECT_LE(took, devices + forwarding + std::ranges::max(receiving) + signalling +
                          0.5 * static_cast<double>(refusals(report)));
    }
  }
}

TEST(Signalling, RoundByRoundIsTheWholeSequenceInPieces) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const SequenceDescription whole = random_sequence(seed, seed % 2 == 1);
    const SignallingReport once = simulate_signalling(whole);
    std::vector<std::vector<DataTransfer>> transfers(whole.swarms.size());
    std::map<MessageType, std::uint64_t> received;
    for (std::uint32_t k = 0; k < whole.num_rounds; ++k) {
      SequenceDescription part = whole;
      part.first_round = k;
      part.end_round = k + 1;
      for (SwarmDescription& swarm : part.swarms) {
        swarm.rounds = {swarm.rounds[k]};
      }
      const SignallingReport report = simulate_signalling(part);
      ASSERT_TRUE(report.completed) << report.losses();
      EXPECT_EQ(report.losses(), "");
      for (std::size_t u = 0; u < part.swarms.size(); ++u) {
        transfers[u].insert(transfers[u].end(), report.swarms[u].transfers.begin(),
                            report.swarms[u].transfers.end());
        const RoundTimes& piece = report.swarms[u].rounds[0];
        const RoundTimes& same = once.swarms[u].rounds[k];
        EXPECT_NEAR(piece.trained - piece.begin, same.trained - same.begin, 1e-9);
      }
      for (std::size_t type = 1; type < num_message_types; ++type) {
        received[static_cast<MessageType>(type)] += report.records.kinds[type - 1].received.bits;
      }
    }
    for (std::size_t u = 0; u < whole.swarms.size(); ++u) {
      EXPECT_EQ(transfers[u], once.swarms[u].transfers);
    }
    for (const auto& [type, bits] : received) {
      EXPECT_EQ(bits, tally(once, type).received.bits) << to_string(type);
    }
  }
}

TEST(Signalling, FaultyLinksDelayButEverythingArrives) {
  std::uint64_t repeated = 0;
  std::uint64_t refused = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    SequenceDescription sequence = random_sequence(seed, seed % 2 == 1);
    const SignallingReport clean = simulate_signalling(sequence);
    sequence.network.faults = {.loss = 0.1,
                               .corruption = 0.05,
                               .duplication = 0.1,
                               .delay = 0.1,
                               .garbage = 0.05,
                               .most_delay = 2.0};
    sequence.network.max_attempts = 40;
    const SignallingReport report = simulate_signalling(sequence);
    ASSERT_TRUE(report.completed) << report.losses();
    EXPECT_EQ(report.losses(), "");
    expect_conservation(report);
    EXPECT_GE(report.duration, clean.duration);
    for (std::size_t u = 0; u < sequence.swarms.size(); ++u) {
      std::vector<DataTransfer> a = clean.swarms[u].transfers;
      std::vector<DataTransfer> b = report.swarms[u].transfers;
      std::ranges::sort(a, {}, by_place);
      std::ranges::sort(b, {}, by_place);
      EXPECT_EQ(a, b);
      EXPECT_EQ(clean.swarms[u].devices_with_model, report.swarms[u].devices_with_model);
    }
    repeated += report.total().repeated.messages;
    refused += refusals(report);
  }
  EXPECT_GT(repeated, 1000);
  EXPECT_GT(refused, 1000);
}

TEST(Signalling, HopelessLinksEndWithAReportOfWhatWasLost) {
  std::size_t incomplete = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    SequenceDescription sequence = random_sequence(seed, seed % 2 == 1);
    sequence.network.faults = {
        .loss = 0.6, .corruption = 0.1, .duplication = 0.3, .delay = 0.5, .garbage = 0.3};
    sequence.network.max_attempts = 3;
    const SignallingReport report = simulate_signalling(sequence);
    expect_conservation(report);
    if (!report.completed) {
      EXPECT_FALSE(report.losses().empty());
      ++incomplete;
    }
    // Nothing comes that was not described, and never more than once.
    for (std::size_t u = 0; u < sequence.swarms.size(); ++u) {
      std::map<std::tuple<std::uint32_t, std::uint32_t, Party, Party>, std::uint64_t> described;
      for (const DataTransfer& t : described_transfers(sequence, sequence.swarms[u])) {
        described[by_place(t)] = t.bits;
      }
      for (const DataTransfer& t : report.swarms[u].transfers) {
        const auto found = described.find(by_place(t));
        ASSERT_NE(found, described.end());
        EXPECT_LE(t.bits, found->second);
        described.erase(found);
      }
    }
  }
  EXPECT_GT(incomplete, 100);
}

TEST(Signalling, WhoFallsSilentIsLeftBehindAndTheRestGoesOn) {
  // Anybody but the core network, from the begin or at any time.
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    SequenceDescription sequence = random_sequence(seed);
    RandomStream random(seed, "silence");
    const SwarmDescription& swarm = random.choice(sequence.swarms);
    std::vector<Party> parties = {leader_party(swarm.swarm),
                                  access_point_party(swarm.access_point),
                                  {PartyKind::worker, swarm.swarm, 0}};
    if (swarm.num_coordinators > 0) {
      parties.push_back({PartyKind::coordinator, swarm.swarm, 0});
    }
    if (swarm.num_devices > 0) {
      parties.push_back({PartyKind::device, swarm.swarm, 0});
    }
    const Party silent = random.choice(parties);
    const double duration = simulate_signalling(sequence).duration;
    sequence.network.silences = {{silent, random.uniform(-0.2, 1.0) * duration}};
    SCOPED_TRACE(testing::Message() << seed << ": " << to_string(silent));
    const SignallingReport report = simulate_signalling(sequence);
    expect_conservation(report);
    for (const SwarmReport& other : report.swarms) {
      const bool is_hit = silent.kind == PartyKind::access_point
                              ? sequence.swarms[other.swarm].access_point == silent.index
                              : other.swarm == swarm.swarm && silent.kind == PartyKind::leader;
      if (!is_hit) {
        EXPECT_TRUE(other.completed) << report.losses();
      }
    }
  }
}

TEST(Signalling, ASilentDeviceCostsItsDataOnly) {
  SequenceDescription sequence = small_sequence();
  SwarmDescription& swarm = sequence.swarms[0];
  swarm.num_devices = 2;
  swarm.device_to_uav_rate = Table<double>(2, 2);
  swarm.device_to_uav_rate.values = {1e6, 1e6, 1e6, 1e6};
  swarm.rounds[0].device_to_uav = Table<std::uint64_t>(2, 2);
  swarm.rounds[0].device_to_uav.values = {0, 300'000, 0, 100'000};
  swarm.rounds[0].coordinator_to_worker.values = {200'000};
  sequence.network.silences = {{{PartyKind::device, 0, 0}}};
  const SignallingReport report = simulate_signalling(sequence);
  EXPECT_TRUE(report.completed);
  // A quarter of the coordinator's data has come, so a quarter is relayed.
  EXPECT_THAT(report.swarms[0].transfers,
              testing::ElementsAre(
                  DataTransfer{0, 0, {PartyKind::device, 0, 1}, {PartyKind::coordinator, 0, 0}, 100'000},
                  DataTransfer{0, 0, {PartyKind::coordinator, 0, 0}, {PartyKind::worker, 0, 0}, 50'000}));
  EXPECT_THAT(report.swarms[0].devices_with_model, testing::ElementsAre(1));
  EXPECT_THAT(report.losses(), testing::HasSubstr("coordinator 0.0 goes on without device 0.0"));
}

TEST(Signalling, NobodyRelaysToAWorkerThatIsKnownToBeLost) {
  SequenceDescription sequence = small_sequence();
  SwarmDescription& swarm = sequence.swarms[0];
  swarm.num_workers = 2;
  swarm.device_to_uav_rate = Table<double>(1, 3);
  swarm.device_to_uav_rate.values = {1e6, 1e6, 1e6};
  swarm.coordinator_to_worker_rate = Table<double>(1, 2);
  swarm.coordinator_to_worker_rate.values = {1e6, 1e6};
  swarm.worker_to_leader_rate = {1e6, 1e6};
  swarm.leader_to_worker_rate = {1e6, 1e6};
  swarm.compute_time = {1, 1};
  swarm.personalise_time = {1, 1};
  swarm.rounds[0].device_to_uav = Table<std::uint64_t>(1, 3);
  swarm.rounds[0].device_to_uav.values = {0, 0, 200'000};
  swarm.rounds[0].coordinator_to_worker = Table<std::uint64_t>(1, 2);
  swarm.rounds[0].coordinator_to_worker.values = {100'000, 100'000};
  sequence.network.silences = {{{PartyKind::worker, 0, 1}}};
  const SignallingReport report = simulate_signalling(sequence);
  EXPECT_TRUE(report.completed);
  EXPECT_EQ(tally(report, MessageType::data_announced).sent.messages, 1);
  // The first message of its leader is what nobody heard; the second was never sent.
  ASSERT_EQ(report.records.given_up.size(), 2);
  EXPECT_EQ(report.records.given_up[0].message.type, MessageType::position);
  EXPECT_EQ(report.records.given_up[0].attempts, sequence.network.max_attempts);
  EXPECT_EQ(report.records.given_up[1].attempts, 0);
}

TEST(Signalling, SameSeedSameBits) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SequenceDescription sequence = random_sequence(seed);
    sequence.network.faults = {
        .loss = 0.1, .corruption = 0.1, .duplication = 0.1, .delay = 0.1, .garbage = 0.1};
    sequence.network.trace = true;
    const SignallingReport first = simulate_signalling(sequence);
    const SignallingReport second = simulate_signalling(sequence);
    EXPECT_EQ(first.records.trace, second.records.trace);
    EXPECT_EQ(first.records.kinds, second.records.kinds);
    EXPECT_EQ(first.duration, second.duration);
    sequence.network.seed += 1000;
    EXPECT_NE(simulate_signalling(sequence).records.trace, first.records.trace);
  }
}

TEST(Signalling, RunsOverTheLinksOfASampledWorld) {
  ThreadPool pool(1);
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    SCOPED_TRACE(seed);
    const World world = sample_world({}, {}, {}, seed, pool);
    SequenceDescription sequence;
    sequence.model_bits = 10'000;
    for (std::size_t u = 0; u < world.swarms.size(); ++u) {
      const SwarmLinks links = swarm_links(world, u, world.swarms[u].start_cluster, 0);
      SwarmDescription swarm;
      set_links(swarm, links);
      EXPECT_EQ(swarm.num_workers, world.swarms[u].workers.count);
      EXPECT_EQ(swarm.num_coordinators, world.swarms[u].coordinators.count);
      // Each device sends 100 data points of 80 kbit to one UAV after another in turn.
      const std::uint32_t uavs = swarm.num_workers + swarm.num_coordinators;
      SwarmDescription::RoundShares shares;
      shares.device_to_uav = Table<std::uint64_t>(swarm.num_devices, uavs);
      shares.coordinator_to_worker = Table<std::uint64_t>(swarm.num_coordinators, swarm.num_workers);
      for (std::uint32_t i = 0; i < swarm.num_devices; ++i) {
        shares.device_to_uav(i, i % uavs) = 8'000'000;
      }
      for (std::uint32_t h = 0; h < swarm.num_coordinators; ++h) {
        shares.coordinator_to_worker(h, 0) = 4'000'000;
      }
      swarm.rounds = {shares};
      sequence.swarms.push_back(std::move(swarm));
    }
    const SignallingReport report = simulate_signalling(sequence);
    EXPECT_TRUE(report.completed) << report.losses();
    // Devices send at the rates of their links, and nothing else sends for longer than its bits take.
    for (const SwarmDescription& swarm : sequence.swarms) {
      for (std::uint32_t i = 0; i < swarm.num_devices; ++i) {
        const PartyTally& device = report.records.parties.at({PartyKind::device, swarm.swarm, i});
        const double rate = swarm.device_to_uav_rate(i, i % (swarm.num_workers + swarm.num_coordinators));
        EXPECT_GT(device.air_time, 8e6 / rate);
        EXPECT_LT(device.sent_bits, 8'000'000 + 5 * 1000);
      }
    }
    expect_conservation(report);
  }
}

TEST(Signalling, FaultsOfADescriptionAreToldTogether) {
  SequenceDescription sequence = small_sequence();
  sequence.swarms[0].rounds[0].coordinator_to_worker.values = {200'001};
  sequence.swarms[0].leader_to_worker_rate = {-1};
  sequence.swarms[0].compute_time = {1, 2};
  sequence.end_round = 2;
  sequence.network.faults.loss = 1.5;
  try {
    simulate_signalling(sequence);
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_EQ(error.faults().size(), 5) << error.what();
  }
}

TEST(Signalling, TraceOfASmallSequenceIsAsItWas) {
  SequenceDescription sequence = small_sequence();
  sequence.network.trace = true;
  const SignallingReport report = simulate_signalling(sequence);
  std::string text;
  for (const std::string& line : report.records.trace) {
    text += line + "\n";
  }
  const std::filesystem::path file = std::filesystem::path(SKEIN_SOURCE_DIR) / "tests/golden/signalling.txt";
  std::stringstream golden;
  golden << std::ifstream(file).rdbuf();
  EXPECT_EQ(golden.str(), text) << "if the change is meant, this is the new content of " << file;
}

}  // namespace
}  // namespace skein
