// Reader: the ledger of a job, and the ledgers of many added up. Of jobs that have ended the totals are
// stored; of the others they are worked out here, in the same look at the database.
#include <functional>
#include <map>
#include <set>

#include "common/base/check.h"
#include "coordinator/store/ledger_rows.h"
#include "coordinator/store/reader.h"
#include "coordinator/store/sqlite.h"

namespace podium {
namespace {

struct JobPlace {
  JobId job;
  ExperimentId experiment;
  std::string name, experiment_name, account;
};

// The row of the table that a cell of a job's ledger belongs to, and how many of its devices count there.
struct Part {
  std::string key;
  std::int64_t devices = 0;
};

class TableBuilder {
 public:
  TableBuilder(Database& database, const LedgerFilter& filter)
      : filter_(filter),
        nodes_(
            database,
            "SELECT node, sum(1 + json_array_length(more_devices)) FROM tasks WHERE job = ?1 AND attempt = ?2"
            " GROUP BY node") {}

  void add(const JobPlace& place, const LedgerCell& cell, std::int64_t wall_ms) {
    if (cell.day < filter_.first_day.value_or(INT64_MIN)) return;
    if (cell.day > filter_.last_day.value_or(INT64_MAX)) return;
    for (const Part& part : parts_of(place, cell)) {
      LedgerRow& row = rows_[part.key];
      row.sums[{cell.kind, cell.detail}] += wall_ms * part.devices;
      name(row, place);
      count(row, jobs_[part.key], place);
    }
    all_.sums[{cell.kind, cell.detail}] += wall_ms * cell.devices;
    count(all_, all_jobs_, place);
  }

  LedgerTable finish() && {
    LedgerTable table{{}, std::move(all_)};
    for (auto& [key, row] : rows_) {
      row.key = key;
      table.rows.push_back(std::move(row));
    }
    return table;
  }

 private:
  void name(LedgerRow& row, const JobPlace& place) const {
    if (filter_.by == LedgerBy::job) row.name = place.name;
    if (filter_.by == LedgerBy::experiment) row.name = place.experiment_name;
  }

  static void count(LedgerRow& row, JobId& last, const JobPlace& place) {
    if (last != place.job) ++row.jobs;  // they come job by job
    last = place.job;
  }

  std::vector<Part> parts_of(const JobPlace& place, const LedgerCell& cell) {
    switch (filter_.by) {
      case LedgerBy::job:
        return {{to_string(place.job), cell.devices}};
      case LedgerBy::account:
        return {{place.account, cell.devices}};
      case LedgerBy::experiment:
        return {{to_string(place.experiment), cell.devices}};
      case LedgerBy::day:
        return {{std::to_string(cell.day), cell.devices}};
      case LedgerBy::node:
        return cell.attempt == 0 ? std::vector<Part>{{"", cell.devices}}
                                 : nodes_of({place.job, cell.attempt});
    }
    PODIUM_CHECK(false, "unknown LedgerBy");
  }

  const std::vector<Part>& nodes_of(AttemptId attempt) {
    if (attempt == attempt_) return parts_;
    attempt_ = attempt;
    parts_.clear();
    for (nodes_.start(attempt.job.value, attempt.number); nodes_.next();)
      parts_.push_back({nodes_.text(0), nodes_.integer(1)});
    return parts_;
  }

  const LedgerFilter& filter_;
  Statement nodes_;
  AttemptId attempt_{};
  std::vector<Part> parts_;  // of attempt_
  std::map<std::string, LedgerRow> rows_;
  std::map<std::string, JobId> jobs_;  // the last that was added to each
  LedgerRow all_;
  JobId all_jobs_{};
};

// Jobs of the filter: ?1 an account and those below it (between "nlp/" and "nlp0", '0' following '/'), ?2 an
// experiment.
constexpr const char* kChosen =
    "SELECT j.id AS id, j.experiment, j.name, e.name, j.account FROM jobs j JOIN experiments e ON e.id = "
    "j.experiment"
    " WHERE NOT j.tracked AND (?1 = '' OR j.account = ?1 OR (j.account > ?1 || '/' AND j.account < ?1 || "
    "'0'))"
    " AND (?2 = 0 OR j.experiment = ?2)";

JobPlace place_of(Statement& row) {
  return {{row.integer(0)}, {row.integer(1)}, row.text(2), row.text(3), row.text(4)};
}

}  // namespace

LedgerRows Reader::ledger(JobId job) {
  const ReadTransaction moment(*database_);
  return LedgerRowsReader(*database_).read(job);
}

LedgerTable Reader::ledger_table(const LedgerFilter& filter, Time now) {
  const ReadTransaction moment(*database_);
  const std::int64_t experiment = filter.experiment ? filter.experiment->value : 0;
  TableBuilder table(*database_, filter);
  // Without days all are read, in the order of the table.
  const bool some_days = filter.first_day || filter.last_day;
  Statement stored(*database_,
                   "SELECT c.*, t.attempt, t.day, t.kind, t.detail, t.devices, t.wall_ms FROM (" +
                       std::string(kChosen) +
                       ") c JOIN ledger_totals t ON t.job = c.id"
                       " WHERE " +
                       (some_days ? "" : "+") +
                       "t.day BETWEEN ?3 AND ?4 AND c.id NOT IN (SELECT job FROM ledger_open) ORDER BY c.id");
  const std::int64_t first_day = filter.first_day.value_or(INT64_MIN);
  const std::int64_t last_day = filter.last_day.value_or(INT64_MAX);
  for (stored.start(filter.account, experiment, first_day, last_day); stored.next();)
    table.add(place_of(stored),
              {stored.small(5), stored.integer(6), ledger_kind_from(stored.text(7)), stored.text(8),
               stored.small(9)},
              stored.integer(10));
  LedgerRowsReader rows(*database_);
  Statement open(*database_, std::string(kChosen) + " AND j.id IN (SELECT job FROM ledger_open)");
  for (open.start(filter.account, experiment); open.next();) {
    const JobPlace place = place_of(open);
    for (const auto& [bucket, wall] : sums_by_day(make_ledger(rows.read(place.job), now)))
      table.add(place, bucket, wall.count());
  }
  return std::move(table).finish();
}

}  // namespace podium
