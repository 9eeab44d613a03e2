#include "skein/base/input_fault.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skein {
namespace {

TEST(InputFault, LeavesOutWhatIsEmpty) {
  EXPECT_EQ(to_string({"a.toml", "world.sites", "-1", "must be a whole number >= 1"}),
            "a.toml: world.sites = -1: must be a whole number >= 1");
  EXPECT_EQ(to_string({"", "world.sites", "-1", "wrong"}), "world.sites = -1: wrong");
  EXPECT_EQ(to_string({"a.toml", "world.sites", "", "is missing"}), "a.toml: world.sites: is missing");
  EXPECT_EQ(to_string({"a.idx", "", "0x7", "no such kind"}), "a.idx: 0x7: no such kind");
  EXPECT_EQ(to_string({"a.idx", "", "", "no such file"}), "a.idx: no such file");
  EXPECT_EQ(to_string({"", "", "", "wrong"}), "wrong");
}

TEST(InputFaults, NoneThrowsNothing) {
  const InputFaults faults;
  EXPECT_TRUE(faults.empty());
  EXPECT_NO_THROW(faults.throw_if_any());
}

TEST(InputFaults, AllAreReportedTogetherAndInOrder) {
  InputFaults inner;
  inner.add({"a.toml", "x", "1", "first"});
  inner.add({"a.toml", "y", "2", "second"});
  InputFaults faults;
  faults.add_all(inner.list());
  faults.add({"b.toml", "z", "", "third"});
  EXPECT_FALSE(faults.empty());
  try {
    faults.throw_if_any();
    FAIL() << "did not throw";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "a.toml: x = 1: first\na.toml: y = 2: second\nb.toml: z: third");
    ASSERT_THAT(error.faults(), testing::SizeIs(3));
    EXPECT_EQ(error.faults()[1].key, "y");
    EXPECT_EQ(error.faults()[2].file, "b.toml");
  }
}

TEST(InputFaults, OneAlone) {
  const InputError error(InputFault{"a.idx", "byte 4", "17", "must be 60000"});
  EXPECT_STREQ(error.what(), "a.idx: byte 4 = 17: must be 60000");
  EXPECT_THAT(error.faults(), testing::SizeIs(1));
}

}  // namespace
}  // namespace skein
