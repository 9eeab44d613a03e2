#include "skein/base/process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/temporary_directory.h"

namespace skein {
namespace {

TEST(Process, GivesExitCodeAndOutput) {
  const TemporaryDirectory directory;
  const auto result = run_process({"sh", "-c", "pwd; echo complaint >&2; exit 3"}, directory.path());
  ASSERT_TRUE(result);
  EXPECT_EQ(result->exit_code, 3);
  EXPECT_EQ(result->output, std::filesystem::canonical(directory.path()).string() + "\ncomplaint\n");
}

TEST(Process, PassesArgumentsAsTheyAre) {
  const auto result = run_process({"printf", "%s|", "a b", "$HOME", "; exit 1", ""}, "/");
  ASSERT_TRUE(result);
  EXPECT_EQ(result->output, "a b|$HOME|; exit 1||");
}

TEST(Process, KeepsTheEndOfALongOutput) {
  const auto result = run_process({"sh", "-c", "yes | head -n 100000; echo end"}, "/");
  ASSERT_TRUE(result);
  EXPECT_EQ(result->output.size(), 4000U);
  EXPECT_THAT(result->output, testing::EndsWith("y\nend\n"));
}

TEST(Process, TellsOfASignal) {
  const auto result = run_process({"sh", "-c", "kill -9 $$"}, "/");
  ASSERT_TRUE(result);
  EXPECT_EQ(result->exit_code, 128 + 9);
}

TEST(Process, AProgramThatIsNotThere) { EXPECT_FALSE(run_process({"no-such-program-anywhere"}, "/")); }

}  // namespace
}  // namespace skein
