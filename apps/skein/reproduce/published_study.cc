#include "apps/skein/reproduce/published_study.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "apps/skein/reproduce/figure.h"
#include "skein/base/digest.h"
#include "skein/base/file.h"

namespace skein::app {
namespace {

namespace fs = std::filesystem;

constexpr std::array<Periods, 7> all_periods{{{1, 1}, {1, 2}, {1, 4}, {1, 8}, {2, 1}, {4, 1}, {8, 1}}};
constexpr std::array<Periods, 3> quick_periods{{{1, 1}, {1, 4}, {4, 1}}};

std::string name_of(const Method& method, const Periods& periods, std::size_t seed) {
  return fmt::format("{}-L{}-G{}-seed{}", method.name, periods.local, periods.global, seed);
}

}  // namespace

std::vector<Periods> wanted_periods(const ReproduceOptions& options) {
  std::vector<Periods> list(all_periods.begin(), all_periods.end());
  if (!options.periods.empty()) {
    std::erase_if(list, [&](const Periods& periods) {
      const std::string name = fmt::format("{},{}", periods.local, periods.global);
      return std::ranges::find(options.periods, name) == options.periods.end();
    });
  } else if (options.quick) {
    list.assign(quick_periods.begin(), quick_periods.end());
  }
  return list;
}

const Method& hn_pfl() {
  static const Method method{"hn_pfl", "HN-PFL", "HN-PFL", blue, {"learning.algorithm='hn_pfl'"}};
  return method;
}
const Method& h_fl() {
  static const Method method{"h_fl", "H-FL", "H-FL", orange, {"learning.algorithm='h_fl'"}};
  return method;
}
Method control(const Scenario& base) {
  std::vector<std::string> settings{"learning.algorithm='h_fl'",
                                    fmt::format("learning.step={:e}", base.learning.meta_step)};
  if (!base.learning.step_schedule.empty()) {
    settings.push_back("learning.step_schedule=[]");
  }
  return {"h_fl_control", fmt::format("H-FL, step {:g}", base.learning.meta_step), "", green, settings};
}

void Runs::add(const fs::path& place) {
  constexpr std::size_t most_bytes = std::size_t{16} << 20U;
  ++seeds;
  if (!nlohmann::json::parse(read_file(place / "summary.json", most_bytes)).contains("diverged")) {
    places.push_back(place);
  }
}

std::vector<Curve> Runs::curves(std::string_view column) const {
  std::vector<Curve> list;
  for (const fs::path& place : places) {
    list.push_back(read_curve(place / "metrics.csv", column));
  }
  return list;
}

Curve Runs::mean(std::string_view column) const { return diverged() ? Curve{} : mean_of(curves(column)); }

std::vector<double> Runs::last(std::string_view column) const {
  std::vector<double> values;
  for (const Curve& curve : curves(column)) {
    values.push_back(curve.values.back());
  }
  return values;
}

PublishedStudy::PublishedStudy(const LearningStudy& study, const ReproduceOptions& options, KeptRuns& kept,
                               std::string kind)
    : study_(study),
      options_(options),
      kept_(kept),
      kind_(std::move(kind)),
      file_(scenario_directory() / "paper" / fmt::format("{}-{}.toml", study.name, kind_)),
      starter_file_(is_published()
                        ? scenario_directory() / "paper" / fmt::format("{}-starter.toml", study.name)
                        : fs::path()),
      base_(load(Periods{}, {}, 1)),
      published_(scenario_directory() / "paper" / "published-curves.json") {}

Scenario PublishedStudy::load(const Periods& periods, const std::vector<std::string>& settings,
                              std::size_t seed) const {
  std::vector<std::string> all{fmt::format("learning.local_period={}", periods.local),
                               fmt::format("learning.global_period={}", periods.global),
                               fmt::format("run.seed={}", seed), "learning.gradient_points=0"};
  if (options_.quick && is_published()) {
    all.emplace_back("learning.iterations=8");
  } else if (options_.quick) {  // of single steps
    all.insert(all.end(), {"learning.iterations=24", "learning.evaluation_period=8"});
  }
  all.insert(all.end(), options_.common.settings.begin(), options_.common.settings.end());
  all.insert(all.end(), settings.begin(), settings.end());  // the control's step, whatever H-FL has
  Scenario scenario = load_scenario(file_, {.settings = all});
  // Counted in global aggregations, and meant in local iterations: as often for all periods.
  std::size_t& evaluation_period = scenario.learning.evaluation_period;
  evaluation_period = std::max<std::size_t>(1, evaluation_period / (periods.local * periods.global));
  return scenario;
}

Runs PublishedStudy::run(const Method& method, const Periods& periods, std::size_t seeds, Until until) const {
  Runs runs;
  for (std::size_t seed = 1; seed <= seeds; ++seed) {
    Scenario wanted = scenario(method, periods, seed);
    std::string run_name = name_of(method, periods, seed);
    if (until == Until::level && !kept_.has(wanted, run_name)) {
      wanted.learning.target_accuracy_percent = study_.level;
      run_name += fmt::format("-to{:g}", study_.level);
    }
    runs.add(kept_.run(wanted, run_name));
  }
  return runs;
}

Scenario PublishedStudy::scenario(const Method& method, const Periods& periods, std::size_t seed) const {
  Scenario scenario = load(periods, method.settings, seed);
  if (fs::exists(starter_file_)) {
    scenario.learning.initial_model = starter(seed);
  }
  return scenario;
}

fs::path PublishedStudy::starter(std::size_t seed) const {
  std::vector<std::string> settings{fmt::format("run.seed={}", seed)};
  settings.insert(settings.end(), options_.common.settings.begin(), options_.common.settings.end());
  const Scenario scenario = load_scenario(starter_file_, {.settings = settings});
  const std::string digest = sha256(resolved_scenario(scenario)).substr(0, 8);
  return kept_.keep(scenario, fmt::format("starter-seed{}-{}", seed, digest)) / "models" /
         "global.safetensors";
}

std::size_t PublishedStudy::seeds_at(const Periods& periods) const {
  if (options_.seeds > 0) {
    return options_.seeds;
  }
  return options_.quick || periods.local * periods.global > 1 ? 1 : 3;
}

std::optional<Curve> PublishedStudy::published(const Method& method, const Periods& periods,
                                               const std::string& quantity, const std::string& metric) const {
  return published_.find({.data = study_.name,
                          .metric = metric,
                          .algorithm = method.published,
                          .local_period = periods.local,
                          .global_period = periods.global,
                          .quantity = quantity},
                         quantity == "acc" ? std::optional(study_.plotted_start) : std::nullopt);
}

}  // namespace skein::app
