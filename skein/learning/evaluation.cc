#include "skein/learning/evaluation.h"

#include <algorithm>

#include "skein/base/expect.h"

namespace skein {

Evaluation evaluate(const Model& model, const Dataset& data, std::span<const SampleIndex> samples,
                    Workspaces& workspaces, ThreadPool& pool, const DriftedSamples& drifted) {
  expect(!samples.empty(), "an evaluation needs samples");
  constexpr std::size_t chunk = 100;
  std::vector<nn::Score> scores((samples.size() + chunk - 1) / chunk);
  pool.parallel_for(scores.size(), [&](std::size_t i) {
    const auto part = samples.subspan(i * chunk, std::min(chunk, samples.size() - i * chunk));
    workspaces.with([&](Workspace& workspace) {
      scores[i] = workspace.engine.score(model, workspace.batches[0].read(data, part, drifted));
    });
  });
  double loss_sum = 0.0;
  std::size_t correct = 0;
  for (const nn::Score& score : scores) {
    loss_sum += score.loss_sum;
    correct += score.correct;
  }
  const auto count = static_cast<double>(samples.size());
  return {.accuracy = static_cast<double>(correct) / count, .loss = loss_sum / count};
}

Evaluation evaluate(const Model& model, const Dataset& data, const LabelMix& mix, const ClassPools& pools,
                    Workspaces& workspaces, ThreadPool& pool) {
  expect(mix.size() == pools.num_classes(), "a label mix has one probability per class");
  Evaluation sum;
  double weights = 0.0;
  for (std::size_t label = 0; label < mix.size(); ++label) {
    if (mix[label] > 0.0 && !pools.of(label).empty()) {
      const Evaluation of_class = evaluate(model, data, pools.of(label), workspaces, pool);
      sum.accuracy += mix[label] * of_class.accuracy;
      sum.loss += mix[label] * of_class.loss;
      weights += mix[label];
    }
  }
  expect(weights > 0.0, "a label mix is tested on samples of one of its classes");
  return {.accuracy = sum.accuracy / weights, .loss = sum.loss / weights};
}

}  // namespace skein
