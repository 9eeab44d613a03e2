// Tasks and updates as bytes, for fleets whose leaders are elsewhere.
#pragma once

#include <span>
#include <vector>

#include "skein/base/bytes.h"
#include "skein/simulation/fleet.h"

namespace skein {

// A model that several tasks share goes once.
void put_tasks(ByteWriter& bytes, std::span<const LeaderTask> tasks);
std::vector<LeaderTask> get_tasks(ByteCursor& bytes);

void put_divergence(ByteWriter& bytes, const Divergence::Place& place);
Divergence::Place get_divergence(ByteCursor& bytes);

void put_update(ByteWriter& bytes, const LeaderUpdate& update);
LeaderUpdate get_update(ByteCursor& bytes);

}  // namespace skein
