#include "skein/data/split_preview.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/data/labelled_data.h"

namespace skein {
namespace {

using testing::HasSubstr;
using testing::Not;

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

// Two groups over three classes of 4 samples each, worked out by hand.
struct ByHand {
  ClassPools pools{labelled_data({4, 4, 4})};
  Partition partition;

  ByHand() {
    const auto take = [&](std::size_t label, std::size_t from, std::size_t to) {
      const auto pool = pools.of(label);
      return std::vector<SampleIndex>(pool.begin() + static_cast<int>(from),
                                      pool.begin() + static_cast<int>(to));
    };
    partition.groups = {{.mix = {1, 0, 0}, .members = {take(0, 0, 4), take(0, 0, 2)}},
                        {.mix = {0, 0.5, 0.5}, .members = {take(1, 0, 1), take(2, 0, 4), take(2, 3, 4)}}};
  }
};

TEST(SplitPreview, CountsByHand) {
  const ByHand hand;
  const SplitPreview split =
      preview(hand.partition, hand.pools, {.data = "hand", .group = "swarm", .member = "worker"});
  ASSERT_EQ(split.groups.size(), 2U);
  EXPECT_EQ(split.groups[0].name, "S:1");
  EXPECT_EQ(split.groups[0].class_counts, (std::vector<std::size_t>{6, 0, 0}));
  EXPECT_EQ(split.groups[0].quantities, (std::vector<std::size_t>{4, 2}));
  EXPECT_EQ(split.groups[1].class_counts, (std::vector<std::size_t>{0, 1, 5}));
  EXPECT_EQ(split.groups[1].least(), 1U);
  EXPECT_EQ(split.groups[1].most(), 4U);
  EXPECT_EQ(split.groups[1].mean(), 2.0);
  EXPECT_EQ(split.total(), 12U);
  EXPECT_EQ(split.num_members(), 5U);
  EXPECT_EQ(split.num_distinct, 9U);
  EXPECT_EQ(split.available, (std::vector<std::size_t>{4, 4, 4}));
}

TEST(SplitPreview, TextIsATable) {
  const ByHand hand;
  EXPECT_EQ(to_text(preview(hand.partition, hand.pools, {.data = "hand"})),
            "Data points of hand by cluster and class: 12 in all, 9 different samples.\n"
            "\n"
            "cluster     class0  class1  class2  all  devices  least  mean  most\n"
            "C:1              6       .       .    6        2      2   3.0     4\n"
            "C:2              .       1       5    6        3      1   2.0     4\n"
            "all              6       1       5   12        5\n"
            "in the set       4       4       4   12\n");
}

TEST(SplitPreview, JsonHasTheSameNumbers) {
  const ByHand hand;
  const auto json = nlohmann::json::parse(to_json(preview(hand.partition, hand.pools)));
  EXPECT_EQ(json["unit"], "data points");
  EXPECT_EQ(json["total"], 12);
  EXPECT_EQ(json["distinct_samples"], 9);
  EXPECT_EQ(json["groups"][1]["name"], "C:2");
  EXPECT_EQ(json["groups"][1]["class_counts"], (std::vector<int>{0, 1, 5}));
  EXPECT_EQ(json["groups"][0]["quantities"], (std::vector<int>{4, 2}));
}

TEST(SplitPreview, PictureShowsEveryCountAndStaysOnTheSheet) {
  for (const std::size_t num_groups : {1U, 2U, 8U, 50U}) {
    const ClassPools pools(labelled_data(std::vector<std::size_t>(10, 200)));
    const Partition split =
        partition({.quantity = {constant(30), unit::number, Range{.low = 1, .whole = true}}},
                  std::vector<std::size_t>(num_groups, 3), pools, 1);
    const std::string svg = to_svg(preview(split, pools, {.data = "made"}));
    EXPECT_EQ(count_of(svg, "<rect x="), 3 * num_groups);
    EXPECT_EQ(count_of(svg, ": 30 data points</title></circle>"), 3 * num_groups);
    EXPECT_EQ(svg.substr(svg.size() - 7), "</svg>\n");
    EXPECT_THAT(svg, HasSubstr(">class9</text>"));
    EXPECT_THAT(svg, Not(HasSubstr("nan")));
    EXPECT_THAT(svg, Not(HasSubstr("the first")));
    const double height = std::strtod(svg.c_str() + svg.find("height=\"") + 8, nullptr);
    const double width = std::strtod(svg.c_str() + svg.find("width=\"") + 7, nullptr);
    for (std::size_t at = svg.find("cx=\""); at != std::string::npos; at = svg.find("cx=\"", at + 1)) {
      EXPECT_LT(std::strtod(svg.c_str() + at + 4, nullptr), width);
      EXPECT_LT(std::strtod(svg.c_str() + svg.find("cy=\"", at) + 4, nullptr), height);
    }
  }
}

TEST(SplitPreview, PictureOfManyGroupsSaysThatItIsCut) {
  const ClassPools pools(labelled_data(std::vector<std::size_t>(60, 20)));
  const Partition split = partition({.kind = PartitionOptions::Kind::dirichlet,
                                     .quantity = {constant(5), unit::number, Range{.low = 1, .whole = true}}},
                                    std::vector<std::size_t>(70, 2), pools, 1);
  const std::string svg = to_svg(preview(split, pools));
  EXPECT_THAT(svg, HasSubstr("the first 50 of 70 clusters"));
  EXPECT_THAT(svg, HasSubstr(">C:50</text>"));
  EXPECT_THAT(svg, Not(HasSubstr(">C:51</text>")));
}

TEST(SplitPreview, NamesCannotBreakThePicture) {
  Dataset data = labelled_data({4, 4});
  data.class_names = {"<script>&\"", std::string(300, 'x')};
  const ClassPools pools(data);
  const Partition split = partition(
      {.labels_per_group = 2, .quantity = {constant(2), unit::number, Range{.low = 1, .whole = true}}},
      std::vector<std::size_t>{1}, pools, 1);
  const std::string svg = to_svg(preview(split, pools, {.data = "a<b"}));
  EXPECT_THAT(svg, Not(HasSubstr("<script>")));
  EXPECT_THAT(svg, HasSubstr("&lt;script&gt;&amp;&quot;"));
  EXPECT_THAT(svg, HasSubstr("a&lt;b"));
  EXPECT_THAT(svg, Not(HasSubstr(std::string(61, 'x'))));
}

}  // namespace
}  // namespace skein
