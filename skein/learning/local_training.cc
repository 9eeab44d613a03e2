#include "skein/learning/local_training.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "skein/base/expect.h"
#include "skein/base/random.h"
#include "skein/learning/model_sums.h"

namespace skein {
namespace {

// A loss so many times that of guessing is no longer training.
constexpr double most_times_guessing = 1000.0;

std::size_t total(const std::array<std::size_t, 3>& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), std::size_t{0});
}

std::vector<SampleIndex> some_of(std::span<const SampleIndex> samples, std::size_t count,
                                 RandomStream& stream) {
  std::vector<SampleIndex> chosen;
  chosen.reserve(count);
  draw_distinct(samples, std::min(count, samples.size()), stream, chosen);
  return chosen;
}

// What a worker draws from: its samples, or their places if drift has changed them.
std::vector<SampleIndex> own_points(const WorkerTask& worker) {
  if (worker.drift == nullptr) {
    return worker.samples;
  }
  std::vector<SampleIndex> places(worker.samples.size());
  std::iota(places.begin(), places.end(), SampleIndex{0});
  return places;
}

DriftedSamples drifted(const WorkerTask& worker) {
  return {.samples = worker.samples, .collected = worker.collected, .drift = worker.drift.get()};
}

bool is_meta(const LearningOptions& options) {
  return options.algorithm.local_update == LocalUpdate::meta_gradient;
}

bool all_finite(const Model& model) {
  std::uint32_t not_finite = 0;
  const float* values = model.data();
  for (std::size_t i = 0; i < model.size(); ++i) {
    // An exponent of all ones is an infinity or no number.
    not_finite |=
        static_cast<std::uint32_t>((std::bit_cast<std::uint32_t>(values[i]) & 0x7f800000U) == 0x7f800000U);
  }
  return not_finite == 0;
}

}  // namespace

double scheduled(const LearningOptions& options, double step, std::size_t iteration) {
  for (const auto& [first, value] : options.step_schedule) {
    if (static_cast<double>(iteration) >= first) {
      step = value;
    }
  }
  return step;
}

std::string likely_cause(const LearningOptions& options, std::size_t iteration) {
  const bool meta = is_meta(options);
  const double step = scheduled(options, meta ? options.inner_step : options.step, iteration);
  const std::string steps =
      meta ? fmt::format("learning.meta_step = {:g}, inner_step = {:g}", options.meta_step, step)
           : fmt::format("learning.step = {:g}", step);
  return "the step size is probably too large (" + steps + ")";
}

// A worker's data as drift has left it: a data set of its own, whose samples are the places of the worker's.
Dataset as_drifted(const Dataset& data, const WorkerTask& worker) {
  Dataset own{.shape = data.shape,
              .class_names = data.class_names,
              .features = std::vector<float>(worker.samples.size() * data.shape.size()),
              .mean = std::vector<float>(data.shape.channels, 0.0F),
              .deviation = std::vector<float>(data.shape.channels, 1.0F)};
  auto& values = std::get<std::vector<float>>(own.features);
  for (SampleIndex place = 0; place < worker.samples.size(); ++place) {
    read_drifted(data, drifted(worker), place,
                 std::span(values).subspan(place * data.shape.size(), data.shape.size()));
    own.labels.push_back(data.labels[worker.samples[place]]);
  }
  return own;
}

// The updates of one worker in one local round, which reads about so many points.
class LocalTraining::Steps {
 public:
  Steps(const Setting& setting, const WorkerTask& worker, const Round& round, double points_to_read,
        Workspace& workspace, Model& model)
      : setting_(setting),
        worker_(worker),
        round_(round),
        workspace_(workspace),
        model_(model),
        turns_(setting.seed, "turns", worker.worker, round.first_iteration) {
    // What is read again and again is transformed once.
    if (worker.drift != nullptr && setting.options.augment_rotation_degrees == 0.0 &&
        points_to_read > static_cast<double>(worker.samples.size())) {
      own_ = as_drifted(*setting.data, worker);
    }
  }

  // One iteration of either form.
  void mini_batch(std::span<const SampleIndex> data, std::size_t iteration) {
    RandomStream batches(setting_.seed, "batches", worker_.worker, iteration);
    RandomStream dropout(setting_.seed, "dropout", worker_.worker, iteration);
    if (is_meta(setting_.options)) {
      meta_update({data, data, data}, some_of(data, worker_.batch_sizes[1], batches), batches, dropout,
                  iteration);
    } else {
      plain_update(some_of(data, total(worker_.batch_sizes), batches), dropout,
                   scheduled(setting_.options, setting_.options.step, iteration), iteration);
    }
  }

  using Subsets = std::array<std::vector<SampleIndex>, 3>;
  void epoch(std::span<const SampleIndex> data, const Subsets& subsets, std::size_t iteration) {
    RandomStream batches(setting_.seed, "batches", worker_.worker, iteration);
    RandomStream dropout(setting_.seed, "dropout", worker_.worker, iteration);
    const std::span<const SampleIndex> pass = is_meta(setting_.options) ? subsets[1] : data;
    const std::size_t size = is_meta(setting_.options) ? worker_.batch_sizes[1] : total(worker_.batch_sizes);
    std::vector<SampleIndex> order(pass.begin(), pass.end());
    batches.shuffle(order);
    for (std::size_t begin = 0; begin < order.size(); begin += size) {
      const auto batch =
          std::span<const SampleIndex>(order).subspan(begin, std::min(size, order.size() - begin));
      if (is_meta(setting_.options)) {
        meta_update({subsets[0], subsets[1], subsets[2]}, batch, batches, dropout, iteration);
      } else {
        plain_update(batch, dropout, scheduled(setting_.options, setting_.options.step, iteration),
                     iteration);
      }
    }
  }

  void plain_update(std::span<const SampleIndex> batch, RandomStream& dropout, double step,
                    std::size_t iteration) {
    note(workspace_.engine.step(model_, read(0, batch), step, &dropout), iteration);
  }

  // The second batch is given; the others are drawn.
  void meta_update(const std::array<std::span<const SampleIndex>, 3>& sources,
                   std::span<const SampleIndex> second, RandomStream& batches, RandomStream& dropout,
                   std::size_t iteration) {
    const LearningOptions& options = setting_.options;
    const auto drawn = [&](std::size_t i) {
      return read(i, some_of(sources[i], worker_.batch_sizes[i], batches));
    };
    std::array<nn::Batch<float>, 3> three{drawn(0), read(1, second), {}};
    if (options.meta_gradient != MetaGradient::first_order) {
      three[2] = drawn(2);
    }
    const nn::MetaOptions meta{.kind = options.meta_gradient,
                               .inner_step = scheduled(options, options.inner_step, iteration),
                               .difference_step = options.difference_step};
    note(workspace_.engine.meta_step(model_, three, meta, options.meta_step, &dropout), iteration);
  }

  // The mean loss of all updates. A network whose loss is bounded, by a softmax of its own, can have lost its
  // parameters without showing it there.
  double finish(std::size_t last_iteration) {
    if (!all_finite(model_)) {
      diverge(std::nan(""), last_iteration);
    }
    return sum_ / static_cast<double>(count_);
  }

 private:
  nn::Batch<float> read(std::size_t place, std::span<const SampleIndex> batch) {
    BatchBuffer& buffer = workspace_.batches[place];
    if (own_) {
      return buffer.read(*own_, batch);
    }
    DriftedSamples as_read = drifted(worker_);
    if (setting_.options.augment_rotation_degrees > 0.0) {
      as_read.most_turn_degrees = setting_.options.augment_rotation_degrees;
      as_read.turns = &turns_;
    }
    return buffer.read(*setting_.data, batch, as_read);
  }

  void note(double loss, std::size_t iteration) {
    const double guessing = std::log(static_cast<double>(setting_.data->num_classes()));
    if (!(loss <= most_times_guessing * std::max(1.0, guessing))) {
      diverge(loss, iteration);
    }
    sum_ += loss;
    ++count_;
  }

  [[noreturn]] void diverge(double loss, std::size_t iteration) const {
    throw Divergence({.iteration = iteration,
                      .swarm = round_.swarm,
                      .worker = worker_.worker,
                      .loss = loss,
                      .likely_cause = likely_cause(setting_.options, iteration)});
  }

  const Setting& setting_;
  const WorkerTask& worker_;
  const Round& round_;
  Workspace& workspace_;
  Model& model_;
  RandomStream turns_;
  std::optional<Dataset> own_;
  double sum_ = 0.0;
  std::size_t count_ = 0;
};

LocalTraining::LocalTraining(Setting setting) : setting_(std::move(setting)) {
  expect(setting_.data != nullptr, "training needs data");
}

// The study draws once for all iterations between two local aggregations.
std::vector<SampleIndex> LocalTraining::data_of(const WorkerTask& worker, std::size_t iteration) const {
  if (worker.redraw.empty()) {
    expect(worker.drift == nullptr || worker.collected.size() == worker.samples.size(),
           "with drift, it is known when each sample was collected");
    return own_points(worker);
  }
  expect(worker.drift == nullptr, "data that is drawn anew has not drifted");
  expect(setting_.pools != nullptr, "to draw data anew needs the pools of all classes");
  RandomStream stream(setting_.seed, "draw", worker.worker, iteration);
  return draw(*setting_.pools, worker.redraw, worker.samples.size(), stream);
}

double LocalTraining::run(const WorkerTask& worker, const Round& round, Workspace& workspace,
                          Model& model) const {
  expect(!worker.samples.empty() && round.num_iterations > 0, "a worker has data and something to do");
  const std::vector<SampleIndex> data = data_of(worker, round.first_iteration);
  const std::vector<double> shift = shift_for(worker, data);
  add_to_biases(model, shift, 1.0);
  const double points = points_per_iteration(worker) * static_cast<double>(round.num_iterations);
  Steps steps(setting_, worker, round, points, workspace, model);
  Steps::Subsets subsets;
  if (setting_.options.local_step == LocalStep::epoch && is_meta(setting_.options)) {
    RandomStream stream(setting_.seed, "subsets", worker.worker, round.first_iteration);
    for (std::vector<SampleIndex>& subset : subsets) {
      subset = some_of(data, std::max<std::size_t>(1, data.size() / 3), stream);
    }
  }
  const std::size_t end = round.first_iteration + round.num_iterations;
  for (std::size_t iteration = round.first_iteration; iteration < end; ++iteration) {
    if (setting_.options.local_step == LocalStep::mini_batch) {
      steps.mini_batch(data, iteration);
    } else {
      steps.epoch(data, subsets, iteration);
    }
  }
  add_to_biases(model, shift, -1.0);
  return steps.finish(end - 1);
}

double LocalTraining::personalise(const WorkerTask& worker, const Round& round, Workspace& workspace,
                                  Model& model) const {
  const LearningOptions& options = setting_.options;
  if (options.personalisation == Personalisation::epoch) {
    return run(worker, {round.swarm, round.first_iteration, options.personal_steps}, workspace, model);
  }
  const std::size_t iteration = round.first_iteration;
  const bool inner = options.algorithm.personal_step == PersonalStep::inner_step;
  const double step = options.personal_step_size > 0.0
                          ? options.personal_step_size
                          : scheduled(options, inner ? options.inner_step : options.step, iteration);
  const std::size_t points = options.personal_batch > 0 ? options.personal_batch : total(worker.batch_sizes);
  const std::vector<SampleIndex> data = data_of(worker, iteration);
  const std::vector<double> shift = shift_for(worker, data);
  add_to_biases(model, shift, 1.0);
  RandomStream batches(setting_.seed, "personal batches", worker.worker, iteration);
  RandomStream dropout(setting_.seed, "personal dropout", worker.worker, iteration);
  Steps steps(setting_, worker, round, static_cast<double>(options.personal_steps * points), workspace,
              model);
  for (std::size_t k = 0; k < options.personal_steps; ++k) {
    steps.plain_update(some_of(data, points, batches), dropout, step, iteration);
  }
  add_to_biases(model, shift, -1.0);
  return steps.finish(iteration);
}

LabelCounts LocalTraining::label_counts(std::span<const WorkerTask> workers, std::size_t iteration) const {
  LabelCounts counts(setting_.data->num_classes(), 0);
  for (const WorkerTask& worker : workers) {
    count_labels(worker, data_of(worker, iteration), counts);
  }
  return counts;
}

void LocalTraining::count_labels(const WorkerTask& worker, std::span<const SampleIndex> data,
                                 LabelCounts& counts) const {
  for (const SampleIndex point : data) {
    const SampleIndex sample = worker.drift == nullptr ? point : worker.samples[point];
    ++counts[setting_.data->labels[sample]];
  }
}

std::vector<double> LocalTraining::shift_for(const WorkerTask& worker,
                                             std::span<const SampleIndex> data) const {
  const double smoothing = setting_.options.label_shift.smoothing;
  if (smoothing == 0.0) {
    return {};
  }
  LabelCounts counts(setting_.data->num_classes(), 0);
  count_labels(worker, data, counts);
  return label_shift(counts, smoothing);
}

void LocalTraining::meta_gradient(const WorkerTask& worker, std::size_t iteration, std::size_t num_points,
                                  Workspace& workspace, const Model& model, Model& gradient) const {
  constexpr std::size_t chunk = 16;
  const std::vector<SampleIndex> points = data_of(worker, iteration);
  const auto samples = std::span(points).first(std::min(num_points, points.size()));
  const LearningOptions& options = setting_.options;
  const auto inner_step = static_cast<float>(scheduled(options, options.inner_step, iteration));
  for (Model& vector : workspace.vectors) {
    if (vector.size() != model.size()) {
      vector = Model(model.size());
    }
  }
  Model& inner = workspace.vectors[0];
  Model& outer = workspace.vectors[1];
  Model& part = workspace.vectors[2];
  // Gradients and Hessians are means over samples.
  const auto mean = [&](const auto& of_batch, Model& out) {
    std::ranges::fill(out, 0.0F);
    for (std::size_t begin = 0; begin < samples.size(); begin += chunk) {
      const auto some = samples.subspan(begin, std::min(chunk, samples.size() - begin));
      of_batch(workspace.batches[0].read(*setting_.data, some, drifted(worker)));
      add_weighted(static_cast<float>(some.size()) / static_cast<float>(samples.size()), part.span(),
                   out.span());
    }
  };
  const auto mean_gradient = [&](const Model& point, Model& out) {
    mean([&](const nn::Batch<float>& batch) { workspace.engine.gradient(point, batch, nullptr, part); }, out);
  };
  mean_gradient(model, gradient);
  std::ranges::copy(model, inner.begin());
  add_weighted(-inner_step, gradient.span(), inner.span());
  mean_gradient(inner, outer);
  mean(
      [&](const nn::Batch<float>& batch) {
        workspace.engine.hessian_vector(model, outer, batch, nullptr, part);
      },
      gradient);
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    gradient[i] = outer[i] - inner_step * gradient[i];
  }
}

double LocalTraining::points_per_iteration(const WorkerTask& worker) const {
  const std::size_t all = worker.samples.size();
  if (setting_.options.local_step == LocalStep::epoch) {
    return static_cast<double>(all);
  }
  const std::size_t drawn = total(worker.batch_sizes);
  return static_cast<double>(is_meta(setting_.options) ? drawn : std::min(drawn, all));
}

}  // namespace skein
