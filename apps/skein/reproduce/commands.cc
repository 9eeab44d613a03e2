#include <fmt/format.h>

#include <algorithm>

#include "apps/skein/ranks.h"
#include "apps/skein/reproduce/reproduce.h"
#include "skein/base/file.h"
#include "skein/base/process.h"

namespace skein::app {
namespace {

namespace fs = std::filesystem;

struct SingleCommand {
  std::string name;
  bool quick = false;  // quick enough for --quick
  std::vector<std::string> words;
};

std::vector<SingleCommand> single_commands(const fs::path& scenarios) {
  const auto words = [](std::vector<std::string> first, std::vector<std::string> settings) {
    for (std::string& setting : settings) {
      first.insert(first.end(), {"--set", std::move(setting)});
    }
    return first;
  };
  std::vector<SingleCommand> list;
  list.push_back({"bounds-mnist", false,
                  words({"bounds", (scenarios / "paper" / "mnist-text.toml").string(), "--points", "16",
                         "--probes", "2", "--data", "128"},
                        {"swarms.count=2", "swarms.types.worker.count=2"})});
  for (const auto& [local, global] : {std::pair{1, 1}, {2, 2}, {4, 2}, {4, 4}, {8, 8}}) {
    list.push_back({fmt::format("bounds-smoke-{}-{}", local, global), true,
                    words({"bounds", (scenarios / "smoke.toml").string()},
                          {fmt::format("learning.local_period={}", local),
                           fmt::format("learning.global_period={}", global)})});
  }
  const auto optimum = [&](std::size_t swarms, std::size_t clusters, std::size_t age_cap,
                           const std::vector<std::string>& more) {
    std::vector<std::string> command =
        words({"plan", "bound", (scenarios / "paper" / "planning.toml").string(), "--planner",
               "guided,learned,beam,myopic,threshold_nearest_best"},
              {fmt::format("swarms.count={}", swarms), fmt::format("world.clusters.count={}", clusters),
               "world.stations.count=1", fmt::format("planning.age_cap={}", age_cap),
               "planning.drift.start={uniform=[2,16]}", "planning.drift.end={uniform=[2,16]}"});
    command.insert(command.end(), more.begin(), more.end());
    list.push_back({fmt::format("optimum-{}-{}", swarms, clusters), false, command});
  };
  optimum(2, 3, 6, {"--levels", "12"});
  optimum(2, 4, 5, {"--levels", "12"});
  optimum(1, 4, 6, {"--levels", "100", "--threshold", "33.76"});
  // Where the tests are: in a source tree.
  const fs::path instances = scenarios.parent_path() / "tests" / "reference" / "offloading_instances.jsonl";
  if (fs::exists(instances)) {
    list.push_back({"offloading-instances", true, {"optimize", "--instances", instances.string()}});
  }
  return list;
}

}  // namespace

fs::path reproduce_commands(const ReproduceOptions& options) {
  const fs::path out =
      options.common.out.empty() ? fs::path("runs") / "reproduce" / "commands" : fs::path(options.common.out);
  const fs::path directory = fs::absolute(out / (options.quick ? "quick" : "full"));
  fs::create_directories(directory);
  std::vector<SingleCommand> commands = single_commands(fs::absolute(scenario_directory()));
  if (options.quick) {
    std::erase_if(commands, [](const SingleCommand& command) { return !command.quick; });
  }
  const fs::path program = fs::read_symlink("/proc/self/exe");
  {
    Progress progress(options.common, "reproduce");
    deal(crew(), commands.size(), [&](std::size_t i) {
      const SingleCommand& command = commands[i];
      progress.show(command.name, static_cast<double>(i) / static_cast<double>(commands.size()));
      const fs::path result = directory / (command.name + ".txt");
      if (!fs::exists(result)) {
        // The shell only writes what is printed to a file; no word goes through it. The command is nobody's
        // fellow, even if this process is.
        const fs::path unfinished = directory / (command.name + ".unfinished");
        std::vector<std::string> arguments{
            "sh", "-c", "unset OMPI_COMM_WORLD_SIZE PMI_SIZE SLURM_STEP_NUM_TASKS; exec \"$@\" > \"$0\"",
            unfinished.string(), program.string()};
        arguments.insert(arguments.end(), command.words.begin(), command.words.end());
        arguments.insert(arguments.end(), {"--threads", fmt::format("{}", options.common.threads), "--out",
                                           (directory / command.name).string()});
        const auto ended = run_process(arguments, directory);
        if (!ended || ended->exit_code != 0) {
          throw InputError({"", fmt::format("skein {}", fmt::join(command.words, " ")), "",
                            "failed: " + (ended ? ended->output : "no shell was found")});
        }
        fs::rename(unfinished, result);
      }
      return std::string();
    });
  }
  if (!crew().is_first()) {
    return directory;
  }
  std::string report = "# Single commands\n";
  for (const SingleCommand& command : commands) {
    report += fmt::format("\n- `skein {}`: {}.txt", fmt::join(command.words, " "), command.name);
  }
  write_file(directory / "report.md", report + "\n");
  if (options.common.talks()) {
    fmt::print("{}\n\nWrote report.md and what the commands printed to {}\n\n", report, directory.string());
  }
  return directory;
}

}  // namespace skein::app
