// A training run from a scenario to its directory, once or with several seeds.
#pragma once

#include <cstddef>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "skein/base/fraction_listener.h"
#include "skein/base/interval.h"
#include "skein/base/thread_pool.h"
#include "skein/data/dataset.h"
#include "skein/learning/training_record.h"
#include "skein/scenario/scenario.h"

namespace skein {

struct TrainingOutcome {
  std::size_t num_swarms = 0;
  std::size_t num_workers = 0;
  std::size_t num_parameters = 0;
  std::size_t num_threads = 0;
  std::vector<TrainingRecord> records{};
  double wall_s = 0.0;
};

// Writes metrics.csv (as it goes on), scenario.toml, models, and summary.json last. Where training diverges,
// the summary says so, and Divergence is thrown on. Faults of the scenario are thrown before anything is
// written; the file's name is the caller's to add.
TrainingOutcome train_into(const Scenario& scenario, std::shared_ptr<const DataSplit> data,
                           const std::filesystem::path& directory, ThreadPool& pool,
                           FractionListener progress);
// Of summary.json.
std::string training_summary(const Scenario& scenario, const TrainingOutcome& outcome,
                             const std::filesystem::path& directory);

// What is compared over seeds: a number of a record.
struct TrainingNumber {
  std::string_view name;    // a column of repeats.csv
  std::string_view title;   // for people
  std::string_view format;  // for people
  std::function<std::optional<double>(const TrainingRecord&)> value;
};
const std::vector<TrainingNumber>& training_numbers();

// Trainings that differ in their seed.
struct RepeatedTraining {
  std::size_t repeats = 0;
  TrainingOutcome one{};                    // the last that did not diverge
  std::vector<std::size_t> seeds{};         // that did not diverge
  std::vector<TrainingRecord> last{};       // the last record of each
  std::exception_ptr divergence = nullptr;  // of the first that did

  [[nodiscard]] std::size_t num_diverged() const { return repeats - seeds.size(); }
  // Nothing where it was not measured.
  [[nodiscard]] std::optional<MeanInterval> over_seeds(const TrainingNumber& number) const;
};

// From the scenario's seed on, each in a directory of its own. Writes repeats.csv (as it goes on),
// scenario.toml and summary.json. Throws Divergence if all diverge.
RepeatedTraining train_repeatedly(const Scenario& scenario, std::size_t repeats,
                                  const std::filesystem::path& directory, ThreadPool& pool,
                                  FractionListener progress);
// Of summary.json.
std::string training_summary(const Scenario& scenario, const RepeatedTraining& training,
                             const std::filesystem::path& directory);

}  // namespace skein
