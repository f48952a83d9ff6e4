#include "coordinator/store/chunk_reader.h"

#include <algorithm>

#include "coordinator/store/chunks/codec.h"

namespace podium {
namespace {

// Decodes in place what `find` selects of the chunk's data. Damaged pages of the database are errors, as
// damaged bytes are.
template <class Decode>
auto decoded(Statement& find, const ChunkRow& chunk, const Decode& decode)
    -> decltype(decode(std::string_view())) try {
  const bool found = find.start(chunk.data).next();
  auto result = decode(found ? find.blob(0) : std::string_view());
  find.start();
  return result;
} catch (const SqliteError& error) {
  if (!error.is_damage()) throw;
  return damaged(error.what());
}

std::optional<StoredPoint> mark(Statement& row, int column) {
  if (row.is_null(column)) return std::nullopt;
  return StoredPoint{row.integer(column), row.integer(column + 1), row.real(column + 2), 0};
}

ChunkRow chunk_row(Statement& row) {
  ChunkRow chunk{{row.integer(0), row.integer(1), row.real(2), 0},
                 {row.integer(3), row.integer(4), row.real(5), 0},
                 {row.integer(6), row.integer(7), row.real(8), mark(row, 9), mark(row, 12), mark(row, 15)},
                 std::string(row.blob(18)),
                 row.integer(19)};
  return chunk;
}

// The points of a chunk that its row and its roll-ups contain.
std::vector<StoredPoint> marks_of(const ChunkRow& chunk, const std::vector<RollUp>& runs) {
  std::vector<StoredPoint> marks{chunk.first, chunk.last};
  for (const RollUp& run : runs)
    for (const auto& point : {run.low, run.high, run.broken})
      if (point) marks.push_back(*point);
  std::ranges::sort(marks, {}, &StoredPoint::step);
  const auto twice = std::ranges::unique(marks, {}, &StoredPoint::step);
  marks.erase(twice.begin(), twice.end());
  return marks;
}

}  // namespace

ChunkReader::ChunkReader(Database& db, std::int64_t series)
    : series_(series),
      // Begins with the last chunk that begins no later than the range.
      chunks_(
          db,
          "SELECT first_step, first_ms, first_value, last_step, last_ms, last_value, points, numbers, sum,"
          " low_step, low_ms, low_value, high_step, high_ms, high_value, broken_step, broken_ms, NULL, "
          "spans, data"
          " FROM chunks WHERE series = ?1 AND first_step <= ?3 AND last_step >= ?2 AND first_step >="
          " coalesce((SELECT max(first_step) FROM chunks WHERE series = ?1 AND first_step <= ?2), ?2)"
          " ORDER BY first_step"),
      blocks_(db, "SELECT blocks FROM chunk_data WHERE id = ?1"),
      points_(db, "SELECT points FROM chunk_data WHERE id = ?1"),
      open_(db,
            "SELECT points, count FROM open_points WHERE series = ?1 AND first_step <= ?2"
            " ORDER BY first_step") {}

std::vector<ChunkRow> ChunkReader::chunks(const StepRange& range) {
  std::vector<ChunkRow> rows;
  for (chunks_.start(series_, range.first, range.last); chunks_.next();) rows.push_back(chunk_row(chunks_));
  return rows;
}

// The shortest runs that can be read.
std::vector<RollUp> ChunkReader::blocks(const ChunkRow& chunk) {
  auto blocks = decoded(blocks_, chunk, decode_roll_ups);
  if (blocks) return std::move(blocks).value();
  auto spans = decode_roll_ups(chunk.spans);
  return spans ? std::move(spans).value() : std::vector{chunk.all};
}

std::vector<RollUp> ChunkReader::spans(const ChunkRow& chunk) {
  auto spans = decode_roll_ups(chunk.spans);
  return spans ? std::move(spans).value() : joined(blocks(chunk), kPointsInSpan / kPointsInBlock);
}

std::vector<StoredPoint> ChunkReader::points(const ChunkRow& chunk, const StepRange& range) {
  auto all = decoded(points_, chunk, decode_points);
  std::vector<StoredPoint> points = all ? std::move(all).value() : marks_of(chunk, blocks(chunk));
  lost_ += chunk.all.points - std::ssize(points);
  if (!range.holds(chunk.first.step) || !range.holds(chunk.last.step))
    std::erase_if(points, [&](const StoredPoint& point) { return !range.holds(point.step); });
  return points;
}

std::vector<StoredPoint> ChunkReader::open(const StepRange& range) {
  std::vector<StoredPoint> points;
  for (open_.start(series_, range.last); open_.next();) {
    const auto row = decode_points(open_.blob(0));
    if (!row) {
      lost_ += open_.integer(1);
      continue;
    }
    for (const StoredPoint& point : *row)
      if (range.holds(point.step)) points.push_back(point);
  }
  return points;
}

std::vector<StoredPoint> ChunkReader::some(std::int64_t from_step, std::size_t most) {
  const StepRange range{from_step, INT64_MAX};
  std::vector<StoredPoint> found;
  for (chunks_.start(series_, range.first, range.last); found.size() < most && chunks_.next();) {
    const auto more = points(chunk_row(chunks_), range);
    found.insert(found.end(), more.begin(), more.end());
  }
  chunks_.start();
  if (found.size() < most) {
    const auto more = open(range);
    found.insert(found.end(), more.begin(), more.end());
  }
  found.resize(std::min(found.size(), most));
  return found;
}

}  // namespace podium
