// What accuracy is possible: a global model that learns from unlimited data of all clusters and knows each
// cluster's true mix of labels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "skein/base/fraction_listener.h"
#include "skein/data/class_pools.h"
#include "skein/data/dataset.h"
#include "skein/learning/trainer.h"
#include "skein/learning/workspace.h"
#include "skein/simulation/field.h"

namespace skein {

// What is referred to must outlive the oracle.
struct OracleSetup {
  const Dataset* data = nullptr;      // the training set: all of it, not only what devices hold
  const ClassPools* pools = nullptr;  // of it
  std::size_t num_clusters = 0;
  std::uint64_t seed = 0;
};

class Oracle {
 public:
  Oracle(OracleSetup setup, Model initial, Workspaces& workspaces)
      : setup_(setup), workspaces_(workspaces), model_(std::move(initial)) {}

  // Its accuracy on each cluster's data of now, 0 to 1. Before the first time it learns; later it goes on
  // where features drift. Call it once in each sequence.
  std::vector<double> accuracies(Field& field, FractionListener progress = {});

  // Steps of SGD that it has made, and where they have led: what changes.
  [[nodiscard]] std::size_t num_steps() const { return num_steps_; }
  [[nodiscard]] const Model& model() const { return model_; }
  void restore(Model model, std::size_t num_steps);

 private:
  void learn(const Field& field, std::size_t steps, FractionListener progress);

  OracleSetup setup_;
  Workspaces& workspaces_;
  Model model_;
  std::size_t num_steps_ = 0;
};

}  // namespace skein
