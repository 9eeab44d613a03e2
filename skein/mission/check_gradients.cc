#include "skein/mission/check_gradients.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "skein/data/data_source.h"
#include "skein/learning/network_choice.h"
#include "skein/nn/safetensors.h"

namespace skein {
namespace {

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

}  // namespace

std::vector<nn::CheckedRow> check_gradients(const Scenario& scenario, const GradientCheckOptions& options,
                                            ThreadPool& pool) {
  const nn::Network<double> network(build_architecture(scenario.learning.network, scenario.data.source));
  const DataSplit data = load_data(scenario.data.source, scenario.run.seed);
  check_fit(scenario.data.source, data.train);
  const nn::Vector<double> w = starting_point(scenario, network);
  const std::vector<nn::Tensor> tensors = nn::tensors(network.architecture());
  const nn::MetaOptions meta{.inner_step = scenario.learning.inner_step,
                             .difference_step = scenario.learning.difference_step};

  std::vector<std::vector<nn::CheckedError>> rounds(options.rounds);
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

bool all_pass(std::span<const nn::CheckedRow> rows) {
  return std::ranges::all_of(rows, &nn::CheckedRow::passes);
}

std::string_view verdict(const nn::CheckedRow& row) {
  if (row.is_information()) {
    return "information";
  }
  return row.passes() ? "ok" : "WRONG";
}

std::string gradient_check_json(std::span<const nn::CheckedRow> rows) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const nn::CheckedRow& row : rows) {
    list.push_back({{"what", row.what},
                    {"of", row.of},
                    {"median", row.median},
                    {"worst", row.worst},
                    {"tolerance", row.tolerance},
                    {"verdict", verdict(row)}});
  }
  return nlohmann::ordered_json{{"passes", all_pass(rows)}, {"rows", list}}.dump(1) + "\n";
}

}  // namespace skein
