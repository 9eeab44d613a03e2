#include "skein/simulation/mission_ranks.h"

#include <sys/resource.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "skein/base/expect.h"
#include "skein/base/field_bytes.h"
#include "skein/base/stopwatch.h"
#include "skein/simulation/fleet_bytes.h"
#include "skein/simulation/model_bytes.h"

namespace skein {
namespace {

template <class T>
void place(std::vector<T> some, const std::vector<std::size_t>& items, std::vector<T>& all) {
  for (std::size_t k = 0; k < some.size(); ++k) {
    all[items[k]] = std::move(some[k]);
  }
}

template <class T>
std::vector<T> picked(std::span<const T> all, const std::vector<std::size_t>& items) {
  std::vector<T> some;
  some.reserve(items.size());
  for (const std::size_t i : items) {
    some.push_back(all[i]);
  }
  return some;
}

// The one that a single process would have met first: all swarms train a local round before the next.
class FirstDivergence {
 public:
  explicit FirstDivergence(std::span<const LeaderTask> tasks) : tasks_(tasks) {}

  void add(const Divergence::Place& place) {
    const LeaderTask& any = tasks_.front();
    const auto round = [&](const Divergence::Place& p) {
      return (p.iteration - any.first_iteration) / std::max<std::size_t>(1, any.local_period);
    };
    if (!first_ || std::pair(round(place), place.swarm) < std::pair(round(*first_), first_->swarm)) {
      first_ = place;
    }
  }
  void throw_if_any() const {
    if (first_) {
      throw Divergence(*first_);
    }
  }

 private:
  std::span<const LeaderTask> tasks_;
  std::optional<Divergence::Place> first_;
};

}  // namespace

std::vector<std::vector<std::size_t>> balance(std::span<const double> loads, std::size_t num_processes) {
  std::vector<std::size_t> order(loads.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return loads[a] > loads[b]; });
  std::vector<std::vector<std::size_t>> parts(num_processes);
  std::vector<double> sums(num_processes, 0.0);
  for (const std::size_t task : order) {
    const auto least = static_cast<std::size_t>(std::ranges::min_element(sums) - sums.begin());
    sums[least] += loads[task];
    parts[least].push_back(task);
  }
  for (std::vector<std::size_t>& part : parts) {
    std::ranges::sort(part);
  }
  return parts;
}

class MissionRanks::SharedFleet final : public Fleet {
 public:
  explicit SharedFleet(MissionRanks& ranks) : ranks_(ranks) {}

  std::vector<LeaderUpdate> run(std::span<const LeaderTask> tasks) override { return ranks_.run(tasks); }
  std::vector<Model> personalise(std::span<const LeaderTask> tasks) override {
    return ranks_.personalise(tasks);
  }

 private:
  MissionRanks& ranks_;
};

class MissionRanks::SharedField final : public Field {
 public:
  SharedField(MissionRanks& ranks, Field& own) : ranks_(ranks), own_(own) {}

  [[nodiscard]] std::size_t sequence() const override { return own_.sequence(); }
  [[nodiscard]] std::size_t num_points(std::size_t device) const override { return own_.num_points(device); }
  [[nodiscard]] std::vector<std::vector<DataPoint>> offload(std::size_t device,
                                                            std::span<const double> shares,
                                                            std::uint64_t round) const override {
    return own_.offload(device, shares, round);
  }
  [[nodiscard]] LabelMix label_mix(std::size_t cluster) const override { return own_.label_mix(cluster); }
  [[nodiscard]] std::shared_ptr<const FeatureDrift> feature_drift(std::size_t cluster) const override {
    return own_.feature_drift(cluster);
  }
  BoundConstants measure_constants(std::span<const std::size_t> clusters, const Model& before,
                                   const Model& after) override {
    return own_.measure_constants(clusters, before, after);
  }
  std::vector<ModelScore> scores(std::span<const ClusterModel> models) override {
    return ranks_.at_homes<ModelScore>(Request::scores, models,
                                       [&](const auto& list) { return own_.scores(list); });
  }
  std::vector<double> squared_meta_gradients(std::span<const ClusterModel> models) override {
    return ranks_.at_homes<double>(Request::gradients, models,
                                   [&](const auto& list) { return own_.squared_meta_gradients(list); });
  }
  std::vector<double> hand_over(std::span<const std::size_t> clusters, std::vector<Model> models) override {
    return ranks_.hand_over(clusters, std::move(models));
  }
  std::vector<double> squared_gradient_changes(std::span<const std::size_t> clusters) override {
    std::vector<ClusterModel> handed;
    for (const std::size_t cluster : clusters) {
      handed.push_back({cluster});
    }
    return ranks_.at_homes<double>(Request::changes, handed, [&](const auto& list) {
      return own_.squared_gradient_changes(clusters_of(list));
    });
  }
  std::vector<ClassReport> class_reports(std::span<const ClusterModel> models) override {
    return ranks_.at_homes<ClassReport>(Request::reports, models,
                                        [&](const auto& list) { return own_.class_reports(list); });
  }
  [[nodiscard]] HandedModel handed(std::size_t cluster) override { return ranks_.handed(cluster); }
  void restore(std::size_t cluster, HandedModel handed) override {
    ranks_.restore(cluster, std::move(handed));
  }
  void advance(Time now) override { own_.advance(now); }
  [[nodiscard]] std::string save() const override { return own_.save(); }
  void restore(const std::string& bytes) override { own_.restore(bytes); }
  [[nodiscard]] std::string save(std::size_t cluster) const override { return own_.save(cluster); }
  void restore(std::size_t cluster, const std::string& bytes) override { own_.restore(cluster, bytes); }
  void forget() override { own_.forget(); }

 private:
  MissionRanks& ranks_;
  Field& own_;
};

MissionRanks::MissionRanks(Crew& crew, Field& field, Fleet& fleet)
    : crew_(crew),
      own_field_(field),
      own_fleet_(fleet),
      field_(std::make_unique<SharedField>(*this, field)),
      fleet_(std::make_unique<SharedFleet>(*this)),
      known_(crew.size()) {}
MissionRanks::~MissionRanks() = default;

Field& MissionRanks::field() { return crew_.size() > 1 ? *field_ : own_field_; }
Fleet& MissionRanks::fleet() { return crew_.size() > 1 ? *fleet_ : own_fleet_; }

ByteWriter MissionRanks::begin(Request request, std::size_t rank, std::span<const std::size_t> clusters) {
  std::vector<std::size_t> lacking;
  const std::size_t now = own_field_.sequence() + 1;
  for (const std::size_t cluster : clusters) {
    if (std::exchange(known_[rank][cluster], now) != now) {
      lacking.push_back(cluster);
    }
  }
  ByteWriter bytes;
  bytes.put(request);
  bytes.put<std::uint64_t>(own_field_.sequence());
  bytes.put<std::uint64_t>(lacking.size());
  for (const std::size_t cluster : lacking) {
    bytes.put<std::uint64_t>(cluster);
    bytes.put_text(own_field_.save(cluster));
  }
  return bytes;
}

void MissionRanks::send(std::size_t rank, std::string bytes) {
  ++traffic_.messages;
  traffic_.bytes += bytes.size();
  crew_.send(rank, bytes);
}

std::string MissionRanks::receive(std::size_t rank) {
  const Timed waiting(waiting_s_);
  std::string bytes = crew_.receive(rank);
  ++traffic_.messages;
  traffic_.bytes += bytes.size();
  return bytes;
}

RankReport MissionRanks::report() const {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return {.busy_s = busy_s_,
          .waiting_s = waiting_s_,
          .processor_s = seconds(usage.ru_utime) + seconds(usage.ru_stime),
          .peak_memory_bytes = 1024.0 * static_cast<double>(usage.ru_maxrss)};
}

std::vector<LeaderUpdate> MissionRanks::run(std::span<const LeaderTask> tasks) {
  // Who has not been measured yet is taken for the mean of all who have.
  double known = 0.0;
  for (const auto& [swarm, seconds] : loads_) {
    known += seconds / static_cast<double>(loads_.size());
  }
  std::vector<double> loads;
  for (const LeaderTask& task : tasks) {
    const auto found = loads_.find(task.swarm);
    loads.push_back(found != loads_.end() ? found->second : std::max(known, 1e-6));
  }
  const std::vector<Items> parts = balance(loads, crew_.size());
  hosts_.clear();
  for (std::size_t rank = 0; rank < crew_.size(); ++rank) {
    std::vector<std::size_t> clusters;
    for (const std::size_t i : parts[rank]) {
      hosts_[tasks[i].swarm] = rank;
      clusters.push_back(tasks[i].cluster);
    }
    if (rank > 0 && !clusters.empty()) {
      ByteWriter bytes = begin(Request::run, rank, clusters);
      put_tasks(bytes, picked(tasks, parts[rank]));
      send(rank, bytes.take());
    }
  }
  std::vector<LeaderUpdate> updates(tasks.size());
  FirstDivergence divergence(tasks);
  try {
    const Timed busy(busy_s_);
    place(own_fleet_.run(picked(tasks, parts[0])), parts[0], updates);
  } catch (const Divergence& error) {
    divergence.add(error.place());
  }
  for (std::size_t rank = 1; rank < crew_.size(); ++rank) {
    for (const std::size_t i : parts[rank]) {
      const std::string text = receive(rank);
      ByteCursor bytes(text);
      if (bytes.get<std::uint8_t>() != 0) {
        divergence.add(get_divergence(bytes));
        break;
      }
      updates[i] = get_update(bytes);
    }
  }
  divergence.throw_if_any();
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    loads_[tasks[i].swarm] = updates[i].seconds;
  }
  return updates;
}

std::vector<Model> MissionRanks::personalise(std::span<const LeaderTask> tasks) {
  std::vector<Items> parts(crew_.size());
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const auto host = hosts_.find(tasks[i].swarm);
    expect(host != hosts_.end(), "who personalises was in the last round");
    parts[host->second].push_back(i);
  }
  for (std::size_t rank = 1; rank < crew_.size(); ++rank) {
    if (!parts[rank].empty()) {
      ByteWriter bytes = begin(Request::personalise, rank, {});
      put_tasks(bytes, picked(tasks, parts[rank]));
      send(rank, bytes.take());
    }
  }
  std::vector<Model> models(tasks.size());
  {
    const Timed busy(busy_s_);
    place(own_fleet_.personalise(picked(tasks, parts[0])), parts[0], models);
  }
  for (std::size_t rank = 1; rank < crew_.size(); ++rank) {
    for (const std::size_t i : parts[rank]) {
      const std::string text = receive(rank);
      models[i] = ByteCursor(text).get_list<Model>();
    }
  }
  return models;
}

template <class Result, class Own>
std::vector<Result> MissionRanks::at_homes(Request request, std::span<const ClusterModel> models,
                                           const Own& own, const std::function<void(std::size_t)>& sent) {
  std::vector<Items> parts(crew_.size());
  for (std::size_t i = 0; i < models.size(); ++i) {
    parts[home_of(models[i].cluster)].push_back(i);
  }
  for (std::size_t rank = 1; rank < crew_.size(); ++rank) {
    if (!parts[rank].empty()) {
      const std::vector<ClusterModel> list = picked(models, parts[rank]);
      ByteWriter bytes = begin(request, rank, clusters_of(list));
      put_models(bytes, list, [&](std::size_t k) { sent(parts[rank][k]); });
      send(rank, bytes.take());
    }
  }
  std::vector<Result> all(models.size());
  {
    const Timed busy(busy_s_);
    place(own(picked(models, parts[0])), parts[0], all);
  }
  for (std::size_t rank = 1; rank < crew_.size(); ++rank) {
    if (!parts[rank].empty()) {
      const std::string text = receive(rank);
      ByteCursor bytes(text);
      FieldReader read(bytes);
      for (const std::size_t i : parts[rank]) {
        read(all[i]);
      }
    }
  }
  return all;
}

std::vector<double> MissionRanks::hand_over(std::span<const std::size_t> clusters,
                                            std::vector<Model> models) {
  std::vector<ClusterModel> list;
  for (std::size_t i = 0; i < clusters.size(); ++i) {
    list.push_back({clusters[i], &models[i]});
  }
  return at_homes<double>(
      Request::hand_over, list,
      [&](const std::vector<ClusterModel>& own) {
        std::erase_if(models, [](const Model& model) { return model.empty(); });
        return own_field_.hand_over(clusters_of(own), std::move(models));
      },
      [&](std::size_t i) { models[i] = Model(); });  // not needed here any more
}

HandedModel MissionRanks::handed(std::size_t cluster) {
  const std::size_t home = home_of(cluster);
  if (home == 0) {
    return own_field_.handed(cluster);
  }
  ByteWriter bytes = begin(Request::handed, home, {});
  bytes.put<std::uint64_t>(cluster);
  send(home, bytes.take());
  const std::string text = receive(home);
  ByteCursor answer(text);
  return get_handed(answer);
}

void MissionRanks::restore(std::size_t cluster, HandedModel handed) {
  const std::size_t home = home_of(cluster);
  if (home == 0) {
    own_field_.restore(cluster, std::move(handed));
    return;
  }
  ByteWriter bytes = begin(Request::restore, home, {});
  bytes.put<std::uint64_t>(cluster);
  put_handed(bytes, handed);
  send(home, bytes.take());
  receive(home);
}

void MissionRanks::finish() {
  traffic_.ranks.push_back(report());
  for (std::size_t rank = 1; rank < crew_.size(); ++rank) {
    crew_.send(rank, begin(Request::finish, rank, {}).take());
    const std::string text = crew_.receive(rank);
    traffic_.ranks.push_back(ByteCursor(text).get<RankReport>());
  }
}

}  // namespace skein
