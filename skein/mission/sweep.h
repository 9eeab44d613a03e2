// Many missions of one scenario: a grid of points, each a mission in a directory of its own.
//
// Three steps that know nothing of one another but the sweep's directory: the grid is the same wherever it is
// made; a point is run by whoever likes, at any time and in any order; what is there is collected into a
// table. So points can be handed to threads, to tasks of an array job or to ranks.
#pragma once

#include <cstddef>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "skein/base/crew.h"
#include "skein/base/fraction_listener.h"
#include "skein/scenario/scenario_source.h"

namespace skein {

// Cells are settings of the scenario, each run once with every seed. Point k has cell k / seeds.size().
struct SweepGrid {
  std::vector<std::string> keys;                // that differ between cells
  std::vector<std::vector<std::string>> cells;  // a value, as in --set, for each key
  std::vector<std::size_t> seeds;

  [[nodiscard]] std::size_t num_points() const { return cells.size() * seeds.size(); }
  [[nodiscard]] std::size_t cell_of(std::size_t point) const { return point / seeds.size(); }
  [[nodiscard]] std::size_t seed_of(std::size_t point) const { return seeds[point % seeds.size()]; }
  // Below the sweep's directory. It tells the settings, and does not depend on the rest of the grid: a sweep
  // that is made larger keeps what it has.
  [[nodiscard]] std::filesystem::path place_of(std::size_t point) const;
};

struct Sweep {
  ScenarioSource base;  // with the settings that all points share
  SweepGrid grid;
  std::filesystem::path directory;

  [[nodiscard]] std::filesystem::path place_of(std::size_t point) const {
    return directory / grid.place_of(point);
  }
  [[nodiscard]] ScenarioSource source_of(std::size_t point) const;
};

// "1,[2,3],'a,b'" is three values: commas in brackets and quotes do not count. Throws InputError.
std::vector<std::string> split_values(const std::string& setting);

// Settings with several values span the grid, the last one changing fastest; the others are the base's. Each
// cell is run with so many seeds, from the scenario's on. Results go to `directory`, or to runs/NAME-sweep.
// Throws InputError with every fault; those of the first point where no point at all is a valid scenario.
Sweep make_sweep(const ScenarioSource& source, std::size_t repeat,
                 const std::filesystem::path& directory = {});

// Writes grid.json, from which the sweep is collected. Before points are run.
void write_grid(const Sweep& sweep);
// The same for processes that share a sweep: all call it, the first one writes. Throws InputError where their
// points, their data or their processors differ.
void start_sweep(const Sweep& sweep, Crew& crew);

enum class PointStatus { missing, finished, diverged, impossible };
std::string to_string(PointStatus status);

// Runs a point on the calling thread alone: from its checkpoint if there is one, and not at all if it has
// finished or diverged before. A point that cannot be run says why in failed.json; it stops nobody.
PointStatus run_point(const Sweep& sweep, std::size_t point);
// All points of all sweeps: one on each of so many threads (0: all cores), or one at a time in each process
// of the crew. `progress` is called with the share that is done, by one at a time.
void run_points(std::span<const Sweep> sweeps, std::size_t num_threads, Crew& crew,
                FractionListener progress);
inline void run_points(const Sweep& sweep, std::size_t num_threads, Crew& crew, FractionListener progress) {
  run_points({&sweep, 1}, num_threads, crew, progress);
}

struct PointResult {
  PointStatus status = PointStatus::missing;
  std::string scenario_sha256{};                          // of the scenario that was run
  std::string message{};                                  // why it failed
  std::vector<std::pair<std::string, double>> numbers{};  // of its summary, by name
};

// What a point's directory holds. Throws InputError.
PointResult read_point(const std::filesystem::path& place);

struct SweepTable {
  SweepGrid grid;
  std::filesystem::path directory;
  std::vector<PointResult> points;

  [[nodiscard]] std::size_t count(PointStatus status) const;
  // Seeds of a cell that have finished, and that cannot.
  [[nodiscard]] std::size_t num_finished(std::size_t cell) const;
  [[nodiscard]] std::size_t num_failed(std::size_t cell) const;
  // Values of a number of the summary over the finished seeds of a cell.
  [[nodiscard]] std::vector<double> values(std::size_t cell, const std::string& name) const;
  [[nodiscard]] nlohmann::ordered_json json() const;
};

// What the sweep's directory holds. Throws InputError with every fault.
SweepTable collect_sweep(const std::filesystem::path& directory);
// Writes sweep.csv (a row per cell), points.csv (a row per point) and sweep.json beside the points.
void write_table(const SweepTable& table);

}  // namespace skein
