// The environment with a trace that tests/reference has, and small ones made at random.
#pragma once

#include <memory>

#include "skein/planning/environment_file.h"
#include "skein/planning/environment_world.h"

namespace skein {

inline EnvironmentFile reference_file() {
  return load_environment(SKEIN_SOURCE_DIR "/tests/reference/planning_environment.json");
}

inline std::shared_ptr<Environment> reference_environment(double threshold_j = 16880.0) {
  auto environment = std::make_shared<Environment>(reference_file().environment);
  environment->threshold_j.assign(environment->num_swarms, threshold_j);
  return environment;
}

struct Size {
  std::size_t swarms = 3;
  std::size_t clusters = 8;
  std::size_t stations = 2;
};

// Sites in a square of 2 km, batteries and thresholds of the paper, tables of the closed form.
inline std::shared_ptr<Environment> random_environment(const Size& size, std::uint64_t seed) {
  auto e = std::make_shared<Environment>();
  e->num_swarms = size.swarms;
  e->num_clusters = size.clusters;
  e->num_stations = size.stations;
  RandomStream stream(seed, "test.environment");
  for (std::size_t i = 0; i < e->num_sites(); ++i) {
    e->places_m.push_back({stream.uniform(0.0, 2000.0), stream.uniform(0.0, 2000.0)});
  }
  for (std::size_t i = 0; i < e->num_sites(); ++i) {
    for (std::size_t j = 0; j < e->num_sites(); ++j) {
      e->distance_m.push_back(
          std::hypot(e->places_m[i][0] - e->places_m[j][0], e->places_m[i][1] - e->places_m[j][1]));
    }
  }
  std::vector<double> loads;
  for (std::size_t u = 0; u < e->num_swarms; ++u) {
    const double cost = stream.uniform(4.0, 6.0);
    for (const double distance : e->distance_m) {
      e->travel_j.push_back(cost * distance);
    }
    loads.push_back(stream.uniform(0.8, 1.4));
  }
  e->capacity_j.assign(e->num_swarms, 48600.0);
  e->threshold_j.assign(e->num_swarms, stream.uniform(5000.0, 30000.0));
  e->tables = closed_form_tables(timing_grid({180, 220, 260}, {1, 2}, {1, 2}), loads, e->num_clusters);
  for (std::size_t c = 0; c < e->num_clusters; ++c) {
    e->drift.start.push_back(stream.uniform(0.0, 20.0));
  }
  e->drift.end = e->drift.start;
  return e;
}

}  // namespace skein
