// Trains a scenario and keeps what comes out of it in a directory.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "skein/base/thread_pool.h"
#include "skein/data/dataset.h"
#include "skein/learning/training_record.h"
#include "skein/scenario/scenario.h"

namespace skein::app {

struct TrainingOutcome {
  nlohmann::ordered_json summary;  // with the last record
  std::vector<TrainingRecord> records;
};

// Writes metrics.csv (as it goes on), scenario.toml, models, and summary.json last. Where training diverges,
// the summary says so, and Divergence is thrown on. Faults of the scenario are thrown before anything is
// written; the file's name is the caller's to add.
TrainingOutcome train_into(const Scenario& scenario, std::shared_ptr<const DataSplit> data,
                           const std::filesystem::path& directory, ThreadPool& pool,
                           const std::function<void(double)>& progress);

}  // namespace skein::app
