#include "coordinator/tracking/comparison.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "common/model/codec.h"

namespace podium {
namespace {

using nlohmann::json;

constexpr EnumNames<FieldSection, 4> kSections{{{FieldSection::spec, "spec"},
                                                {FieldSection::labels, "labels"},
                                                {FieldSection::source, "source"},
                                                {FieldSection::hardware, "hardware"}}};
constexpr EnumNames<Measure, 11> kMeasures{{{Measure::best, "best"},
                                            {Measure::final, "final"},
                                            {Measure::median, "median"},
                                            {Measure::time_to_train, "time_to_train"},
                                            {Measure::run_time, "run_time"},
                                            {Measure::device_time, "device_time"},
                                            {Measure::restarts, "restarts"},
                                            {Measure::energy, "energy"},
                                            {Measure::energy_to_target, "energy_to_target"},
                                            {Measure::cost, "cost"},
                                            {Measure::cost_to_target, "cost_to_target"}}};
constexpr EnumNames<Better, 2> kBetter{{{Better::less, "less"}, {Better::more, "more"}}};
constexpr EnumNames<BetterBy, 3> kBetterBy{
    {{BetterBy::target, "target"}, {BetterBy::name, "name"}, {BetterBy::measure, "measure"}}};

constexpr std::array<std::string_view, 4> kLessIsBetter = {"loss", "perplexity", "error", "error_rate"};
constexpr std::array<std::string_view, 6> kMoreIsBetter = {"accuracy", "f1",      "exact_match",
                                                           "mcc",      "pearson", "spearman"};

template <std::size_t N>
bool ends_in_one_of(const std::array<std::string_view, N>& words, std::string_view name) {
  return std::ranges::any_of(words, [name](std::string_view word) { return name.ends_with(word); });
}

void flatten(const json& value, const std::string& key, std::vector<std::pair<std::string, json>>& out) {
  if (!value.is_object()) return out.push_back({key, value});
  for (const auto& [name, inner] : value.items()) flatten(inner, key.empty() ? name : key + "." + name, out);
}

using Row = std::vector<json>;  // one value a job
using Rows = std::map<std::pair<FieldSection, std::string>, Row>;

class Fields {
 public:
  explicit Fields(const std::vector<ComparedJob>& jobs) : count_(jobs.size()) {
    for (at_ = 0; at_ < count_; ++at_) add(jobs[at_]);
  }

  std::vector<ComparedField> take() && {
    std::vector<ComparedField> fields;
    for (auto& [key, values] : rows_) {
      const bool differs = std::ranges::any_of(values, [&](const json& value) { return value != values[0]; });
      fields.push_back({key.first, key.second, differs, std::move(values)});
    }
    return fields;
  }

 private:
  void add(const ComparedJob& job) {
    for (auto& [key, value] : flattened(job.spec)) {
      if (key == "name" || key == "version") continue;  // a job's own, and the format's
      constexpr std::string_view kLabels = "labels.";
      if (key.starts_with(kLabels))
        put(FieldSection::labels, key.substr(kLabels.size()), std::move(value));
      else
        put(FieldSection::spec, key, std::move(value));
    }
    if (job.source.is_object())
      for (auto& [key, value] : flattened(job.source)) put(FieldSection::source, key, std::move(value));
    if (job.text) put(FieldSection::source, "text", describe(*job.text));
    if (job.origin) put(FieldSection::source, "origin", describe(*job.origin));
    if (job.nodes > 0) add_hardware(job);
  }

  void add_hardware(const ComparedJob& job) {
    put(FieldSection::hardware, "devices", job.devices);
    put(FieldSection::hardware, "nodes", job.nodes);
    if (job.spec.contains("parallel")) {
      const json& parallel = job.spec["parallel"];
      const int model = parallel.value("tensor", 1) * parallel.value("pipeline", 1);
      if (model > 0) put(FieldSection::hardware, "data_parallel", job.devices / model);
    }
    put_list("device_models", job.device_models);
    put_list("agent_versions", job.agent_versions);
    if (job.artificial) put(FieldSection::hardware, "artificial", true);
  }

  void put_list(const char* key, const std::vector<std::string>& values) {
    if (values.size() == 1) return put(FieldSection::hardware, key, values.front());
    if (!values.empty()) put(FieldSection::hardware, key, values);
  }

  void put(FieldSection section, const std::string& key, json value) {
    Row& row = rows_[{section, key}];
    row.resize(count_);
    row[at_] = std::move(value);
  }

  std::size_t count_;
  std::size_t at_ = 0;
  Rows rows_;
};

std::vector<std::optional<double>> differences_to(const std::vector<std::optional<double>>& values,
                                                  std::size_t base) {
  std::vector<std::optional<double>> differences(values.size());
  const std::optional<double> from = values[base];
  if (!from || !std::isfinite(*from) || *from == 0) return differences;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i] && std::isfinite(*values[i])) differences[i] = (*values[i] - *from) / std::abs(*from);
  return differences;
}

class Outcomes {
 public:
  Outcomes(const std::vector<ComparedJob>& jobs, std::size_t base) : jobs_(jobs), base_(base) {
    for (const std::string& key : compared_metrics()) add_metric(key);
    for (const std::string& key : throughputs())
      add({Measure::median, key, Direction{Better::more, BetterBy::measure}, medians(key), {}, {}, {}});
    add_costs();
  }

  std::vector<Outcome> take() && { return std::move(outcomes_); }

 private:
  // The targets' metrics stand first, in the order of the jobs; the others follow by name.
  std::vector<std::string> compared_metrics() const {
    std::set<std::string> all;
    for (const ComparedJob& job : jobs_)
      for (const MetricEnds& metric : job.metrics) all.insert(metric.key);
    std::vector<std::string> ordered;
    for (const ComparedJob& job : jobs_)
      if (job.target && all.erase(job.target->metric) > 0) ordered.push_back(job.target->metric);
    ordered.insert(ordered.end(), all.begin(), all.end());
    return ordered;
  }

  std::vector<std::string> throughputs() const {
    std::set<std::string> all;
    for (const ComparedJob& job : jobs_)
      for (const MetricMedian& metric : job.throughput) all.insert(metric.key);
    return {all.begin(), all.end()};
  }

  std::vector<std::optional<double>> medians(const std::string& key) const {
    std::vector<std::optional<double>> values(jobs_.size());
    for (std::size_t i = 0; i < jobs_.size(); ++i)
      for (const MetricMedian& metric : jobs_[i].throughput)
        if (metric.key == key) values[i] = metric.median;
    return values;
  }

  void add_metric(const std::string& key) {
    const std::optional<Direction> direction = direction_of(key, jobs_);
    Outcome best = empty(Measure::best, key, direction), last = empty(Measure::final, key, direction);
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      const auto found = std::ranges::find(jobs_[i].metrics, key, &MetricEnds::key);
      if (found == jobs_[i].metrics.end()) continue;
      last.values[i] = found->last;
      last.steps[i] = found->last_step;
      if (!direction) continue;
      const bool less = direction->better == Better::less;
      best.values[i] = less ? found->least : found->greatest;
      best.steps[i] = less ? found->least_step : found->greatest_step;
    }
    if (direction) add(std::move(best));
    add(std::move(last));
  }

  // Where some jobs have been trained, a job that was not trained does not count as cheaper: it is not done.
  void add_costs() {
    const auto cost = [this](Measure measure, const auto& value_of) {
      Outcome outcome = empty(measure, "", Direction{Better::less, BetterBy::measure});
      for (std::size_t i = 0; i < jobs_.size(); ++i) outcome.values[i] = value_of(jobs_[i]);
      add(std::move(outcome));
    };
    using Value = std::optional<double>;
    cost(Measure::time_to_train, [](const ComparedJob& job) { return job.time_to_train_seconds; });
    cost(Measure::run_time,
         [](const ComparedJob& job) { return job.nodes > 0 ? Value(job.run_seconds) : Value(); });
    cost(Measure::device_time,
         [](const ComparedJob& job) { return job.nodes > 0 ? Value(job.device_seconds) : Value(); });
    cost(Measure::restarts,
         [](const ComparedJob& job) { return job.nodes > 0 ? Value(job.restarts) : Value(); });
    cost(Measure::energy, [](const ComparedJob& job) { return job.joules; });
    cost(Measure::energy_to_target, [](const ComparedJob& job) { return job.joules_to_target; });
    cost(Measure::cost, [](const ComparedJob& job) { return job.cost; });
    cost(Measure::cost_to_target, [](const ComparedJob& job) { return job.cost_to_target; });
  }

  Outcome empty(Measure measure, const std::string& metric, std::optional<Direction> direction) const {
    return {measure,
            metric,
            direction,
            std::vector<std::optional<double>>(jobs_.size()),
            std::vector<std::optional<std::int64_t>>(jobs_.size()),
            {},
            {}};
  }

  void add(Outcome outcome) {
    if (std::ranges::none_of(outcome.values, [](const auto& value) { return value.has_value(); })) return;
    outcome.steps.resize(jobs_.size());
    outcome.differences = differences_to(outcome.values, base_);
    outcome.best = best_of(outcome);
    outcomes_.push_back(std::move(outcome));
  }

  bool may_be_best(const Outcome& outcome, std::size_t i) const {
    if (!outcome.values[i] || std::isnan(*outcome.values[i])) return false;
    const bool is_cost = outcome.metric.empty();
    return !is_cost || jobs_[i].time_to_train_seconds.has_value();
  }

  std::vector<JobId> best_of(const Outcome& outcome) const {
    if (!outcome.direction) return {};
    std::optional<double> best, worst;
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      if (!may_be_best(outcome, i)) continue;
      const double value = *outcome.values[i];
      const bool less = outcome.direction->better == Better::less;
      if (!best || (less ? value < *best : value > *best)) best = value;
      if (!worst || (less ? value > *worst : value < *worst)) worst = value;
    }
    if (!best || *best == *worst) return {};
    std::vector<JobId> ids;
    for (std::size_t i = 0; i < jobs_.size(); ++i)
      if (may_be_best(outcome, i) && *outcome.values[i] == *best) ids.push_back(jobs_[i].id);
    return ids;
  }

  const std::vector<ComparedJob>& jobs_;
  std::size_t base_;
  std::vector<Outcome> outcomes_;
};

}  // namespace

Comparison compare(const std::vector<ComparedJob>& jobs, std::size_t base) {
  return {Fields(jobs).take(), Outcomes(jobs, base).take()};
}

std::vector<std::pair<std::string, json>> flattened(const json& object) {
  std::vector<std::pair<std::string, json>> out;
  if (object.is_object()) flatten(object, "", out);
  return out;
}

std::optional<Direction> direction_of(std::string_view metric, const std::vector<ComparedJob>& jobs) {
  bool less = false, more = false;
  for (const ComparedJob& job : jobs) {
    if (!job.target || job.target->metric != metric) continue;
    (job.target->at_least ? more : less) = true;
  }
  if (less != more) return Direction{less ? Better::less : Better::more, BetterBy::target};
  if (ends_in_one_of(kLessIsBetter, metric)) return Direction{Better::less, BetterBy::name};
  if (ends_in_one_of(kMoreIsBetter, metric)) return Direction{Better::more, BetterBy::name};
  return std::nullopt;
}

bool matches(std::string_view pattern, std::string_view name) {
  // The place of the last *, and how much of the name it matches. Backtracking to it is enough, for the *
  // before it need not change.
  std::size_t p = 0, n = 0, star = std::string_view::npos, taken = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      taken = n;
    } else if (p < pattern.size() && pattern[p] == name[n]) {
      ++p;
      ++n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++taken;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

std::string_view to_string(FieldSection section) { return enum_name(kSections, section); }
std::string_view to_string(Measure measure) { return enum_name(kMeasures, measure); }
std::string_view to_string(Better better) { return enum_name(kBetter, better); }
std::string_view to_string(BetterBy by) { return enum_name(kBetterBy, by); }

}  // namespace podium
