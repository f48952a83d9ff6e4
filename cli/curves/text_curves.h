// Points in CSV and in JSON Lines, written by Podium or by others. A file is long, a point a line, or wide, a
// step a line with a column for each metric.
#pragma once

#include <functional>
#include <istream>
#include <string>
#include <string_view>

#include "cli/curves/point.h"
#include "common/base/error.h"

namespace podium::cli {

// The columns of a long file: "run,job,metric,step,time_ms,value".
std::string csv_head();
std::string csv_line(const std::string& run, std::int64_t job, const std::string& metric,
                     const CurvePoint& point);
std::string json_line(const std::string& run, std::int64_t job, const std::string& metric,
                      const CurvePoint& point);

struct TextCurves {
  std::string file;                                       // as problems name it
  std::string metric;                                     // of a long file that names none
  std::int64_t time_ms = 0;                               // of points without a time
  std::function<bool(const std::string& metric)> wanted;  // others are passed over, whatever they hold
};

using TakePoint = std::function<void(const TaggedPoint& point)>;

// The first problems, each with its line; none: all points were taken.
Errors read_csv(std::istream& text, const TextCurves& curves, const TakePoint& take);
Errors read_json_lines(std::istream& text, const TextCurves& curves, const TakePoint& take);

}  // namespace podium::cli
