#include <fmt/format.h>

#include <algorithm>

#include "apps/skein/reproduce/figure.h"
#include "plan.h"
#include "skein/mission/planner_training.h"
#include "text_table.h"

namespace skein::app {
namespace {

namespace fs = std::filesystem;

struct PlanTrainOptions {
  PlanOptions plan;
  std::size_t until = 0;
  bool restart = false;
};

void draw_curve(const std::vector<CurvePoint>& curve, const fs::path& directory) {
  Series reward{.title = "reward", .curve = {}, .colour = blue};
  Series objective{.title = "learning objective", .curve = {}, .colour = orange};
  for (const CurvePoint& p : curve) {
    for (auto* series : {&reward, &objective}) {
      series->curve.iterations.push_back(static_cast<double>(p.step));
      series->curve.values.push_back(series == &reward ? p.reward : p.learning_objective);
    }
  }
  draw({.title = "Training of the planner",
        .x_label = "training sequences",
        .y_label = "mean per sequence",
        .panels = {{.title = "with exploration", .series = {reward, objective}}}},
       directory, "curve");
}

void print_curve(const std::vector<CurvePoint>& curve) {
  TextTable table({"sequences", "reward", "learning objective", "battery (kJ)", "violations per sequence",
                   "exploration"});
  for (std::size_t i = 0; i < curve.size(); i += std::max<std::size_t>(1, curve.size() / 10)) {
    const CurvePoint& p = curve[i];
    table.add({fmt::format("{}", p.step), fmt::format("{:.1f}", p.reward),
               fmt::format("{:.1f}", p.learning_objective), fmt::format("{:.1f}", p.battery_j / 1e3),
               fmt::format("{:.4f}", p.violations), fmt::format("{:.3f}", p.exploration)});
  }
  fmt::print("{}\n", table.text());
}

std::string verdict(const PlannerTraining& training) {
  if (!training.greedy) {
    return fmt::format("Stopped after {} sequences; the next call goes on.", training.steps);
  }
  const MissionScore& greedy = *training.greedy;
  return fmt::format(
      "Greedy, 8 starts of 500 sequences: reward {:.1f}, learning objective {:.1f}, battery {:.1f} kJ, "
      "{:.4f} "
      "violations per sequence",
      greedy.reward, greedy.learning_objective, greedy.battery_j / 1e3, greedy.violations);
}

void plan_train(const PlanTrainOptions& options) {
  const CommonOptions& common = options.plan.common;
  const PlanSetup setup = plan_setup(options.plan);
  const fs::path directory = output_directory(common, setup.scenario);
  if (options.restart && crew().is_first()) {
    fs::remove(directory / "checkpoint.bin");
  }
  ThreadPool pool(common.threads);
  const PlannerTraining training = [&] {
    Progress progress(common, setup.scenario.run.name);
    return train_planner(
        agent_setup(options.plan, setup, setup.environment, setup.scenario.run.seed, directory),
        options.until, pool, crew(), [&](double fraction) { progress.show("training", fraction); });
  }();
  if (!crew().is_first()) {
    return;
  }
  draw_curve(training.curve, directory);
  const std::string summary = write_planner_training(setup.scenario, training, directory);
  if (common.json()) {
    fmt::print("{}", summary);
  } else if (common.talks()) {
    print_curve(training.curve);
    fmt::print("{}\n{:.1f} s of processor time for {} updates. Wrote {}curve and checkpoint to {}\n",
               verdict(training), training.cpu_s, training.updates, training.done ? "agent, " : "",
               directory.string());
  }
}

}  // namespace

void add_plan_train_command(Command& plan) {
  auto options = std::make_shared<PlanTrainOptions>();
  Command* command = plan.add_subcommand(
      "train", "Train the recurrent Q-learning planner; goes on from the checkpoint in its directory");
  add_environment_options(*command, options->plan);
  command->add_option("--until", options->until, "Stop after this training sequence; the next call goes on")
      ->type_name("N");
  command->add_flag("--restart", options->restart, "Remove the checkpoint and start anew");
  add_common_options(*command, options->plan.common,
                     "skein plan train scenarios/paper/planning.toml --out runs/agent");
  command->callback([options] { plan_train(*options); });
}

}  // namespace skein::app
