#include "skein/base/names.h"

#include <gtest/gtest.h>

#include <string>

namespace skein {
namespace {

enum class Colour { red, green, blue };
constexpr auto names_of(Colour) { return names_for<Colour>("red", "green", "deep blue"); }

enum class Nameless { one };

static_assert(Named<Colour> && !Named<Nameless>);
static_assert(num_values<Colour> == 3);
static_assert(is_enumerator<Colour::blue>() && !is_enumerator<static_cast<Colour>(3)>());

TEST(Names, OfEveryValue) {
  std::string all;
  for (const Colour colour : all_values<Colour>()) {
    all += std::string(name_of(colour)) + " ";
  }
  EXPECT_EQ(all, "red green deep blue ");
}

TEST(Names, OfNoValueThereIsNone) {
  EXPECT_THROW(static_cast<void>(name_of(static_cast<Colour>(7))), ProgrammingError);
}

}  // namespace
}  // namespace skein
