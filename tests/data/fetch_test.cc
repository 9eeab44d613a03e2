#include "skein/data/fetch.h"

#include <gtest/gtest.h>

#include "skein/base/input_fault.h"

namespace skein {
namespace {

TEST(Fetch, KnowsItsDataSets) {
  for (const char* name : {"mnist", "cifar10"}) {
    const DataPackage package = data_package(name);
    EXPECT_EQ(package.name, name);
    EXPECT_EQ(package.sha512.size(), 128U);
    for (const PackageFile& file : package.files) {
      EXPECT_EQ(file.sha256.size(), 64U);
    }
  }
  EXPECT_THROW(data_package("fashion-mnist"), InputError);
}

}  // namespace
}  // namespace skein
