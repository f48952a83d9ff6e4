#include "coordinator/store/ledger_rows.h"

#include <vector>

namespace podium {
namespace {

constexpr int kJobsAtOnce = 20;

}  // namespace

LedgerRowsReader::LedgerRowsReader(Database& db)
    : job_(db, "SELECT command, devices FROM jobs WHERE id = ?1"),
      marks_(db, "SELECT time_ms, kind, attempt, devices, detail FROM job_marks WHERE job = ?1 ORDER BY n"),
      phases_(db,
              "SELECT attempt, time_ms, phase, step FROM phase_marks WHERE job = ?1 ORDER BY attempt, n") {}

LedgerRows LedgerRowsReader::read(JobId job) {
  LedgerRows rows;
  for (job_.start(job.value); job_.next();) {
    rows.command = job_.integer(0) != 0;
    rows.devices = job_.small(1);
  }
  for (marks_.start(job.value); marks_.next();)
    rows.marks.push_back({from_millis(marks_.integer(0)), job_mark_kind_from(marks_.text(1)), marks_.small(2),
                          marks_.small(3), marks_.text(4)});
  for (phases_.start(job.value); phases_.next();)
    rows.phases.push_back({phases_.small(0), from_millis(phases_.integer(1)),
                           ledger_kind_from(phases_.text(2)), phases_.optional_integer(3)});
  return rows;
}

LedgerTotals::LedgerTotals(Database& db)
    : database_(db),
      rows_(db),
      next_(db,
            "SELECT open.job FROM ledger_open AS open CROSS JOIN jobs ON jobs.id = open.job"
            " WHERE jobs.ended_ms IS NOT NULL LIMIT ?1"),
      forget_(db, "DELETE FROM ledger_totals WHERE job = ?1"),
      insert_(db,
              "INSERT INTO ledger_totals (job, attempt, day, kind, detail, devices, wall_ms)"
              " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)"),
      close_(db, "DELETE FROM ledger_open WHERE job = ?1") {}

bool LedgerTotals::settle() {
  std::vector<JobId> jobs;
  for (next_.start(kJobsAtOnce); next_.next();) jobs.push_back({next_.integer(0)});
  if (jobs.empty()) return false;
  Transaction transaction(database_);
  for (const JobId job : jobs) store(job);
  transaction.commit();
  return true;
}

void LedgerTotals::store(JobId job) {
  forget_.run(job.value);
  for (const auto& [bucket, wall] : sums_by_day(make_ledger(rows_.read(job), {})))
    insert_.run(job.value, bucket.attempt, bucket.day, to_string(bucket.kind), bucket.detail, bucket.devices,
                std::int64_t{wall.count()});
  close_.run(job.value);
}

}  // namespace podium
