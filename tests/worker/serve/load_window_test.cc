// The figures of a window held to their definitions, over made-up times.
#include "worker/serve/load_window.h"

#include <gmock/gmock.h>

#include <random>

namespace podium {
namespace {

using namespace std::chrono_literals;
using End = LoadWindow::End;

const ServeTime kBegin = ServeTime{} + 1000s;

// The smallest of the values that at least this share of them does not exceed.
double literal_percentile(const std::vector<double>& values, double share) {
  double best = INFINITY;
  for (const double candidate : values) {
    const auto below = std::ranges::count_if(values, [&](double value) { return value <= candidate; });
    if (static_cast<double>(below) >= share * static_cast<double>(values.size()))
      best = std::min(best, candidate);
  }
  return best;
}

void expect_literal(const std::optional<Percentiles>& told, const std::vector<double>& values) {
  ASSERT_EQ(told.has_value(), !values.empty());
  if (values.empty()) return;
  EXPECT_NEAR(told->p50, literal_percentile(values, 0.5), 1e-9);
  EXPECT_NEAR(told->p90, literal_percentile(values, 0.9), 1e-9);
  EXPECT_NEAR(told->p99, literal_percentile(values, 0.99), 1e-9);
}

TEST(LoadWindow, TellsWhatTheLastTenSecondsWere) {
  struct Told {
    ServeTime at;
    bool wait;
    End end;
    double ms;
  };
  std::mt19937 random(3);
  std::vector<Told> all;
  LoadWindow window(kBegin);
  ServeTime now = kBegin;
  for (int i = 0; i < 600; ++i) {
    now += std::chrono::milliseconds(random() % (i % 100 == 99 ? 12'000 : 100));
    const auto took = std::chrono::microseconds(random() % 40'000);
    const Told one{now, random() % 2 == 0, static_cast<End>(random() % 3),
                   std::chrono::duration<double, std::milli>(took).count()};
    all.push_back(one);
    one.wait ? window.add_wait(now, took) : window.add_request(now, one.end, took);
    if (i % 7 != 0) continue;
    std::vector<double> waits, latencies;
    std::uint64_t requests = 0, failed = 0;
    for (const Told& told : all) {
      if (told.at < now - 10s) continue;
      if (told.wait) waits.push_back(told.ms);
      requests += told.wait ? 0 : 1;
      failed += !told.wait && told.end == End::failed ? 1 : 0;
      if (!told.wait && told.end == End::answered) latencies.push_back(told.ms);
    }
    const LoadFigures figures = window.figures(now);
    EXPECT_EQ(figures.requests, requests);
    EXPECT_EQ(figures.failed, failed);
    expect_literal(figures.queue_ms, waits);
    expect_literal(figures.latency_ms, latencies);
  }
}

TEST(LoadWindow, ItsRateIsOfTheTimeThatItHasSeen) {
  LoadWindow window(kBegin);
  for (int i = 0; i < 20; ++i) window.add_request(kBegin + 100ms, End::answered, 1ms);
  EXPECT_DOUBLE_EQ(window.figures(kBegin + 100ms).requests_per_second, 20) << "at least of a second";
  EXPECT_DOUBLE_EQ(window.figures(kBegin + 4s).requests_per_second, 5);
  EXPECT_DOUBLE_EQ(window.figures(kBegin + 10s).requests_per_second, 2);
  EXPECT_DOUBLE_EQ(window.figures(kBegin + 10s + 101ms).requests_per_second, 0) << "they are too long ago";
}

TEST(LoadWindow, WithoutRequestsItHasNoPercentiles) {
  LoadWindow window(kBegin);
  window.add_request(kBegin, End::failed, 1ms);
  const LoadFigures figures = window.figures(kBegin + 5s);
  EXPECT_EQ(figures.requests, 1u);
  EXPECT_EQ(figures.failed, 1u);
  EXPECT_FALSE(figures.queue_ms);
  EXPECT_FALSE(figures.latency_ms);
}

TEST(LoadWindow, APercentileIsOneOfTheValues) {
  std::vector<double> values;
  for (int i = 100; i > 0; --i) values.push_back(i);
  const Percentiles told = percentiles_of(values);
  EXPECT_EQ(told.p50, 50);
  EXPECT_EQ(told.p90, 90);
  EXPECT_EQ(told.p99, 99);
  EXPECT_EQ(percentiles_of({7}).p50, 7);
}

}  // namespace
}  // namespace podium
