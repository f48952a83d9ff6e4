// Closes the open chunks of ended jobs, because rows take about twice the room of chunks. Runs on the
// writer's thread, in transactions so small that no turn waits long behind one. Points that arrive for such a
// job later, and chunks that could not be closed, are left to the next walk.
#pragma once

#include <cstdint>

#include "coordinator/store/chunk_writer.h"
#include "coordinator/store/sqlite.h"

namespace podium {

class ChunkCloser {
 public:
  explicit ChunkCloser(Database& database);

  // Does a piece of the walk through all series with open points; false at its end.
  bool walk_on();

 private:
  Database& database_;
  Statement next_;
  ChunkWriter chunks_;
  std::int64_t series_ = 0;  // the last one looked at
};

}  // namespace podium
