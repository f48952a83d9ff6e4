// How several jobs differ, and their results: settings, code and hardware, metrics and costs. Pure. The
// better direction of a metric is never guessed: it comes from a target or from the metric's name.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/model/job.h"
#include "common/model/origin.h"
#include "common/model/spec.h"
#include "common/model/text_identity.h"

namespace podium {

struct MetricEnds {
  std::string key;
  double last = 0, least = 0, greatest = 0;
  std::int64_t last_step = 0;
  std::optional<std::int64_t> least_step, greatest_step;  // where they are still on record
};

struct MetricMedian {
  std::string key;
  double median = 0;
};

struct ComparedJob {
  JobId id;
  nlohmann::json spec;               // normalised
  nlohmann::json source;             // {"repository","commit","path","dirty"}; null where it was not recorded
  std::optional<TextIdentity> text;  // that it trained on, where reported
  std::optional<Origin> origin;      // the checkpoint that its first weights are of, where reported
  std::optional<TargetSpec> target;
  // Of its newest attempt; 0 and empty before the first.
  int devices = 0;
  int nodes = 0;
  std::vector<std::string> device_models, agent_versions;  // different ones, sorted
  bool artificial = false;

  std::vector<std::string> keys;         // of all its metrics
  std::vector<MetricEnds> metrics;       // those that are compared
  std::vector<MetricMedian> throughput;  // metrics that end in "_per_second"
  std::optional<double> time_to_train_seconds;
  double run_seconds = 0;     // of its attempts
  double device_seconds = 0;  // that its attempts held
  int restarts = 0;
  // Where they were measured, and where its devices have prices.
  std::optional<double> joules, joules_to_target, cost, cost_to_target;
};

enum class FieldSection { spec, labels, source, hardware };

struct ComparedField {
  FieldSection section = FieldSection::spec;
  std::string key;
  bool differs = false;
  std::vector<nlohmann::json> values;  // one a job, null where it has none
};

enum class Better { less, more };
enum class BetterBy {
  target,
  name,
  measure
};  // what says so; a measure's own are throughput, times and restarts

struct Direction {
  Better better = Better::less;
  BetterBy by = BetterBy::measure;

  bool operator==(const Direction&) const = default;
};

enum class Measure {
  best,
  final,
  median,
  time_to_train,
  run_time,
  device_time,
  restarts,
  energy,
  energy_to_target,
  cost,
  cost_to_target
};

struct Outcome {
  Measure measure = Measure::final;
  std::string metric;  // of best, final and median
  std::optional<Direction> direction;
  std::vector<std::optional<double>> values;       // one a job; in seconds, joules, the prices' currency
  std::vector<std::optional<std::int64_t>> steps;  // of best and final
  std::vector<std::optional<double>> differences;  // to the base, as a fraction of its value
  std::vector<JobId> best;                         // none where all are equal, or no direction is known
};

struct Comparison {
  std::vector<ComparedField> fields;  // by section, then key
  std::vector<Outcome> outcomes;
};

// `base`: the index of the job that the others are compared with.
Comparison compare(const std::vector<ComparedJob>& jobs, std::size_t base);

// {"a":{"b":1},"c":[1,2]} is a.b = 1 and c = [1,2]: a list is one value. By key.
std::vector<std::pair<std::string, nlohmann::json>> flattened(const nlohmann::json& object);

// The better direction of a metric: that of the jobs' targets, where those that name it agree; else less for
// names that end in loss, perplexity, error or error_rate, and more for those that end in accuracy, f1,
// exact_match, mcc, pearson or spearman.
std::optional<Direction> direction_of(std::string_view metric, const std::vector<ComparedJob>& jobs);

// Whether `name` matches `pattern`, in which * stands for any text.
bool matches(std::string_view pattern, std::string_view name);

std::string_view to_string(FieldSection section);
std::string_view to_string(Measure measure);
std::string_view to_string(Better better);
std::string_view to_string(BetterBy by);

}  // namespace podium
