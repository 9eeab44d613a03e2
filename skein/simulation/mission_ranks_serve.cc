// The other side of MissionRanks: a process that answers what the first one asks.

#include <iterator>
#include <utility>

#include "skein/base/field_bytes.h"
#include "skein/base/stopwatch.h"
#include "skein/simulation/fleet_bytes.h"
#include "skein/simulation/mission_ranks.h"
#include "skein/simulation/model_bytes.h"

namespace skein {

void MissionRanks::serve() {
  std::uint64_t sequence = 0;
  while (true) {
    const std::string text = receive(0);
    ByteCursor bytes(text);
    const auto request = bytes.get<Request>();
    if (const auto now = bytes.get<std::uint64_t>(); now != sequence) {
      own_field_.forget();
      sequence = now;
    }
    for (auto left = bytes.get<std::uint64_t>(); left > 0; --left) {
      const auto cluster = bytes.get<std::uint64_t>();
      const std::string data = bytes.get_text();
      own_field_.restore(cluster, data);
    }
    if (request == Request::run || request == Request::personalise) {
      for (std::string& bytes_of_one : answer_tasks(request, get_tasks(bytes))) {
        crew_.send(0, std::exchange(bytes_of_one, {}));
      }
      continue;
    }
    crew_.send(0, answer(request, bytes));
    if (request == Request::finish) {
      return;
    }
  }
}

std::vector<std::string> MissionRanks::answer_tasks(Request request, const std::vector<LeaderTask>& tasks) {
  const Timed busy(busy_s_);
  std::vector<std::string> replies;
  const auto add = [&](const auto& write) {
    ByteWriter reply;
    write(reply);
    replies.push_back(reply.take());
  };
  if (request == Request::personalise) {
    for (Model& model : own_fleet_.personalise(tasks)) {
      add([&](ByteWriter& reply) { reply.put_list(std::exchange(model, {})); });
    }
    return replies;
  }
  try {
    for (LeaderUpdate& update : own_fleet_.run(tasks)) {
      add([&](ByteWriter& reply) {
        reply.put<std::uint8_t>(0);
        put_update(reply, std::exchange(update, {}));
      });
    }
  } catch (const Divergence& error) {
    add([&](ByteWriter& reply) {
      reply.put<std::uint8_t>(1);
      put_divergence(reply, error.place());
    });
  }
  return replies;
}

std::string MissionRanks::answer(Request request, ByteCursor& bytes) {
  ByteWriter reply;
  if (request == Request::finish) {
    reply.put(report());
    return reply.take();
  }
  const Timed busy(busy_s_);
  if (request == Request::handed) {
    put_handed(reply, own_field_.handed(bytes.get<std::uint64_t>()));
  } else if (request == Request::restore) {
    const auto cluster = bytes.get<std::uint64_t>();
    own_field_.restore(cluster, get_handed(bytes));
  } else {
    SentModels sent = get_models(bytes);
    if (request == Request::scores) {
      for (const ModelScore& score : own_field_.scores(sent.list)) {
        reply.put(score);
      }
    } else if (request == Request::reports) {
      FieldWriter write(reply);
      for (const ClassReport& report : own_field_.class_reports(sent.list)) {
        write(report);
      }
    } else {
      const std::vector<double> squares =
          request == Request::gradients ? own_field_.squared_meta_gradients(sent.list)
          : request == Request::changes
              ? own_field_.squared_gradient_changes(clusters_of(sent.list))
              : own_field_.hand_over(clusters_of(sent.list), {std::make_move_iterator(sent.models.begin()),
                                                              std::make_move_iterator(sent.models.end())});
      for (const double square : squares) {
        reply.put(square);
      }
    }
  }
  return reply.take();
}

}  // namespace skein
