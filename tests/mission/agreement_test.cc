#include "skein/mission/agreement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "skein/base/input_fault.h"
#include "tests/thread_crew.h"

namespace skein {
namespace {

using ::testing::HasSubstr;

TEST(Agreement, SaysAtAllProcessesWhatDiffers) {
  std::atomic<int> refused = 0;
  run_crew(3, [&](Crew& crew) {
    try {
      refuse_differences(crew, {{"scenario", "same"}, {"threads", crew.rank() == 2 ? "four" : "two"}});
    } catch (const InputError& error) {
      ++refused;
      EXPECT_EQ(error.faults().size(), 1U);
      EXPECT_THAT(error.what(), HasSubstr("process 2: threads = four: differs from two of process 0"));
    }
  });
  EXPECT_EQ(refused, 3);
}

TEST(Agreement, WhoIsTheSameGoesOn) {
  run_crew(2, [](Crew& crew) { refuse_differences(crew, {{"scenario", "same"}}); });
  refuse_differences(alone(), {{"scenario", "any"}});
}

}  // namespace
}  // namespace skein
