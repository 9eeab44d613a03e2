// A fair comparison: both methods with the same data and the same number of
// steps, each with its step sizes tuned for what is measured, over several
// seeds.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>

#include "reproduce.h"
#include "skein/base/file.h"
#include "skein/base/interval.h"
#include "skein/learning/adaptation.h"
#include "skein/learning/digest.h"
#include "skein/learning/training.h"
#include "skein/scenario/prepare_training.h"

namespace skein::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::size_t most_bytes = std::size_t{16} << 20U;
constexpr std::size_t tuning_seed = 1001;  // none of those that count

// Sizes of the one gradient step that makes a model a swarm's own; 0 leaves it
// as it is.
constexpr std::array<double, 6> adaptation_steps{0.0, 0.003, 0.01, 0.03, 0.1, 0.3};

struct Regime {
  std::string title;
  std::vector<std::string> settings;
};

std::vector<Regime> regimes(bool quick) {
  std::vector<Regime> list{{"3 labels, 600 points", {}}};
  if (!quick) {
    list.push_back({"2 labels", {"data.labels_per_cluster=2"}});
    list.push_back({"5 labels", {"data.labels_per_cluster=5"}});
    list.push_back({"all labels alike", {"data.partition='iid'"}});
    list.push_back({"Dirichlet 0.3", {"data.partition='dirichlet'", "data.dirichlet_concentration=0.3"}});
    list.push_back({"120 points", {"learning.points_per_worker=120"}});
    list.push_back({"2400 points", {"learning.points_per_worker=2400"}});
  }
  return list;
}

struct Method {
  std::string title;
  std::vector<std::string> settings;
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
std::vector<std::vector<std::string>> grid(const Method& method, bool quick) {
  const std::vector<double> steps = quick ? std::vector{0.01, 0.1} : std::vector{0.003, 0.01, 0.03, 0.1, 0.3};
  const std::vector<double> inner = quick ? std::vector{0.001, 0.01} : std::vector{0.001, 0.01, 0.1};
  std::vector<std::vector<std::string>> list;
  for (const double step : steps) {
    if (!method.meta) {
      list.push_back({fmt::format("learning.step={}", step)});
      continue;
    }
    for (const double inner_step : inner) {
      list.push_back(
          {fmt::format("learning.meta_step={}", step), fmt::format("learning.inner_step={}", inner_step)});
    }
  }
  return list;
}

// What a trained model is worth, in percent.
struct Worth {
  double global = 0.0;          // on the whole test set
  std::vector<double> own;      // on each swarm's labels, after a step of each size
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
  std::optional<Worth> measure(const std::vector<std::string>& settings, std::size_t seed) {
    std::vector<std::string> all = settings;
    all.push_back(fmt::format("run.seed={}", seed));
    all.insert(all.end(), options_.common.settings.begin(), options_.common.settings.end());
    const Scenario scenario = load_scenario(file_, {.settings = all});
    const std::string digest = sha256(resolved_scenario(scenario));
    const fs::path place = runs_.directory() / "cells" / (digest.substr(0, 20) + ".json");
    json cell;
    if (fs::exists(place)) {
      cell = json::parse(read_file(place, most_bytes), nullptr, false);
    }
    if (!cell.is_object() || cell.value("scenario", "") != digest) {
      cell = train(scenario);
      cell["scenario"] = digest;
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

  // The settings, and the size of the step, that do best on the tuning seed.
  struct Choice {
    std::vector<std::string> settings;
    std::size_t step = 0;
    double value = -1.0;

    [[nodiscard]] bool found() const { return value >= 0.0; }  // some step sizes did not diverge
  };
  std::array<Choice, aims.size()> tune(const Method& method, const std::vector<std::string>& regime) {
    std::array<Choice, aims.size()> best;
    for (const std::vector<std::string>& point : grid(method, options_.quick)) {
      std::vector<std::string> settings = regime;
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

 private:
  json train(const Scenario& scenario) {
    const std::shared_ptr<const DataSplit> data = runs_.data(scenario);
    PreparedTraining prepared(scenario, data, runs_.pool());
    TrainingSetup setup = prepared.setup();
    setup.personalise_always = false;
    json cell{{"diverged", false}};
    TrainingResult result;
    try {
      result = run_training(setup, runs_.pool(),
                            {.progress = [&](double fraction) { runs_.show("fair study", fraction); }});
    } catch (const Divergence&) {
      cell["diverged"] = true;
      return cell;
    }
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
    cell["global"] = 100.0 * result.records.back().global.accuracy;
    cell["own"] = percents(accuracy_after_step(result.global, adaptation_steps, adaptation, runs_.pool()));
    adaptation.partition = &drifted;
    cell["drifted"] =
        percents(accuracy_after_step(result.global, adaptation_steps, adaptation, runs_.pool()));
    return cell;
  }

  const ReproduceOptions& options_;
  KeptRuns& runs_;
  fs::path file_;
};

using Values = std::array<std::vector<double>, aims.size()>;

// Each aim's choice, over the seeds that count.
Values measure_choices(FairStudy& study, const std::array<FairStudy::Choice, aims.size()>& choices) {
  Values values;
  for (std::size_t a = 0; a < aims.size(); ++a) {
    for (std::size_t seed = 1; choices[a].found() && seed <= study.seeds(); ++seed) {
      if (const auto worth = study.measure(choices[a].settings, seed)) {
        values[a].push_back(value(*worth, aims[a], choices[a].step));
      }
    }
  }
  return values;
}

std::string interval(const std::vector<double>& values, std::size_t seeds) {
  if (values.empty()) {
    return "diverged";
  }
  const MeanInterval i = mean_interval(values);
  return fmt::format("{:.1f} +- {:.1f}{}", i.mean, i.half_width,
                     values.size() < seeds ? fmt::format(" ({} of {} seeds)", values.size(), seeds) : "");
}

// Seed by seed: both saw the same data and started from the same model.
std::string difference(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size() || a.empty()) {
    return "-";
  }
  std::vector<double> gains;
  for (std::size_t i = 0; i < a.size(); ++i) {
    gains.push_back(a[i] - b[i]);
  }
  const MeanInterval i = mean_interval(gains);
  return fmt::format("{:+.1f} +- {:.1f}", i.mean, i.half_width);
}

std::string steps_of(const FairStudy::Choice& choice) {
  std::string text;
  for (const std::string& setting : choice.settings) {
    for (const std::string_view key : {"learning.step=", "learning.meta_step=", "learning.inner_step="}) {
      if (setting.starts_with(key)) {
        text += (text.empty() ? "" : " / ") + setting.substr(key.size());
      }
    }
  }
  return text;
}

}  // namespace

std::string reproduce_fair(const LearningStudy& data, const ReproduceOptions& options, KeptRuns& runs) {
  FairStudy study(data, options, runs);
  const Method first_order = meta_method("HN-PFL", "first_order");
  const std::vector<Regime> list = regimes(options.quick);
  const std::size_t per_regime = grid(plain_method(), options.quick).size() +
                                 grid(first_order, options.quick).size() + 6 * study.seeds();
  runs.expect_runs(list.size() * per_regime +
                   2 * (grid(first_order, options.quick).size() + 3 * study.seeds()));

  std::vector<std::vector<std::string>> rows{
      {"swarms' data", "aim", "H-FL", "HN-PFL", "difference", "H-FL step", "HN-PFL step / inner"}};
  constexpr std::array<std::string_view, aims.size()> names{"global", "own labels, one step",
                                                            "drifted, one step"};
  std::optional<Values> base;
  for (const Regime& regime : list) {
    const auto plain = study.tune(plain_method(), regime.settings);
    const auto meta = study.tune(first_order, regime.settings);
    const Values plain_values = measure_choices(study, plain);
    const Values meta_values = measure_choices(study, meta);
    base = base ? base : plain_values;
    for (std::size_t a = 0; a < aims.size(); ++a) {
      rows.push_back({a == 0 ? regime.title : "", std::string(names[a]),
                      interval(plain_values[a], study.seeds()), interval(meta_values[a], study.seeds()),
                      difference(meta_values[a], plain_values[a]), steps_of(plain[a]), steps_of(meta[a])});
    }
  }

  std::vector<std::vector<std::string>> forms{
      {"meta-gradient", "aim", "HN-PFL", "difference to H-FL", "step / inner"}};
  for (const auto& [title, kind] : {std::pair{"first order", "first_order"},
                                    std::pair{"Hessian-free", "hessian_free"}, std::pair{"exact", "exact"}}) {
    const auto choices = study.tune(meta_method(title, kind), {});
    const Values values = measure_choices(study, choices);
    for (std::size_t a = 0; a < aims.size(); ++a) {
      forms.push_back({a == 0 ? title : "", std::string(names[a]), interval(values[a], study.seeds()),
                       difference(values[a], (*base)[a]), steps_of(choices[a])});
    }
  }
  return fmt::format(
      "## {}, a fair study\n\nAccuracy in percent over {} "
      "seeds, mean +- half of the 95 % interval; the "
      "difference is HN-PFL minus H-FL, seed by seed. For each "
      "method and aim, step sizes (and the size of "
      "the one gradient step, from {{{}}}) are those that did "
      "best on another seed.\n\n{}\n\nForms of the "
      "meta-gradient, in the first setting:\n\n{}",
      data.title, study.seeds(), fmt::join(adaptation_steps, ", "), markdown_table(rows),
      markdown_table(forms));
}

}  // namespace skein::app
