// Writes the tables `open_points`, `chunks` and `chunk_data`, in the caller's transaction. Closed chunks are
// disjoint and lie below the open points, so a series is read one after the other. Points that arrive in
// order are written twice: when they arrive and when their chunk is closed. Points at steps that exist
// already replace the rows and chunks that they fall into; a few points replace only a piece of a chunk, so
// that steps that are logged again one by one cost no more than a piece each. Many rows become one. A point
// that a program has logged (of attempt 0) and a task's own replaces goes to the table `repeated_points`.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "coordinator/store/chunks/point.h"
#include "coordinator/store/sqlite.h"

namespace podium {

// Size of the open chunk of a series.
struct OpenChunk {
  std::int64_t rows = 0;
  std::int64_t points = 0;
};

class ChunkWriter {
 public:
  explicit ChunkWriter(Database& database);

  OpenChunk open_chunk(std::int64_t series);

  // `points`: by step, each step once, all beyond the steps of the series. Closes the open chunk when it is
  // full. Returns by how many points the series grew; damage makes this fewer than `points`, even negative.
  std::int64_t append(std::int64_t series, OpenChunk& open, std::span<const StoredPoint> points);

  // `points`: by step, each step once. An existing point stays where the new one is of an earlier attempt.
  // Returns by how many points the series grew.
  std::int64_t merge(std::int64_t series, OpenChunk& open, std::span<const StoredPoint> points);

  // Closes the open chunk. Points lost to damage stay in the count of the series.
  void close_open(std::int64_t series);

  // Makes a chunk of points, by step, that lie between two other chunks.
  void close(std::int64_t series, std::span<const StoredPoint> points);

  // Removes and returns the first closed chunk from this step on; empty where there is none.
  std::vector<StoredPoint> take_chunk(std::int64_t series, std::int64_t from_step);

 private:
  struct Closed {
    std::int64_t first_step = 0, last_step = 0, points = 0, data = 0;
    bool there = false;  // else there is no such chunk
  };

  std::vector<StoredPoint> merged(std::int64_t series, std::span<const StoredPoint> old,
                                  std::span<const StoredPoint> fresh);
  std::vector<StoredPoint> take_open(std::int64_t series, OpenChunk& open, std::int64_t from,
                                     std::int64_t to);
  void put_open(std::int64_t series, OpenChunk& open, std::span<const StoredPoint> points);
  std::int64_t close_with(std::int64_t series, OpenChunk& open, std::span<const StoredPoint> points);
  static Closed chunk_row(Statement& row);
  Closed chunk_at(std::int64_t series, std::int64_t step);
  Closed chunk_from(std::int64_t series, std::int64_t step);
  Result<std::vector<StoredPoint>> read(const Closed& chunk);
  std::vector<StoredPoint> take(std::int64_t series, const Closed& chunk);
  std::vector<StoredPoint> take_if_whole(std::int64_t series, const Closed& chunk);
  void set_aside(std::int64_t series, const Closed& chunk);
  void tell_damage(std::int64_t series, const std::string& what, const std::string& why);
  std::int64_t put_in_place(std::int64_t series, std::span<const StoredPoint> points);
  std::int64_t merge_into(std::int64_t series, const Closed& chunk, std::span<const StoredPoint> points,
                          bool is_last);
  void close_all(std::int64_t series, std::span<const StoredPoint> points, bool is_last);
  bool close_piece(std::int64_t series, std::span<const StoredPoint> all, std::span<const StoredPoint> points,
                   bool is_last);
  std::vector<StoredPoint> joined_before(std::int64_t series, std::span<const StoredPoint> points);
  void remove(std::int64_t series, const Closed& chunk);

  Database& database_;
  std::set<std::int64_t> on_damaged_pages_;  // rows of chunk_data, as far as they were met
  Statement count_open_, open_row_, read_open_, put_open_, delete_open_;
  Statement find_chunk_, next_chunk_, read_points_;
  Statement put_chunk_, put_data_, delete_chunk_, delete_data_;
  Statement keep_chunk_, keep_open_, name_of_, put_repeated_;
};

}  // namespace podium
