// The one line a followed job is drawn as. Pure.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace podium::cli {

// Where a job was when it was first looked at: what its pace is measured from.
struct Pace {
  std::int64_t step = 0;
  std::int64_t millis = 0;
};

// Seconds to the last step at the pace so far; nothing while that cannot be told.
std::optional<double> seconds_left(const nlohmann::json& job, const Pace& since, std::int64_t now);

// "━━━━╸─────" of `width` columns.
std::string progress_bar(double fraction, int width);

// It runs, and has yet to reach its target.
bool runs_to_target(const nlohmann::json& job);

// State, bar, step, loss, sequences/s, target, time. `expected`: when it reaches its target, as text; while
// it runs to that, it stands in place of what is left at most. `width` 0: no limit and no bar. What does not
// fit is left out, the least important first.
std::string progress_line(const nlohmann::json& job, const Pace& since, std::int64_t now, int width,
                          const std::string& expected = "");

}  // namespace podium::cli
