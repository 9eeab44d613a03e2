#include "skein/mission/agents.h"

#include <fmt/format.h>

#include <string>

#include "skein/base/csv.h"
#include "skein/base/directory_lock.h"
#include "skein/base/expect.h"
#include "skein/base/file.h"
#include "skein/base/input_fault.h"
#include "skein/planning/checkpoint.h"

namespace skein {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t checkpoint_period = 500;  // steps

// What the first process sees; others may look a moment too late.
bool is_there(Crew& crew, const fs::path& file) {
  return !said_by_first(crew, crew.is_first() && fs::exists(file) ? "yes" : "").empty();
}

std::string curve_csv(const Environment& e, const std::vector<CurvePoint>& curve) {
  using Row = const CurvePoint&;
  Columns<CurvePoint> columns{
      {"iteration", [](Row p) { return p.step; }},
      {"reward", [](Row p) { return p.reward; }},
      {"learning_objective", [](Row p) { return p.learning_objective; }},
      {"battery_J", [](Row p) { return p.battery_j; }},
      {"violations_per_epoch", [](Row p) { return p.violations; }},
      {"exploration", [](Row p) { return p.exploration; }},
      {"loss", [](Row p) { return p.loss; }},
  };
  for (std::size_t site = 0; site < e.num_sites(); ++site) {
    columns.add("visits_" + e.site_name(site), [site](Row p) { return p.visits[site]; });
  }
  return columns.table(curve);
}

// Several missions may need the same agent: one trains it, the others wait.
std::unique_ptr<DirectoryLock> lock_at(Crew& crew, const fs::path& directory) {
  if (!crew.is_first()) {
    return nullptr;
  }
  fs::create_directories(directory);
  return std::make_unique<DirectoryLock>(directory);
}

}  // namespace

void train_in(QLearner& learner, const fs::path& directory, std::size_t until, ThreadPool& pool, Crew& crew,
              const std::function<void(double)>& progress) {
  const fs::path checkpoint = directory / "checkpoint.bin";
  if (is_there(crew, checkpoint)) {
    learner.restore(checkpoint);
  }
  while (!learner.done() && (until == 0 || learner.num_steps() < until)) {
    learner.step(pool, crew);
    if (crew.is_first() && learner.num_steps() % checkpoint_period == 0) {
      learner.save(checkpoint);
    }
    progress(learner.progress());
  }
  if (!crew.is_first()) {
    return;
  }
  learner.save(checkpoint);
  write_file(directory / "curve.csv", curve_csv(learner.environment(), learner.curve()));
  if (learner.done()) {
    save_agent(directory / "agent.safetensors", learner.agent());
  }
}

fs::path agent_directory(const AgentSetup& setup) {
  // An agent of another training has another name.
  return setup.directory / "agents" / short_name(fingerprint(*setup.environment, setup.planning, setup.seed));
}

Agents agents_for(std::string_view planner, const AgentSetup& setup, ThreadPool& pool, Crew& crew,
                  const std::function<void(double)>& progress) {
  const Environment& e = *setup.environment;
  const PlanningOptions& planning = setup.planning;
  const Training training = training_of(planner);
  if (training == Training::none) {
    return {};
  }
  if (training == Training::flat) {
    if (num_flat_plans(e) == 0) {
      throw InputError(InputFault{
          .key = "--planner",
          .value = std::string(planner),
          .message = fmt::format("has an output per joint plan; there are more than {}", most_flat_plans)});
    }
    return {.flat = train_flat_agent(setup.environment, planning.discount, planning.learner.flat_steps,
                                     setup.seed, progress)
                        .agent};
  }
  if (!planning.agent.empty()) {
    return {.recurrent = std::make_shared<const Agent>(load_agent(planning.agent, e))};
  }
  const fs::path place = agent_directory(setup);
  const auto lock = lock_at(crew, place);
  if (!is_there(crew, place / "agent.safetensors")) {
    QLearner learner(setup.environment, planning, setup.seed);
    train_in(learner, place, 0, pool, crew, progress);
    if (crew.is_first()) {
      fs::remove(place / "checkpoint.bin");
    }
    said_by_first(crew, "");  // the agent is there
  }
  return {.recurrent = std::make_shared<const Agent>(load_agent(place / "agent.safetensors", e))};
}

std::vector<std::shared_ptr<const Agent>> agents_along(const AgentSetup& setup,
                                                       const std::vector<std::size_t>& moments,
                                                       ThreadPool& pool, Crew& crew,
                                                       const std::function<void(double)>& progress) {
  const fs::path place = agent_directory(setup);
  const auto lock = lock_at(crew, place);
  std::vector<std::shared_ptr<const Agent>> agents;
  for (const std::size_t moment : moments) {
    const fs::path file = place / fmt::format("agent-{}.safetensors", moment);
    if (!is_there(crew, file)) {
      QLearner learner(setup.environment, setup.planning, setup.seed);
      train_in(learner, place, moment, pool, crew, progress);
      expect(learner.num_steps() == moment, "moments of the training, ascending");
      if (crew.is_first()) {
        save_agent(file, learner.agent());
      }
      said_by_first(crew, "");  // the agent is there
    }
    agents.push_back(std::make_shared<const Agent>(load_agent(file, *setup.environment)));
  }
  return agents;
}

}  // namespace skein
