// A planner of one's own in a mission, beside the scenario's: own_planner scenarios/smoke.toml
//
// It sends the swarms where nobody has been for longest. Which plans are legal, with batteries, stations and
// distances, is known already: ChoiceFinder lists them.
#include <algorithm>
#include <cstdio>
#include <memory>

#include "skein/mission/mission_run.h"
#include "skein/planning/model_planner.h"
#include "skein/scenario/scenario.h"

namespace {

class OldestFirst final : public skein::ModelPlanner {
 public:
  using ModelPlanner::ModelPlanner;

 protected:
  // Of a state, a row of numbers: fills where each swarm flies, returns how long it trains there.
  std::size_t decide(std::span<const double> state, std::span<skein::Site> destinations) override {
    finder().find(state, choices_);
    const skein::StateLayout at(environment());
    std::size_t best = 0;
    double most_waited = -1.0;
    for (std::size_t plan = 0; plan < choices_.size(); ++plan) {
      double waited = 0.0;  // sequences, of all clusters that are visited
      for (const skein::Site site : choices_.of(plan)) {
        waited += environment().is_station(site) ? 0.0 : state[at.age() + site];
      }
      if (waited > most_waited) {
        most_waited = waited;
        best = plan;
      }
    }
    std::ranges::copy(choices_.of(best), destinations.begin());
    return choices_.timings[best];
  }

 private:
  skein::Choices choices_;
};

void fly(const skein::Scenario& scenario, const char* name, const skein::MissionRunOptions& options) {
  skein::MissionRun mission(scenario, std::filesystem::path("runs") / name, options);
  mission.run();
  const skein::Headline result = mission.headline();
  std::printf("%-14s %6.1f %% %10.2f sequences %8.1f kJ %8.2f\n", name, 100.0 * result.mean_accuracy,
              result.mean_age, result.energy_j / 1e3, result.mean_reward);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s SCENARIO\n", argv[0]);
    return 2;
  }
  const skein::Scenario scenario = skein::load_scenario(argv[1], {.settings = {"run.sequences=8"}});
  std::printf("%-14s %8s %20s %11s %8s\n", "planner", "accuracy", "age of models", "energy", "reward");
  fly(scenario, "oldest_first", {.planner = [](const std::shared_ptr<const skein::Environment>& environment) {
        return std::make_unique<OldestFirst>(environment);
      }});
  fly(scenario, scenario.planning.planner.c_str(), {});
}
