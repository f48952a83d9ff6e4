#include "common/mlperf/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ranges>
#include <set>
#include <tuple>

#include "common/mlperf/rules.h"

namespace podium::mlperf {
namespace {

using nlohmann::json;

constexpr std::int64_t kMinute = 60'000;
// Some submitters evaluate behind the first batch that completes an interval, others count on from the last
// evaluation, and batches without padding vary: this share of the interval, or a batch where that is more.
constexpr double kIntervalTolerance = 0.025;
constexpr std::int64_t kRanksApart = 1000;  // ms between the clocks of ranks that write one log
constexpr double kGpt3Floor = 2.6;          // MLPerf's own checker does not believe less

struct Checked {
  const Log& log;
  Round round;
  Division division;
  std::optional<Benchmark> benchmark;  // none: only what holds for all of them is checked
  std::vector<Finding> findings = {};

  void add(std::int64_t line, std::string rule, std::string message) {
    findings.push_back({line, std::move(rule), std::move(message)});
  }
};

// Of lines that may be missing or doubled: the only one.
const Line* only(const Log& log, const char* key) {
  const auto lines = log.all(key);
  return lines.size() == 1 ? lines.front() : nullptr;
}

void check_count(const KeyRule& rule, const std::vector<const Line*>& lines, Checked& checked) {
  const std::string key = rule.key;
  if (rule.count == Count::one && lines.size() > 1)
    checked.add(lines[1]->number, key + "/one",
                fmt::format("{} stands {} times, first in line {}, and must stand once", key, lines.size(),
                            lines[0]->number));
  if (rule.count == Count::any || !lines.empty()) return;
  if (rule.count == Count::one) return checked.add(0, key + "/one", "there is no " + key);
  if (rule.instead == nullptr) return checked.add(0, key + "/some", "there is no " + key);
  if (checked.log.first(rule.instead) == nullptr)
    checked.add(0, key + "/some", fmt::format("there is neither {} nor {}", key, rule.instead));
}

void check_keys(Checked& checked) {
  for (const KeyRule& rule : key_rules()) {
    if (!applies(rule, checked.round, checked.division, checked.benchmark)) continue;
    const auto lines = checked.log.all(rule.key);
    check_count(rule, lines, checked);
    if (rule.demand == nullptr) continue;
    const Demand* const demand = find_demand(rule.demand);
    for (const Line* line : lines)
      if (!demand->met(*line)) {
        checked.add(line->number, std::string(rule.key) + "/value",
                    fmt::format("{} must have {}; its value is {}", rule.key, demand->words,
                                value_text(line->value)));
        break;
      }
  }
}

// `later` stands behind `earlier` and was not told before it.
void check_follows(const Line* earlier, const Line* later, Checked& checked) {
  if (earlier == nullptr || later == nullptr) return;
  if (later->number < earlier->number)
    checked.add(later->number, "order",
                fmt::format("{} stands before {} of line {}", later->key, earlier->key, earlier->number));
  else if (later->time_ms < earlier->time_ms)
    checked.add(
        later->number, "order",
        fmt::format("{} has an earlier time than {} of line {}", later->key, earlier->key, earlier->number));
}

// The first line whose time lies before that of a line above it. When ranks' processes began may be told
// late.
void check_times(Checked& checked) {
  const Line* latest = nullptr;
  for (const Line& line : checked.log.lines) {
    if (line.key == "init_start") continue;
    if (latest != nullptr && line.time_ms + kRanksApart < latest->time_ms)
      return checked.add(line.number, "times",
                         fmt::format("{} has a time {} ms before {} of line {}, which stands above it",
                                     line.key, latest->time_ms - line.time_ms, latest->key, latest->number));
    if (latest == nullptr || line.time_ms > latest->time_ms) latest = &line;
  }
}

void check_order(Checked& checked) {
  const Log& log = checked.log;
  const auto starts = log.all("init_start");
  const Line* const init_stop = only(log, "init_stop");
  const Line* const run_start = only(log, "run_start");
  const std::size_t before = checked.findings.size();
  for (const Line* start : starts) {
    check_follows(start, init_stop, checked);
    if (checked.findings.size() > before) break;
  }
  if (init_stop == nullptr && !starts.empty()) check_follows(starts.back(), run_start, checked);
  check_follows(init_stop, run_start, checked);
  check_follows(run_start, only(log, "run_stop"), checked);
  check_follows(run_start, log.first("block_start"), checked);
  check_follows(run_start, log.first("eval_start"), checked);
  check_follows(run_start, log.first("eval_accuracy"), checked);
  if (checked.findings.size() == before) check_times(checked);
}

void check_init_time(Checked& checked) {
  const auto starts = checked.log.all("init_start");
  const Line* const stop = only(checked.log, "init_stop");
  if (starts.empty() || stop == nullptr) return;
  const auto first = std::ranges::min(starts, {}, &Line::time_ms);
  const std::int64_t minutes = checked.division == Division::open ? 240
                               : checked.round < Round{1, 0}      ? 20
                                                                  : 30;
  if (stop->time_ms - first->time_ms >= minutes * kMinute)
    checked.add(
        stop->number, "init-time",
        fmt::format("{:.1f} min lie between init_start of line {} and init_stop, and must be under {}",
                    static_cast<double>(stop->time_ms - first->time_ms) / kMinute, first->number, minutes));
}

void check_status(Checked& checked) {
  const Line* const stop = only(checked.log, "run_stop");
  if (stop == nullptr || !stop->metadata.contains("status")) return;
  if (stop->metadata["status"] != "success")
    checked.add(stop->number, "status",
                fmt::format("the run ended with the status {}, not \"success\"",
                            value_text(stop->metadata["status"])));
}

double batch_of(const Log& log) {
  const Line* const batch = log.first("global_batch_size");
  return batch != nullptr && batch->value.is_number() ? batch->value.get<double>() : 0;
}

void check_target(Checked& checked) {
  const auto evaluations = checked.log.all("eval_accuracy");
  if (evaluations.empty() || !checked.benchmark) return;  // which are findings of their own
  if (reaching_evaluation(checked.log, *checked.benchmark, checked.round) != nullptr) return;
  const Quality quality = quality_of(*checked.benchmark, checked.round, batch_of(checked.log));
  const auto value = [](const Line* line) {
    return line->value.is_number() ? line->value.get<double>() : std::nan("");
  };
  const Line* best = evaluations.front();
  for (const Line* each : evaluations)
    if (quality.more ? value(each) > value(best) : value(each) < value(best)) best = each;
  checked.add(best->number, "target",
              fmt::format("no evaluation of the run reaches eval_accuracy {} {}; the best is {}",
                          quality.more ? "at least" : "at most", quality.target, value_text(best->value)));
}

// In the unit of the log: sequences, and of GPT-3's epoch_num tokens.
std::optional<double> samples_of(const Line& line, const Checked& checked) {
  if (const auto sequences = line.number_in("samples_count")) return sequences;
  const auto epoch = line.number_in("epoch_num");
  if (!epoch || checked.benchmark == Benchmark::bert) return epoch;
  const Line* const length = only(checked.log, "max_sequence_length");
  if (length == nullptr || !length->value.is_number() || length->value.get<double>() <= 0)
    return std::nullopt;
  return *epoch / length->value.get<double>();
}

void check_interval(Checked& checked) {
  if (checked.round < Round{1, 0}) return;
  const double batch = batch_of(checked.log);
  if (checked.division != Division::closed || !checked.benchmark || batch < 1 || batch > 1e9) return;
  const auto interval =
      static_cast<double>(evaluation_interval(*checked.benchmark, static_cast<std::int64_t>(batch)));
  const double tolerance = std::max(batch, kIntervalTolerance * interval);
  double before = 0;
  for (const Line* line : checked.log.all("eval_accuracy")) {
    const auto samples = samples_of(*line, checked);
    if (!samples) return;
    if (std::abs(*samples - before - interval) > tolerance)
      checked.add(
          line->number, "evaluation-interval",
          fmt::format(
              "this evaluation comes {:.0f} sequences after {}, where {:.0f} are demanded at a global "
              "batch of {:.0f}",
              *samples - before, before == 0 ? "the start" : "the last", interval, batch));
    before = *samples;
  }
}

void check_tensors(Checked& checked) {
  if (checked.division != Division::closed || checked.benchmark != Benchmark::bert) return;
  if (checked.round < Round{1, 1} || Round{2, 1} < checked.round) return;
  const auto lines = checked.log.all("weights_initialization");
  if (lines.empty()) return;
  const auto known = bert_tensors();
  std::set<std::string> missing(known.begin(), known.end());
  for (const Line* line : lines) {
    const json name = line->metadata.value("tensor", json());
    if (!name.is_string()) return;  // which is a finding of its own
    if (missing.erase(name.get<std::string>()) == 0)
      return checked.add(line->number, "tensors",
                         fmt::format("{} is no tensor of BERT-Large, or was told before", value_text(name)));
  }
  if (!missing.empty())
    checked.add(0, "tensors",
                fmt::format("{} tensors of BERT-Large have no weights_initialization, {} first",
                            missing.size(), *missing.begin()));
}

template <class Find>
auto value_of_only(const Log& log, const char* key, const Find& find) -> decltype(find("")) {
  const Line* const line = only(log, key);
  if (line == nullptr || !line->value.is_string()) return std::nullopt;
  return find(line->value.get_ref<const std::string&>());
}

void check_benchmark(const Log& log, Round round, Checked& checked) {
  const Line* const line = only(log, "submission_benchmark");
  if (line == nullptr || !line->value.is_string() || line->value == "") return;
  const auto benchmark = benchmark_of(log);
  if (!benchmark)
    checked.add(line->number, "benchmark",
                fmt::format("the benchmark {} is neither bert nor gpt3, of which rules are known here",
                            value_text(line->value)));
  else if (!has(round, *benchmark))
    checked.add(line->number, "benchmark",
                fmt::format("round {} has no benchmark {}", to_string(round), to_string(*benchmark)));
}

}  // namespace

std::optional<Benchmark> benchmark_of(const Log& log) {
  return value_of_only(log, "submission_benchmark",
                       [](std::string_view name) { return find_benchmark(name); });
}

std::optional<Division> division_of(const Log& log) {
  return value_of_only(log, "submission_division", [](std::string_view name) { return find_division(name); });
}

Quality quality_of(Benchmark benchmark, Round round, double global_batch) {
  if (benchmark == Benchmark::bert && round < Round{1, 0})
    return {true, global_batch >= 8192 ? 0.706 : 0.712};
  return official_quality(benchmark);
}

const Line* reaching_evaluation(const Log& log, Benchmark benchmark, Round round) {
  const Quality quality = quality_of(benchmark, round, batch_of(log));
  const Line* const start = log.first("run_start");
  const Line* const stop = log.first("run_stop");
  for (const Line* line : log.all("eval_accuracy")) {
    if (start != nullptr && (line->number < start->number || line->time_ms < start->time_ms)) continue;
    if (stop != nullptr && line->number > stop->number) break;
    if (!line->value.is_number()) continue;
    const double value = line->value.get<double>();
    const bool believed = benchmark == Benchmark::bert ? value < 1 : value > kGpt3Floor;
    if (believed && quality.reached(value)) return line;
  }
  return nullptr;
}

std::vector<Finding> check(const Log& log, Round round) {
  Checked checked{log, round, division_of(log).value_or(Division::closed), benchmark_of(log)};
  for (const BrokenLine& broken : log.broken) checked.add(broken.number, "line", broken.what);
  check_benchmark(log, round, checked);
  check_keys(checked);
  check_order(checked);
  check_init_time(checked);
  check_status(checked);
  check_target(checked);
  check_interval(checked);
  check_tensors(checked);
  std::ranges::stable_sort(checked.findings, {},
                           [](const Finding& each) { return std::tuple(each.line == 0, each.line); });
  return checked.findings;
}

bool is_of_outcome(std::string_view rule) { return rule == "status" || rule == "target"; }

Round fitting_round(const std::vector<const Log*>& logs) {
  const auto broken = [&](Round round) {
    std::size_t count = 0;
    for (const Log* log : logs) count += check(*log, round).size();
    return count;
  };
  Round best = kUsualRound;
  std::size_t least = broken(best);
  for (const RoundTraits& each : rounds() | std::views::reverse) {
    if (least == 0 || each.round < Round{1, 0}) break;
    if (const std::size_t count = broken(each.round); count < least) {
      best = each.round;
      least = count;
    }
  }
  return best;
}

}  // namespace podium::mlperf
