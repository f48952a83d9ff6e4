// Thins the curves of jobs that ended long ago, and deletes their history, in transactions small enough that
// a turn never waits long behind one. Counts, ends and extremes of a series stay (series_table.h), and so
// does the job. On the writer's thread; jobs are taken in the order in which they ended, those of each rule
// once a process and once more when the rules have changed. A job that is queued again meanwhile is let be.
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

  // A piece of work; false when there is none at the moment.
  bool prune(Time now);

  // The table of rules is another from the next piece on, also for the job at hand.
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
    std::optional<std::string> experiment;  // none: of those that no rule is for
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
  bool thin_piece();

  Database& database_;
  Retention usual_;
  Statement next_job_, has_ended_, delete_history_, delete_damaged_, long_series_;
  ChunkWriter chunks_;
  std::vector<Walk> rules_;        // empty: not read yet
  std::size_t next_walk_ = 0;      // of rules_
  Place history_, points_;         // the jobs at hand
  bool deleting_ = false;          // of history_.job there may be more
  std::deque<LongSeries> series_;  // of points_.job
};

}  // namespace podium
