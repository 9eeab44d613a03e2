// A sampled world, shown to people.
#pragma once

#include <string>
#include <vector>

#include "command.h"
#include "skein/world/links.h"
#include "skein/world/world.h"

namespace skein::app {

struct SampledWorld {
  World world;
  std::vector<SwarmLinks> links;  // of every swarm above its first cluster
};

// The scenario's world and links. Faults name the scenario's file.
SampledWorld sample(const Scenario& scenario, const CommonOptions& options);

std::string site_tables(const World& world);
std::string swarm_table(const SampledWorld& sampled);
std::string link_table(const SampledWorld& sampled);
// What flying, staying and sending costs each swarm.
std::string energy_table(const SampledWorld& sampled, const Scenario& scenario);
// The map in characters.
std::string terminal_map(const SampledWorld& sampled);

}  // namespace skein::app
