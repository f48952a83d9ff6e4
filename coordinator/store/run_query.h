// Which runs, or experiments of MLflow, a search finds, and in which order. Values come from users: they are
// bound, and never become SQL.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "coordinator/store/run_change.h"

namespace podium {

// What a comparison reads.
enum class RunField {
  metric,  // the latest value
  param,
  tag,
  dataset_name,
  dataset_digest,
  dataset_context,
  run_id,
  name,
  user,
  status,
  artifact_uri,
  started,
  ended,
  group_created,  // of experiments, which have these, `name` and `tag`
  group_updated,
  group_id
};

enum class Compare { equal, not_equal, less, at_most, more, at_least, like, like_any_case, among, not_among };

struct Condition {
  RunField field = RunField::name;
  std::string key;  // of a metric, a param, a tag
  Compare compare = Compare::equal;
  std::variant<double, std::int64_t, std::string, std::vector<std::string>> value;

  bool operator==(const Condition&) const = default;
};

struct OrderBy {
  RunField field = RunField::started;
  std::string key;
  bool descending = false;

  bool operator==(const OrderBy&) const = default;
};

enum class Lifecycle { active, deleted, all };

struct RunQuery {
  std::string cluster;  // that its run ids begin with, 16 hex digits
  std::vector<RunGroupId> groups;
  std::vector<Condition> conditions;
  std::vector<OrderBy> order;
  Lifecycle lifecycle = Lifecycle::active;
  std::int64_t limit = 1000, offset = 0;
};

struct RunGroupQuery {
  std::vector<Condition> conditions;
  std::vector<OrderBy> order;
  Lifecycle lifecycle = Lifecycle::active;
  std::int64_t limit = 1000, offset = 0;
};

}  // namespace podium
