// A fast path through events.jsonl: metrics lines in their plain form, the only kind that comes by the
// thousand, are read without building a JSON document. Everything else is worker_event_from_json's.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace podium {

struct MetricsLine {
  std::int64_t time_ms = 0;
  std::int64_t step = 0;
  std::vector<std::pair<std::string_view, double>> values;  // keys borrow from the line
};

// Reuses `out`. False when the line is anything but a plain metrics line: then `out` means nothing, and the
// line may still be a good one.
bool parse_metrics_line(std::string_view line, MetricsLine& out);

}  // namespace podium
