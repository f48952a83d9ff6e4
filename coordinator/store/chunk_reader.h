// Series from the tables of chunk_writer.h, on a reader's connection and within one moment of the database.
// Of a damaged chunk the points that its row and its roll-ups tell of are there, and the rest are counted as
// lost; of a damaged open row all are.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "coordinator/store/chunks/roll_up.h"
#include "coordinator/store/sqlite.h"
#include "coordinator/tracking/series.h"

namespace podium {

// A closed chunk, unread.
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

  // From this step on, at most so many.
  std::vector<StoredPoint> some(std::int64_t from_step, std::size_t most);

  std::int64_t lost() const { return lost_; }  // of what was read so far

 private:
  std::int64_t series_;
  std::int64_t lost_ = 0;
  Statement chunks_, blocks_, points_, open_;
};

}  // namespace podium
