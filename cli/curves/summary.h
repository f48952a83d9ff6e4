// What a run's points come to: what is told of an import, and what it is recognised by.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "cli/curves/point.h"

struct XXH3_state_s;

namespace podium::cli {

class CurveSummary {
 public:
  CurveSummary();

  void add(const std::string& metric, const CurvePoint& point);

  std::uint64_t points() const { return points_; }
  std::int64_t first_ms() const { return first_ms_; }
  std::int64_t last_ms() const { return last_ms_; }
  const std::map<std::string, std::uint64_t>& metrics() const { return metrics_; }  // and how many points
  std::string hash() const;  // of all points in their order: 32 hexadecimal digits of XXH3

 private:
  struct Free {
    void operator()(XXH3_state_s* state) const;
  };

  std::uint64_t points_ = 0;
  std::int64_t first_ms_ = INT64_MAX, last_ms_ = INT64_MIN;
  std::map<std::string, std::uint64_t> metrics_;
  std::unique_ptr<XXH3_state_s, Free> hash_;
};

}  // namespace podium::cli
