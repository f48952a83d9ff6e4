#include "coordinator/tracking/series.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace podium {
namespace {

Series wave(int count) {
  Series series;
  for (int i = 0; i < count; ++i) series.push_back({i, from_millis(i), std::sin(i * 0.37) * i});
  return series;
}

bool by_step(const Series& series) {
  return std::ranges::is_sorted(series, {}, &SeriesPoint::step) &&
         std::ranges::adjacent_find(series, {}, &SeriesPoint::step) == series.end();
}

TEST(Thin, LeavesAShortSeriesAlone) {
  EXPECT_EQ(thin(wave(50), 50), wave(50));
  EXPECT_EQ(thin({}, 50), Series{});
}

TEST(Thin, KeepsEndsAndExtremesInOrder) {
  for (const int count : {100, 1001, 12345}) {
    for (const int points : {4, 10, 333}) {
      const Series all = wave(count);
      const Series kept = thin(all, points);
      EXPECT_LE(kept.size(), std::max<std::size_t>(static_cast<std::size_t>(points), 4));
      EXPECT_EQ(kept.front(), all.front());
      EXPECT_EQ(kept.back(), all.back());
      EXPECT_TRUE(by_step(kept));
      const auto less = [](const SeriesPoint& a, const SeriesPoint& b) { return a.value < b.value; };
      EXPECT_EQ(std::ranges::min_element(kept, less)->value, std::ranges::min_element(all, less)->value);
      EXPECT_EQ(std::ranges::max_element(kept, less)->value, std::ranges::max_element(all, less)->value);
    }
  }
}

// Two marks of a run are two points; with fewer buckets than runs some runs share one.
TEST(Thin, KeepsTheExtremesOfRuns) {
  for (const std::size_t count : {10, 60, 300}) {
    Thinner thinner = Thinner::of_runs(count, 100);
    Series marks;
    for (std::size_t i = 0; i < count; ++i) {
      const auto step = static_cast<std::int64_t>(10 * i);
      const auto value = static_cast<double>(i == count / 2 ? 1000 : 1 + i % 7);
      const SeriesPoint low{step, from_millis(step), -value}, high{step + 5, from_millis(step), value};
      thinner.add(SeriesRun{low, high, std::nullopt});
      marks.insert(marks.end(), {low, high});
    }
    const Series kept = std::move(thinner).finish();
    EXPECT_TRUE(by_step(kept));
    EXPECT_TRUE(std::ranges::includes(marks, kept, {}, &SeriesPoint::step, &SeriesPoint::step));
    EXPECT_EQ(std::ranges::max(kept, {}, &SeriesPoint::value).value, 1000);
    EXPECT_EQ(std::ranges::min(kept, {}, &SeriesPoint::value).value, -1000);
    EXPECT_LE(kept.size(), 104u);
    if (count == 10) {
      EXPECT_EQ(kept, marks);
    }
    if (count == 60) {
      EXPECT_GE(kept.size(), 90u);
    }
  }
}

TEST(Thin, ShowsWhereACurveBreaks) {
  Series all = wave(1000);
  all[500].value = std::nan("");
  const Series kept = thin(all, 20);
  EXPECT_TRUE(std::ranges::any_of(kept, [](const SeriesPoint& p) { return p.step == 500; }));
}

}  // namespace
}  // namespace podium
