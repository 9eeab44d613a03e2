// All of a learner, to a file and back.

#include <array>

#include "skein/base/file.h"
#include "skein/planning/checkpoint.h"
#include "skein/planning/q_learning_inside.h"

namespace skein {
namespace {

constexpr std::size_t most_bytes = std::size_t{4} << 30U;

}  // namespace

void QLearner::save(const std::filesystem::path& file) const {
  const Inside& in = *inside_;
  CheckpointWriter out;
  out.text(fingerprint(*in.environment, in.options, in.seed));
  out.whole(in.steps);
  out.whole(in.updates);
  out.whole(in.adam.steps);
  for (const nn::Vector<float>* values : {&in.train, &in.target, &in.adam.mean, &in.adam.square}) {
    out.numbers(values->span());
  }
  out.numbers(std::span<const double>(in.states.numbers()));
  out.numbers(std::span<const double>(in.remembered.numbers()));
  out.numbers(std::span<const double>(&in.taken.front().reward, 4 * in.taken.size()));
  out.numbers(std::span<const double>(in.destinations));
  out.numbers(std::span<const double>(in.fresh));
  out.numbers(std::span<const double>(in.sums));
  out.whole(in.curve.size());
  for (const CurvePoint& point : in.curve) {
    out.whole(point.step);
    const std::array values{point.reward,     point.learning_objective, point.battery_j,
                            point.violations, point.exploration,        point.loss};
    out.numbers(std::span<const double>(values));
    out.numbers(std::span<const double>(point.visits));
  }
  write_file(file, out.bytes());
}

void QLearner::restore(const std::filesystem::path& file) {
  Inside& in = *inside_;
  CheckpointReader read(read_file(file, most_bytes), file.string());
  read.expect_text(fingerprint(*in.environment, in.options, in.seed));
  in.steps = read.whole(in.options.learner.steps);
  in.updates = read.whole(in.options.learner.steps);
  in.adam.steps = read.whole(in.options.learner.steps);
  for (nn::Vector<float>* values : {&in.train, &in.target, &in.adam.mean, &in.adam.square}) {
    read.numbers(values->span());
  }
  read.numbers(std::span<double>(in.states.numbers()));
  read.numbers(std::span<double>(in.remembered.numbers()));
  read.numbers(std::span<double>(&in.taken.front().reward, 4 * in.taken.size()));
  read.numbers(std::span<double>(in.destinations));
  read.numbers(std::span<double>(in.fresh));
  read.numbers(std::span<double>(in.sums));
  in.curve.clear();
  for (std::size_t left = read.whole(in.options.learner.steps); left > 0; --left) {
    CurvePoint point{.step = read.whole(in.options.learner.steps)};
    std::array<double, 6> values{};
    read.numbers(std::span<double>(values));
    point.reward = values[0];
    point.learning_objective = values[1];
    point.battery_j = values[2];
    point.violations = values[3];
    point.exploration = values[4];
    point.loss = values[5];
    point.visits.resize(in.environment->num_sites());
    read.numbers(std::span<double>(point.visits));
    in.curve.push_back(std::move(point));
  }
  read.expect_end();
}

}  // namespace skein
