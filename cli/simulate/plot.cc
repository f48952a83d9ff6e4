// Utilisation and queue length over time: as lines of blocks and as SVG. Both show means over equal spans.
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "cli/humanise.h"
#include "cli/simulate/report.h"
#include "common/base/units.h"

namespace podium::cli {
namespace {

struct Series {
  std::vector<double> utilisation;  // 0 to 1
  std::vector<double> waiting;      // jobs
};

Time last_change(const std::vector<SimulatedRun>& runs, Time begin) {
  Time end = begin + std::chrono::milliseconds(1);
  for (const SimulatedRun& run : runs)
    if (!run.replay.load.empty()) end = std::max(end, run.replay.load.back().at);
  return end;
}

// Means over `count` equal spans of [begin, end].
Series series_of(const Replay& replay, Time begin, Time end, int count) {
  Series series{std::vector<double>(static_cast<std::size_t>(count)),
                std::vector<double>(static_cast<std::size_t>(count))};
  const double span = static_cast<double>((end - begin).count()) / count;
  std::int64_t busy = 0, waiting = 0;
  const auto add = [&](Time from, Time to) {
    double at = static_cast<double>((from - begin).count());
    const double stop = static_cast<double>((to - begin).count());
    while (at < stop) {
      const auto bucket = std::min(static_cast<std::size_t>(at / span), static_cast<std::size_t>(count) - 1);
      const double until = bucket + 1 == static_cast<std::size_t>(count)
                               ? stop
                               : std::min(stop, std::max(static_cast<double>(bucket + 1) * span, at + 0.5));
      series.utilisation[bucket] += (until - at) / span * static_cast<double>(busy);
      series.waiting[bucket] += (until - at) / span * static_cast<double>(waiting);
      at = until;
    }
  };
  Time before = begin;
  for (const LoadChange& change : replay.load) {
    add(before, change.at);
    before = change.at;
    busy += change.busy;
    waiting += change.waiting;
  }
  add(before, end);
  for (double& value : series.utilisation)
    value /= static_cast<double>(std::max<std::int64_t>(replay.devices, 1));
  return series;
}

double highest(const std::vector<double>& values) { return *std::ranges::max_element(values); }

std::string blocks(const std::vector<double>& values, double top) {
  constexpr std::array kBlocks{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  std::string text;
  for (const double value : values) {
    const double filled = top > 0 ? value / top * 8 : 0;
    const auto block = static_cast<std::size_t>(std::clamp(filled + (filled > 0 ? 0.5 : 0), 0.0, 8.0));
    text += kBlocks[filled > 0 ? std::max<std::size_t>(block, 1) : 0];
  }
  return text;
}

constexpr int kParts = 5;  // of an axis, about

// The least of 1, 2, 5, 10, 20, 25, 50, … that cuts `whole` into kParts or fewer.
double round_step(double whole) {
  const double power = std::pow(10, std::floor(std::log10(std::max(whole / kParts, 1.0))));
  for (const double factor : {1.0, 2.0, 2.5, 5.0})
    if (factor * power >= whole / kParts && (factor != 2.5 || power >= 10)) return factor * power;
  return 10 * power;
}

// Likewise of times as people count them.
Duration round_step(Duration whole) {
  using namespace std::chrono_literals;
  constexpr std::array<Duration, 15> kSteps{1s,   2s,    5s,    10s,   15s, 30s, 1min, 2min,
                                            5min, 10min, 15min, 30min, 1h,  3h,  6h};
  const auto fits = std::ranges::find_if(kSteps, [&](Duration step) { return step >= whole / kParts; });
  if (fits != kSteps.end()) return *fits;
  if (whole / kParts <= 12h) return 12h;
  const auto days = round_step(static_cast<double>(whole.count()) / Duration(24h).count());
  return Duration(24h) * std::llround(days);
}

// One panel of the picture: its frame, its title and grid, and a line for each run.
struct Panel {
  double top;
  std::string title;
  double highest, step;
  std::string unit;
};

constexpr double kWidth = 860, kLeft = 56, kRight = 12, kPanelHeight = 170;
constexpr int kPoints = 400;

std::string panel_frame(const Panel& panel) {
  std::string svg =
      fmt::format("<text class=\"t\" x=\"{}\" y=\"{}\">{}</text>\n", kLeft, panel.top - 8, panel.title);
  for (double value = 0; value <= panel.highest; value += panel.step) {
    const double y = panel.top + kPanelHeight * (1 - value / panel.highest);
    svg += fmt::format(
        "<line class=\"g\" x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/><text class=\"l\" x=\"{}\" "
        "y=\"{:.1f}\" text-anchor=\"end\">{}{}</text>\n",
        kLeft, kWidth - kRight, y, y, kLeft - 6, y + 4, human_value(value), panel.unit);
  }
  return svg;
}

std::string curve(const Panel& panel, const std::vector<double>& values, std::size_t nth) {
  std::string points;
  for (std::size_t i = 0; i < values.size(); ++i)
    points += fmt::format("{:.1f},{:.1f} ",
                          kLeft + (kWidth - kLeft - kRight) * (static_cast<double>(i) + 0.5) / kPoints,
                          panel.top + kPanelHeight * (1 - values[i] / panel.highest));
  points.pop_back();
  return fmt::format("<polyline class=\"c{}\" points=\"{}\"/>\n", nth, points);
}

std::string legend(const std::vector<SimulatedRun>& runs, double y) {
  std::string svg;
  double x = kLeft;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    svg += fmt::format(
        "<line class=\"c{}\" x1=\"{}\" x2=\"{}\" y1=\"{}\" y2=\"{}\"/><text class=\"l\" x=\"{}\" "
        "y=\"{}\">{}</text>\n",
        i % 6, x, x + 22, y, y, x + 28, y + 4, runs[i].name);
    x += 48 + 7.2 * static_cast<double>(runs[i].name.size());
  }
  return svg;
}

std::string time_axis(double y, Duration span) {
  std::string svg;
  const Duration step = round_step(span);
  for (Duration at{}; at <= span; at += step) {
    const double part = static_cast<double>(at.count()) / static_cast<double>(span.count());
    svg += fmt::format("<text class=\"l\" x=\"{:.1f}\" y=\"{}\" text-anchor=\"{}\">{}</text>\n",
                       kLeft + (kWidth - kLeft - kRight) * part, y,
                       part == 0     ? "start"
                       : part > 0.97 ? "end"
                                     : "middle",
                       format_duration(at));
  }
  return svg;
}

// Colours with enough contrast on white and on near-black.
constexpr const char* kStyle = R"(<style>
text{font:12px system-ui,sans-serif;fill:#374151}.t{font-weight:600}.g{stroke:#9ca3af;stroke-opacity:.35}
polyline,.c0,.c1,.c2,.c3,.c4,.c5{fill:none;stroke-width:1.6}
.c0{stroke:#2563eb}.c1{stroke:#c2410c}.c2{stroke:#15803d}.c3{stroke:#a21caf}.c4{stroke:#0e7490}.c5{stroke:#a16207}
@media (prefers-color-scheme:dark){text{fill:#d1d5db}
.c0{stroke:#60a5fa}.c1{stroke:#fb923c}.c2{stroke:#4ade80}.c3{stroke:#e879f9}.c4{stroke:#22d3ee}.c5{stroke:#facc15}}
</style>
)";

}  // namespace

std::string spark_lines(const std::vector<SimulatedRun>& runs, Time begin, int width) {
  const Time end = last_change(runs, begin);
  std::string text;
  std::vector<Series> all;
  double longest = 0;
  for (const SimulatedRun& run : runs) {
    all.push_back(series_of(run.replay, begin, end, width));
    longest = std::max(longest, highest(all.back().waiting));
  }
  for (std::size_t i = 0; i < runs.size(); ++i)
    text += fmt::format("\n{}\n  utilisation  {}\n  queue        {}\n", runs[i].name,
                        blocks(all[i].utilisation, 1), blocks(all[i].waiting, longest));
  return text + fmt::format("  over {}; the queue's scale ends at {} jobs\n",
                            human_seconds(static_cast<double>((end - begin).count()) / 1000),
                            human_value(longest));
}

std::string svg_plot(const std::vector<SimulatedRun>& runs, Time begin) {
  const Time end = last_change(runs, begin);
  Panel utilisation{30, "Devices in use", 100, 25, " %"};
  Panel queue{utilisation.top + kPanelHeight + 46, "Jobs waiting", 1, 1, ""};
  std::vector<Series> all;
  for (const SimulatedRun& run : runs) {
    all.push_back(series_of(run.replay, begin, end, kPoints));
    for (double& value : all.back().utilisation) value *= 100;
    queue.highest = std::max(queue.highest, highest(all.back().waiting));
  }
  queue.step = round_step(queue.highest);
  queue.highest = std::ceil(queue.highest / queue.step) * queue.step;
  const double axis = queue.top + kPanelHeight + 20, height = axis + 36;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" role=\"img\" "
      "aria-label=\"Devices in use and jobs waiting over time\">\n{}",
      kWidth, height, kStyle);
  svg += panel_frame(utilisation) + panel_frame(queue);
  for (std::size_t i = 0; i < runs.size(); ++i)
    svg += curve(utilisation, all[i].utilisation, i % 6) + curve(queue, all[i].waiting, i % 6);
  return svg + time_axis(axis, end - begin) + legend(runs, axis + 20) + "</svg>\n";
}

}  // namespace podium::cli
