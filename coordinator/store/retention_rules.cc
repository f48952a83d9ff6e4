#include "coordinator/store/retention_rules.h"

namespace podium {

RetentionRules read_retention_rules(Database& database) {
  Statement rows(database,
                 "SELECT experiment, points_ms, history_ms, logs_ms, checkpoints_ms FROM retention_rules");
  RetentionRules rules;
  for (rows.start(); rows.next();) {
    RetentionRule& rule = rules[rows.text(0)];
    for (const Kept kept : kAllKept)
      if (const auto millis = rows.optional_integer(1 + static_cast<int>(kept)))
        rule[kept] = Duration(*millis);
  }
  return rules;
}

RetentionWriter::RetentionWriter(Database& database)
    : put_(database,
           "INSERT INTO retention_rules (experiment, points_ms, history_ms, logs_ms, checkpoints_ms)"
           " VALUES (?1, ?2, ?4, ?6, ?8) ON CONFLICT DO UPDATE SET"
           " points_ms = iif(?3, ?2, points_ms), history_ms = iif(?5, ?4, history_ms),"
           " logs_ms = iif(?7, ?6, logs_ms), checkpoints_ms = iif(?9, ?8, checkpoints_ms)"),
      remove_(database, "DELETE FROM retention_rules WHERE experiment = ?1"),
      remove_empty_(database,
                    "DELETE FROM retention_rules WHERE experiment = ?1 AND"
                    " coalesce(points_ms, history_ms, logs_ms, checkpoints_ms) IS NULL") {}

void RetentionWriter::take(const RetentionChange& change) {
  if (change.remove) return remove_.run(change.experiment);
  put_.start(change.experiment);
  for (const Kept kept : kAllKept) {
    const auto& to = change.to[kept];
    const int place = 2 + 2 * static_cast<int>(kept);
    put_.bind(place, to && *to ? std::optional((*to)->count()) : std::nullopt);
    put_.bind(place + 1, to.has_value());
  }
  put_.next();
  remove_empty_.run(change.experiment);
}

}  // namespace podium
