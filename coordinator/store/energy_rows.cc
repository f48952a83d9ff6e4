#include "coordinator/store/energy_rows.h"

#include <algorithm>
#include <vector>

namespace podium {
namespace {

constexpr int kRowsDeletedAtOnce = 1000;
// By then a target that was reached before the end has been reported.
constexpr Duration kKeepMinutes = std::chrono::days(7);
constexpr std::int64_t kMinute = Duration(std::chrono::minutes(1)).count();

}  // namespace

EnergyRows::EnergyRows(Database& database)
    : database_(database),
      add_(database,
           "INSERT INTO energy (job, attempt, minute, from_ms, to_ms, joules, covered_ms, shared_ms)"
           " SELECT ?1, ?2, ?3 / 60000, ?3, ?4, ?5 + coalesce(before.joules, 0),"
           " ?6 + coalesce(before.covered_ms, 0), ?7 + coalesce(before.shared_ms, 0) FROM (SELECT 1)"
           " LEFT JOIN (SELECT joules, covered_ms, shared_ms FROM energy WHERE job = ?1 AND attempt = ?2"
           "  AND minute < ?3 / 60000 ORDER BY minute DESC LIMIT 1) AS before"
           " WHERE true ON CONFLICT DO UPDATE SET"
           " from_ms = min(from_ms, excluded.from_ms), to_ms = max(to_ms, excluded.to_ms),"
           " joules = joules + ?5, covered_ms = covered_ms + ?6, shared_ms = shared_ms + ?7"),
      add_later_(database,
                 "UPDATE energy SET joules = joules + ?4, covered_ms = covered_ms + ?5,"
                 " shared_ms = shared_ms + ?6 WHERE job = ?1 AND attempt = ?2 AND minute > ?3 / 60000"),
      next_job_(
          database,
          "SELECT ended_ms, id, coalesce(target_reached_ms, ended_ms) FROM jobs WHERE ended_ms IS NOT NULL"
          " AND (ended_ms, id) > (?1, ?2) AND ended_ms <= ?3 ORDER BY ended_ms, id LIMIT 1"),
      attempts_(database, "SELECT number FROM attempts WHERE job = ?1 AND ended_ms IS NOT NULL"),
      last_(database, "SELECT max(minute) FROM energy WHERE job = ?1 AND attempt = ?2"),
      around_(database,
              "SELECT minute FROM energy WHERE job = ?1 AND attempt = ?2 AND minute <= ?3"
              " ORDER BY minute DESC LIMIT 1 OFFSET ?4"),
      delete_(database,
              "DELETE FROM energy WHERE job = ?1 AND attempt = ?2 AND minute IN (SELECT minute FROM energy"
              " WHERE job = ?1 AND attempt = ?2 AND minute >= ?3 AND minute < ?4 LIMIT ?5)") {}

void EnergyRows::add(const DrawnEnergy& drawn) {
  const std::int64_t job = drawn.attempt.job.value, from = to_millis(drawn.from);
  const int attempt = drawn.attempt.number;
  add_.run(job, attempt, from, to_millis(drawn.to), drawn.joules, drawn.covered_ms, drawn.shared_ms);
  // One of several nodes may report an earlier minute than another has reported.
  add_later_.run(job, attempt, from, drawn.joules, drawn.covered_ms, drawn.shared_ms);
}

bool EnergyRows::thin(Time now) {
  if (!thinning_ && !next_job(to_millis(now - kKeepMinutes))) return false;
  thinning_ = thin_job();
  return true;
}

bool EnergyRows::next_job(std::int64_t until) {
  bool found = false;
  for (next_job_.start(place_.ended_ms, place_.job, until); next_job_.next(); found = true)
    place_ = {next_job_.integer(0), next_job_.integer(1), next_job_.integer(2)};
  return found;
}

// A job that is queued again has an attempt that has not ended.
bool EnergyRows::thin_job() {
  std::vector<int> attempts;
  for (attempts_.start(place_.job); attempts_.next();) attempts.push_back(attempts_.small(0));
  const std::int64_t reached = place_.reached_ms / kMinute;
  for (const int attempt : attempts) {
    std::optional<std::int64_t> last, around;
    for (last_.start(place_.job, attempt); last_.next();) last = last_.optional_integer(0);
    if (!last) continue;
    for (around_.start(place_.job, attempt, reached, kMinutesAround - 1); around_.next();)
      around = around_.integer(0);
    if (delete_between(attempt, reached + 1, *last)) return true;
    if (delete_between(attempt, 0, std::min(around.value_or(0), *last))) return true;
  }
  return false;
}

// Whether there may be more.
bool EnergyRows::delete_between(int attempt, std::int64_t first, std::int64_t end) {
  if (first >= end) return false;
  delete_.run(place_.job, attempt, first, end, kRowsDeletedAtOnce);
  return sqlite3_changes(database_.handle()) == kRowsDeletedAtOnce;
}

}  // namespace podium
