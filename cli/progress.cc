#include "cli/progress.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "cli/fields.h"
#include "cli/humanise.h"
#include "cli/job_text.h"
#include "cli/terminal.h"

namespace podium::cli {
namespace {

using nlohmann::json;

constexpr int kNarrowestBar = 8;
constexpr int kWidestBar = 30;

json progress_of(const json& job) {
  const json progress = field(job, "progress");
  return progress.is_object() ? progress : json::object();
}

// One metric of `latest`, as "loss 4.812"; "" when it has not been reported.
std::string latest(const json& job, const char* key, const char* format) {
  const json values = field(job, "latest");
  return values.is_object() && values.contains(key)
             ? fmt::format(fmt::runtime(format), human_value(values[key]))
             : "";
}

// "gain_over_unigram 0.21 → 0.4"
std::string aim(const json& job) {
  const json target = field(job, "target");
  if (!target.is_object()) return "";
  const std::string metric = text_field(target, "metric");
  const json bound = target.contains("at_least") ? target["at_least"] : field(target, "at_most");
  return fmt::format("{} {} → {}", metric.substr(metric.rfind('/') + 1), human_value(field(target, "latest")),
                     human_value(bound));
}

std::string times(const json& job, const Pace& since, std::int64_t now, const std::string& expected) {
  const auto left = seconds_left(job, since, now);
  const std::string gone = run_time_text(job, now);
  if (!expected.empty() && runs_to_target(job)) return gone + ", " + expected;
  return left ? fmt::format("{}, at most {} left", gone, human_seconds(*left)) : gone;
}

}  // namespace

bool runs_to_target(const json& job) {
  const json target = field(job, "target");
  return target.is_object() && field(target, "reached_ms").is_null() && text_field(job, "state") == "running";
}

std::optional<double> seconds_left(const json& job, const Pace& since, std::int64_t now) {
  const json progress = progress_of(job);
  const std::int64_t step = integer_field(progress, "step");
  const std::int64_t steps = integer_field(progress, "steps");
  if (text_field(job, "state") != "running" || step <= since.step || steps <= step) return std::nullopt;
  const double seconds_a_step =
      static_cast<double>(now - since.millis) / 1000 / static_cast<double>(step - since.step);
  return seconds_a_step * static_cast<double>(steps - step);
}

std::string progress_bar(double fraction, int width) {
  const double filled = std::clamp(fraction, 0.0, 1.0) * width;
  std::string bar;
  for (int i = 0; i < width; ++i) bar += i + 1 <= filled ? "━" : i + 0.5 <= filled ? "╸" : "─";
  return bar;
}

std::string progress_line(const json& job, const Pace& since, std::int64_t now, int width,
                          const std::string& expected) {
  const json progress = progress_of(job);
  const std::string head =
      fmt::format("job {} {}", job.at("id").get<std::int64_t>(), text_field(job, "state", "?"));
  const std::string reason = printable(reason_text(job));
  if (progress.empty() || !reason.empty()) {
    const std::string line = head + (reason.empty() ? "" : "  " + reason);
    if (width == 0) return line;
    const bool runs = reason.empty() && text_field(job, "state") == "running";
    return shortened(runs ? line + "  " + run_time_text(job, now) : line, width);
  }
  const double steps = std::max<double>(1, static_cast<double>(integer_field(progress, "steps")));
  // In the order they are shown; the number says which goes first when there is no room.
  std::vector<std::pair<int, std::string>> parts = {
      {0, head},
      {0, progress_text(job)},
      {2, latest(job, "train/loss", "loss {}")},
      {3, latest(job, "train/sequences_per_second", "{} seq/s")},
      {1, printable(aim(job))},
      {4, times(job, since, now, expected)}};
  const auto joined = [&](int least_important, const std::string& bar) {
    std::string line;
    for (const auto& [importance, text] : parts) {
      if (importance > least_important || text.empty()) continue;
      line += (line.empty() ? "" : "  ") + text;
      if (&text == &parts.front().second && !bar.empty()) line += "  " + bar;
    }
    return line;
  };
  if (width == 0) return joined(4, "");
  int importance = 4;
  while (importance > 0 && display_width(joined(importance, "")) + kNarrowestBar + 2 > width) --importance;
  const int room = std::min(kWidestBar, width - display_width(joined(importance, "")) - 2);
  const std::string bar =
      room < kNarrowestBar ? ""
                           : progress_bar(static_cast<double>(integer_field(progress, "step")) / steps, room);
  return shortened(joined(importance, bar), width);
}

}  // namespace podium::cli
