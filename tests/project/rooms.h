// The rooms of the library: what each is for, and which others it sees beside base. The order of the list is
// the order of the rooms, from the ground up. The layers test holds every include to it, and draws
// docs/rooms.svg.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace skein {

struct Room {
  std::string name;
  std::string purpose;
  std::set<std::string> sees;
  std::set<std::string> headers{};  // of rooms that it sees through these alone

  // Those rooms.
  [[nodiscard]] std::set<std::string> seen_in_part() const {
    std::set<std::string> names;
    for (const std::string& header : headers) {
      const std::size_t begin = header.find('/') + 1;
      names.insert(header.substr(begin, header.find('/', begin) - begin));
    }
    return names;
  }
};

inline const std::vector<Room>& rooms() {
  static const std::vector<Room> list = {
      {"base", "random streams, units, files, threads", {}},
      {"gp", "geometric programs", {}},
      {"nn", "networks, their kernels and derivatives", {}},
      {"world", "places, UAVs, channel, energy, flight, time", {}},
      {"data", "sources, partitions, device buffers, drift", {}},
      {"learning", "algorithms, local training, aggregation", {"nn", "world", "data"}},
      {"bounds", "convergence bounds and their constants", {"nn", "world", "data", "learning"}},
      {"offloading", "problem P and who solves it", {"gp", "world", "data", "learning", "bounds"}},
      {"planning", "environment, reward, planners", {"nn", "world"}, {"skein/bounds/drift.h"}},
      {"protocol", "messages, roles, delivery over links", {"world"}},
      {"simulation",
       "leaders, fleet, core network, faults, records",
       {"world", "data", "learning", "bounds", "offloading", "protocol"},
       {"skein/planning/options.h", "skein/planning/plan.h", "skein/planning/planner.h",
        "skein/planning/reward.h"}},
      {"scenario",
       "load, check, save",
       {"gp", "nn", "world", "data", "learning", "bounds", "offloading", "planning", "protocol",
        "simulation"}},
      {"mission",
       "from a scenario to a run directory",
       {"gp", "nn", "world", "data", "learning", "bounds", "offloading", "planning", "protocol", "simulation",
        "scenario"}},
  };
  return list;
}

}  // namespace skein
