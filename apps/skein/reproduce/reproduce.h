// What the parts of `skein reproduce` share.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "apps/skein/command.h"
#include "apps/skein/progress.h"
#include "skein/base/thread_pool.h"
#include "skein/data/dataset.h"
#include "skein/scenario/scenario.h"

namespace skein::app {

struct ReproduceOptions {
  CommonOptions common;
  std::vector<std::string> data;     // mnist, fmnist, cifar10, radioml; empty: all
  std::vector<std::string> parts;    // of the study; empty: all
  std::vector<std::string> periods;  // "tau_L,tau_G" of the published and text parts; empty: all
  bool quick = false;
  std::size_t seeds = 0;  // 0: as many as the part takes
};

// Where the scenarios of the paper are: SKEIN_SCENARIOS, or beside the program or above it. Throws
// InputError.
std::filesystem::path scenario_directory();

// Training runs that are kept: one that is finished is not run again, so that a reproduction can be stopped
// and continued.
class KeptRuns {
 public:
  KeptRuns(const ReproduceOptions& options, std::filesystem::path directory);

  // The directory of a finished run of this scenario, by this version of Skein, trained now if it isn't
  // there. A run that diverged is finished too.
  std::filesystem::path run(const Scenario& scenario, const std::string& name);
  // Is it finished?
  [[nodiscard]] bool has(const Scenario& scenario, const std::string& name) const;
  // The same for a run that others start from, which does not count.
  std::filesystem::path keep(const Scenario& scenario, const std::string& name);

  std::shared_ptr<const DataSplit> data(const Scenario& scenario);
  ThreadPool& pool() { return pool_; }
  [[nodiscard]] const std::filesystem::path& directory() const { return directory_; }

  // How many runs there will be: for the time left.
  void expect_runs(std::size_t count) { expected_ += count; }
  // Shows progress: so much of the next run is done.
  void show(const std::string& name, double fraction);
  void finish_one() { ++finished_; }

 private:
  const ReproduceOptions& options_;
  std::filesystem::path directory_;
  ThreadPool pool_;
  Progress progress_;
  std::shared_ptr<const DataSplit> data_;  // the last that was asked for: runs come data set by data set
  std::string data_key_;                   // its source, path and seed
  std::size_t expected_ = 0;
  std::size_t finished_ = 0;
};

// The paper's learning study on one data set.
struct LearningStudy {
  std::string name;             // mnist, fmnist, cifar10, radioml
  std::string title;            // MNIST
  double level = 0.0;           // accuracy in percent that the energy tables ask for
  double plotted_start = 10.5;  // what the published figures show at iteration 0, in percent
};
const std::vector<LearningStudy>& learning_studies();

// Each writes its tables, numbers and pictures and returns a text in Markdown.
std::string reproduce_published(const LearningStudy& study, const ReproduceOptions& options, KeptRuns& runs);
std::string reproduce_energy(const LearningStudy& study, const ReproduceOptions& options, KeptRuns& runs);
std::string reproduce_text(const LearningStudy& study, const ReproduceOptions& options, KeptRuns& runs);
std::string reproduce_fair(const LearningStudy& study, const ReproduceOptions& options, KeptRuns& runs);

// The paper's offloading study; pictures and numbers go to the directory.
std::string reproduce_offloading(const ReproduceOptions& options, const std::filesystem::path& directory);

// The paper's planning study: everything into one directory, which is returned.
std::filesystem::path reproduce_planning(const ReproduceOptions& options);

// Whole missions: see mission_study.h; likewise.
std::filesystem::path reproduce_mission(const ReproduceOptions& options);

// What docs/results.md has from other commands: each is run, and what it prints is kept; likewise.
std::filesystem::path reproduce_commands(const ReproduceOptions& options);

// A table in Markdown, its columns as wide as they need.
std::string markdown_table(const std::vector<std::vector<std::string>>& rows);

}  // namespace skein::app
