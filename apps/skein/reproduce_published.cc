// The learning study as published, and as the paper's text has it.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>

#include "figure.h"
#include "reproduce.h"
#include "skein/base/file.h"
#include "skein/base/interval.h"
#include "skein/learning/curve.h"

namespace skein::app {
namespace {

namespace fs = std::filesystem;

struct Periods {
  std::size_t local = 1;   // tau_L
  std::size_t global = 1;  // tau_G
};
constexpr std::array<Periods, 7> all_periods{{{1, 1}, {1, 2}, {1, 4}, {1, 8}, {2, 1}, {4, 1}, {8, 1}}};
constexpr std::array<Periods, 3> quick_periods{{{1, 1}, {1, 4}, {4, 1}}};

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

// Joules of a local iteration of the whole network in the published study, whose sum counts the coordinators'
// transmissions up to twenty times over; and the same with each counted once.
constexpr double published_joules = 580.391;
constexpr double corrected_joules = 289.659;

struct Method {
  std::string name;       // of its runs
  std::string title;      // of its curves
  std::string published;  // the published curves' name for it
  std::string colour;
  std::vector<std::string> settings;
};

const Method& hn_pfl() {
  static const Method method{"hn_pfl", "HN-PFL", "HN-PFL", blue, {"learning.algorithm='hn_pfl'"}};
  return method;
}
const Method& h_fl() {
  static const Method method{"h_fl", "H-FL", "H-FL", orange, {"learning.algorithm='h_fl'"}};
  return method;
}
// What the paper's comparison lacks: H-FL with the step size that HN-PFL has.
Method control(const Scenario& base) {
  std::vector<std::string> settings{"learning.algorithm='h_fl'",
                                    fmt::format("learning.step={:e}", base.learning.meta_step)};
  if (!base.learning.step_schedule.empty()) {
    settings.push_back("learning.step_schedule=[]");
  }
  return {"h_fl_control", fmt::format("H-FL, step {:g}", base.learning.meta_step), "", green, settings};
}

struct Runs {
  std::vector<fs::path> places;  // one per seed

  [[nodiscard]] std::vector<Curve> curves(std::string_view column) const {
    std::vector<Curve> list;
    for (const fs::path& place : places) {
      list.push_back(read_curve(place / "metrics.csv", column));
    }
    // A run that diverged ends early; it is left out of means.
    std::size_t longest = 0;
    for (const Curve& curve : list) {
      longest = std::max(longest, curve.values.size());
    }
    std::erase_if(list, [&](const Curve& curve) { return curve.values.size() < longest; });
    return list;
  }
  [[nodiscard]] Curve mean(std::string_view column) const { return mean_of(curves(column)); }
  [[nodiscard]] std::vector<double> last(std::string_view column) const {
    std::vector<double> values;
    for (const Curve& curve : curves(column)) {
      values.push_back(curve.values.back());
    }
    return values;
  }
};

class Study {
 public:
  Study(const LearningStudy& study, const ReproduceOptions& options, KeptRuns& kept, std::string kind)
      : study_(study),
        options_(options),
        kept_(kept),
        file_(scenario_directory() / "paper" / fmt::format("{}-{}.toml", study.name, kind)),
        starter_file_(kind == "published"
                          ? scenario_directory() / "paper" / fmt::format("{}-starter.toml", study.name)
                          : fs::path()),
        base_(load(Periods{}, {}, 1)),
        published_(scenario_directory() / "paper" / "published-curves.json") {}

  [[nodiscard]] Scenario load(const Periods& periods, const std::vector<std::string>& settings,
                              std::size_t seed) const {
    std::vector<std::string> all{fmt::format("learning.local_period={}", periods.local),
                                 fmt::format("learning.global_period={}", periods.global),
                                 fmt::format("run.seed={}", seed), "learning.gradient_points=0"};
    if (options_.quick) {
      all.emplace_back("learning.iterations=8");
    }
    all.insert(all.end(), settings.begin(), settings.end());
    all.insert(all.end(), options_.common.settings.begin(), options_.common.settings.end());
    return load_scenario(file_, {.settings = all});
  }

  Runs run(const Method& method, const Periods& periods, std::size_t seeds) const {
    Runs runs;
    for (std::size_t seed = 1; seed <= seeds; ++seed) {
      runs.places.push_back(kept_.run(scenario(method, periods, seed), name(method, periods, seed)));
    }
    return runs;
  }

  // One of them, ended where the level of the energy table is reached; a whole run where there is one.
  [[nodiscard]] Runs run_to_level(const Method& method, const Periods& periods) const {
    Scenario wanted = scenario(method, periods, 1);
    std::string run_name = name(method, periods, 1);
    if (!kept_.has(wanted, run_name)) {
      wanted.learning.target_accuracy_percent = study_.level;
      run_name += fmt::format("-to{:g}", study_.level);
    }
    return {{kept_.run(wanted, run_name)}};
  }

  [[nodiscard]] static std::string name(const Method& method, const Periods& periods, std::size_t seed) {
    return fmt::format("{}-L{}-G{}-seed{}", method.name, periods.local, periods.global, seed);
  }

  [[nodiscard]] Scenario scenario(const Method& method, const Periods& periods, std::size_t seed) const {
    Scenario scenario = load(periods, method.settings, seed);
    if (fs::exists(starter_file_)) {
      scenario.learning.initial_model = starter(seed);
    }
    return scenario;
  }

  // The model that the published runs start from, where it is not PyTorch's default; trained once for each
  // seed.
  [[nodiscard]] fs::path starter(std::size_t seed) const {
    std::vector<std::string> settings{fmt::format("run.seed={}", seed)};
    settings.insert(settings.end(), options_.common.settings.begin(), options_.common.settings.end());
    const Scenario scenario = load_scenario(starter_file_, {.settings = settings});
    return kept_.keep(scenario, fmt::format("starter-seed{}", seed)) / "models" / "global.safetensors";
  }

  [[nodiscard]] std::size_t seeds_at(const Periods& periods) const {
    if (periods.local * periods.global > 1) {
      return 1;
    }
    return options_.seeds > 0 ? options_.seeds : options_.quick ? 1 : 3;
  }

  [[nodiscard]] std::optional<Curve> published(const Method& method, const Periods& periods,
                                               const std::string& quantity) const {
    return published_.find({.data = study_.name,
                            .algorithm = method.published,
                            .local_period = periods.local,
                            .global_period = periods.global,
                            .quantity = quantity},
                           quantity == "acc" ? std::optional(study_.plotted_start) : std::nullopt);
  }

  [[nodiscard]] const Scenario& base() const { return base_; }
  [[nodiscard]] const LearningStudy& study() const { return study_; }
  [[nodiscard]] KeptRuns& kept() const { return kept_; }

 private:
  const LearningStudy& study_;
  const ReproduceOptions& options_;
  KeptRuns& kept_;
  fs::path file_;
  fs::path starter_file_;
  Scenario base_;
  PublishedCurves published_;
};

std::string label(const Periods& periods) { return fmt::format("{}, {}", periods.local, periods.global); }

std::string percent(double value) { return fmt::format("{:.1f}", value); }
std::string percent(const std::vector<double>& values) {
  const MeanInterval interval = mean_interval(values);
  return values.size() > 1 ? fmt::format("{:.1f} +- {:.1f}", interval.mean, interval.deviation)
                           : fmt::format("{:.1f}", interval.mean);
}

// All runs of one setting of the periods.
struct Cell {
  Periods periods;
  Runs h_fl;
  Runs hn_pfl;
  std::optional<Runs> control;
};

void draw_cells(const Study& study, const std::vector<Cell>& cells, const std::string& column,
                const std::string& quantity, const std::string& y_label, bool with_published) {
  const Method control_method = control(study.base());
  for (const bool fixed_local : {true, false}) {
    Figure figure{.title = fmt::format("{}: {}", study.study().title,
                                       fixed_local ? "tau_L = 1, tau_G varied" : "tau_G = 1, tau_L varied"),
                  .x_label = "local iterations",
                  .y_label = y_label};
    for (const Cell& cell : cells) {
      if ((fixed_local ? cell.periods.local : cell.periods.global) != 1) {
        continue;
      }
      Panel panel{.title = fmt::format("tau_L = {}, tau_G = {}", cell.periods.local, cell.periods.global)};
      const auto add = [&](const Method& method, const Runs& runs) {
        panel.series.push_back({method.title + ", ours", runs.mean(column), method.colour});
        if (const auto theirs = study.published(method, cell.periods, quantity); with_published && theirs) {
          panel.series.push_back({method.title + ", published", *theirs, method.colour, true});
        }
      };
      add(hn_pfl(), cell.hn_pfl);
      add(h_fl(), cell.h_fl);
      if (cell.control) {
        add(control_method, *cell.control);
      }
      figure.panels.push_back(std::move(panel));
    }
    if (figure.panels.empty()) {
      continue;
    }
    draw(figure, study.kept().directory(),
         fmt::format("{}_{}", quantity == "acc" ? "accuracy" : "loss",
                     fixed_local ? "fixed_tau_l" : "fixed_tau_g"));
  }
}

std::string final_table(const Study& study, const std::vector<Cell>& cells) {
  std::vector<std::vector<std::string>> rows{{"tau_L, tau_G", "H-FL", "published", "HN-PFL", "published",
                                              "gain", "published", "H-FL own", "HN-PFL own",
                                              control(study.base()).title}};
  for (const Cell& cell : cells) {
    const auto last_published = [&](const Method& method) {
      const auto curve = study.published(method, cell.periods, "acc");
      return curve ? std::optional(curve->values.back()) : std::nullopt;
    };
    const auto text = [](const std::optional<double>& value) { return value ? percent(*value) : "-"; };
    const std::vector<double> plain = cell.h_fl.last("accuracy_percent");
    const std::vector<double> meta = cell.hn_pfl.last("accuracy_percent");
    const auto plain_published = last_published(h_fl());
    const auto meta_published = last_published(hn_pfl());
    rows.push_back({label(cell.periods), percent(plain), text(plain_published), percent(meta),
                    text(meta_published), percent(mean_interval(meta).mean - mean_interval(plain).mean),
                    plain_published ? percent(*meta_published - *plain_published) : "-",
                    percent(cell.h_fl.last("personalised_accuracy_percent")),
                    percent(cell.hn_pfl.last("personalised_accuracy_percent")),
                    cell.control ? percent(cell.control->last("accuracy_percent")) : "-"});
  }
  return markdown_table(rows);
}

constexpr std::string_view energy_words =
    "By interpolated crossing of the mean curve: iterations, saving, our energy model's kJ for this world, "
    "and "
    "kJ (H-FL / HN-PFL) with the published constant per iteration, corrected and as published.";

std::string energy_table(const Study& study, const std::vector<Cell>& cells) {
  const double level = study.study().level;
  std::vector<std::vector<std::string>> rows{{"tau_L, tau_G", "H-FL it.", "HN-PFL it.", "saving %",
                                              "published saving %", "H-FL kJ", "HN-PFL kJ", "kJ at 289.659 J",
                                              "kJ at 580.391 J"}};
  const auto text = [](const std::optional<double>& value, double factor) {
    return value ? fmt::format("{:.2f}", *value * factor) : "never";
  };
  for (const Cell& cell : cells) {
    const Curve plain = cell.h_fl.mean("accuracy_percent");
    const Curve meta = cell.hn_pfl.mean("accuracy_percent");
    const auto plain_at = crossing(plain, level);
    const auto meta_at = crossing(meta, level);
    const auto energy = [&](const Runs& runs, const std::optional<double>& at) {
      return at ? fmt::format("{:.2f}", value_at(runs.mean("energy_J"), *at) / 1e3) : "-";
    };
    const auto saving = [](const std::optional<double>& a, const std::optional<double>& b) {
      return a && b ? fmt::format("{:.1f}", 100.0 * (1.0 - *b / *a)) : b ? "all" : "-";
    };
    const auto published_at = [&](const Method& method) -> std::optional<double> {
      const auto curve = study.published(method, cell.periods, "acc");
      return curve ? crossing(*curve, level) : std::nullopt;
    };
    rows.push_back({label(cell.periods), text(plain_at, 1.0), text(meta_at, 1.0), saving(plain_at, meta_at),
                    saving(published_at(h_fl()), published_at(hn_pfl())), energy(cell.h_fl, plain_at),
                    energy(cell.hn_pfl, meta_at),
                    fmt::format("{} / {}", text(plain_at, corrected_joules / 1e3),
                                text(meta_at, corrected_joules / 1e3)),
                    fmt::format("{} / {}", text(plain_at, published_joules / 1e3),
                                text(meta_at, published_joules / 1e3))});
  }
  return markdown_table(rows);
}

std::string csv_of(const std::string& markdown) {
  std::string text;
  std::size_t line = 0;
  std::size_t begin = 0;
  while (begin < markdown.size()) {
    const std::size_t end = markdown.find('\n', begin);
    if (line++ != 1) {  // not the ruler
      std::string row;
      std::size_t from = begin + 1;
      while (from < end) {
        const std::size_t to = markdown.find('|', from);
        std::string cell = markdown.substr(from, to - from);
        cell.erase(0, cell.find_first_not_of(' '));
        cell.erase(cell.find_last_not_of(' ') + 1);
        row += (row.empty() ? "\"" : ",\"") + cell + "\"";
        from = to + 1;
      }
      text += row + "\n";
    }
    begin = end + 1;
  }
  return text;
}

std::vector<Cell> run_cells(const Study& study, std::span<const Periods> settings) {
  const Method control_method = control(study.base());
  for (const Periods& periods : settings) {
    study.kept().expect_runs(study.seeds_at(periods) * (periods.local * periods.global == 1 ? 3 : 2));
  }
  std::vector<Cell> cells;
  for (const Periods& periods : settings) {
    const std::size_t seeds = study.seeds_at(periods);
    Cell& cell = cells.emplace_back(Cell{.periods = periods});
    cell.hn_pfl = study.run(hn_pfl(), periods, seeds);
    cell.h_fl = study.run(h_fl(), periods, seeds);
    if (periods.local * periods.global == 1) {
      cell.control = study.run(control_method, periods, seeds);
    }
  }
  return cells;
}

}  // namespace

std::string reproduce_published(const LearningStudy& data, const ReproduceOptions& options, KeptRuns& kept) {
  const Study study(data, options, kept, "published");
  const std::vector<Cell> cells = run_cells(study, wanted_periods(options));
  draw_cells(study, cells, "accuracy_percent", "acc", "accuracy of the global model (%)", true);
  draw_cells(study, cells, "loss_nats", "loss", "loss of the global model (nats)", true);
  const std::string final = final_table(study, cells);
  const std::string energy = energy_table(study, cells);
  write_file(kept.directory() / "final.csv", csv_of(final));
  write_file(kept.directory() / "energy.csv", csv_of(energy));
  return fmt::format(
      "## {0}, published setting\n\nAccuracy in percent after {1} local iterations: of the global model on "
      "the whole test set, and (own) of the personalised models on their swarms' labels. With several seeds: "
      "mean +- deviation.\n\n{2}\nEnergy to reach {3:g} %. {4}\n\n{5}",
      data.title, study.base().learning.iterations, final, data.level, energy_words, energy);
}

std::string reproduce_energy(const LearningStudy& data, const ReproduceOptions& options, KeptRuns& kept) {
  const Study study(data, options, kept, "published");
  const std::vector<Periods> settings = wanted_periods(options);
  kept.expect_runs(2 * settings.size());
  std::vector<Cell> cells;
  for (const Periods& periods : settings) {
    cells.push_back({.periods = periods,
                     .h_fl = study.run_to_level(h_fl(), periods),
                     .hn_pfl = study.run_to_level(hn_pfl(), periods)});
  }
  const std::string energy = energy_table(study, cells);
  write_file(kept.directory() / "energy_to_level.csv", csv_of(energy));
  return fmt::format("## {}, published setting, only until {:g} % are reached\n\n{}\n\n{}", data.title,
                     data.level, energy_words, energy);
}

std::string reproduce_text(const LearningStudy& data, const ReproduceOptions& options, KeptRuns& kept) {
  const Study study(data, options, kept, "text");
  const std::array<Periods, 1> settings{{{1, 1}}};
  const std::vector<Cell> cells = run_cells(study, settings);
  draw_cells(study, cells, "accuracy_percent", "acc", "accuracy of the global model (%)", false);
  const std::string final = final_table(study, cells);
  write_file(kept.directory() / "final.csv", csv_of(final));
  return fmt::format(
      "## {}, the paper's text\n\nOne local iteration is one mini-batch step; accuracy in percent after {} "
      "of "
      "them. The published columns are of the study with epochs.\n\n{}",
      data.title, study.base().learning.iterations, final);
}

}  // namespace skein::app
