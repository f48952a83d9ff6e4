// The tables `open_points`, `chunks` and `chunk_data`, in the caller's transaction. Closed chunks are
// disjoint and lie below the open points, so that to read a series is to read one after the other. Points
// that come in order are written once when they come and once when their chunk is closed; points among those
// that are there close what is open at once, and replace the chunks that their steps fall into.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "coordinator/store/chunks/point.h"
#include "coordinator/store/sqlite.h"

namespace podium {

// Of the open chunk of a series.
struct OpenChunk {
  std::int64_t rows = 0;
  std::int64_t points = 0;
};

class ChunkWriter {
 public:
  explicit ChunkWriter(Database& database);

  OpenChunk open_chunk(std::int64_t series);

  // Points by step, each step once, all beyond those that the series has. Closes the chunk when it is full.
  void append(std::int64_t series, OpenChunk& open, std::span<const StoredPoint> points);

  // Points by step, each step once. A point that is there stays where the new one is of an earlier attempt.
  // Closes what is open. Returns by how many points the series grew.
  std::int64_t merge(std::int64_t series, OpenChunk& open, std::span<const StoredPoint> points);

  // Makes a chunk of points by step that lie between two others.
  void close(std::int64_t series, std::span<const StoredPoint> points);

  // Takes out the first closed chunk from this step on; empty where there is none.
  std::vector<StoredPoint> take_chunk(std::int64_t series, std::int64_t from_step);

 private:
  struct Closed {
    std::int64_t first_step = 0, last_step = 0, points = 0, data = 0;
    bool there = false;  // else there is no such chunk
  };

  std::vector<StoredPoint> take_open(std::int64_t series, OpenChunk& open);
  static Closed chunk_row(Statement& row);
  Closed chunk_at(std::int64_t series, std::int64_t step);
  Closed chunk_from(std::int64_t series, std::int64_t step);
  std::vector<StoredPoint> points_of(std::int64_t series, const Closed& chunk);
  std::int64_t put_in_place(std::int64_t series, std::span<const StoredPoint> points);
  std::int64_t merge_into(std::int64_t series, const Closed& chunk, std::span<const StoredPoint> points,
                          bool is_last);
  void remove(std::int64_t series, const Closed& chunk);

  Database& database_;
  Statement count_open_, read_open_, put_open_, delete_open_;
  Statement find_chunk_, next_chunk_, read_points_;
  Statement put_chunk_, put_data_, delete_chunk_, delete_data_;
};

}  // namespace podium
