#include "common/net/prometheus_text.h"

#include <gtest/gtest.h>

namespace podium {
namespace {

TEST(PrometheusText, AHistogramIsCumulative) {
  Histogram seconds({0.5, 1});
  for (const double value : {0.25, 0.5, 0.75, 2.0}) seconds.add(value);
  PrometheusText page;
  page.histogram("wait_seconds", "Waits.");
  page.sample({{"model", "a\"b"}}, seconds);
  EXPECT_EQ(page.text(), R"(# HELP wait_seconds Waits.
# TYPE wait_seconds histogram
wait_seconds_bucket{model="a\"b",le="0.5"} 2
wait_seconds_bucket{model="a\"b",le="1"} 3
wait_seconds_bucket{model="a\"b",le="+Inf"} 4
wait_seconds_sum{model="a\"b"} 3.5
wait_seconds_count{model="a\"b"} 4
)");
}

}  // namespace
}  // namespace podium
