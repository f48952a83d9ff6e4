// The fast path must agree with the codec on every line it takes, and leave alone every line it should not.
#include "coordinator/store/event_lines.h"

#include <gtest/gtest.h>

#include <cmath>

#include "common/model/worker_event.h"

namespace podium {
namespace {

TEST(MetricsLine, AgreesWithTheCodec) {
  const char* lines[] = {
      R"({"type":"metrics","t":5,"step":7,"values":{"a":1.5,"b/c":-2e-3}})",
      R"( { "values" : { "a" : 0 } , "step":1,"t":-1, "type":"metrics" } )",
      R"({"step":1,"t":2,"type":"metrics","values":{}})",
      R"({"read":{"memory":{"step":7},"stdout":9},"step":1,"t":2,"type":"metrics","values":{"x":3}})",
      R"({"step":1,"t":2,"type":"metrics","values":{"x":"Infinity","y":"-Infinity"}})",
  };
  for (const char* line : lines) {
    MetricsLine fast;
    ASSERT_TRUE(parse_metrics_line(line, fast)) << line;
    const WorkerEvent slow = worker_event_from_json(nlohmann::json::parse(line));
    const auto& metrics = std::get<MetricsEvent>(slow.body);
    EXPECT_EQ(fast.time_ms, to_millis(slow.time));
    EXPECT_EQ(fast.step, metrics.step);
    ASSERT_EQ(fast.values.size(), metrics.values.size());
    for (std::size_t i = 0; i < fast.values.size(); ++i) {
      EXPECT_EQ(fast.values[i].first, metrics.values[i].first);
      EXPECT_EQ(fast.values[i].second, metrics.values[i].second);
    }
  }
}

TEST(MetricsLine, LeavesEverythingElseToTheCodec) {
  const char* lines[] = {
      "",
      "{}",
      R"({"type":"note","t":5,"level":"info","message":"hi"})",
      R"({"type":"metrics","t":5,"step":7})",
      R"({"type":"metrics","t":5,"step":7,"values":{"a":1}} trailing)",
      R"({"type":"metrics","t":5,"step":7,"values":{"a":nan}})",
      R"({"type":"metrics","t":5,"step":7,"values":{"a":1e999}})",
      R"({"type":"metrics","t":5,"step":7.5,"values":{"a":1}})",
      R"({"type":"metrics","t":5,"step":7,"values":{"a\u0041":1}})",
      R"({"type":"metrics","t":5,"step":7,"values":{"ä":1}})",
      R"({"type":"metrics","t":5,"step":7,"values":{"a":1},"extra":1})",
      R"({"type":"metrics","t":5,"t":6,"step":7,"values":{"a":1}})",
      R"({"type":"metrics","t":5,"step":7,"values":{"a":1})",
      R"({"type":"metrics","t":5,"step":7,"values":{"a":1},"read":{"b":{}})",
      R"({"type":"metrics","t":5,"step":7,"values":{"a":1},"read":{"b\"}":1}})",
      R"({"type":"metrics","t":5,"step":7,"values":{"a":1},"read":1})",
  };
  for (const char* line : lines) {
    MetricsLine fast;
    EXPECT_FALSE(parse_metrics_line(line, fast)) << line;
  }
}

}  // namespace
}  // namespace podium
