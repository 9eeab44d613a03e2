#include "skein/learning/curve.h"

#include <gtest/gtest.h>

#include "skein/base/file.h"
#include "skein/base/input_fault.h"
#include "tests/temporary_directory.h"

namespace skein {
namespace {

const std::filesystem::path published =
    std::filesystem::path(SKEIN_SOURCE_DIR) / "scenarios/paper/published-curves.json";

TEST(Curve, CrossesWhereTheLineDoes) {
  const Curve curve{{0, 2, 4, 6}, {10, 30, 20, 60}};
  EXPECT_DOUBLE_EQ(*crossing(curve, 20), 1.0);
  EXPECT_DOUBLE_EQ(*crossing(curve, 30), 2.0);
  EXPECT_DOUBLE_EQ(*crossing(curve, 40), 5.0);
  EXPECT_DOUBLE_EQ(*crossing(curve, 5), 0.0);
  EXPECT_FALSE(crossing(curve, 60.1));
}

TEST(Curve, HasValuesBetweenItsPoints) {
  const Curve curve{{0, 2, 4}, {10, 30, 20}};
  EXPECT_DOUBLE_EQ(value_at(curve, 0), 10);
  EXPECT_DOUBLE_EQ(value_at(curve, 0.5), 15);
  EXPECT_DOUBLE_EQ(value_at(curve, 4), 20);
}

TEST(Curve, MeanIsPointwise) {
  const std::vector<Curve> curves{{{1, 2}, {10, 20}}, {{1, 2}, {30, 50}}};
  EXPECT_EQ(mean_of(curves).values, (std::vector<double>{20, 35}));
}

TEST(Curve, IsReadFromMetrics) {
  const TemporaryDirectory directory;
  const auto file = directory.path() / "metrics.csv";
  write_file(file, "iteration,a,b\n0,1.5,\n2,2.5,7\n");
  EXPECT_EQ(read_curve(file, "a").values, (std::vector<double>{1.5, 2.5}));
  EXPECT_EQ(read_curve(file, "b").iterations, (std::vector<double>{2}));
  EXPECT_THROW(read_curve(file, "c"), InputError);
  write_file(file, "iteration,a\n0,nan\n");
  EXPECT_THROW(read_curve(file, "a"), InputError);
  write_file(file, "iteration,a\n0\n");
  EXPECT_THROW(read_curve(file, "a"), InputError);
}

// The crossings that a study of the published curves found by its own means.
TEST(PublishedCurves, CrossWhereTheStudySays) {
  const PublishedCurves curves(published);
  struct Case {
    std::string data;
    std::size_t local_period, global_period;
    double start, level, h_fl, hn_pfl;
  };
  const std::vector<Case> cases{
      {"mnist", 1, 1, 10.5, 65, 10.10, 4.44},     {"mnist", 1, 8, 10.5, 65, 35.73, 25.65},
      {"fmnist", 2, 1, 10.5, 45, 11.65, 6.00},    {"fmnist", 1, 1, 10.5, 45, 9.41, 3.55},
      {"cifar10", 1, 4, 10.5, 25, 9.40, 2.49},    {"cifar10", 8, 1, 10.5, 25, 12.37, 4.95},
      {"radioml", 1, 1, 26.625, 80, 10.78, 4.69}, {"radioml", 4, 1, 26.625, 80, 17.15, 7.62}};
  for (const Case& c : cases) {
    const auto at = [&](const std::string& algorithm) {
      return *crossing(*curves.find({.data = c.data,
                                     .algorithm = algorithm,
                                     .local_period = c.local_period,
                                     .global_period = c.global_period},
                                    c.start),
                       c.level);
    };
    EXPECT_NEAR(at("H-FL"), c.h_fl, 0.0051) << c.data;
    EXPECT_NEAR(at("HN-PFL"), c.hn_pfl, 0.0051) << c.data;
  }
}

// Those of CIFAR-10 are of another seed than its global ones; RADIOML has none.
TEST(PublishedCurves, OfPersonalisedModels) {
  const PublishedCurves curves(published);
  const auto last = [&](const std::string& data, const std::string& algorithm) -> std::optional<double> {
    const auto curve = curves.find({.data = data, .metric = "personalised", .algorithm = algorithm});
    return curve ? std::optional(curve->values.back()) : std::nullopt;
  };
  EXPECT_NEAR(last("mnist", "HN-PFL").value(), 97.538, 1e-3);
  EXPECT_NEAR(last("cifar10", "H-FL").value(), 70.667, 1e-3);
  EXPECT_NEAR(last("cifar10", "HN-PFL").value(), 82.773, 1e-3);
  EXPECT_FALSE(last("radioml", "HN-PFL"));
}

TEST(PublishedCurves, RefuseWhatIsNotCurves) {
  const TemporaryDirectory directory;
  const auto file = directory.path() / "curves.json";
  for (const char* text : {"", "[1]", R"({"a": 1})", R"({"a": ["x"]})"}) {
    write_file(file, text);
    EXPECT_THROW(PublishedCurves{file}, InputError) << text;
  }
}

}  // namespace
}  // namespace skein
