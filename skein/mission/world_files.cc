#include "skein/mission/world_files.h"

#include "skein/base/file.h"
#include "skein/simulation/mission_files.h"
#include "skein/world/map_svg.h"
#include "skein/world/world_json.h"

namespace skein {

std::vector<SwarmLinks> first_links(const World& world, ThreadPool& pool) {
  std::vector<SwarmLinks> links(world.swarms.size());
  pool.parallel_for(links.size(), [&](std::size_t u) {
    links[u] = swarm_links(world, u, world.swarms[u].start_cluster, 0);
  });
  return links;
}

void write_world(const World& world, const std::vector<SwarmLinks>& links, const Scenario& scenario,
                 const std::filesystem::path& directory) {
  write_file(directory / mission_file::scenario, resolved_scenario(scenario));
  write_file(directory / mission_file::world, world_json(world, links));
  write_file(directory / "world.geojson", world_geojson(world, links));
  write_file(directory / "world.svg", world_svg(world, links));
}

}  // namespace skein
