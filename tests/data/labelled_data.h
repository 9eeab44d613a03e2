// Data sets with given class sizes, for tests of who gets what.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "skein/base/random.h"
#include "skein/data/dataset.h"

namespace skein {

// One value per sample; classes are mixed in the file as in a real one.
inline Dataset labelled_data(const std::vector<std::size_t>& class_sizes) {
  Dataset dataset{.name = "labelled", .shape = {1, 1, 1}};
  for (std::size_t label = 0; label < class_sizes.size(); ++label) {
    dataset.class_names.push_back("class" + std::to_string(label));
    dataset.labels.insert(dataset.labels.end(), class_sizes[label], static_cast<std::uint8_t>(label));
  }
  RandomStream stream(1, "labelled data");
  stream.shuffle(dataset.labels);
  dataset.features = std::vector<std::uint8_t>(dataset.labels.begin(), dataset.labels.end());
  dataset.mean = {0.0F};
  dataset.deviation = {1.0F};
  return dataset;
}

}  // namespace skein
