#include "skein/planning/checkpoint.h"

#include <fmt/format.h>

#include <array>
#include <cstring>

#include "skein/base/input_fault.h"

namespace skein {
namespace {

constexpr std::string_view magic = "skein planning checkpoint 1\n";

// FNV-1a, 64 bits.
class Sum {
 public:
  void add(const void* data, std::size_t size) {
    const auto* bytes = static_cast<const unsigned char*>(data);
    for (std::size_t i = 0; i < size; ++i) {
      sum_ = (sum_ ^ bytes[i]) * 0x100000001b3U;
    }
  }
  void add(const std::vector<double>& values) { add(values.data(), values.size() * sizeof(double)); }
  [[nodiscard]] std::uint64_t value() const { return sum_; }

 private:
  std::uint64_t sum_ = 0xcbf29ce484222325U;
};

std::uint64_t sum_of(std::string_view bytes) {
  Sum sum;
  sum.add(bytes.data(), bytes.size());
  return sum.value();
}

}  // namespace

std::string fingerprint(const Environment& e, const PlanningOptions& o, std::uint64_t seed) {
  Sum sum;
  const SolvedTables tables = complete(e.tables);
  for (const auto* values : {&e.travel_j, &e.capacity_j, &e.threshold_j, &tables.objective,
                             &tables.training_energy_j, &e.drift.start, &e.drift.end}) {
    sum.add(*values);
  }
  for (const Timing& timing : e.tables.timings) {
    sum.add({timing.duration, timing.local_period, timing.global_period});
  }
  const LearnerOptions& l = o.learner;
  sum.add({e.recharge_j, e.reward.scale, e.reward.objective_weight, e.reward.gradient_weight,
           e.reward.travel_weight, e.reward.penalty, e.reward.recharge_cost, e.reward.age_cap,
           e.reward.visited_gradient, o.discount, o.exploration, o.least_exploration, l.step, l.last_step,
           l.decay_share});
  return fmt::format("{:016x} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {}", sum.value(), seed,
                     e.num_swarms, e.num_clusters, e.num_stations, e.battery_mask,
                     static_cast<int>(e.reward.gradient), e.reward.zero_on_violation, e.drift.sequences,
                     l.environments, l.steps, l.batch, l.update_period, l.replay_steps, l.target_period,
                     fmt::format("{} {} {} {}", l.window, l.memory, l.hidden, l.hidden2), l.model_reward,
                     l.online, e.tables.timings.size());
}

std::string short_name(std::string_view fingerprint) { return fmt::format("{:016x}", sum_of(fingerprint)); }

CheckpointWriter::CheckpointWriter() : bytes_(magic) {}

void CheckpointWriter::raw(const void* data, std::size_t size) {
  bytes_.append(static_cast<const char*>(data), size);
}

void CheckpointWriter::whole(std::size_t number) {
  const std::uint64_t value = number;
  raw(&value, sizeof value);
}

void CheckpointWriter::text(std::string_view text) {
  whole(text.size());
  raw(text.data(), text.size());
}

std::string CheckpointWriter::bytes() const {
  std::string all = bytes_;
  const std::uint64_t sum = sum_of(all);
  std::array<char, sizeof sum> end{};
  std::memcpy(end.data(), &sum, sizeof sum);
  all.append(end.data(), end.size());
  return all;
}

CheckpointReader::CheckpointReader(std::string bytes, std::string file)
    : bytes_(std::move(bytes)), file_(std::move(file)) {
  std::uint64_t sum = 0;
  if (bytes_.size() < magic.size() + sizeof sum || !bytes_.starts_with(magic)) {
    throw InputError(InputFault{.file = file_, .message = "is no checkpoint of `skein plan train`"});
  }
  std::memcpy(&sum, bytes_.data() + bytes_.size() - sizeof sum, sizeof sum);
  bytes_.resize(bytes_.size() - sizeof sum);
  if (sum != sum_of(bytes_)) {
    damaged();
  }
  at_ = magic.size();
}

void CheckpointReader::damaged() const {
  throw InputError(InputFault{.file = file_, .message = "is damaged or not whole"});
}

void CheckpointReader::raw(void* data, std::size_t size) {
  if (size > bytes_.size() - at_) {
    damaged();
  }
  std::memcpy(data, bytes_.data() + at_, size);
  at_ += size;
}

std::size_t CheckpointReader::whole(std::size_t most) {
  std::uint64_t value = 0;
  raw(&value, sizeof value);
  if (value > most) {
    damaged();
  }
  return value;
}

void CheckpointReader::expect_text(std::string_view text) {
  std::string found(whole(bytes_.size()), '\0');
  raw(found.data(), found.size());
  if (found != text) {
    throw InputError(InputFault{
        .file = file_,
        .message = "is of a training with another environment, seed or options: remove it to start anew"});
  }
}

void CheckpointReader::expect_end() {
  if (at_ != bytes_.size()) {
    damaged();
  }
}

}  // namespace skein
