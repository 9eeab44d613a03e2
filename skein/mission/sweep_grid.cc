#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

#include "skein/base/digest.h"
#include "skein/base/file.h"
#include "skein/mission/agreement.h"
#include "skein/mission/sweep.h"
#include "skein/nn/kernels.h"

namespace skein {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_points = 10000;
constexpr std::size_t longest_name = 120;
constexpr std::size_t most_grid_bytes = std::size_t{1} << 28U;

InputFault fault_of(const std::string& setting, std::string message) {
  return {.file = "", .key = "--set", .value = setting, .message = std::move(message)};
}

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(' ');
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

// As the name of a file: what is not plain becomes an underscore, and a digest tells such names apart.
std::string file_name(const std::string& text) {
  std::string name = text;
  std::ranges::replace_if(
      name,
      [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0 && !std::strchr("._=+-,", c); },
      '_');
  name.resize(std::min(name.size(), longest_name));
  return name == text ? name : name + "-" + sha256(text).substr(0, 8);
}

// The scenario of the first point that has one.
Scenario first_valid(const Sweep& sweep) {
  std::vector<InputFault> faults;
  for (std::size_t cell = 0; cell < sweep.grid.cells.size(); ++cell) {
    try {
      ScenarioSource source = sweep.source_of(cell * sweep.grid.seeds.size());
      source.seed = sweep.base.seed;
      return load_scenario(source);
    } catch (const InputError& error) {
      faults = faults.empty() ? error.faults() : faults;
    }
  }
  throw InputError(std::move(faults));
}

// Of a point's scenario; empty if it has none.
std::string digest_of(const Sweep& sweep, std::size_t point) {
  try {
    return sha256(resolved_scenario(load_scenario(sweep.source_of(point))));
  } catch (const InputError&) {
    return "";
  }
}

}  // namespace

std::vector<std::string> split_values(const std::string& setting) {
  const std::size_t equals = setting.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw InputError(fault_of(setting, "must have the form section.key=value or section.key=value,value"));
  }
  std::vector<std::string> values{""};
  std::string open;  // closing brackets that are awaited
  char quote = '\0';
  for (std::size_t i = equals + 1; i < setting.size(); ++i) {
    const char c = setting[i];
    if (quote != '\0') {
      if (c == '\\' && quote == '"' && i + 1 < setting.size()) {
        values.back() += c;
        values.back() += setting[++i];
        continue;
      }
      quote = c == quote ? '\0' : quote;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '[' || c == '{') {
      open += c == '[' ? ']' : '}';
    } else if (c == ']' || c == '}') {
      if (open.empty() || open.back() != c) {
        throw InputError(fault_of(setting, fmt::format("has a '{}' that closes nothing", c)));
      }
      open.pop_back();
    } else if (c == ',' && open.empty()) {
      values.emplace_back();
      continue;
    }
    values.back() += c;
  }
  if (quote != '\0' || !open.empty()) {
    throw InputError(
        fault_of(setting, fmt::format("lacks a closing {}", quote != '\0' ? quote : open.back())));
  }
  if (values.size() > 1) {
    std::ranges::transform(values, values.begin(), trimmed);
    if (std::ranges::find(values, "") != values.end()) {
      throw InputError(fault_of(setting, "has an empty value between its commas"));
    }
    if (std::set<std::string>(values.begin(), values.end()).size() < values.size()) {
      throw InputError(fault_of(setting, "has a value twice"));
    }
  }
  return values;
}

fs::path SweepGrid::place_of(std::size_t point) const {
  std::string name;
  const std::vector<std::string>& values = cells[cell_of(point)];
  for (std::size_t i = 0; i < keys.size(); ++i) {
    name += fmt::format("{}={},", keys[i], values[i]);
  }
  return fs::path("points") / (file_name(name) + fmt::format("seed={}", seed_of(point)));
}

ScenarioSource Sweep::source_of(std::size_t point) const {
  ScenarioSource source = base;
  for (std::size_t i = 0; i < grid.keys.size(); ++i) {
    source.settings.push_back(grid.keys[i] + "=" + grid.cells[grid.cell_of(point)][i]);
  }
  source.seed = grid.seed_of(point);
  return source;
}

Sweep make_sweep(const ScenarioSource& source, std::size_t repeat, const fs::path& directory) {
  Sweep sweep{.base = source, .grid = {.keys = {}, .cells = {{}}, .seeds = {0}}, .directory = directory};
  SweepGrid& grid = sweep.grid;
  sweep.base.settings.clear();
  std::vector<InputFault> faults;
  for (const std::string& setting : source.settings) {
    try {
      const std::vector<std::string> values = split_values(setting);
      if (values.size() == 1) {
        sweep.base.settings.push_back(setting);
        continue;
      }
      const std::string key = trimmed(setting.substr(0, setting.find('=')));
      if (key == "run.seed") {
        throw InputError(fault_of(setting, "seeds are swept by --repeat"));
      }
      if (std::ranges::find(grid.keys, key) != grid.keys.end()) {
        throw InputError(fault_of(setting, "sweeps a key that is swept already"));
      }
      if (grid.cells.size() > most_points / values.size() / repeat) {
        throw InputError(fault_of(setting, fmt::format("makes more than {} points", most_points)));
      }
      grid.keys.push_back(key);
      std::vector<std::vector<std::string>> finer;
      for (const auto& cell : grid.cells) {
        for (const std::string& value : values) {
          finer.push_back(cell);
          finer.back().push_back(value);
        }
      }
      grid.cells = std::move(finer);
    } catch (const InputError& error) {
      faults.insert(faults.end(), error.faults().begin(), error.faults().end());
    }
  }
  if (!faults.empty()) {
    throw InputError(std::move(faults));
  }
  const Scenario scenario = first_valid(sweep);
  grid.seeds.clear();
  for (std::size_t i = 0; i < repeat; ++i) {
    grid.seeds.push_back(scenario.run.seed + i);
  }
  if (sweep.directory.empty()) {
    sweep.directory = fs::path("runs") / (scenario.run.name + "-sweep");
  }
  return sweep;
}

void write_grid(const Sweep& sweep) {
  nlohmann::ordered_json points = nlohmann::ordered_json::array();
  for (std::size_t point = 0; point < sweep.grid.num_points(); ++point) {
    points.push_back({{"directory", sweep.grid.place_of(point).string()},
                      {"cell", sweep.grid.cell_of(point) + 1},
                      {"seed", sweep.grid.seed_of(point)},
                      {"scenario_sha256", digest_of(sweep, point)}});
  }
  const std::string text =
      nlohmann::ordered_json{{"scenario", sweep.base.name()}, {"settings", sweep.base.settings},
                             {"keys", sweep.grid.keys},       {"cells", sweep.grid.cells},
                             {"seeds", sweep.grid.seeds},     {"points", points}}
          .dump(1) +
      "\n";
  // Tasks of an array job all come here: only the first has something to write.
  const fs::path file = sweep.directory / "grid.json";
  if (!fs::exists(file) || read_file(file, most_grid_bytes) != text) {
    write_file(file, text);
  }
}

void start_sweep(const Sweep& sweep, Crew& crew) {
  if (crew.size() > 1) {
    std::string points;
    for (std::size_t point = 0; point < sweep.grid.num_points(); ++point) {
      points += sweep.grid.place_of(point).string() + "\n" + digest_of(sweep, point) + "\n";
    }
    refuse_differences(crew, {{"sweep", sha256(points)},
                              {"data", digest_of_data(first_valid(sweep))},
                              {"processor", nn::kernels<float>().name}});
  }
  if (crew.is_first()) {
    write_grid(sweep);
  }
}

}  // namespace skein
