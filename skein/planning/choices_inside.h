// What the parts of ChoiceFinder share.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "skein/planning/choices.h"

namespace skein {

// One search for plans under one rule.
struct ChoiceFinder::Search {
  std::span<const double> state;
  Rule rule = Rule::careful;
  double unvisited = 0.0;                   // gradient_weight times the sum of G if nobody visits anything
  std::vector<std::vector<Site>> options;   // of each swarm
  std::vector<double> costs;                // swarm x site, without O: less what a visit saves
  std::vector<std::uint8_t> needs_station;  // swarm x site, afterwards
  std::vector<std::uint8_t> lost;           // swarms
};

}  // namespace skein
