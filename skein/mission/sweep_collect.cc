#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "skein/base/csv.h"
#include "skein/base/expect.h"
#include "skein/base/file.h"
#include "skein/base/interval.h"
#include "skein/mission/headline_numbers.h"
#include "skein/mission/sweep.h"

namespace skein {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::array<const char*, 4> status_names{"missing", "finished", "diverged", "impossible"};

// Names of all numbers, in the order of the first finished point.
std::vector<std::string> number_names(const SweepTable& table) {
  std::vector<std::string> names;
  for (const PointResult& point : table.points) {
    for (const auto& [name, value] : point.numbers) {
      if (std::ranges::find(names, name) == names.end()) {
        names.push_back(name);
      }
    }
  }
  return names;
}

std::string cells_csv(const SweepTable& table) {
  const std::vector<std::string> names = number_names(table);
  std::string text;
  for (const std::string& key : table.grid.keys) {
    text += csv_cell(key) + ",";
  }
  text += "seeds_finished,seeds_failed";
  for (const std::string& name : names) {
    text += fmt::format(",{}_mean,{}_deviation", name, name);
  }
  text += "\n";
  for (std::size_t cell = 0; cell < table.grid.cells.size(); ++cell) {
    for (const std::string& value : table.grid.cells[cell]) {
      text += csv_cell(value) + ",";
    }
    text += fmt::format("{},{}", table.num_finished(cell), table.num_failed(cell));
    for (const std::string& name : names) {
      const std::vector<double> values = table.values(cell, name);
      if (values.empty()) {
        text += ",,";
      } else {
        const MeanInterval m = mean_interval(values);
        text += fmt::format(",{},{}", m.mean, values.size() > 1 ? fmt::format("{}", m.deviation) : "");
      }
    }
    text += "\n";
  }
  return text;
}

std::string points_csv(const SweepTable& table) {
  const std::vector<std::string> names = number_names(table);
  std::string text = "directory,";
  for (const std::string& key : table.grid.keys) {
    text += csv_cell(key) + ",";
  }
  text += "seed,status";
  for (const std::string& name : names) {
    text += "," + name;
  }
  text += "\n";
  for (std::size_t point = 0; point < table.points.size(); ++point) {
    const PointResult& result = table.points[point];
    text += csv_cell(table.grid.place_of(point).string()) + ",";
    for (const std::string& value : table.grid.cells[table.grid.cell_of(point)]) {
      text += csv_cell(value) + ",";
    }
    text += fmt::format("{},{}", table.grid.seed_of(point), to_string(result.status));
    for (const std::string& name : names) {
      const auto found = std::ranges::find(result.numbers, name, &std::pair<std::string, double>::first);
      text += found == result.numbers.end() ? "," : fmt::format(",{}", found->second);
    }
    text += "\n";
  }
  return text;
}

}  // namespace

std::string to_string(PointStatus status) { return status_names.at(static_cast<std::size_t>(status)); }

PointResult read_point(const fs::path& place) {
  if (fs::exists(place / "failed.json")) {
    const Json failed = read_json(place / "failed.json");
    const std::string status = failed.value("status", "");
    return {.status = status == "diverged" ? PointStatus::diverged : PointStatus::impossible,
            .scenario_sha256 = failed.value("scenario_sha256", ""),
            .message = failed.value("message", "")};
  }
  if (!fs::exists(place / "summary.json") || !fs::exists(place / "manifest.json")) {
    return {};
  }
  return {.status = PointStatus::finished,
          .scenario_sha256 = read_json(place / "manifest.json").value("scenario_sha256", ""),
          .numbers = numbers_of(read_json(place / "summary.json"))};
}

SweepTable collect_sweep(const fs::path& directory) {
  const fs::path file = directory / "grid.json";
  const Json json = read_json(file);
  SweepTable table{.grid = {}, .directory = directory, .points = {}};
  SweepGrid& grid = table.grid;
  std::vector<std::string> digests;
  const auto refuse = [&](const char* what) { throw InputError({file.string(), "", "", what}); };
  try {
    json.at("keys").get_to(grid.keys);
    json.at("cells").get_to(grid.cells);
    json.at("seeds").get_to(grid.seeds);
    for (const Json& point : json.at("points")) {
      digests.push_back(point.at("scenario_sha256").get<std::string>());
    }
  } catch (const nlohmann::json::exception&) {
    refuse("is not the grid of a sweep");
  }
  if (digests.size() != grid.num_points() ||
      std::ranges::any_of(grid.cells, [&](const auto& cell) { return cell.size() != grid.keys.size(); })) {
    refuse("is the grid of a sweep with points missing");
  }
  std::vector<InputFault> faults;
  for (std::size_t point = 0; point < grid.num_points(); ++point) {
    try {
      PointResult result = read_point(directory / grid.place_of(point));
      table.points.push_back(result.scenario_sha256 == digests[point] ? std::move(result) : PointResult{});
    } catch (const InputError& error) {
      faults.insert(faults.end(), error.faults().begin(), error.faults().end());
    }
  }
  if (!faults.empty()) {
    throw InputError(std::move(faults));
  }
  return table;
}

std::size_t SweepTable::count(PointStatus status) const {
  return static_cast<std::size_t>(std::ranges::count(points, status, &PointResult::status));
}

std::size_t SweepTable::num_finished(std::size_t cell) const {
  std::size_t finished = 0;
  for (std::size_t point = 0; point < points.size(); ++point) {
    finished += grid.cell_of(point) == cell && points[point].status == PointStatus::finished;
  }
  return finished;
}

std::size_t SweepTable::num_failed(std::size_t cell) const {
  std::size_t failed = 0;
  for (std::size_t point = 0; point < points.size(); ++point) {
    const PointStatus status = points[point].status;
    failed +=
        grid.cell_of(point) == cell && (status == PointStatus::diverged || status == PointStatus::impossible);
  }
  return failed;
}

std::vector<double> SweepTable::values(std::size_t cell, const std::string& name) const {
  std::vector<double> list;
  for (std::size_t i = 0; i < grid.seeds.size(); ++i) {
    for (const auto& [key, value] : points[cell * grid.seeds.size() + i].numbers) {
      if (key == name) {
        list.push_back(value);
      }
    }
  }
  return list;
}

Json SweepTable::json() const {
  const std::vector<std::string> names = number_names(*this);
  Json cells = Json::array();
  for (std::size_t cell = 0; cell < grid.cells.size(); ++cell) {
    Json settings = Json::object();
    for (std::size_t i = 0; i < grid.keys.size(); ++i) {
      settings[grid.keys[i]] = grid.cells[cell][i];
    }
    Json mean = Json::object();
    Json deviation = Json::object();
    for (const std::string& name : names) {
      const std::vector<double> list = values(cell, name);
      if (!list.empty()) {
        mean[name] = mean_interval(list).mean;
        deviation[name] = list.size() > 1 ? Json(mean_interval(list).deviation) : Json();
      }
    }
    cells.push_back({{"settings", settings},
                     {"seeds_finished", num_finished(cell)},
                     {"seeds_failed", num_failed(cell)},
                     {"mean", mean},
                     {"deviation", deviation}});
  }
  Json list = Json::array();
  for (std::size_t point = 0; point < points.size(); ++point) {
    Json one{{"directory", grid.place_of(point).string()},
             {"cell", grid.cell_of(point) + 1},
             {"seed", grid.seed_of(point)},
             {"status", to_string(points[point].status)}};
    if (!points[point].message.empty()) {
      one["message"] = points[point].message;
    }
    list.push_back(std::move(one));
  }
  return {{"keys", grid.keys},
          {"seeds", grid.seeds},
          {"finished", count(PointStatus::finished)},
          {"diverged", count(PointStatus::diverged)},
          {"impossible", count(PointStatus::impossible)},
          {"missing", count(PointStatus::missing)},
          {"cells", cells},
          {"points", list}};
}

void write_table(const SweepTable& table) {
  write_file(table.directory / "sweep.csv", cells_csv(table));
  write_file(table.directory / "points.csv", points_csv(table));
  write_file(table.directory / "sweep.json", table.json().dump(1) + "\n");
}

}  // namespace skein
