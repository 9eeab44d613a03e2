#include "skein/mission/sweep.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "command.h"
#include "progress.h"
#include "ranks.h"
#include "skein/base/file.h"
#include "skein/base/interval.h"
#include "skein/mission/headline_numbers.h"
#include "text_table.h"
#include "tools.h"

namespace skein::app {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

struct SweepOptions {
  CommonOptions common;
  std::size_t repeat = 1;
  std::size_t point = 0;  // 1, 2, ...; 0: all
  std::string slurm;
  std::string collect;
};

// The headline, mean +- deviation over seeds.
std::string text_of(const SweepTable& sweep) {
  const SweepGrid& grid = sweep.grid;
  std::vector<std::string> headers;
  for (const std::string& key : grid.keys) {
    headers.push_back("<" + key);
  }
  headers.emplace_back("seeds");
  for (const HeadlineNumber& number : headline_columns()) {
    headers.emplace_back(number.column);
  }
  TextTable table(headers);
  for (std::size_t cell = 0; cell < grid.cells.size(); ++cell) {
    std::vector<std::string> row = grid.cells[cell];
    const std::size_t finished = sweep.num_finished(cell);
    row.push_back(finished == grid.seeds.size() ? fmt::format("{}", finished)
                                                : fmt::format("{} of {}", finished, grid.seeds.size()));
    for (const HeadlineNumber& number : headline_columns()) {
      const std::vector<double> list = sweep.values(cell, number.name);
      if (list.empty()) {
        row.emplace_back("-");
      } else {
        const MeanInterval m = mean_interval(list);
        row.push_back(list.size() > 1 ? number.text(m.mean) + " ± " + number.text(m.deviation)
                                      : number.text(m.mean));
      }
    }
    table.add(std::move(row));
  }
  return table.text();
}

// Shows what is there. The answer is no if anything is not.
void report(const CommonOptions& options, const SweepTable& table) {
  write_table(table);
  if (options.json()) {
    Json json = table.json();
    json["directory"] = table.directory.string();
    fmt::print("{}\n", json.dump(1));
  } else if (options.talks()) {
    fmt::print("{} points; mean ± deviation over seeds\n\n{}\n", table.points.size(), text_of(table));
    for (std::size_t point = 0; point < table.points.size(); ++point) {
      if (table.points[point].status != PointStatus::finished) {
        fmt::print("{}: {}{}{}\n", table.grid.place_of(point).string(), to_string(table.points[point].status),
                   table.points[point].message.empty() ? "" : ": ", table.points[point].message);
      }
    }
    fmt::print("Wrote sweep.csv, points.csv, sweep.json and a directory per point to {}\n",
               table.directory.string());
  }
  if (table.count(PointStatus::finished) < table.points.size()) {
    leave_with(Exit::answer_is_no);
  }
}

void run_one(const CommonOptions& options, const Sweep& sweep, std::size_t number) {
  if (number > sweep.grid.num_points()) {
    throw InputError({"", "--point", fmt::format("{}", number),
                      fmt::format("there are {} points", sweep.grid.num_points())});
  }
  write_grid(sweep);
  const PointStatus status = run_point(sweep, number - 1);
  const fs::path place = sweep.place_of(number - 1);
  const std::string message = read_point(place).message;
  if (options.json()) {
    fmt::print("{}\n", Json{{"point", number},
                            {"directory", place.string()},
                            {"status", to_string(status)},
                            {"message", message}}
                           .dump(1));
  } else if (options.talks()) {
    fmt::print("Point {} of {}: {}, in {}\n", number, sweep.grid.num_points(), to_string(status),
               place.string());
  }
  if (!message.empty()) {
    fmt::print(stderr, "skein: {}\n", message);
  }
  if (status != PointStatus::finished) {
    leave_with(status == PointStatus::diverged ? Exit::diverged : Exit::bad_input);
  }
}

std::string shell_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    out += c == '\'' ? "'\\''" : std::string(1, c);
  }
  return out + "'";
}

void write_slurm(const SweepOptions& options, const Sweep& sweep) {
  const CommonOptions& common = options.common;
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
  const fs::path directory = fs::absolute(sweep.directory);
  std::string words = "sweep";
  if (!common.scenario.empty()) {
    words += " " + shell_quoted(fs::absolute(common.scenario).string());
  }
  for (const std::string& setting : common.settings) {
    words += " --set " + shell_quoted(setting);
  }
  if (common.seed) {
    words += fmt::format(" --seed {}", *common.seed);
  }
  words += fmt::format(" --repeat {} --out {}", options.repeat, shell_quoted(directory.string()));
  write_grid(sweep);
  write_file(
      options.slurm,
      fmt::format("#!/bin/sh\n"
                  "#SBATCH --job-name=skein-sweep\n"
                  "#SBATCH --array=1-{}\n"
                  "#SBATCH --cpus-per-task=1\n"
                  "# Submit with sbatch. A task that is stopped goes on from its checkpoint when it is\n"
                  "# submitted again; finished ones end at once. Then, for the table:\n"
                  "#   {} sweep --collect {}\n"
                  "exec {} {} --quiet --point \"$SLURM_ARRAY_TASK_ID\"\n",
                  sweep.grid.num_points(), shell_quoted(program.string()), shell_quoted(directory.string()),
                  shell_quoted(program.string()), words));
  if (common.json()) {
    fmt::print("{}\n", Json{{"script", options.slurm},
                            {"points", sweep.grid.num_points()},
                            {"directory", directory.string()}}
                           .dump(1));
  } else if (common.talks()) {
    fmt::print("Wrote {}: an array job of {} points; results go to {}\n", options.slurm,
               sweep.grid.num_points(), directory.string());
  }
}

void sweep_command(const SweepOptions& options) {
  const bool runs_all = options.collect.empty() && options.slurm.empty() && options.point == 0;
  if (!runs_all && !crew().is_first()) {
    return;
  }
  if (!options.collect.empty()) {
    report(options.common, collect_sweep(options.collect));
    return;
  }
  const Sweep sweep = make_sweep(source_of(options.common), options.repeat, options.common.out);
  if (!options.slurm.empty()) {
    write_slurm(options, sweep);
  } else if (options.point > 0) {
    run_one(options.common, sweep, options.point);
  } else {
    start_sweep(sweep, crew());
    {
      Progress progress(options.common, "sweep");
      run_points(sweep, options.common.threads, crew(),
                 [&](double fraction) { progress.show("missions", fraction); });
    }
    if (crew().is_first()) {
      report(options.common, collect_sweep(sweep.directory));
    }
  }
}

}  // namespace

void add_sweep_command(Command& program) {
  auto options = std::make_shared<SweepOptions>();
  Command* command = program.add_subcommand(
      "sweep", "Run a grid of missions, one on each core; exit code 1 if some could not be run");
  add_scenario(*command, options->common);
  command->add_option("--repeat", options->repeat, "Run every point with so many seeds, from run.seed on")
      ->type_name("N")
      ->check(within(1, 1000))
      ->capture_default_str();
  auto* point = command->add_option("--point", options->point, "Run only this point: 1, 2, ...")
                    ->type_name("K")
                    ->check(within(1, 1000000));
  auto* slurm = command
                    ->add_option("--slurm", options->slurm,
                                 "Run nothing: write a Slurm array job with a task per point")
                    ->type_name("FILE");
  auto* collect = command
                      ->add_option("--collect", options->collect,
                                   "Run nothing: make the table of what this sweep's directory holds")
                      ->type_name("DIR");
  point->excludes(slurm)->excludes(collect);
  slurm->excludes(collect);
  add_common_options(
      *command, options->common,
      "skein sweep scenarios/smoke.toml --set swarms.count=1,2 --set planning.planner=beam,myopic --repeat "
      "3\n"
      "Several values of a key are separated by commas; those in brackets and quotes do not count. A sweep\n"
      "that was stopped goes on when it is called again. Its results go to runs/NAME-sweep, or to --out.");
  command->callback([options] { sweep_command(*options); });
}

}  // namespace skein::app
