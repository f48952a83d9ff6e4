#include "common/mlperf/run_log.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace podium::mlperf {
namespace {

constexpr std::array<std::string_view, 3> kEvaluation{"eval_start", "eval_stop", "eval_accuracy"};
constexpr std::array<std::string_view, 2> kEnd{"block_stop", "epoch_stop"};

bool has_key(const std::vector<Line>& lines, std::string_view key) {
  return std::ranges::find(lines, key, &Line::key) != lines.end();
}

bool is_told_again(const Line& line, std::int64_t samples) {
  if (std::ranges::find(kEnd, line.key) != kEnd.end()) return true;
  return std::ranges::find(kEvaluation, line.key) != kEvaluation.end() &&
         line.number_in("epoch_num").value_or(0) > static_cast<double>(samples);
}

}  // namespace

bool has_started(const std::vector<Line>& lines) { return has_key(lines, "run_start"); }
bool has_ended(const std::vector<Line>& lines) { return has_key(lines, "run_stop"); }

std::vector<Line> kept_lines(std::vector<Line> lines, std::int64_t samples) {
  if (has_ended(lines)) return lines;
  const auto first =
      std::ranges::find_if(lines, [samples](const Line& line) { return is_told_again(line, samples); });
  lines.erase(first, lines.end());
  return lines;
}

}  // namespace podium::mlperf
