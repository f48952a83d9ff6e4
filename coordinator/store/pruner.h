// Thins the curves of jobs that ended long ago and deletes their history, in transactions so small that no
// turn waits long behind one. The job stays, and so do the count, ends and extremes of each series
// (series_table.h). Runs on the writer's thread. Takes jobs in the order in which they ended, those of each
// rule once in a process and again after the rules change. A job that is queued again meanwhile is skipped.
#pragma once

#include <compare>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/store/chunk_writer.h"
#include "coordinator/store/retention.h"
#include "coordinator/store/sqlite.h"
#include "coordinator/tracking/series.h"

namespace podium {

class Pruner {
 public:
  Pruner(Database& database, const Retention& usual);

  // Does a piece of work; false where there is none at present.
  bool prune(Time now);

  // The rules have changed: from the next piece on the new ones apply, also to the current job.
  void rules_changed();

 private:
  // The place of a job in the order of their ends.
  struct Place {
    std::int64_t ended_ms = -1;
    std::int64_t job = 0;

    auto operator<=>(const Place&) const = default;
  };
  // Walks through the jobs of a rule by their end.
  struct Walk {
    std::optional<std::string> experiment;  // none: all that have no rule
    Retention keep;
    Place history = {}, points = {};
  };
  struct LongSeries {
    std::int64_t id = 0, count = 0;
    std::int64_t next_step = 0;
  };

  void read_rules();
  bool next_job(const Walk& walk, Place& place, std::int64_t until);
  bool has_ended(const Place& place);
  void delete_history();
  bool walk_on(Walk& walk, Time now);
  void begin_thinning();
  void thin();
  void delete_repeated();
  bool thin_piece();

  Database& database_;
  Retention usual_;
  Statement next_job_, has_ended_, delete_history_, delete_damaged_, long_series_, often_repeated_,
      delete_repeated_;
  ChunkWriter chunks_;
  std::vector<Walk> rules_;        // empty: not read yet
  std::size_t next_walk_ = 0;      // of rules_
  Place history_, points_;         // the current jobs
  bool deleting_ = false;          // of history_.job there may be more
  std::deque<LongSeries> series_;  // of points_.job, as those whose repeated points go
  std::deque<std::int64_t> repeated_;
};

}  // namespace podium
