// Models of clusters as bytes, for messages between the processes of a mission.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <span>
#include <vector>

#include "skein/base/bytes.h"
#include "skein/base/field_bytes.h"
#include "skein/simulation/field.h"

namespace skein {

std::vector<std::size_t> clusters_of(std::span<const ClusterModel> models);

// A model that clusters one after another share goes once; one that was handed over is where it is needed.
// done(i) after each.
void put_models(ByteWriter& bytes, std::span<const ClusterModel> models,
                const std::function<void(std::size_t)>& done);

struct SentModels {
  std::deque<Model> models{};  // as they came
  std::vector<ClusterModel> list{};
};
SentModels get_models(ByteCursor& bytes);

template <class Value, class Visit>
requires IsOf<Value, ClassReport>
void each_field(Value& value, Visit&& visit) {
  auto& [labels, points, hits] = value;
  visit(labels, points, hits);
}

void put_handed(ByteWriter& bytes, const HandedModel& handed);
HandedModel get_handed(ByteCursor& bytes);

}  // namespace skein
