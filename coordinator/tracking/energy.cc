#include "coordinator/tracking/energy.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace podium {
namespace {

double seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

std::optional<double> watts_of(const PowerReport& report, int device) {
  const auto found = std::ranges::find(report.readings, device, &DeviceReading::device);
  return found == report.readings.end() ? std::nullopt : found->power;
}

// The time between two reports of a node.
struct Span {
  Time begin, end;
  const PowerReport& before;
  const PowerReport& after;

  // The energy of a device from `from` to the end; none where one of the readings is missing.
  std::optional<double> joules_of(int device, Time from) const {
    const auto first = watts_of(before, device), last = watts_of(after, device);
    if (!first || !last) return std::nullopt;
    const double passed = seconds(from - begin) / seconds(end - begin);
    const double at_from = *first + (*last - *first) * passed;
    return (at_from + *last) / 2 * seconds(end - from);
  }

  std::optional<double> package_watts() const {
    if (!before.package_joules || !after.package_joules || before.boot != after.boot) return std::nullopt;
    return (*after.package_joules - *before.package_joules) / seconds(end - begin);
  }
};

void add_gpus(const Span& span, const HolderOnNode& holder, DrawnEnergy& drawn) {
  for (const int device : holder.devices) {
    const auto joules = span.joules_of(device, drawn.from);
    if (!joules) continue;
    drawn.joules += *joules;
    drawn.covered_ms += (drawn.to - drawn.from).count();
  }
}

void add_slots(const Span& span, const HolderOnNode& holder, bool alone, DrawnEnergy& drawn) {
  const auto watts = span.package_watts();
  if (!watts) return;
  const std::int64_t device_ms = (drawn.to - drawn.from).count() * std::ssize(holder.devices);
  if (!alone) {
    drawn.shared_ms += device_ms;
    return;
  }
  drawn.joules += *watts * seconds(drawn.to - drawn.from);
  drawn.covered_ms += device_ms;
}

// Two reports may be on their way at once, and the older one may come last.
bool is_older(const PowerReport& report, const PowerReport& known) {
  return report.boot == known.boot && report.package_joules && known.package_joules &&
         *report.package_joules < *known.package_joules;
}

}  // namespace

std::vector<DrawnEnergy> EnergyMeter::take(const NodeId& node, Time now, PowerReport report,
                                           const std::vector<HolderOnNode>& holders) {
  const auto known = last_.find(node);
  std::optional<Last> before;
  if (known != last_.end()) {
    if (now <= known->second.at || is_older(report, known->second.report)) return {};
    before = std::move(known->second);
  }
  const Last& newest = last_[node] = {now, std::move(report)};
  if (!before || now - before->at > kLongestGap) return {};
  const Span span{before->at, now, before->report, newest.report};
  const bool alone = std::ranges::all_of(
      holders, [&](const HolderOnNode& holder) { return holder.attempt.job == holders.front().attempt.job; });
  std::vector<DrawnEnergy> all;
  for (const HolderOnNode& holder : holders) {
    DrawnEnergy drawn{holder.attempt, std::max(span.begin, holder.since), now};
    if (drawn.from >= drawn.to) continue;
    if (holder.kind == "cpu")
      add_slots(span, holder, alone, drawn);
    else
      add_gpus(span, holder, drawn);
    if (drawn.covered_ms > 0 || drawn.shared_ms > 0) all.push_back(drawn);
  }
  return all;
}

EnergySum sum_of(const std::vector<DrawnEnergy>& all, std::optional<Time> until) {
  EnergySum sum;
  for (const DrawnEnergy& drawn : all) {
    const Time end = std::clamp(until.value_or(drawn.to), drawn.from, drawn.to);
    const double part =
        drawn.to > drawn.from ? seconds(end - drawn.from) / seconds(drawn.to - drawn.from) : 0;
    sum.joules += part * drawn.joules;
    sum.covered_ms += std::llround(part * static_cast<double>(drawn.covered_ms));
    sum.shared_ms += std::llround(part * static_cast<double>(drawn.shared_ms));
  }
  return sum;
}

}  // namespace podium
