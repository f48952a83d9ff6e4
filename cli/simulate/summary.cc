#include "cli/simulate/summary.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

namespace podium::cli {
namespace {

using nlohmann::json;

constexpr double kBound = 10;  // seconds; Feitelson's bounded slowdown

struct SizeClass {
  int most;
  const char* name;
};
constexpr std::array kSizes{SizeClass{1, "1 device"},
                            SizeClass{4, "2 to 4"},
                            SizeClass{8, "5 to 8"},
                            SizeClass{16, "9 to 16"},
                            SizeClass{64, "17 to 64"},
                            SizeClass{512, "65 to 512"},
                            SizeClass{std::numeric_limits<int>::max(), "over 512"}};

double seconds(Duration duration) { return static_cast<double>(duration.count()) / 1000; }

struct Times {
  std::vector<double> waiting, completion, slowdown;

  void add(const TraceRow& row, const JobOutcome& outcome) {
    waiting.push_back(seconds(*outcome.first_start - row.submit));
    completion.push_back(seconds(*outcome.end - row.submit));
    slowdown.push_back(std::max(1.0, completion.back() / std::max(kBound, seconds(row.work))));
  }
};

Spread spread_of(std::vector<double> values) {
  if (values.empty()) return {};
  std::ranges::sort(values);
  const auto rank = [&](double fraction) {
    return values[static_cast<std::size_t>(std::ceil(fraction * static_cast<double>(values.size()))) - 1];
  };
  double sum = 0;
  for (const double value : values) sum += value;
  return {sum / static_cast<double>(values.size()), rank(0.5), rank(0.9), rank(0.99)};
}

GroupSummary group_of(const std::string& name, const Times& times) {
  return {name, times.waiting.size(), spread_of(times.waiting), spread_of(times.completion)};
}

// Device ms held from the load's beginning to `end`.
double held_until(const std::vector<LoadChange>& load, Time end) {
  double held = 0;
  std::int64_t busy = 0;
  for (std::size_t i = 0; i < load.size() && load[i].at < end; ++i) {
    busy += load[i].busy;
    const Time next = i + 1 < load.size() ? std::min(load[i + 1].at, end) : end;
    held += static_cast<double>(busy) * static_cast<double>((next - load[i].at).count());
  }
  return held;
}

void count(const JobOutcome& outcome, Summary& summary) {
  summary.preemptions += outcome.preemptions;
  if (!outcome.refusal.empty())
    ++summary.refused;
  else if (outcome.state == JobState::succeeded)
    ++summary.succeeded;
  else if (outcome.end)
    ++summary.failed;
  else
    ++summary.unfinished;
}

void measure_devices(const TraceFile& trace, const Replay& replay, Summary& summary) {
  if (replay.load.empty()) return;
  const Time first = trace.rows.front().submit, last = trace.rows.back().submit, end = replay.load.back().at;
  const auto fraction = [&](double device_ms, Time until) {
    const double all = static_cast<double>(replay.devices) * static_cast<double>((until - first).count());
    return all > 0 ? device_ms / all : 0;
  };
  const double held = held_until(replay.load, end);
  summary.makespan = seconds(end - first);
  summary.utilisation = fraction(held, end);
  summary.utilisation_submitting =
      fraction(held_until(replay.load, std::min(last, end)), std::min(last, end));
  summary.idle_though_fitting = fraction(static_cast<double>(replay.blocked_idle), end);
  double again = 0;
  for (std::size_t i = 0; i < trace.rows.size(); ++i)
    if (replay.jobs[i].state == JobState::succeeded)
      again += static_cast<double>(
          (replay.jobs[i].device_time - trace.rows[i].work * trace.rows[i].devices).count());
  summary.lost = held > 0 ? again / held : 0;
}

json spread_json(const Spread& spread) {
  return {{"mean", spread.mean}, {"p50", spread.p50}, {"p90", spread.p90}, {"p99", spread.p99}};
}

json groups_json(const std::vector<GroupSummary>& groups) {
  json all = json::array();
  for (const GroupSummary& group : groups)
    all.push_back({{"name", group.name},
                   {"jobs", group.jobs},
                   {"waiting_s", spread_json(group.waiting)},
                   {"completion_s", spread_json(group.completion)}});
  return all;
}

}  // namespace

Summary summarise(const TraceFile& trace, const Replay& replay) {
  Summary summary;
  summary.jobs = trace.rows.size();
  summary.devices = replay.devices;
  Times all;
  std::array<Times, kSizes.size()> by_size;
  std::map<std::string, Times> by_owner;
  for (std::size_t i = 0; i < trace.rows.size(); ++i) {
    const TraceRow& row = trace.rows[i];
    const JobOutcome& outcome = replay.jobs[i];
    count(outcome, summary);
    if (!outcome.end || !outcome.first_start) continue;
    all.add(row, outcome);
    by_size[static_cast<std::size_t>(std::ranges::lower_bound(kSizes, row.devices, {}, &SizeClass::most) -
                                     kSizes.begin())]
        .add(row, outcome);
    if (trace.has_accounts || trace.has_partitions)
      by_owner[trace.has_accounts ? row.account : row.partition].add(row, outcome);
  }
  summary.waiting = spread_of(all.waiting);
  summary.completion = spread_of(all.completion);
  summary.slowdown = spread_of(all.slowdown);
  for (std::size_t i = 0; i < kSizes.size(); ++i)
    if (!by_size[i].waiting.empty()) summary.by_size.push_back(group_of(kSizes[i].name, by_size[i]));
  for (const auto& [name, times] : by_owner) summary.by_owner.push_back(group_of(name, times));
  measure_devices(trace, replay, summary);
  return summary;
}

json to_json(const Summary& summary) {
  return {{"jobs", summary.jobs},
          {"succeeded", summary.succeeded},
          {"failed", summary.failed},
          {"refused", summary.refused},
          {"unfinished", summary.unfinished},
          {"devices", summary.devices},
          {"preemptions", summary.preemptions},
          {"makespan_s", summary.makespan},
          {"utilisation", summary.utilisation},
          {"utilisation_submitting", summary.utilisation_submitting},
          {"idle_though_fitting", summary.idle_though_fitting},
          {"lost", summary.lost},
          {"waiting_s", spread_json(summary.waiting)},
          {"completion_s", spread_json(summary.completion)},
          {"bounded_slowdown", spread_json(summary.slowdown)},
          {"by_size", groups_json(summary.by_size)},
          {"by_owner", groups_json(summary.by_owner)}};
}

}  // namespace podium::cli
