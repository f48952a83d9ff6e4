// Closes the open chunks of jobs that ended some time ago: as rows they take about twice the room. On the
// writer's thread, in transactions small enough that a turn never waits long behind one; jobs are taken in
// the order in which they ended, once a process.
#pragma once

#include <cstdint>
#include <vector>

#include "common/base/time.h"
#include "coordinator/store/chunk_writer.h"
#include "coordinator/store/sqlite.h"

namespace podium {

class ChunkCloser {
 public:
  explicit ChunkCloser(Database& database);

  // A piece of work; false when there is none at the moment.
  bool close(Time now);

 private:
  void close(const std::vector<std::int64_t>& series);
  bool next_job(Time now);
  std::vector<std::int64_t> open_series();

  Database& database_;
  Statement next_job_, open_series_;
  ChunkWriter chunks_;
  std::int64_t ended_ms_ = -1, job_ = 0;  // the last one taken
};

}  // namespace podium
