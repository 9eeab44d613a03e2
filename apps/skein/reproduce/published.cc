// The learning study as published, and as the paper's text has it.

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "apps/skein/reproduce/figure.h"
#include "apps/skein/reproduce/published_study.h"
#include "skein/base/file.h"
#include "skein/base/interval.h"

namespace skein::app {
namespace {

// Joules of a local iteration of the whole network in the published study, whose sum counts the coordinators'
// transmissions up to twenty times over; and the same with each counted once.
constexpr double published_joules = 580.391;
constexpr double corrected_joules = 289.659;

std::string label(const Periods& periods) { return fmt::format("{}, {}", periods.local, periods.global); }

std::string percent(double value) { return fmt::format("{:.1f}", value); }
std::string percent(const std::optional<double>& value) { return value ? percent(*value) : "-"; }
// Mean and deviation of those seeds that have a value.
std::string over_seeds(std::span<const double> values, std::size_t seeds, int digits) {
  const MeanInterval interval = mean_interval(values);
  return fmt::format("{:.{}f}", interval.mean, digits) +
         (values.size() > 1 ? fmt::format(" +- {:.{}f}", interval.deviation, digits) : "") +
         (values.size() < seeds ? fmt::format(" ({} of {} seeds)", values.size(), seeds) : "");
}
// The last values of a column.
std::string percent(const Runs& runs, std::string_view column) {
  return runs.diverged() ? "diverged" : over_seeds(runs.last(column), runs.seeds, 1);
}
std::optional<double> difference(const std::optional<double>& a, const std::optional<double>& b) {
  return a && b ? std::optional(*a - *b) : std::nullopt;
}

// All runs of one setting of the periods.
struct Cell {
  Periods periods;
  Runs h_fl;
  Runs hn_pfl;
  std::optional<Runs> control;
};

// False without pictures.
bool draw_cells(const PublishedStudy& study, const std::vector<Cell>& cells, const std::string& column,
                const std::string& quantity, const std::string& y_label) {
  const Method control_method = control(study.base());
  bool drawn = true;
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
        if (!runs.diverged()) {
          panel.series.push_back({method.title + ", ours", runs.mean(column), method.colour});
        }
        if (const auto theirs = study.published(method, cell.periods, quantity);
            study.is_published() && theirs) {
          panel.series.push_back({method.title + ", published", *theirs, method.colour, true});
        }
      };
      add(hn_pfl(), cell.hn_pfl);
      add(h_fl(), cell.h_fl);
      if (cell.control) {
        add(control_method, *cell.control);
      }
      if (!panel.series.empty()) {
        figure.panels.push_back(std::move(panel));
      }
    }
    if (figure.panels.empty()) {
      continue;
    }
    drawn = draw(figure, study.kept().directory(),
                 fmt::format("{}_{}", quantity == "acc" ? "accuracy" : "loss",
                             fixed_local ? "fixed_tau_l" : "fixed_tau_g")) &&
            drawn;
  }
  return drawn;
}

std::string final_table(const PublishedStudy& study, const std::vector<Cell>& cells) {
  const std::string global = "accuracy_percent";
  const std::string own = "personalised_accuracy_percent";
  std::vector<std::vector<std::string>> rows{{"tau_L, tau_G", "H-FL", "published", "HN-PFL", "published",
                                              "gain", "published", "H-FL own", "published own", "HN-PFL own",
                                              "published own", control(study.base()).title}};
  for (const Cell& cell : cells) {
    const auto published = [&](const Method& method, const std::string& metric = "global") {
      const auto curve = study.published(method, cell.periods, "acc", metric);
      return curve ? std::optional(curve->values.back()) : std::nullopt;
    };
    const auto mean = [&](const Runs& runs) {
      return runs.diverged() ? std::nullopt : std::optional(mean_interval(runs.last(global)).mean);
    };
    rows.push_back({label(cell.periods), percent(cell.h_fl, global), percent(published(h_fl())),
                    percent(cell.hn_pfl, global), percent(published(hn_pfl())),
                    percent(difference(mean(cell.hn_pfl), mean(cell.h_fl))),
                    percent(difference(published(hn_pfl()), published(h_fl()))), percent(cell.h_fl, own),
                    percent(published(h_fl(), "personalised")), percent(cell.hn_pfl, own),
                    percent(published(hn_pfl(), "personalised")),
                    cell.control ? percent(*cell.control, global) : "-"});
  }
  return markdown_table(rows);
}

constexpr std::string_view energy_words =
    "By each seed's interpolated crossing: iterations, saving, our energy model's kJ for this world, and kJ "
    "(H-FL / HN-PFL) with the published constant per iteration, corrected and as published.";

// Where the seeds' curves reach a level, of those that do.
struct Reach {
  std::size_t seeds;  // of all
  std::vector<double> iterations{};
  std::vector<double> kilojoules{};

  Reach(const Runs& runs, double level) : seeds(runs.seeds) {
    const std::vector<Curve> accuracies = runs.curves("accuracy_percent");
    const std::vector<Curve> energies = runs.curves("energy_J");
    for (std::size_t i = 0; i < accuracies.size(); ++i) {
      if (const auto at = crossing(accuracies[i], level)) {
        iterations.push_back(*at);
        kilojoules.push_back(value_at(energies[i], *at) / 1e3);
      }
    }
  }
  [[nodiscard]] std::optional<double> mean() const {
    return iterations.empty() ? std::nullopt : std::optional(mean_interval(iterations).mean);
  }
};

std::string energy_table(const PublishedStudy& study, const std::vector<Cell>& cells) {
  const double level = study.study().level;
  std::vector<std::vector<std::string>> rows{{"tau_L, tau_G", "H-FL it.", "HN-PFL it.", "saving %",
                                              "published saving %", "H-FL kJ", "HN-PFL kJ", "kJ at 289.659 J",
                                              "kJ at 580.391 J"}};
  for (const Cell& cell : cells) {
    const Reach plain(cell.h_fl, level);
    const Reach meta(cell.hn_pfl, level);
    const auto iterations = [](const Runs& runs, const Reach& reach) -> std::string {
      return !reach.iterations.empty() ? over_seeds(reach.iterations, reach.seeds, 2)
             : runs.diverged()         ? "diverged"
                                       : "never";
    };
    const auto energy = [](const Reach& reach) {
      return reach.kilojoules.empty() ? "-" : over_seeds(reach.kilojoules, reach.seeds, 2);
    };
    const auto saving = [](const std::optional<double>& a, const std::optional<double>& b) {
      return a && b ? fmt::format("{:.1f}", 100.0 * (1.0 - *b / *a)) : b ? "all" : "-";
    };
    const auto published_at = [&](const Method& method) -> std::optional<double> {
      const auto curve = study.published(method, cell.periods, "acc");
      return curve ? crossing(*curve, level) : std::nullopt;
    };
    const auto kilojoules = [&](double joules) {
      const auto text = [&](const Reach& reach) {
        return reach.mean() ? fmt::format("{:.2f}", *reach.mean() * joules / 1e3) : "-";
      };
      return text(plain) + " / " + text(meta);
    };
    rows.push_back({label(cell.periods), iterations(cell.h_fl, plain), iterations(cell.hn_pfl, meta),
                    cell.h_fl.diverged() ? "-" : saving(plain.mean(), meta.mean()),
                    saving(published_at(h_fl()), published_at(hn_pfl())), energy(plain), energy(meta),
                    kilojoules(corrected_joules), kilojoules(published_joules)});
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

std::vector<Cell> run_cells(const PublishedStudy& study, std::span<const Periods> settings) {
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

// The pictures and tables of a setting, with all periods that are wanted: after a title, and words on it.
std::string reproduce_setting(const PublishedStudy& study, const ReproduceOptions& options,
                              const std::string& title, const std::string& words) {
  const std::vector<Cell> cells = run_cells(study, wanted_periods(options));
  const bool accuracies_drawn =
      draw_cells(study, cells, "accuracy_percent", "acc", "accuracy of the global model (%)");
  const bool losses_drawn = draw_cells(study, cells, "loss_nats", "loss", "loss of the global model (nats)");
  const std::string pictures = accuracies_drawn && losses_drawn
                                   ? ""
                                   : "\nThere are no pictures, as gnuplot is not here or failed; their "
                                     "numbers are in the .csv files.\n";
  const std::string final = final_table(study, cells);
  const std::string energy = energy_table(study, cells);
  write_file(study.kept().directory() / "final.csv", csv_of(final));
  write_file(study.kept().directory() / "energy.csv", csv_of(energy));
  return fmt::format(
      "## {}, {}\n\n{}Accuracy in percent after {} local iterations: of the global model on the whole test "
      "set, and (own) of the personalised models on their swarms' labels. With several seeds: mean +- "
      "deviation.\n\n{}\nEnergy to reach {:g} %. {}\n\n{}{}",
      study.study().title, title, words, study.base().learning.iterations, final, study.study().level,
      energy_words, energy, pictures);
}

}  // namespace

std::string reproduce_published(const LearningStudy& data, const ReproduceOptions& options, KeptRuns& kept) {
  return reproduce_setting(PublishedStudy(data, options, kept, "published"), options, "published setting",
                           "");
}

std::string reproduce_text(const LearningStudy& data, const ReproduceOptions& options, KeptRuns& kept) {
  return reproduce_setting(PublishedStudy(data, options, kept, "text"), options, "the paper's text",
                           "One local iteration is one mini-batch step. The published columns, and the "
                           "published constants of energy, are of the study with epochs. ");
}

std::string reproduce_energy(const LearningStudy& data, const ReproduceOptions& options, KeptRuns& kept) {
  const PublishedStudy study(data, options, kept, "published");
  const std::vector<Periods> settings = wanted_periods(options);
  const std::size_t seeds = std::max<std::size_t>(1, options.seeds);
  kept.expect_runs(2 * seeds * settings.size());
  std::vector<Cell> cells;
  for (const Periods& periods : settings) {
    cells.push_back({.periods = periods,
                     .h_fl = study.run(h_fl(), periods, seeds, PublishedStudy::Until::level),
                     .hn_pfl = study.run(hn_pfl(), periods, seeds, PublishedStudy::Until::level)});
  }
  const std::string energy = energy_table(study, cells);
  write_file(kept.directory() / "energy_to_level.csv", csv_of(energy));
  return fmt::format("## {}, published setting, only until {:g} % are reached\n\n{}\n\n{}", data.title,
                     data.level, energy_words, energy);
}

}  // namespace skein::app
