// What the command loop has done since the daemon started, for monitoring. Written and read on the loop's
// thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "common/base/histogram.h"
#include "coordinator/core/plan/plan.h"

namespace podium {

struct LoopCounters {
  std::uint64_t turns = 0;
  std::uint64_t starts = 0;  // backfilled ones among them
  std::uint64_t backfills = 0;
  std::map<PreemptionCause, std::uint64_t> preemptions{{PreemptionCause::priority, 0},
                                                       {PreemptionCause::reclaim, 0}};
  std::map<JobState, std::uint64_t> ends{{JobState::succeeded, 0},
                                         {JobState::failed, 0},
                                         {JobState::cancelled, 0},
                                         {JobState::stopped, 0}};   // of jobs
  std::uint64_t grown = 0, shrunk = 0;                              // elastic jobs
  std::map<std::string, std::uint64_t, std::less<>> events;         // durable ones, by type
  Histogram plans{{0.00001, 0.0001, 0.001, 0.01, 0.1, 1.0, 10.0}};  // seconds

  void count(const Plan& plan) {
    starts += plan.start.size();
    for (const Start& start : plan.start) backfills += start.backfilled;
    for (const Preemption& preemption : plan.preempt) ++preemptions[preemption.cause];
    for (const Resizing& resizing : plan.resize) ++(resizing.resize.grows() ? grown : shrunk);
  }
  void count(const Events& decided) {
    ++turns;
    for (const Event& event : decided) {
      if (is_durable(event)) ++events[std::string(type_of(event))];
      const auto* changed = std::get_if<JobStateChanged>(&event.body);
      if (changed && is_terminal(changed->to)) ++ends[changed->to];
    }
  }
};

}  // namespace podium
