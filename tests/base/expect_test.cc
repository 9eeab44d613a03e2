#include "skein/base/expect.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skein {
namespace {

TEST(Expect, PassesWhatHolds) { EXPECT_NO_THROW(expect(true, "fine")); }

TEST(Expect, NamesThePlaceAndTheReason) {
  try {
    expect(false, "two is more than one");
    FAIL() << "did not throw";
  } catch (const ProgrammingError& error) {
    EXPECT_THAT(error.what(), testing::MatchesRegex(".*expect_test\\.cc:[0-9]+: two is more than one"));
  }
}

}  // namespace
}  // namespace skein
