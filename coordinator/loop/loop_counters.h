// What the command loop has done since the daemon started, for monitoring. Written and read on the loop's
// thread.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>

#include "coordinator/core/plan/plan.h"

namespace podium {

// Counts of durations up to each bound, as Prometheus defines histograms.
struct DurationHistogram {
  static constexpr std::array kBounds{0.00001, 0.0001, 0.001, 0.01, 0.1, 1.0, 10.0};  // seconds

  std::array<std::uint64_t, kBounds.size()> up_to{};  // cumulative
  std::uint64_t count = 0;
  double sum = 0;  // seconds

  void add(std::chrono::duration<double> took) {
    for (std::size_t i = 0; i < kBounds.size(); ++i)
      if (took.count() <= kBounds[i]) ++up_to[i];
    ++count;
    sum += took.count();
  }
};

struct LoopCounters {
  std::uint64_t turns = 0;
  std::uint64_t starts = 0;  // backfilled ones among them
  std::uint64_t backfills = 0;
  std::map<PreemptionCause, std::uint64_t> preemptions{{PreemptionCause::priority, 0},
                                                       {PreemptionCause::reclaim, 0}};
  std::uint64_t grown = 0, shrunk = 0;                       // elastic jobs
  std::map<std::string, std::uint64_t, std::less<>> events;  // durable ones, by type
  DurationHistogram plans;

  void count(const Plan& plan) {
    starts += plan.start.size();
    for (const Start& start : plan.start) backfills += start.backfilled;
    for (const Preemption& preemption : plan.preempt) ++preemptions[preemption.cause];
    for (const Resizing& resizing : plan.resize) ++(resizing.resize.grows() ? grown : shrunk);
  }
  void count(const Events& decided) {
    ++turns;
    for (const Event& event : decided)
      if (is_durable(event)) ++events[std::string(type_of(event))];
  }
};

}  // namespace podium
