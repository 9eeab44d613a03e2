// `skein gradcheck` as people call it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "skein/base/file.h"
#include "tests/temporary_directory.h"

namespace skein {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Gradcheck : public ::testing::Test {
 protected:
  struct Outcome {
    int exit_code;
    std::string out;
    std::string err;
  };

  // Of the smallest scenario, in the test's own directory.
  Outcome gradcheck(const std::string& words) {
    const std::string command = "cd '" + directory_.path().string() +
                                "' && '" SKEIN_PROGRAM "' gradcheck '" SKEIN_SOURCE_DIR
                                "/scenarios/smoke.toml' " +
                                words + " > out 2> err";
    const int status = std::system(command.c_str());
    return {WEXITSTATUS(status), content("out"), content("err")};
  }
  [[nodiscard]] std::string content(const std::string& file) const {
    return read_file(directory_.path() / file, 1 << 20);
  }

  TemporaryDirectory directory_;
};

constexpr const char* own_network =
    "--set learning.network.preset=layers --set 'learning.network.layers=[\"conv 4 3 stride 2 padding 1\", "
    "\"relu\", \"pool 2 stride 1\", \"dropout 0.25\", \"lstm 6\", \"linear 10\"]' ";

TEST_F(Gradcheck, AnyNetworkOfAScenario) {
  const Outcome preset = gradcheck("");
  EXPECT_EQ(preset.exit_code, 0) << preset.err;
  EXPECT_THAT(preset.out, HasSubstr("3 layers, 19850 parameters; 4 samples a batch of synthetic"));
  EXPECT_THAT(preset.out, HasSubstr("fc1.weight"));
  EXPECT_THAT(preset.out, HasSubstr("All derivatives agree"));
  EXPECT_THAT(preset.out, Not(HasSubstr("WRONG")));

  const Outcome own = gradcheck(std::string(own_network) + "--batch 3 --directions 7");
  EXPECT_EQ(own.exit_code, 0) << own.out << own.err;
  EXPECT_THAT(own.out, HasSubstr("over 7 rounds"));
  for (const char* tensor : {"conv1.weight", "lstm1.weight_hh_l0", "lstm1.bias_ih_l0", "fc1.bias"}) {
    EXPECT_THAT(own.out, HasSubstr(tensor));
  }
  for (const char* form : {"first-order", "exact", "Hessian-free"}) {
    EXPECT_THAT(own.out, HasSubstr(std::string(form) + " meta-gradient"));
  }
}

TEST_F(Gradcheck, SpeaksJsonAndIsQuiet) {
  const auto answer = nlohmann::json::parse(gradcheck("--format json --directions 3").out);
  EXPECT_TRUE(answer["passes"]);
  EXPECT_EQ(answer["rows"].size(), 4 * 3 + 7);
  EXPECT_EQ(std::ranges::count(answer["rows"], "information", [](const auto& row) { return row["verdict"]; }),
            2);
  for (const auto& row : answer["rows"]) {
    EXPECT_GE(row["worst"], row["median"]) << row;
  }
  const Outcome quiet = gradcheck("--quiet");
  EXPECT_EQ(quiet.out + quiet.err, "");
}

TEST_F(Gradcheck, TheSameForAnyNumberOfThreads) {
  const std::string one = gradcheck("--threads 1 --format json").out;
  EXPECT_EQ(gradcheck("--threads 3 --format json").out, one);
  EXPECT_NE(gradcheck("--seed 5 --format json").out, one);
}

TEST_F(Gradcheck, HelpHasAnExample) {
  const Outcome help = gradcheck("--help");
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_THAT(help.out, HasSubstr("Example:"));
  EXPECT_THAT(help.out, HasSubstr("--directions"));
}

TEST_F(Gradcheck, WrongInputIsRefused) {
  EXPECT_EQ(gradcheck("--batch 0").exit_code, 2);
  EXPECT_EQ(gradcheck("--directions x").exit_code, 2);
  const Outcome layers = gradcheck("--set learning.network.preset=layers");
  EXPECT_EQ(layers.exit_code, 2);
  EXPECT_THAT(layers.err, HasSubstr("at least one layer"));
  const Outcome model = gradcheck("--set learning.initial_model=none.safetensors");
  EXPECT_EQ(model.exit_code, 2);
  EXPECT_THAT(model.err, HasSubstr("none.safetensors"));
}

// With an inner step this small, the Hessian's part of a meta-gradient is lost in rounding.
TEST_F(Gradcheck, ADerivativeThatCannotBeConfirmedIsANo) {
  const Outcome outcome = gradcheck("--set learning.inner_step=1e-300");
  EXPECT_EQ(outcome.exit_code, 1) << outcome.out;
  EXPECT_THAT(outcome.out, HasSubstr("WRONG"));
  EXPECT_THAT(outcome.out, HasSubstr("Some derivatives do not agree"));
}

}  // namespace
}  // namespace skein
