#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "apps/skein/reproduce/reproduce.h"
#include "skein/base/file.h"
#include "skein/data/data_source.h"
#include "skein/mission/training_run.h"
#include "skein/version.h"

namespace skein::app {
namespace {

namespace fs = std::filesystem;

// Read again: a file from before some key was there has that key's default.
bool same_scenario(const fs::path& file, const std::string& resolved) {
  try {
    return fs::exists(file) && resolved_scenario(load_scenario(file)) == resolved;
  } catch (const InputError&) {
    return false;
  }
}

}  // namespace

KeptRuns::KeptRuns(const ReproduceOptions& options, fs::path directory)
    : options_(options),
      directory_(std::move(directory)),
      pool_(options.common.threads),
      progress_(options.common, "reproduce") {}

std::shared_ptr<const DataSplit> KeptRuns::data(const Scenario& scenario) {
  const DataSourceOptions& source = scenario.data.source;
  const std::uint64_t seed = data_source(source.name).has_its_own_split ? 0 : scenario.run.seed;
  const std::string key = fmt::format("{} {} {}", source.name, source.path.string(), seed);
  if (key != data_key_) {
    data_.reset();  // makes room
    data_ = std::make_shared<const DataSplit>(load_data(source, scenario.run.seed));
    data_key_ = key;
  }
  return data_;
}

void KeptRuns::show(const std::string& name, double fraction) {
  progress_.show(name, (static_cast<double>(finished_) + fraction) /
                           static_cast<double>(std::max(expected_, finished_ + 1)));
}

fs::path KeptRuns::run(const Scenario& scenario, const std::string& name) {
  const fs::path place = keep(scenario, name);
  finish_one();
  return place;
}

bool KeptRuns::has(const Scenario& scenario, const std::string& name) const {
  const fs::path place = directory_ / "runs" / name;
  constexpr std::size_t most_bytes = std::size_t{16} << 20U;
  if (!fs::exists(place / "summary.json")) {
    return false;
  }
  const nlohmann::json summary =
      nlohmann::json::parse(read_file(place / "summary.json", most_bytes), nullptr, false);
  return summary.is_object() && summary.value("version", "") == version &&
         same_scenario(place / "scenario.toml", resolved_scenario(scenario));
}

fs::path KeptRuns::keep(const Scenario& scenario, const std::string& name) {
  const fs::path place = directory_ / "runs" / name;
  if (!has(scenario, name)) {
    try {
      train_into(scenario, data(scenario), place, pool_,
                 [&](double fraction) { show("training", fraction); });
    } catch (const Divergence&) {
      // Its summary says so.
    }
  }
  return place;
}

}  // namespace skein::app
