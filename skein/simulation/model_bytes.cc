#include "skein/simulation/model_bytes.h"

#include <cstdint>

#include "skein/base/field_bytes.h"

namespace skein {
namespace {

// The model that comes with a cluster.
enum class Sent : std::uint8_t { here, as_before, handed };

}  // namespace

template <class Value, class Visit>
requires IsOf<Value, HandedModel>
void each_field(Value& value, Visit&& visit) {
  auto& [model, points] = value;
  visit(model, points[0], points[1]);
}

std::vector<std::size_t> clusters_of(std::span<const ClusterModel> models) {
  std::vector<std::size_t> clusters;
  for (const ClusterModel& model : models) {
    clusters.push_back(model.cluster);
  }
  return clusters;
}

void put_models(ByteWriter& bytes, std::span<const ClusterModel> models,
                const std::function<void(std::size_t)>& done) {
  bytes.put<std::uint64_t>(models.size());
  const Model* last = nullptr;
  for (std::size_t i = 0; i < models.size(); ++i) {
    const auto [cluster, model] = models[i];
    bytes.put<std::uint64_t>(cluster);
    bytes.put(model == nullptr ? Sent::handed : model == last ? Sent::as_before : Sent::here);
    if (model != nullptr && model != last) {
      bytes.put_list(*model);
      last = model;
    }
    done(i);
  }
}

SentModels get_models(ByteCursor& bytes) {
  SentModels sent;
  for (auto left = bytes.get<std::uint64_t>(); left > 0; --left) {
    ClusterModel& one = sent.list.emplace_back(ClusterModel{bytes.get<std::uint64_t>()});
    const auto kind = bytes.get<Sent>();
    if (kind == Sent::here) {
      sent.models.push_back(bytes.get_list<Model>());
    }
    one.model = kind == Sent::handed ? nullptr : &sent.models.back();
  }
  return sent;
}

void put_handed(ByteWriter& bytes, const HandedModel& handed) { FieldWriter{bytes}(handed); }
HandedModel get_handed(ByteCursor& bytes) {
  HandedModel handed;
  FieldReader{bytes}(handed);
  return handed;
}

}  // namespace skein
