#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "command.h"
#include "skein/base/thread_pool.h"
#include "skein/learning/network_choice.h"
#include "skein/mission/build.h"
#include "skein/nn/gradient_check.h"
#include "skein/nn/safetensors.h"
#include "text_table.h"

namespace skein::app {
namespace {

struct GradcheckOptions {
  CommonOptions common;
  std::size_t batch = 4;
  std::size_t directions = 5;
};

// Samples of the data set, drawn by name.
class DrawnBatch {
 public:
  DrawnBatch(const Dataset& data, std::size_t size, RandomStream stream)
      : features_(size * data.shape.size()) {
    std::vector<float> sample(data.shape.size());
    for (std::size_t i = 0; i < size; ++i) {
      const auto index = static_cast<std::size_t>(stream.below(data.size()));
      data.read(index, sample);
      std::ranges::copy(sample, features_.data() + i * sample.size());
      labels_.push_back(data.labels[index]);
    }
  }

  [[nodiscard]] nn::Batch<double> batch() const { return {features_.data(), labels_.data(), labels_.size()}; }

 private:
  nn::Vector<double> features_;
  std::vector<std::uint8_t> labels_;
};

// Where training would start.
nn::Vector<double> starting_point(const Scenario& scenario, const nn::Network<double>& network) {
  if (scenario.learning.initial_model.empty()) {
    RandomStream stream(scenario.run.seed, "gradient check, parameters");
    return network.initial_parameters(stream);
  }
  const nn::Vector<float> loaded =
      nn::starting_parameters(scenario.learning.initial_model, network.architecture());
  nn::Vector<double> w(loaded.size());
  std::ranges::copy(loaded, w.begin());
  return w;
}

std::vector<nn::CheckedRow> check(const Scenario& scenario, const GradcheckOptions& options) {
  const nn::Network<double> network(build_architecture(scenario.learning.network, scenario.data.source));
  const DataSplit data = load_data(scenario.data.source, scenario.run.seed);
  check_fit(scenario.data.source, data.train);
  const nn::Vector<double> w = starting_point(scenario, network);
  const std::vector<nn::Tensor> tensors = nn::tensors(network.architecture());
  const nn::MetaOptions meta{.inner_step = scenario.learning.inner_step,
                             .difference_step = scenario.learning.difference_step};

  std::vector<std::vector<nn::CheckedError>> rounds(options.directions);
  ThreadPool pool(options.common.threads);
  pool.parallel_for(rounds.size(), [&](std::size_t round) {
    const auto draw = [&](std::size_t batch) {
      return DrawnBatch(data.train, options.batch,
                        RandomStream(scenario.run.seed, "gradient check, samples", round, batch));
    };
    const std::array drawn{draw(0), draw(1), draw(2)};
    nn::EngineDerivatives derivatives(network, {drawn[0].batch(), drawn[1].batch(), drawn[2].batch()},
                                      RandomStream(scenario.run.seed, "gradient check, dropout", round));
    RandomStream directions(scenario.run.seed, "gradient check, directions", round);
    rounds[round] = nn::check_derivatives(derivatives, w, tensors, meta, directions);
  });
  return nn::summarise(rounds);
}

std::string_view verdict(const nn::CheckedRow& row) {
  if (row.is_information()) {
    return "information";
  }
  return row.passes() ? "ok" : "WRONG";
}

void print(const Scenario& scenario, const GradcheckOptions& options, const std::vector<nn::CheckedRow>& rows,
           bool passes) {
  TextTable table({"<what", "<of", "median error", "worst", "allowed", "<verdict"});
  for (const nn::CheckedRow& row : rows) {
    table.add({row.what, row.of, fmt::format("{:.1e}", row.median), fmt::format("{:.1e}", row.worst),
               row.is_information() ? "" : fmt::format("{:.0e}", row.tolerance), std::string(verdict(row))});
  }
  const nn::Architecture network = build_architecture(scenario.learning.network, scenario.data.source);
  fmt::print(
      "Network {}, {} layers, {} parameters; {} samples a batch of {}; relative errors in double precision\n"
      "over {} rounds, each with its own samples, dropout and direction\n\n{}\n{}\n",
      scenario.learning.network.preset, network.layers.size(), nn::num_parameters(network), options.batch,
      scenario.data.source.name, options.directions, table.text(),
      passes ? "All derivatives agree with finite differences."
             : "Some derivatives do not agree with finite differences.");
}

void gradcheck(const GradcheckOptions& options) {
  const Scenario scenario = load(options.common);
  const std::vector<nn::CheckedRow> rows =
      with_file_named(options.common, [&] { return check(scenario, options); });
  const bool passes = std::ranges::all_of(rows, &nn::CheckedRow::passes);
  if (options.common.json()) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const nn::CheckedRow& row : rows) {
      list.push_back({{"what", row.what},
                      {"of", row.of},
                      {"median", row.median},
                      {"worst", row.worst},
                      {"tolerance", row.tolerance},
                      {"verdict", verdict(row)}});
    }
    fmt::print("{}\n", nlohmann::ordered_json{{"passes", passes}, {"rows", list}}.dump(1));
  } else if (options.common.talks()) {
    print(scenario, options, rows, passes);
  }
  if (!passes) {
    throw CLI::RuntimeError(static_cast<int>(Exit::answer_is_no));
  }
}

}  // namespace

void add_gradcheck_command(CLI::App& program) {
  auto options = std::make_shared<GradcheckOptions>();
  CLI::App* command = program.add_subcommand(
      "gradcheck",
      "Hold the network's gradient, Hessian-vector product and meta-gradients against finite differences; "
      "exit code 1 if any disagrees");
  add_scenario(*command, options->common);
  command->add_option("--batch", options->batch, "Samples in each of the three batches")
      ->type_name("N")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  command
      ->add_option("--directions", options->directions,
                   "Rounds, each with other samples and another direction")
      ->type_name("N")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  add_common_options(*command, options->common, "skein gradcheck my.toml --batch 8 --directions 7");
  command->callback([options] { gradcheck(*options); });
}

}  // namespace skein::app
