// Runs the mission of a scenario and reads what came out: run_mission scenarios/smoke.toml [DIRECTORY]
//
// The directory has afterwards what `skein run` writes: tables, events, models, a checkpoint, the report.
#include <cstdio>
#include <filesystem>
#include <string_view>

#include "skein/mission/mission_run.h"
#include "skein/scenario/scenario.h"

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s SCENARIO [DIRECTORY]\n", argv[0]);
    return 2;
  }
  const std::filesystem::path directory = argc > 2 ? argv[2] : "runs/example";
  try {
    // Any key may be overridden, as by the program's --set.
    skein::Scenario scenario = skein::load_scenario(argv[1], {.settings = {"run.sequences=4"}});
    scenario.run.seed = 7;
    skein::MissionRun mission(scenario, directory);
    mission.run();

    const skein::Headline result = mission.headline();
    std::printf("%s: %zu training sequences in %.0f s of the world's time\n", scenario.run.name.c_str(),
                result.sequences, result.duration_s);
    std::printf(
        "accuracy of the clusters' models: %.1f %% at the end, %.1f %% on average, %.1f %% at worst\n",
        100.0 * result.last_accuracy, 100.0 * result.mean_accuracy, 100.0 * result.worst_accuracy);
    std::printf("%zu visits, %zu recharges, %.1f km flown, %.1f kJ spent:\n", result.visits, result.recharges,
                result.distance_m / 1e3, result.energy_j / 1e3);
    for (const auto& [kind, joules] : result.energy_by_kind_j) {
      std::printf("  %-20s %12.4f kJ\n", kind.c_str(), joules / 1e3);
    }
    std::printf("everything else is in %s\n", directory.c_str());
  } catch (const skein::InputError& error) {
    for (const skein::InputFault& fault : error.faults()) {
      std::fprintf(stderr, "%s\n", skein::to_string(fault).c_str());
    }
    return 2;
  }
}
