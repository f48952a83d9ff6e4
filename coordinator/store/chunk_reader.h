// Reads series from the tables of chunk_writer.h, on a reader's connection and in one read transaction. Of a
// damaged chunk it returns the points that its row and its roll-ups hold and counts the others as lost; of a
// damaged open row it counts all as lost.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "coordinator/store/chunks/roll_up.h"
#include "coordinator/store/sqlite.h"
#include "coordinator/tracking/series.h"

namespace podium {

// A closed chunk whose points have not been read.
struct ChunkRow {
  StoredPoint first, last;  // without their attempts
  RollUp all;
  std::string spans;  // packed; "": there are none
  std::int64_t data = 0;
};

class ChunkReader {
 public:
  ChunkReader(Database& database, std::int64_t series);

  std::vector<ChunkRow> chunks(const StepRange& range);  // that hold any of its steps
  std::vector<RollUp> blocks(const ChunkRow& chunk);
  std::vector<RollUp> spans(const ChunkRow& chunk);
  std::vector<StoredPoint> points(const ChunkRow& chunk, const StepRange& range);
  std::vector<StoredPoint> open(const StepRange& range);

  // At most `most` points, from this step on.
  std::vector<StoredPoint> some(std::int64_t from_step, std::size_t most);

  std::int64_t lost() const { return lost_; }  // of what was read so far

 private:
  std::int64_t series_;
  std::int64_t lost_ = 0;
  Statement chunks_, blocks_, points_, open_;
};

}  // namespace podium
