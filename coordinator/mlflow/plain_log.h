// The bodies that clients send all day, log-metric and log-batch of metrics alone, read in one pass. It reads
// what clients write as they write it; of anything else it says nothing, and Fields reads that. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coordinator/store/run_change.h"

namespace podium::mlflow {

struct PlainLog {
  std::string run_id;
  std::vector<RunPoint> points;
};

std::optional<PlainLog> read_plain_metric(std::string_view body);
std::optional<PlainLog> read_plain_batch(std::string_view body);

}  // namespace podium::mlflow
