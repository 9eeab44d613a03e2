#include <mutex>
#include <nlohmann/json.hpp>

#include "skein/base/digest.h"
#include "skein/base/directory_lock.h"
#include "skein/base/file.h"
#include "skein/base/with_file_named.h"
#include "skein/learning/trainer.h"
#include "skein/mission/mission_run.h"
#include "skein/mission/sweep.h"

namespace skein {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

PointStatus fail(const fs::path& place, const std::string& digest, PointStatus status, const char* message) {
  write_file(
      place / "failed.json",
      Json{{"status", to_string(status)}, {"scenario_sha256", digest}, {"message", message}}.dump(1) + "\n");
  return status;
}

}  // namespace

PointStatus run_point(const Sweep& sweep, std::size_t point) {
  const ScenarioSource source = sweep.source_of(point);
  const fs::path place = sweep.place_of(point);
  fs::create_directories(place);
  const DirectoryLock lock(place);  // the same point may be somebody else's task too
  std::string digest;
  try {
    const Scenario scenario = load_scenario(source);
    const std::string resolved = resolved_scenario(scenario);
    digest = sha256(resolved);
    const PointResult before = read_point(place);
    if (before.scenario_sha256 == digest &&
        (before.status == PointStatus::finished || before.status == PointStatus::diverged)) {
      return before.status;
    }
    fs::remove(place / "failed.json");
    const fs::path file = place / "scenario.toml";
    const bool begun = fs::exists(place / "checkpoint.bin") && fs::exists(file) &&
                       read_file(file, std::size_t{1} << 24U) == resolved;
    return with_file_named(source.name(), [&] {
      MissionRun mission(scenario, place, {.num_threads = 1});
      if (!begun) {
        fs::remove(place / "checkpoint.bin");  // first: it would not be of the scenario beside it
        mission.run();
      } else {
        mission.resume();
      }
      return PointStatus::finished;
    });
  } catch (const Divergence& divergence) {
    return fail(place, digest, PointStatus::diverged, divergence.what());
  } catch (const InputError& error) {
    return fail(place, digest, PointStatus::impossible, error.what());
  }
}

void run_points(std::span<const Sweep> sweeps, std::size_t num_threads, Crew& crew,
                FractionListener progress) {
  std::vector<std::pair<const Sweep*, std::size_t>> points;
  for (const Sweep& sweep : sweeps) {
    for (std::size_t point = 0; point < sweep.grid.num_points(); ++point) {
      points.emplace_back(&sweep, point);
    }
  }
  const auto run = [&](std::size_t i) { run_point(*points[i].first, points[i].second); };
  const auto share = [&](std::size_t done) {
    return static_cast<double>(done) / static_cast<double>(points.size());
  };
  progress(0.0);
  if (crew.size() > 1) {
    // One point at a time in each process, as it becomes free.
    deal(crew, points.size(), [&](std::size_t i) {
      progress(share(i));
      run(i);
      return std::string();
    });
    return;
  }
  std::mutex mutex;
  std::size_t done = 0;
  ThreadPool(num_threads).parallel_for(points.size(), [&](std::size_t i) {
    run(i);
    const std::lock_guard lock(mutex);
    progress(share(++done));
  });
}

}  // namespace skein
