// Thins the curves of jobs that ended long ago, and deletes their history, in transactions small enough that
// a turn never waits long behind one. Counts, ends and extremes of a series stay (series_table.h), and so
// does the job. On the writer's thread; jobs are taken in the order in which they ended, each once a process.
#pragma once

#include <deque>

#include "coordinator/store/chunk_writer.h"
#include "coordinator/store/retention.h"
#include "coordinator/store/sqlite.h"
#include "coordinator/tracking/series.h"

namespace podium {

class Pruner {
 public:
  Pruner(Database& database, const Retention& retention);

  // A piece of work; false when there is none at the moment.
  bool prune(Time now);

 private:
  // Walks through jobs by their end.
  struct Walk {
    std::int64_t ended_ms = -1;
    std::int64_t job = 0;
  };

  bool next_job(Walk& walk, std::int64_t until);
  bool delete_history(std::int64_t until);
  bool thin_points(std::int64_t until);
  bool thin_piece();

  Database& database_;
  Retention retention_;
  Statement next_job_, delete_history_, long_series_;
  ChunkWriter chunks_;
  Walk history_, points_;
  bool deleting_ = false;  // of history_.job there may be more

  struct LongSeries {
    std::int64_t id = 0, count = 0;
    std::int64_t next_step = 0;
  };
  std::deque<LongSeries> series_;  // of points_.job
};

}  // namespace podium
