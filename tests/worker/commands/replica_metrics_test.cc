// What a replica writes down of its load.
#include "worker/commands/replica_metrics.h"

#include <gmock/gmock.h>

#include <vector>

namespace podium {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;

constexpr std::int64_t kStep = 170'000'000;  // of 10 s

Time at(Duration after) { return from_millis(kStep * 10'000) + after; }

LoadFigures busy() {
  LoadFigures load;
  load.requests = 20;
  load.failed = 2;
  load.requests_per_second = 2;
  load.latency_ms = Percentiles{5, 8, 9};
  load.queue_ms = Percentiles{1, 3, 4};
  return load;
}

// The steps of those that are told of `count` spans in a row, counted from the first.
std::vector<std::int64_t> told(ReplicaMetrics& metrics, const LoadFigures& load, int first, int count) {
  std::vector<std::int64_t> steps;
  for (int i = first; i < first + count; ++i)
    if (const auto event = metrics.of(load, at(seconds(10 * i)))) steps.push_back(event->step - kStep);
  return steps;
}

TEST(ReplicaMetrics, ASpanWithRequestsIsToldWhole) {
  ReplicaMetrics metrics;
  const auto event = metrics.of(busy(), at({}));
  ASSERT_TRUE(event);
  EXPECT_EQ(event->step, kStep);
  using Value = std::pair<std::string, double>;
  EXPECT_THAT(event->values, ElementsAre(Value("serve/requests_per_second", 2), Value("serve/failed", 2),
                                         Value("serve/latency_p50_ms", 5), Value("serve/latency_p90_ms", 8),
                                         Value("serve/latency_p99_ms", 9), Value("serve/queue_p90_ms", 3)));
}

TEST(ReplicaMetrics, OfAnIdleTimeTheFirstSpanIsToldAndOneEveryFiveMinutes) {
  ReplicaMetrics metrics;
  EXPECT_THAT(told(metrics, {}, 0, 65), ElementsAre(0, 30, 60));
  EXPECT_THAT(told(metrics, busy(), 65, 3), ElementsAre(65, 66, 67));
  EXPECT_THAT(told(metrics, {}, 68, 32), ElementsAre(68, 98));
  EXPECT_EQ(metrics.of({}, at(hours(1))), std::nullopt);
}

TEST(ReplicaMetrics, StepsGoOnWhereTheClockIsPutBackAndLeapWhereItIsPutForward) {
  ReplicaMetrics metrics;
  const auto step = [&](Duration after) { return metrics.of(busy(), at(after))->step - kStep; };
  EXPECT_EQ(step(seconds(0)), 0);
  EXPECT_EQ(step(hours(-1)), 1);
  EXPECT_EQ(step(hours(-1) + seconds(10)), 2);
  EXPECT_EQ(step(seconds(30) - milliseconds(1)), 3) << "a timer that is early";
  EXPECT_EQ(step(hours(1)), 360);
}

}  // namespace
}  // namespace podium
