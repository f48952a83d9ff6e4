// Lines of MLPerf's logs: `:::MLLOG {"namespace": "", "time_ms": 1593152760458, "event_type":
// "INTERVAL_START", "key": "run_start", "value": null, "metadata": {"file": "train.py", "lineno": 1}}`. What
// stands in front of the token, such as a rank, and lines without it are passed over, as MLPerf's own reader
// does. Pure.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace podium::mlperf {

inline constexpr std::string_view kToken = ":::MLLOG";
inline constexpr std::size_t kLongestLine = 64 * 1024;  // with the token; a longer one is broken
inline constexpr std::size_t kMostLines =
    1'000'000;  // with the token; what follows is told as one broken line

inline constexpr const char* kStart = "INTERVAL_START";
inline constexpr const char* kStop = "INTERVAL_END";
inline constexpr const char* kPoint = "POINT_IN_TIME";

struct Line {
  std::int64_t number = 0;  // in its file, from 1
  std::int64_t time_ms = 0;
  std::string event;
  std::string key;
  nlohmann::json value;
  nlohmann::json metadata = nlohmann::json::object();

  // A number of the metadata; nothing where there is none of that name.
  std::optional<double> number_in(const char* name) const;

  bool operator==(const Line&) const = default;
};

struct BrokenLine {
  std::int64_t number = 0;
  std::string what;  // is wrong with it
};

struct Log {
  std::vector<Line> lines;
  std::vector<BrokenLine> broken;

  bool is_foreign() const { return lines.empty() && broken.empty(); }
  // Of the lines with that key, in their order.
  std::vector<const Line*> all(std::string_view key) const;
  const Line* first(std::string_view key) const;  // null where there is none
};

Log read_log(std::string_view text);

// With the end of line.
std::string line_text(const Line& line);

// A text or a number as people read it; null and what holds other values are told by their kind.
std::string value_text(const nlohmann::json& value);

}  // namespace podium::mlperf
