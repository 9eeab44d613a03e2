#include <fmt/format.h>

#include "plan.h"
#include "skein/base/file.h"
#include "skein/planning/planners.h"
#include "skein/planning/trajectory.h"
#include "skein/planning/trajectory_svg.h"
#include "text_table.h"

namespace skein::app {
namespace {

namespace fs = std::filesystem;

struct PlanShowOptions {
  PlanOptions plan;
  std::string planner;
  std::size_t epochs = 40;
};

std::vector<std::string> cells(const Environment& e, const EpochRecord& record, std::size_t epoch) {
  const StateLayout at(e);
  const Timing& timing = record.plan.timing;
  std::vector<std::string> row{fmt::format("{}", epoch + 1)};
  for (std::size_t u = 0; u < e.num_swarms; ++u) {
    row.push_back(e.site_name(record.plan.destinations[u]));
    row.push_back(fmt::format("{:.1f}", record.state[at.battery() + u] / 1e3));
  }
  row.push_back(fmt::format("{:g}", timing.duration));
  row.push_back(fmt::format("{:g}, {:g}", timing.local_period, timing.global_period));
  row.push_back(fmt::format("{:.1f}", record.outcome.travel_j / 1e3));
  row.push_back(fmt::format("{:.1f}", record.outcome.reward));
  row.push_back(fmt::format("{:.1f}", record.outcome.learning_objective));
  return row;
}

void plan_show(const PlanShowOptions& options) {
  const CommonOptions& common = options.plan.common;
  const PlanSetup setup = plan_setup(options.plan);
  const Environment& e = *setup.environment;
  const fs::path directory = output_directory(common, setup.scenario);
  const std::string name = options.planner.empty() ? setup.scenario.planning.planner : options.planner;
  ThreadPool pool(common.threads);
  const Agents agents = [&] {
    Progress progress(common, setup.scenario.run.name);
    return agents_for(name,
                      agent_setup(options.plan, setup, setup.environment, setup.scenario.run.seed, directory),
                      pool, alone(), [&](double fraction) { progress.show("training", fraction); });
  }();
  std::vector<double> start(StateLayout(e).size());
  RandomStream stream(setup.scenario.run.seed, "plan.show");
  start_anywhere(e, stream, start);
  const auto planner = planner_factory(name, setup.environment, setup.scenario.planning, agents)();
  const std::vector<EpochRecord> records = fly(e, *planner, start, options.epochs, setup.scenario.run.seed);
  const MissionScore mean = score(e, records);
  write_file(directory / "trajectory.csv", trajectory_csv(e, records));
  write_file(directory / "trajectory.svg",
             trajectory_svg(e, start, records,
                            fmt::format("{}, {} training sequences: mean reward {:.1f}", name, records.size(),
                                        mean.reward)));
  if (common.json()) {
    fmt::print("{}", trajectory_json(name, e, records));
  } else if (common.talks()) {
    std::vector<std::string> headers{"sequence"};
    for (std::size_t u = 0; u < e.num_swarms; ++u) {
      headers.push_back(fmt::format("swarm {}", u + 1));
      headers.emplace_back("kJ");
    }
    for (const char* header : {"T_s", "tau_L, tau_G", "travel (kJ)", "reward", "learning objective"}) {
      headers.emplace_back(header);
    }
    TextTable table(headers);
    for (std::size_t i = 0; i < records.size(); ++i) {
      table.add(cells(e, records[i], i));
    }
    fmt::print(
        "{}: {}\n\n{}\nMean reward {:.1f}, learning objective {:.1f}\nWrote trajectory.svg and "
        "trajectory.csv to {}\n",
        name, planner_description(name), table.text(), mean.reward, mean.learning_objective,
        directory.string());
  }
}

}  // namespace

void add_plan_show_command(Command& plan) {
  auto options = std::make_shared<PlanShowOptions>();
  Command* command = plan.add_subcommand("show", "A planner's mission as a table and a map");
  add_environment_options(*command, options->plan);
  add_agent_option(*command, options->plan);
  std::vector<std::string> known;
  for (const std::string_view name : planner_names()) {
    known.emplace_back(name);
  }
  command
      ->add_option("--planner", options->planner,
                   "A planner of `skein plan eval --help`; default: the scenario's")
      ->type_name("NAME")
      ->check(one_of(known));
  command->add_option("--epochs", options->epochs, "Training sequences to show")
      ->type_name("N")
      ->check(within(1, 100000))
      ->capture_default_str();
  add_common_options(*command, options->plan.common, "skein plan show --planner beam --epochs 30");
  command->callback([options] { plan_show(*options); });
}

}  // namespace skein::app
