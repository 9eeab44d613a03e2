// What holds for all commands: help with an example, --format json, exit codes.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "program_fixture.h"

namespace skein {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class Commands : public ProgramFixture {
 protected:
  // Names of commands in a help text.
  static std::vector<std::string> listed(const std::string& help) {
    std::vector<std::string> names;
    const std::size_t begin = help.find("\nSubcommands:\n");
    if (begin == std::string::npos) {
      return names;
    }
    std::istringstream lines(help.substr(begin + 14));
    for (std::string line; std::getline(lines, line) && line.starts_with("  ");) {
      if (line[2] != ' ') {  // not the second line of a description
        names.push_back(line.substr(2, line.find(' ', 2) - 2));
      }
    }
    return names;
  }
  // All commands, "plan eval" for those of commands.
  std::vector<std::string> all() {
    std::vector<std::string> commands;
    for (const std::string& name : listed(skein("--help").out)) {
      const std::vector<std::string> parts = listed(skein(name + " --help").out);
      for (const std::string& part : parts) {
        commands.push_back(name + " " + part);
      }
      if (parts.empty() || name == "reproduce") {
        commands.push_back(name);
      }
    }
    return commands;
  }
};

TEST_F(Commands, AllHaveHelpAnExampleAndJson) {
  const std::vector<std::string> commands = all();
  EXPECT_GE(commands.size(), 25U);
  EXPECT_THAT(commands,
              ::testing::IsSupersetOf({"run", "resume", "sweep", "compare", "dimension", "reproduce",
                                       "reproduce mission", "plan replay", "data list"}));
  for (const std::string& command : commands) {
    const Outcome help = skein(command + " --help");
    EXPECT_EQ(help.exit_code, 0) << command;
    EXPECT_THAT(help.out, HasSubstr("Example:\n  skein " + command)) << command;
    EXPECT_THAT(help.out, HasSubstr("--quiet")) << command;
    EXPECT_THAT(help.out, HasSubstr("--format TEXT:{text,json}")) << command;
  }
}

TEST_F(Commands, WrongWordsAreJsonToo) {
  for (const std::string& command : all()) {
    const Outcome wrong = skein(command + " --format json --no-such-option");
    EXPECT_EQ(wrong.exit_code, 2) << command;
    EXPECT_EQ(json::parse(wrong.out)["valid"], false) << command;
    EXPECT_THAT(wrong.err, StartsWith("skein: ")) << command;
  }
}

// One call of each quick command: standard output is one JSON value.
TEST_F(Commands, PrintOneJsonValue) {
  write_file(at("box.gp"), "maximize h * w\nsubject to\n  h + w <= 4\n");
  const std::string environment = "'" SKEIN_SOURCE_DIR "/tests/reference/planning_environment.json'";
  for (const std::string& words : std::vector<std::string>{
           "new my.toml",
           "check my.toml",
           "world",
           "data list",
           "data info synthetic",
           "data split " + smoke_ + " --out split",
           "train " + smoke_ + " --set learning.iterations=2 --out train",
           "gradcheck " + smoke_ + " --batch 4 --directions 2",
           "bounds " + smoke_ + " --out bounds",
           "optimize " + smoke_ + " --set learning.iterations=4 --out optimize",
           "gp box.gp",
           "plan tables " + smoke_ + " --out tables",
           "plan eval " + smoke_ + " --planner myopic,random --seeds 1 --starts 1 --epochs 3 --out eval",
           "plan show " + smoke_ + " --planner myopic --out show",
           "plan replay " + environment,
           "plan train " + smoke_ + " --set planning.learner.steps=20 --out trained",
           "run " + smoke_ + " --out run",
           "resume run",
           "compare run",
           "sweep " + smoke_ + " --repeat 2 --out sweep",
           "sweep --collect sweep",
           "sweep " + smoke_ + " --repeat 2 --out sweep --point 1",
           "sweep " + smoke_ + " --slurm job",
           "dimension " + smoke_ + " --vary worker=2..3 --repeat 1 --confirm 1 --out dimension"}) {
    const Outcome outcome = skein(words + " --format json");
    EXPECT_EQ(outcome.exit_code, 0) << words << "\n" << outcome.err;
    EXPECT_NO_THROW(json::parse(outcome.out)) << words << "\n" << outcome.out;
  }
}

TEST_F(Commands, ReproduceMissionComparesPlannersAndOffloaders) {
  const std::string words = "reproduce mission " + smoke_ +
                            " --quick --set run.sequences=1 --set planning.learner.steps=20 --out here";
  const Outcome first = skein(words + " --format json");
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_EQ(json::parse(first.out)["reports"][0]["directory"], "here/quick");
  const std::string report = content("here/quick/report.md");
  for (const char* what : {"guided", "learned", "myopic", "nearest_best", "algorithm_1", "worker_selection",
                           "maximum_processing", "against the sequential heuristic with greedy offloading"}) {
    EXPECT_THAT(report, HasSubstr(what));
  }
  EXPECT_THAT(content("here/quick/mission.svg"), HasSubstr("sequential, greedy"));
  EXPECT_EQ(json::parse(content("here/quick/sweep.json"))["finished"], 16);
  // What is finished is kept.
  const auto before = files("here");
  ASSERT_EQ(skein(words + " --quiet").exit_code, 0);
  EXPECT_EQ(before, files("here"));
}

// The exit codes that docs/tools.md lists.
TEST_F(Commands, ExitCodesAreAsDocumented) {
  EXPECT_EQ(skein("check").exit_code, 0);
  EXPECT_EQ(skein("sweep " + smoke_ + " --set learning.inner_step=1e-3,-1 --quiet --out here").exit_code, 1);
  write_file(at("none.gp"), "minimize x\nsubject to\n  x >= 2\n  limit: x <= 1\n");
  EXPECT_EQ(skein("gp none.gp --quiet").exit_code, 1);
  EXPECT_EQ(skein("check --set swarms.count=0 --quiet").exit_code, 2);
  EXPECT_EQ(skein("nonsense").exit_code, 2);
  const std::string too_far =
      smoke_ +
      " --set learning.bound.meta_lipschitz=1e-6 --set learning.bound.gradient_lipschitz=1e-6"
      " --set learning.meta_step=10 --set learning.inner_step=10 --quiet --out there";
  const Outcome diverged = skein("run " + too_far + " --format json");
  EXPECT_EQ(diverged.exit_code, 3);
  EXPECT_THAT(json::parse(diverged.out)["diverged"].get<std::string>(), HasSubstr("learning.meta_step = 10"));
  // A checkpoint whose digests fit but whose content is not what a mission writes: nothing but a fault of our
  // own can make one, so it is made here.
  ASSERT_EQ(skein("run " + smoke_ + " --quiet --out broken").exit_code, 0);
  write_file(at("cut.py"),
             "import hashlib, sys\n"
             "data = open(sys.argv[1], 'rb').read()\n"
             "name, scenario, body = data.split(b'\\n', 2)\n"
             "body = body[: len(body) // 2]\n"
             "digest = hashlib.sha256(body).hexdigest().encode()\n"
             "open(sys.argv[1], 'wb').write(b'\\n'.join([name, scenario, body + digest]))\n");
  ASSERT_EQ(shell("python3 cut.py broken/checkpoint.bin").exit_code, 0);
  const Outcome internal = skein("resume broken --quiet");
  EXPECT_EQ(internal.exit_code, 70);
  EXPECT_THAT(internal.err, HasSubstr("a fault of Skein's own"));
  for (const char* code : {"| 0 |", "| 1 |", "| 2 |", "| 3 |", "| 70 |"}) {
    EXPECT_THAT(read_file(SKEIN_SOURCE_DIR "/docs/tools.md", 1 << 20), HasSubstr(code));
  }
}

}  // namespace
}  // namespace skein
