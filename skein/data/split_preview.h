// A preview of who gets which data: as a table, as JSON and as a picture.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "skein/data/class_pools.h"
#include "skein/data/partition.h"

namespace skein {

// What the preview calls things.
struct SplitWords {
  std::string data = "data";  // the data set
  std::string group = "cluster";
  std::string member = "device";
};

struct GroupSplit {
  std::string name;
  std::vector<std::size_t> class_counts;  // data points of each class
  std::vector<std::size_t> quantities;    // data points of each member

  [[nodiscard]] std::size_t total() const;
  [[nodiscard]] std::size_t least() const;
  [[nodiscard]] std::size_t most() const;
  [[nodiscard]] double mean() const;
};

struct SplitPreview {
  SplitWords words;
  std::vector<std::string> class_names;
  std::vector<std::size_t> available;  // samples of each class in the data set
  std::vector<GroupSplit> groups;
  std::size_t num_distinct = 0;  // samples that someone has

  [[nodiscard]] std::size_t total() const;
  [[nodiscard]] std::size_t num_members() const;
};

// Groups are named "C:1", "C:2", ... as the paper does, by the first letter of the word for a group.
SplitPreview preview(const Partition& partition, const ClassPools& pools, const SplitWords& words = {});

// Groups down, classes across, and the least, mean and most data points of a member.
std::string to_text(const SplitPreview& preview);

std::string to_json(const SplitPreview& preview);

// A self-contained SVG: groups down; left a bubble for each class, its area the number of data points; right
// bars of all data points, coloured by class. The first 50 groups are shown.
std::string to_svg(const SplitPreview& preview);

}  // namespace skein
