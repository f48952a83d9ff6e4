// A fast path for events.jsonl and console.jsonl: metrics lines in their plain form, the only lines that come
// by the thousand, are parsed without a JSON document. worker_event_from_json parses all others.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace podium {

struct MetricsLine {
  std::int64_t time_ms = 0;
  std::int64_t step = 0;
  std::vector<std::pair<std::string_view, double>> values;  // keys are views into the line
};

// Reuses `out`. False where the line is not a plain metrics line: `out` is then meaningless, and the line may
// still be valid.
bool parse_metrics_line(std::string_view line, MetricsLine& out);

}  // namespace podium
