// A fair comparison: both methods with the same data and the same number of steps, each with its step sizes
// tuned for what is measured, over several seeds.

#include <fmt/format.h>

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/skein/reproduce/fair_study.h"
#include "apps/skein/reproduce/reproduce.h"
#include "skein/base/interval.h"

namespace skein::app {
namespace {

using Settings = FairStudy::Settings;
using Aim = FairStudy::Aim;
constexpr auto aims = FairStudy::aims;
constexpr auto adaptation_steps = FairStudy::adaptation_steps;

struct Regime {
  std::string title;
  Settings settings;
};

std::vector<Regime> regimes(std::size_t num_classes, bool quick) {
  std::vector<Regime> list{{"3 labels, 600 points", {}}};
  if (!quick) {
    for (const std::size_t labels : {2U, 5U}) {
      if (labels <= num_classes) {
        list.push_back(
            {fmt::format("{} labels", labels), {fmt::format("data.labels_per_cluster={}", labels)}});
      }
    }
    list.push_back({"all labels alike", {"data.partition='iid'"}});
    list.push_back({"Dirichlet 0.3", {"data.partition='dirichlet'", "data.dirichlet_concentration=0.3"}});
    list.push_back({"120 points", {"learning.points_per_worker=120"}});
    list.push_back({"2400 points", {"learning.points_per_worker=2400"}});
  }
  return list;
}

struct Method {
  std::string title;
  Settings settings;
  bool meta = true;
};

const Method& plain_method() {
  static const Method method{"H-FL", {"learning.algorithm='h_fl'"}, false};
  return method;
}
Method meta_method(const std::string& title, const std::string& kind) {
  return {title, {"learning.algorithm='hn_pfl'", fmt::format("learning.meta_gradient='{}'", kind)}};
}

// Step sizes to choose from.
std::vector<double> steps(bool quick) {
  return quick ? std::vector{0.01, 0.1} : std::vector{0.003, 0.01, 0.03, 0.1, 0.3};
}
std::vector<double> inner_steps(bool quick) {
  return quick ? std::vector{0.001, 0.01} : std::vector{0.001, 0.01, 0.1};
}

Settings plain_point(double step) { return {fmt::format("learning.step={}", step)}; }
Settings meta_point(double step, double inner) {
  return {fmt::format("learning.meta_step={}", step), fmt::format("learning.inner_step={}", inner)};
}

std::vector<Settings> grid(const Method& method, bool quick) {
  std::vector<Settings> list;
  for (const double step : steps(quick)) {
    if (!method.meta) {
      list.push_back(plain_point(step));
      continue;
    }
    for (const double inner : inner_steps(quick)) {
      list.push_back(meta_point(step, inner));
    }
  }
  return list;
}

// Of each seed that counts; nothing where training diverged.
using SeedValues = std::vector<std::optional<double>>;
using Values = std::array<SeedValues, aims.size()>;

// The settings, and the size of the own step, that do best among a method's points.
std::array<FairStudy::Choice, aims.size()> tune(FairStudy& study, const Method& method,
                                                const Settings& regime, std::span<const Settings> points) {
  Settings common = regime;
  common.insert(common.end(), method.settings.begin(), method.settings.end());
  return study.tune(common, points);
}

// Each aim's choice, over the seeds that count.
Values measure_choices(FairStudy& study, const std::array<FairStudy::Choice, aims.size()>& choices) {
  Values values;
  for (std::size_t a = 0; a < aims.size(); ++a) {
    values[a].resize(study.seeds());
    for (std::size_t i = 0; choices[a].found() && i < study.seeds(); ++i) {
      if (const auto worth = study.measure(choices[a].settings, i + 1)) {
        values[a][i] = worth->value(aims[a], choices[a].step);
      }
    }
  }
  return values;
}

// Nothing is known of the spread of one.
std::string interval(std::span<const double> values, bool signs) {
  const MeanInterval i = mean_interval(values);
  return (signs ? fmt::format("{:+.1f}", i.mean) : fmt::format("{:.1f}", i.mean)) +
         (values.size() > 1 ? fmt::format(" +- {:.1f}", i.half_width) : "");
}

std::string interval(const SeedValues& values) {
  std::vector<double> found;
  for (const std::optional<double>& one : values) {
    if (one) {
      found.push_back(*one);
    }
  }
  if (found.empty()) {
    return "diverged";
  }
  return interval(found, false) +
         (found.size() < values.size() ? fmt::format(" ({} of {} seeds)", found.size(), values.size()) : "");
}

// Seed by seed, where neither diverged: both saw the same data and started from the same model.
std::string difference(const SeedValues& a, const SeedValues& b) {
  std::vector<double> gains;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] && b[i]) {
      gains.push_back(*a[i] - *b[i]);
    }
  }
  return gains.empty() ? "-" : interval(gains, true);
}

// "0.03 / 0.01, own step 0.1"
std::string steps_of(const FairStudy::Choice& choice, Aim aim) {
  std::string text;
  for (const std::string& setting : choice.settings) {
    for (const std::string_view key : {"learning.step=", "learning.meta_step=", "learning.inner_step="}) {
      if (setting.starts_with(key)) {
        text += (text.empty() ? "" : " / ") + setting.substr(key.size());
      }
    }
  }
  if (choice.found() && aim != Aim::global) {
    text += fmt::format(", own step {:g}", adaptation_steps[choice.step]);
  }
  return text;
}

constexpr std::array<std::string_view, aims.size()> names{"global", "own labels, one step",
                                                          "drifted, one step"};
using Rows = std::vector<std::vector<std::string>>;

Rows regime_rows(FairStudy& study, const Method& meta, std::span<const Regime> list, bool quick) {
  Rows rows{{"swarms' data", "aim", "H-FL", "HN-PFL", "difference", "H-FL step", "HN-PFL step / inner"}};
  for (const Regime& regime : list) {
    const auto plain_choices = tune(study, plain_method(), regime.settings, grid(plain_method(), quick));
    const auto meta_choices = tune(study, meta, regime.settings, grid(meta, quick));
    const Values plain_values = measure_choices(study, plain_choices);
    const Values meta_values = measure_choices(study, meta_choices);
    for (std::size_t a = 0; a < aims.size(); ++a) {
      rows.push_back({a == 0 ? regime.title : "", std::string(names[a]), interval(plain_values[a]),
                      interval(meta_values[a]), difference(meta_values[a], plain_values[a]),
                      steps_of(plain_choices[a], aims[a]), steps_of(meta_choices[a], aims[a])});
    }
  }
  return rows;
}

// In the first setting.
Rows form_rows(FairStudy& study, bool quick) {
  const Values plain = measure_choices(study, tune(study, plain_method(), {}, grid(plain_method(), quick)));
  Rows rows{{"meta-gradient", "aim", "HN-PFL", "difference to H-FL", "step / inner"}};
  for (const auto& [title, kind] : {std::pair{"first order", "first_order"},
                                    std::pair{"Hessian-free", "hessian_free"}, std::pair{"exact", "exact"}}) {
    const Method method = meta_method(title, kind);
    const auto choices = tune(study, method, {}, grid(method, quick));
    const Values values = measure_choices(study, choices);
    for (std::size_t a = 0; a < aims.size(); ++a) {
      rows.push_back({a == 0 ? title : "", std::string(names[a]), interval(values[a]),
                      difference(values[a], plain[a]), steps_of(choices[a], aims[a])});
    }
  }
  return rows;
}

// In the first setting, where both methods take steps of the same size: only that of the own step is tuned.
Rows step_rows(FairStudy& study, const Method& meta, bool quick) {
  Rows rows{{"step", "aim", "H-FL"}};
  for (const double inner : inner_steps(quick)) {
    rows[0].push_back(fmt::format("HN-PFL minus H-FL, inner step {:g}", inner));
  }
  const auto values_at = [&](const Method& method, const Settings& point) {
    return measure_choices(study, tune(study, method, {}, std::array{point}));
  };
  for (const double step : steps(quick)) {
    const Values plain = values_at(plain_method(), plain_point(step));
    std::vector<Values> metas;
    for (const double inner : inner_steps(quick)) {
      metas.push_back(values_at(meta, meta_point(step, inner)));
    }
    for (std::size_t a = 0; a < aims.size(); ++a) {
      auto& row = rows.emplace_back(
          Settings{a == 0 ? fmt::format("{:g}", step) : "", std::string(names[a]), interval(plain[a])});
      for (const Values& values : metas) {
        row.push_back(difference(values[a], plain[a]));
      }
    }
  }
  return rows;
}

}  // namespace

std::string reproduce_fair(const LearningStudy& data, const ReproduceOptions& options, KeptRuns& runs) {
  FairStudy study(data, options, runs);
  const Method first_order = meta_method("HN-PFL", "first_order");
  const std::vector<Regime> list = regimes(study.classes(), options.quick);
  const std::size_t plain_points = grid(plain_method(), options.quick).size();
  const std::size_t meta_points = grid(first_order, options.quick).size();
  const std::size_t counted = aims.size() * study.seeds();  // for each choice
  runs.expect_runs(list.size() * (plain_points + meta_points + 2 * counted) + plain_points + counted +
                   3 * (meta_points + counted) +
                   (options.quick ? 0 : (plain_points + meta_points) * (1 + counted)));

  const std::string by_regime = markdown_table(regime_rows(study, first_order, list, options.quick));
  const std::string by_form = markdown_table(form_rows(study, options.quick));
  const std::string by_step =
      options.quick
          ? ""
          : "\n\nThe same step size for both methods, in the first setting; only that of the own step "
            "is tuned:\n\n" +
                markdown_table(step_rows(study, first_order, options.quick));
  return fmt::format(
      "## {}, a fair study\n\nAccuracy in percent over {} seeds, mean +- half of the 95 % interval; the "
      "difference is HN-PFL minus H-FL, seed by seed. Own and drifted accuracies are weighted by the "
      "swarms' mixes of labels. For each method and aim, step sizes, and the size of the one gradient "
      "step (own step, from {{{}}}; 0: the model as it is), are those that did best on another seed, "
      "trained without a random sixth of the training samples and tested on that sixth: the test set has "
      "no say in them. H-FL takes steps of 12 points, HN-PFL of three times 4, of which first order reads "
      "8.\n\n{}\n\nForms of the meta-gradient, in the first setting:\n\n{}{}",
      data.title, study.seeds(), fmt::join(adaptation_steps, ", "), by_regime, by_form, by_step);
}

}  // namespace skein::app
