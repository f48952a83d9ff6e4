#include "coordinator/tracking/scaling.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "common/base/check.h"
#include "common/base/units.h"

namespace podium {
namespace {

using Runs = std::vector<const ScalingRun*>;

std::optional<double> median_of(const Runs& runs, std::optional<double> ScalingRun::*value) {
  std::vector<double> values;
  for (const ScalingRun* run : runs)
    if (run->*value) values.push_back(*(run->*value));
  return values.empty() ? std::nullopt : std::optional(quantile(std::move(values), 0.5));
}

std::optional<double> fraction_of(const Runs& runs, std::optional<double> ScalingRun::*part) {
  double parts = 0, held = 0;
  for (const ScalingRun* run : runs) {
    if (!(run->*part) || !run->held_seconds) continue;
    parts += *(run->*part);
    held += *run->held_seconds;
  }
  return held > 0 ? std::optional(parts / held) : std::nullopt;
}

std::optional<SteadyRate> rate_of(const Runs& runs, Series ScalingRun::*series) {
  std::vector<Series> all;
  for (const ScalingRun* run : runs) all.push_back(run->*series);
  return steady_rate(all);
}

// The rate that a size is judged by.
std::optional<double> rate_of(const ScalingRow& row) {
  if (row.samples) return row.samples->median;
  return row.tokens ? std::optional(row.tokens->median) : std::nullopt;
}

// Says nothing of runs that are not all alike, as those on other devices after a restart.
std::optional<double> common_value(const Runs& runs, std::optional<double> ScalingRun::*value) {
  for (const ScalingRun* run : runs)
    if (run->*value != runs.front()->*value) return std::nullopt;
  return runs.front()->*value;
}

ScalingRow row_of(int devices, const Runs& runs, bool so_far) {
  ScalingRow row;
  row.devices = devices;
  row.so_far = so_far;
  Runs trained;
  for (const ScalingRun* run : runs) {
    row.jobs.push_back(run->job);
    if (run->time_to_train_seconds) trained.push_back(run);
  }
  row.reached = static_cast<int>(trained.size());
  row.samples = rate_of(runs, &ScalingRun::samples_rate);
  row.tokens = rate_of(runs, &ScalingRun::tokens_rate);
  if (const auto rate = rate_of(row)) row.per_device = *rate / devices;
  if (const auto flops = common_value(runs, &ScalingRun::flops_per_sample); flops && row.samples) {
    row.model_flops = row.samples->median * *flops;
    if (const auto peak = common_value(runs, &ScalingRun::peak_flops))
      row.mfu = *row.model_flops / (devices * *peak);
  }
  row.time_to_train_seconds = median_of(trained, &ScalingRun::time_to_train_seconds);
  row.samples_to_target = median_of(trained, &ScalingRun::samples_to_target);
  if (row.samples && row.time_to_train_seconds && row.samples_to_target && *row.time_to_train_seconds > 0)
    row.stepping_share = *row.samples_to_target / (row.samples->median * *row.time_to_train_seconds);
  row.evaluation_share = fraction_of(runs, &ScalingRun::evaluating_seconds);
  row.checkpoint_share = fraction_of(runs, &ScalingRun::checkpointing_seconds);
  return row;
}

std::optional<TimeEfficiency> time_efficiency(const ScalingRow& base, const ScalingRow& row) {
  if (!base.stepping_share || !row.stepping_share || !(*row.stepping_share > 0) ||
      !(*base.stepping_share > 0))
    return std::nullopt;
  return TimeEfficiency{
      (base.devices * *base.time_to_train_seconds) / (row.devices * *row.time_to_train_seconds),
      (row.samples->median / row.devices) / (base.samples->median / base.devices),
      *base.samples_to_target / *row.samples_to_target, *row.stepping_share / *base.stepping_share};
}

void compare(const ScalingRow& base, ScalingRow& row) {
  // Compares samples with samples, or tokens with tokens.
  if (base.samples.has_value() == row.samples.has_value() && rate_of(row)) {
    row.speed_up = *rate_of(row) / *rate_of(base);
    row.efficiency = *row.per_device / *base.per_device;
  }
  row.time_efficiency = time_efficiency(base, row);
}

std::string whole_percent(double fraction) { return std::to_string(std::llround(100 * fraction)) + " %"; }

}  // namespace

double quantile(std::vector<double> values, double q) {
  PODIUM_CHECK(!values.empty(), "a quantile is of at least one value");
  std::ranges::sort(values);
  const double place = q * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (place - static_cast<double>(below)) * (values[above] - values[below]);
}

std::optional<SteadyRate> steady_rate(const std::vector<Series>& runs) {
  std::vector<double> rates;
  for (const Series& run : runs)
    for (const SeriesPoint& point : run)
      if (10 * point.step > run.back().step && std::isfinite(point.value) && point.value > 0)
        rates.push_back(point.value);
  if (rates.empty()) return std::nullopt;
  const int points = static_cast<int>(rates.size());
  return SteadyRate{quantile(rates, 0.5), quantile(rates, 0.25), quantile(rates, 0.75), points};
}

ScalingTable scaling_table(const std::vector<ScalingRun>& runs) {
  std::map<int, Runs> ended, under_way;
  for (const ScalingRun& run : runs) {
    if (run.state == JobState::succeeded)
      ended[run.devices].push_back(&run);
    else if (!is_terminal(run.state) && !(run.samples_rate.empty() && run.tokens_rate.empty()))
      under_way[run.devices].push_back(&run);
  }
  ScalingTable table;
  for (const auto& [devices, of_size] : ended) table.rows.push_back(row_of(devices, of_size, false));
  for (const auto& [devices, of_size] : under_way)
    if (!ended.contains(devices)) table.rows.push_back(row_of(devices, of_size, true));
  std::ranges::sort(table.rows, {}, &ScalingRow::devices);
  const auto base = std::ranges::find_if(
      table.rows, [](const ScalingRow& row) { return !row.so_far && rate_of(row).has_value(); });
  if (base == table.rows.end()) return table;
  table.base = base->devices;
  const ScalingRow reference = *base;
  for (ScalingRow& row : table.rows) compare(reference, row);
  return table;
}

std::string scaling_sentence(const ScalingTable& table) {
  if (!table.base) return "no size has ended that told its throughput";
  for (auto row = table.rows.rbegin(); row != table.rows.rend() && row->devices > *table.base; ++row) {
    if (row->so_far || !row->efficiency) continue;
    std::string text = std::to_string(row->devices) + " devices: " + whole_percent(*row->efficiency) +
                       " of linear from " + std::to_string(*table.base);
    if (row->time_to_train_seconds)
      text += ", " + format_duration(std::chrono::seconds(std::llround(*row->time_to_train_seconds))) +
              " to train";
    return text;
  }
  return std::to_string(*table.base) + (*table.base == 1 ? " device" : " devices") +
         ": the only size that has ended; efficiency needs a second";
}

}  // namespace podium
