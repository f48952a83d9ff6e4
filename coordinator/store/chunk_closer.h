// Closes the open chunks of jobs that have ended: as rows they take about twice the room. On the writer's
// thread, in transactions small enough that a turn never waits long behind one. What comes for such a job
// later is closed when the walk comes by again; what cannot be is left to that as well.
#pragma once

#include <cstdint>

#include "coordinator/store/chunk_writer.h"
#include "coordinator/store/sqlite.h"

namespace podium {

class ChunkCloser {
 public:
  explicit ChunkCloser(Database& database);

  // A piece of the walk through all series with open points; false at its end.
  bool walk_on();

 private:
  Database& database_;
  Statement next_;
  ChunkWriter chunks_;
  std::int64_t series_ = 0;  // the last one looked at
};

}  // namespace podium
