// Training sequences of random shape, for tests of the signalling.
#pragma once

#include <cstdint>

#include "skein/base/random.h"
#include "skein/protocol/signalling.h"

namespace skein {

inline SwarmDescription random_swarm(RandomStream& random, std::uint32_t number) {
  const auto count = [&](std::int64_t low, std::int64_t high) {
    return static_cast<std::uint32_t>(random.integer(low, high));
  };
  SwarmDescription swarm;
  swarm.swarm = number;
  swarm.cluster = count(0, 9);
  swarm.access_point = count(0, 1);
  swarm.num_workers = count(1, 4);
  swarm.num_coordinators = count(0, 2);
  swarm.num_devices = count(0, 6);
  swarm.needs_model = random.bernoulli(0.3);
  const std::uint32_t uavs = swarm.num_workers + swarm.num_coordinators;
  swarm.device_to_uav_rate = Table<double>(swarm.num_devices, uavs);
  for (double& rate : swarm.device_to_uav_rate.values) {
    rate = random.uniform(1e6, 2e7);
  }
  swarm.coordinator_to_worker_rate = Table<double>(swarm.num_coordinators, swarm.num_workers);
  for (double& rate : swarm.coordinator_to_worker_rate.values) {
    rate = random.uniform(1e6, 2e7);
  }
  for (std::uint32_t j = 0; j < swarm.num_workers; ++j) {
    swarm.worker_to_leader_rate.push_back(random.uniform(1e6, 2e7));
    swarm.leader_to_worker_rate.push_back(random.uniform(1e6, 2e7));
    swarm.compute_time.push_back(random.uniform(0.0, 2.0));
    swarm.personalise_time.push_back(random.uniform(0.0, 0.5));
  }
  swarm.leader_to_access_point_rate = random.uniform(1e6, 2e7);
  swarm.flight_time = random.uniform(0.0, 30.0);
  swarm.scatter_time = random.uniform(0.0, 5.0);
  swarm.access_point_flight_time = random.uniform(0.0, 20.0);
  swarm.decide_time = random.uniform(0.0, 0.1);
  swarm.aggregate_time = random.uniform(0.0, 0.1);
  return swarm;
}

// Some devices have nothing to send, some workers nothing to do.
inline SwarmDescription::RoundShares random_shares(RandomStream& random, const SwarmDescription& swarm) {
  SwarmDescription::RoundShares shares;
  shares.device_to_uav = Table<std::uint64_t>(swarm.num_devices, swarm.num_workers + swarm.num_coordinators);
  for (std::uint64_t& bits : shares.device_to_uav.values) {
    bits = random.bernoulli(0.6) ? random.below(2'000'000) : 0;
  }
  shares.coordinator_to_worker = Table<std::uint64_t>(swarm.num_coordinators, swarm.num_workers);
  for (std::uint32_t h = 0; h < swarm.num_coordinators; ++h) {
    std::uint64_t left = 0;
    for (std::uint32_t i = 0; i < swarm.num_devices; ++i) {
      left += shares.device_to_uav(i, swarm.num_workers + h);
    }
    for (std::uint32_t j = 0; j < swarm.num_workers; ++j) {
      const std::uint64_t bits = random.bernoulli(0.7) ? random.below(left + 1) : 0;
      shares.coordinator_to_worker(h, j) = bits;
      left -= bits;
    }
  }
  return shares;
}

// With data of their own for later local rounds, or all of it before the first.
inline SequenceDescription random_sequence(std::uint64_t seed, bool with_later_rounds = false) {
  RandomStream random(seed, "test sequence");
  SequenceDescription sequence;
  sequence.sequence = static_cast<std::uint32_t>(random.below(5));
  sequence.model_bits = random.below(1'000'000);
  sequence.local_period = 2;
  sequence.global_period = static_cast<std::uint32_t>(random.integer(1, 3));
  sequence.num_rounds = static_cast<std::uint32_t>(random.integer(1, 3));
  sequence.end_round = sequence.num_rounds;
  sequence.merge_time = random.uniform(0.0, 0.1);
  sequence.network.seed = seed;
  const auto swarms = static_cast<std::uint32_t>(random.integer(1, 3));
  for (std::uint32_t u = 0; u < swarms; ++u) {
    SwarmDescription swarm = random_swarm(random, u);
    for (std::uint32_t k = 0; k < sequence.num_rounds; ++k) {
      swarm.rounds.push_back(random_shares(random, swarm));
    }
    for (std::uint32_t l = 1; with_later_rounds && l < sequence.global_period; ++l) {
      SwarmDescription::RoundShares& later = swarm.later_rounds.emplace_back(random_shares(random, swarm));
      for (std::uint64_t& bits : later.device_to_uav.values) {
        bits = random.bernoulli(0.5) ? bits : 0;  // so that some get nothing new
      }
      for (std::uint64_t& bits : later.coordinator_to_worker.values) {
        bits = 0;
      }
      for (std::uint32_t j = 0; j < swarm.num_workers; ++j) {
        later.keeps.push_back(random.bernoulli(0.5));
      }
      if (swarm.num_coordinators > 0 && swarm.num_devices > 0) {
        later.coordinator_to_worker(0, 0) = later.device_to_uav(0, swarm.num_workers);
      }
    }
    sequence.swarms.push_back(std::move(swarm));
  }
  return sequence;
}

}  // namespace skein
