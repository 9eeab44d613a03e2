// Finds good schedules: by greedy insertion and large-neighbourhood search, or by a beam.
//
// Greedy: as long as one brings anything, the visit that brings most is put in where it does. Then parts of
// the schedule that are near each other are taken out and put back greedily, a number of times that depends
// on the size of the world alone; worse ones are accepted while the search is warm.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "skein/base/random.h"
#include "skein/planning/schedule.h"

namespace skein {

// Accuracy-seconds that a visit must bring to be made at all: where energy has no price, swarms would be
// under way for nothing.
constexpr double least_visit_gain = 0.5;

// Puts visits in while that raises the value: of these clusters, by these swarms.
void fill_greedily(Schedule& schedule, std::span<const std::size_t> swarms, std::span<const Site> clusters);
// Of all clusters, by all swarms.
void fill_greedily(Schedule& schedule);

// Is told of every schedule that the search comes by.
class ScheduleListener {
 public:
  ScheduleListener() = default;
  virtual ~ScheduleListener() = default;
  ScheduleListener(const ScheduleListener&) = delete;
  ScheduleListener& operator=(const ScheduleListener&) = delete;
  ScheduleListener(ScheduleListener&&) = delete;
  ScheduleListener& operator=(ScheduleListener&&) = delete;

  virtual void found(const Schedule& schedule) = 0;
};

// How often parts are taken out in a world of this size.
std::size_t search_iterations(std::size_t swarms, std::size_t clusters);
// The best that was found on the way; never worse than `schedule`.
void improve(Schedule& schedule, std::size_t iterations, RandomStream& stream,
             ScheduleListener* listener = nullptr);

// Visit after visit, each of the swarm that is free first; the best few partial schedules are kept.
Schedule search_by_beam(const std::shared_ptr<const ScheduleProblem>& problem, std::size_t width,
                        ScheduleListener* listener = nullptr);

}  // namespace skein
