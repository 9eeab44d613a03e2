#include "apps/skein/reproduce/fair_study.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "skein/base/digest.h"
#include "skein/base/file.h"
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

}  // namespace

FairStudy::FairStudy(const LearningStudy& study, const ReproduceOptions& options, KeptRuns& runs)
    : options_(options),
      runs_(runs),
      file_(scenario_directory() / "paper" / fmt::format("{}-fair.toml", study.name)) {}

std::optional<FairStudy::Worth> FairStudy::measure(const Settings& settings, std::size_t seed) {
  Settings all = settings;
  all.push_back(fmt::format("run.seed={}", seed));
  all.insert(all.end(), options_.common.settings.begin(), options_.common.settings.end());
  const Scenario scenario = load_scenario(file_, {.settings = all});
  const std::string tested_on = seed == tuning_seed ? fmt::format("held out {:g}", tuning_share) : "test set";
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

std::array<FairStudy::Choice, FairStudy::aims.size()> FairStudy::tune(const Settings& common,
                                                                      std::span<const Settings> points) {
  std::array<Choice, aims.size()> best;
  for (const Settings& point : points) {
    Settings settings = common;
    settings.insert(settings.end(), point.begin(), point.end());
    const std::optional<Worth> worth = measure(settings, tuning_seed);
    if (!worth) {
      continue;
    }
    for (std::size_t a = 0; a < aims.size(); ++a) {
      for (std::size_t step = 0; step < adaptation_steps.size(); ++step) {
        if (const double now = worth->value(aims[a], step); now > best[a].value) {
          best[a] = {settings, step, now};
        }
      }
    }
  }
  return best;
}

std::size_t FairStudy::seeds() const { return options_.seeds > 0 ? options_.seeds : options_.quick ? 2 : 5; }

std::size_t FairStudy::classes() const {
  return num_classes(load_scenario(file_, {.settings = options_.common.settings}).data.source);
}

// Of the training set alone: the test set has no say in what is chosen.
std::shared_ptr<const DataSplit> FairStudy::tuning_data(const Scenario& scenario) {
  if (tuning_data_ == nullptr) {
    RandomStream stream(tuning_seed, "tuning data");
    tuning_data_ =
        std::make_shared<const DataSplit>(hold_out(runs_.data(scenario)->train, tuning_share, stream));
  }
  return tuning_data_;
}

json FairStudy::train(const Scenario& scenario, const std::shared_ptr<const DataSplit>& data) {
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

}  // namespace skein::app
