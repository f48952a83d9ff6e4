// The whole curves of a job, read from the coordinator page by page: few points are in memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/curves/point.h"
#include "cli/kept_connection.h"

namespace podium::cli {

struct JobMetric {
  std::string name;
  std::uint64_t points = 0;
  std::int64_t first_step = 0, last_step = 0;
  std::uint64_t lost = 0;
};

std::vector<JobMetric> metrics_of(KeptConnection& connection, std::int64_t job);

constexpr std::uint64_t kLongestPage = 20'000;

// The points of one, by step. At most `page` of them are in memory.
class CurveReader {
 public:
  CurveReader(KeptConnection& connection, std::int64_t job, const JobMetric& metric,
              std::uint64_t page = kLongestPage);

  std::optional<CurvePoint> next();

 private:
  bool turn_page();

  KeptConnection* connection_;
  std::int64_t job_;
  std::string metric_;
  std::int64_t next_step_, last_step_;
  std::uint64_t most_;    // points asked for at once
  std::uint64_t window_;  // steps asked for at once
  std::vector<CurvePoint> page_;
  std::size_t at_ = 0;
  bool done_ = false;
};

}  // namespace podium::cli
