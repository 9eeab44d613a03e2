// Trains with a learning algorithm of one's own beside two known ones. An algorithm is a row of parts, which
// are chosen apart: here HN-PFL's hierarchy and personalisation, with plain gradient steps, and swarms
// weighted by the data that they have processed.
#include <cstdio>
#include <memory>
#include <string>

#include "skein/data/data_source.h"
#include "skein/mission/prepare_training.h"
#include "skein/scenario/scenario.h"

namespace {

constexpr const char* scenario_text = R"(
[run]
name = "own algorithm"

[data]
source = "synthetic"        # small made-up images: nothing has to be fetched
labels_per_cluster = 3

[swarms]
count = 4

[learning]
points_per_worker = 200
inner_step = 0.01
meta_step = 0.05
step = 0.01
local_period = 2            # local iterations from one average in the swarm to the next
global_period = 2           # of these, from one average over swarms to the next
iterations = 24
evaluation_period = 6
network = { preset = "automatic" }
)";

}  // namespace

int main() {
  skein::Scenario scenario = skein::parse_scenario(scenario_text, "the example");
  skein::ThreadPool pool(0);
  const auto data =
      std::make_shared<const skein::DataSplit>(skein::load_data(scenario.data.source, scenario.run.seed));

  const skein::Algorithm mine{.name = "weighted_steps",
                              .title = "own: plain steps, by data",
                              .local_update = skein::LocalUpdate::gradient,
                              .weights = skein::MergeWeights::by_data,
                              .personal_step = skein::PersonalStep::step};
  std::printf("%-28s %10s %14s %16s %10s\n", "algorithm", "iteration", "global model", "swarms' own",
              "energy");
  for (const skein::Algorithm& algorithm : {mine, skein::algorithm("hn_pfl"), skein::algorithm("fed_avg")}) {
    scenario.learning.algorithm = algorithm;
    skein::PreparedTraining training(scenario, data, pool);
    const skein::TrainingResult result = skein::run_training(training.setup(), pool, {});
    for (const skein::TrainingRecord& record : result.records) {
      const auto own = record.mean_personalised();
      std::printf("%-28s %10zu %12.1f %% %14.1f %% %7.1f kJ\n", algorithm.title.c_str(), record.iteration,
                  100.0 * record.global.accuracy, own ? 100.0 * own->accuracy : 0.0,
                  record.total_energy().si() / 1e3);
    }
  }
}
