#include "coordinator/store/chunk_writer.h"

#include <algorithm>
#include <optional>

#include "coordinator/store/chunk_errors.h"
#include "coordinator/store/chunks/codec.h"
#include "coordinator/store/chunks/roll_up.h"

namespace podium {
namespace {

// Then the open chunk is closed even though it is not full, for what is read row by row should be few rows.
constexpr std::int64_t kMostOpenRows = 64;

// Both by step. Of a step that both have, the one of the later attempt, and of one attempt the new one.
std::vector<StoredPoint> merged(std::span<const StoredPoint> old, std::span<const StoredPoint> fresh) {
  std::vector<StoredPoint> all;
  all.reserve(old.size() + fresh.size());
  auto a = old.begin();
  auto b = fresh.begin();
  while (a != old.end() && b != fresh.end()) {
    if (a->step < b->step) {
      all.push_back(*a++);
    } else if (b->step < a->step) {
      all.push_back(*b++);
    } else {
      all.push_back(b->attempt >= a->attempt ? *b : *a);
      ++a, ++b;
    }
  }
  all.insert(all.end(), a, old.end());
  all.insert(all.end(), b, fresh.end());
  return all;
}

template <class T>
std::optional<T> part(const std::optional<StoredPoint>& point, T StoredPoint::*member) {
  return point ? std::optional((*point).*member) : std::nullopt;
}

}  // namespace

ChunkWriter::ChunkWriter(Database& db)
    : database_(db),
      count_open_(db, "SELECT count(*), coalesce(sum(count), 0) FROM open_points WHERE series = ?1"),
      read_open_(db, "SELECT points FROM open_points WHERE series = ?1 ORDER BY first_step"),
      put_open_(db, "INSERT INTO open_points (series, first_step, count, points) VALUES (?1, ?2, ?3, ?4)"),
      delete_open_(db, "DELETE FROM open_points WHERE series = ?1"),
      find_chunk_(
          db,
          "SELECT first_step, last_step, points, data FROM chunks WHERE series = ?1 AND first_step <= ?2"
          " ORDER BY first_step DESC LIMIT 1"),
      next_chunk_(
          db,
          "SELECT first_step, last_step, points, data FROM chunks WHERE series = ?1 AND first_step >= ?2"
          " ORDER BY first_step LIMIT 1"),
      read_points_(db, "SELECT points FROM chunk_data WHERE id = ?1"),
      put_chunk_(
          db,
          "INSERT INTO chunks (series, first_step, last_step, points, numbers, sum, first_ms, first_value,"
          " last_ms, last_value, low_step, low_ms, low_value, high_step, high_ms, high_value, broken_step,"
          " broken_ms, data) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16,"
          " ?17, ?18, ?19)"),
      put_data_(db, "INSERT INTO chunk_data (blocks, points) VALUES (?1, ?2)"),
      delete_chunk_(db, "DELETE FROM chunks WHERE series = ?1 AND first_step = ?2"),
      delete_data_(db, "DELETE FROM chunk_data WHERE id = ?1") {}

OpenChunk ChunkWriter::open_chunk(std::int64_t series) {
  OpenChunk open;
  for (count_open_.start(series); count_open_.next();)
    open = {count_open_.integer(0), count_open_.integer(1)};
  return open;
}

std::vector<StoredPoint> ChunkWriter::take_open(std::int64_t series, OpenChunk& open) {
  std::vector<StoredPoint> points;
  points.reserve(static_cast<std::size_t>(open.points));
  for (read_open_.start(series); read_open_.next();) {
    const auto more = whole(decode_points(read_open_.blob(0)), series);
    points.insert(points.end(), more.begin(), more.end());
  }
  if (!points.empty()) delete_open_.run(series);
  open = {};
  return points;
}

void ChunkWriter::append(std::int64_t series, OpenChunk& open, std::span<const StoredPoint> points) {
  const auto count = std::ssize(points);
  if (open.rows + 1 >= kMostOpenRows || open.points + count >= static_cast<std::int64_t>(kPointsInChunk)) {
    merge(series, open, points);
    return;
  }
  const std::string packed = encode_points(points);
  put_open_.run(series, points.front().step, count, Blob{packed});
  ++open.rows;
  open.points += count;
}

std::int64_t ChunkWriter::merge(std::int64_t series, OpenChunk& open, std::span<const StoredPoint> points) {
  const std::vector<StoredPoint> opened = take_open(series, open);
  const std::vector<StoredPoint> all = merged(opened, points);
  return put_in_place(series, all) - std::ssize(opened);
}

// Each chunk has the steps from its first to that of the next, the first one all before as well.
std::int64_t ChunkWriter::put_in_place(std::int64_t series, std::span<const StoredPoint> points) {
  std::int64_t grown = 0;
  while (!points.empty()) {
    Closed chunk = chunk_at(series, points.front().step);
    if (!chunk.there) chunk = chunk_from(series, points.front().step);
    const Closed next =
        chunk.there && chunk.first_step < INT64_MAX ? chunk_from(series, chunk.first_step + 1) : Closed{};
    const auto end =
        next.there ? std::ranges::lower_bound(points, next.first_step, {}, &StoredPoint::step) : points.end();
    const auto count = static_cast<std::size_t>(end - points.begin());
    grown += merge_into(series, chunk, points.first(count), !next.there);
    points = points.subspan(count);
  }
  return grown;
}

std::int64_t ChunkWriter::merge_into(std::int64_t series, const Closed& chunk,
                                     std::span<const StoredPoint> points, bool is_last) {
  const bool apart = points.front().step > chunk.last_step || points.back().step < chunk.first_step;
  const bool full = chunk.points >= static_cast<std::int64_t>(kPointsInChunk);
  std::vector<StoredPoint> old;
  if (chunk.there && !(full && apart)) {
    old = points_of(series, chunk);
    remove(series, chunk);
  }
  const std::vector<StoredPoint> all = merged(old, points);
  // At the end more will follow: whole chunks, and one with the rest. Elsewhere equal parts, with room in
  // each.
  const std::size_t parts = (all.size() + kPointsInChunk - 1) / kPointsInChunk;
  const std::size_t most = is_last ? kPointsInChunk : (all.size() + parts - 1) / parts;
  for (std::span<const StoredPoint> rest = all; !rest.empty();
       rest = rest.subspan(std::min(most, rest.size())))
    close(series, rest.first(std::min(most, rest.size())));
  return std::ssize(all) - std::ssize(old);
}

ChunkWriter::Closed ChunkWriter::chunk_row(Statement& row) {
  if (!row.next()) return {};
  const Closed chunk{row.integer(0), row.integer(1), row.integer(2), row.integer(3), true};
  row.start();
  return chunk;
}

// That has the step, or all before it.
ChunkWriter::Closed ChunkWriter::chunk_at(std::int64_t series, std::int64_t step) {
  return chunk_row(find_chunk_.start(series, step));
}

ChunkWriter::Closed ChunkWriter::chunk_from(std::int64_t series, std::int64_t step) {
  return chunk_row(next_chunk_.start(series, step));
}

std::vector<StoredPoint> ChunkWriter::points_of(std::int64_t series, const Closed& chunk) {
  const bool found = read_points_.start(chunk.data).next();
  auto points = whole(decode_points(found ? read_points_.blob(0) : ""), series);
  read_points_.start();
  return points;
}

void ChunkWriter::remove(std::int64_t series, const Closed& chunk) {
  delete_chunk_.run(series, chunk.first_step);
  delete_data_.run(chunk.data);
}

void ChunkWriter::close(std::int64_t series, std::span<const StoredPoint> points) {
  const RollUp all = roll_up(points);
  const std::string blocks = encode_roll_ups(roll_up_blocks(points));
  const std::string packed = encode_points(points);
  put_data_.run(Blob{blocks}, Blob{packed});
  put_chunk_.run(series, points.front().step, points.back().step, all.points, all.numbers, all.sum,
                 points.front().time_ms, points.front().value, points.back().time_ms, points.back().value,
                 part(all.low, &StoredPoint::step), part(all.low, &StoredPoint::time_ms),
                 part(all.low, &StoredPoint::value), part(all.high, &StoredPoint::step),
                 part(all.high, &StoredPoint::time_ms), part(all.high, &StoredPoint::value),
                 part(all.broken, &StoredPoint::step), part(all.broken, &StoredPoint::time_ms),
                 database_.last_insert_id());
}

std::vector<StoredPoint> ChunkWriter::take_chunk(std::int64_t series, std::int64_t from_step) {
  const Closed chunk = chunk_from(series, from_step);
  if (!chunk.there) return {};
  std::vector<StoredPoint> points = points_of(series, chunk);
  remove(series, chunk);
  return points;
}

}  // namespace podium
