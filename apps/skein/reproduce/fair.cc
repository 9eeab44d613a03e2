// A fair comparison: both methods with the same data and the same number of
// steps, each with its step sizes tuned for what is measured, over several
// seeds.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>

#include "apps/skein/reproduce/reproduce.h"
#include "skein/base/digest.h"
#include "skein/base/file.h"
#include "skein/base/interval.h"
#include "skein/learning/adaptation.h"
#include "skein/learning/training.h"
#include "skein/mission/prepare_training.h"
#include "skein/version.h"

namespace skein::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::size_t most_bytes = std::size_t{16} << 20U;
constexpr std::size_t tuning_seed = 1001;   // none of those that count
constexpr double tuning_share = 1.0 / 6.0;  // of the training samples, held out to tune on

// Sizes of the one gradient step that makes a model a swarm's own; 0 leaves it
// as it is.
constexpr std::array<double, 6> adaptation_steps{0.0, 0.003, 0.01, 0.03, 0.1, 0.3};

using Settings = std::vector<std::string>;

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

// What a trained model is worth, in percent.
struct Worth {
  double global = 0.0;          // on the whole test set
  std::vector<double> own;      // on each swarm's mix of labels, after a step of each size
  std::vector<double> drifted;  // the same for swarms whose labels have changed
};

enum class Aim { global, own, drifted };
constexpr std::array<Aim, 3> aims{Aim::global, Aim::own, Aim::drifted};

double value(const Worth& worth, Aim aim, std::size_t step) {
  return aim == Aim::global ? worth.global : (aim == Aim::own ? worth.own : worth.drifted)[step];
}

// Every swarm's labels go on by one, as after a long drift: the model has not
// been trained for them there.
Partition drifted_partition(const Scenario& scenario, const Partition& before, const ClassPools& pools) {
  Partition after = before;
  std::uint64_t worker = 0;
  for (GroupShare& group : after.groups) {
    LabelMix mix = group.mix;
    std::ranges::rotate(mix, mix.end() - 1);
    group.mix = mix;
    for (std::vector<SampleIndex>& samples : group.members) {
      RandomStream stream(scenario.run.seed, "drifted data", worker++);
      samples = draw(pools, mix, samples.size(), stream);
    }
  }
  return after;
}

class FairStudy {
 public:
  FairStudy(const LearningStudy& study, const ReproduceOptions& options, KeptRuns& runs)
      : options_(options),
        runs_(runs),
        file_(scenario_directory() / "paper" / fmt::format("{}-fair.toml", study.name)) {}

  // Nothing if training diverged.
  std::optional<Worth> measure(const Settings& settings, std::size_t seed) {
    Settings all = settings;
    all.push_back(fmt::format("run.seed={}", seed));
    all.insert(all.end(), options_.common.settings.begin(), options_.common.settings.end());
    const Scenario scenario = load_scenario(file_, {.settings = all});
    const std::string tested_on =
        seed == tuning_seed ? fmt::format("held out {:g}", tuning_share) : "test set";
    const std::string digest = sha256(fmt::format("{}, by mix\n{}", tested_on, resolved_scenario(scenario)));
    const fs::path place = runs_.directory() / "cells" / (digest.substr(0, 20) + ".json");
    json cell;
    if (fs::exists(place)) {
      cell = json::parse(read_file(place, most_bytes), nullptr, false);
    }
    if (!cell.is_object() || cell.value("scenario", "") != digest || cell.value("version", "") != version) {
      cell = train(scenario, seed == tuning_seed ? tuning_data(scenario) : runs_.data(scenario));
      cell["scenario"] = digest;
      cell["version"] = version;
      cell["tested_on"] = tested_on;
      cell["settings"] = all;
      write_file(place, cell.dump(1) + "\n");
    }
    runs_.finish_one();
    if (cell["diverged"].get<bool>()) {
      return std::nullopt;
    }
    return Worth{cell["global"].get<double>(), cell["own"].get<std::vector<double>>(),
                 cell["drifted"].get<std::vector<double>>()};
  }

  // The settings, and the size of the step, that do best on the tuning seed and samples held out for it.
  struct Choice {
    Settings settings;
    std::size_t step = 0;
    double value = -1.0;

    [[nodiscard]] bool found() const { return value >= 0.0; }  // some step sizes did not diverge
  };
  std::array<Choice, aims.size()> tune(const Method& method, const Settings& regime,
                                       std::span<const Settings> points) {
    std::array<Choice, aims.size()> best;
    for (const Settings& point : points) {
      Settings settings = regime;
      settings.insert(settings.end(), method.settings.begin(), method.settings.end());
      settings.insert(settings.end(), point.begin(), point.end());
      const std::optional<Worth> worth = measure(settings, tuning_seed);
      if (!worth) {
        continue;
      }
      for (std::size_t a = 0; a < aims.size(); ++a) {
        for (std::size_t step = 0; step < adaptation_steps.size(); ++step) {
          if (const double now = value(*worth, aims[a], step); now > best[a].value) {
            best[a] = {settings, step, now};
          }
        }
      }
    }
    return best;
  }

  [[nodiscard]] std::size_t seeds() const {
    return options_.seeds > 0 ? options_.seeds : options_.quick ? 2 : 5;
  }
  [[nodiscard]] std::size_t classes() const {
    return num_classes(load_scenario(file_, {.settings = options_.common.settings}).data.source);
  }

 private:
  // Of the training set alone: the test set has no say in what is chosen.
  std::shared_ptr<const DataSplit> tuning_data(const Scenario& scenario) {
    if (tuning_data_ == nullptr) {
      RandomStream stream(tuning_seed, "tuning data");
      tuning_data_ =
          std::make_shared<const DataSplit>(hold_out(runs_.data(scenario)->train, tuning_share, stream));
    }
    return tuning_data_;
  }

  json train(const Scenario& scenario, const std::shared_ptr<const DataSplit>& data) {
    PreparedTraining prepared(scenario, data, runs_.pool());
    TrainingSetup setup = prepared.setup();
    setup.personalise_always = false;
    const auto percents = [](std::vector<double> shares) {
      for (double& share : shares) {
        share *= 100.0;
      }
      return shares;
    };
    const Partition drifted = drifted_partition(scenario, prepared.partition(), *setup.pools);
    AdaptationSetup adaptation{.network = &prepared.network(),
                               .data = data.get(),
                               .partition = &prepared.partition(),
                               .seed = scenario.run.seed};
    json cell{{"diverged", false}};
    try {
      const TrainingResult result = run_training(
          setup, runs_.pool(), {.progress = [&](double fraction) { runs_.show("fair study", fraction); }});
      cell["global"] = 100.0 * result.records.back().global.accuracy;
      cell["own"] = percents(accuracy_after_step(result.global, adaptation_steps, adaptation, runs_.pool()));
      adaptation.partition = &drifted;
      cell["drifted"] =
          percents(accuracy_after_step(result.global, adaptation_steps, adaptation, runs_.pool()));
    } catch (const Divergence&) {
      cell["diverged"] = true;
    }
    return cell;
  }

  const ReproduceOptions& options_;
  KeptRuns& runs_;
  fs::path file_;
  std::shared_ptr<const DataSplit> tuning_data_;  // once there is something to tune
};

// Of each seed that counts; nothing where training diverged.
using SeedValues = std::vector<std::optional<double>>;
using Values = std::array<SeedValues, aims.size()>;

// Each aim's choice, over the seeds that count.
Values measure_choices(FairStudy& study, const std::array<FairStudy::Choice, aims.size()>& choices) {
  Values values;
  for (std::size_t a = 0; a < aims.size(); ++a) {
    values[a].resize(study.seeds());
    for (std::size_t i = 0; choices[a].found() && i < study.seeds(); ++i) {
      if (const auto worth = study.measure(choices[a].settings, i + 1)) {
        values[a][i] = value(*worth, aims[a], choices[a].step);
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
    const auto plain_choices = study.tune(plain_method(), regime.settings, grid(plain_method(), quick));
    const auto meta_choices = study.tune(meta, regime.settings, grid(meta, quick));
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
  const Values plain = measure_choices(study, study.tune(plain_method(), {}, grid(plain_method(), quick)));
  Rows rows{{"meta-gradient", "aim", "HN-PFL", "difference to H-FL", "step / inner"}};
  for (const auto& [title, kind] : {std::pair{"first order", "first_order"},
                                    std::pair{"Hessian-free", "hessian_free"}, std::pair{"exact", "exact"}}) {
    const Method method = meta_method(title, kind);
    const auto choices = study.tune(method, {}, grid(method, quick));
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
    return measure_choices(study, study.tune(method, {}, std::array{point}));
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
