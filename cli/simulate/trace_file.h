// A trace of jobs from a CSV file with a header: which column is which is told by its name, rows need not be
// sorted, and rows that make no sense are skipped and listed. The format is in docs/simulation.md. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.h"
#include "common/base/time.h"

namespace podium::cli {

struct TraceRow {
  int line = 0;  // of the file
  Time submit;
  Duration work{};  // how long it ran
  std::optional<Duration> walltime;
  int devices = 1;
  int max_devices = 0;  // of an elastic job
  int per_node = 0;     // 0: as many as fit
  int priority = 50;
  std::string account, partition;  // "" without such a column
};

struct BadRow {
  int line = 0;
  std::string why;
};

struct TraceFile {
  std::vector<TraceRow> rows;  // by submit time, then line
  std::vector<BadRow> bad;
  std::vector<std::string> ignored;  // names of columns
  bool has_accounts = false;
  bool has_partitions = false;
};

// `name` is for messages.
Result<TraceFile> parse_trace(std::string_view text, const std::string& name);

}  // namespace podium::cli
