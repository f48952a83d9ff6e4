#include "coordinator/store/chunk_writer.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <optional>

#include "coordinator/store/chunks/codec.h"
#include "coordinator/store/chunks/roll_up.h"
#include "coordinator/store/repeated_points.h"

namespace podium {
namespace {

// At this number the rows of the open chunk become one, because few rows are read faster.
constexpr std::int64_t kMostOpenRows = 64;

// Where a few steps of a chunk are logged again, only a piece of about this many points is rewritten, because
// more are likely to follow there. A chunk of up to kWholeChunk points is rewritten whole.
constexpr std::size_t kPointsInPiece = 2 * kPointsInBlock;
constexpr std::size_t kWholeChunk = 4 * kPointsInPiece;

bool has_room(const OpenChunk& open, std::int64_t rows, std::span<const StoredPoint> points) {
  return open.rows + rows < kMostOpenRows &&
         open.points + std::ssize(points) < static_cast<std::int64_t>(kPointsInChunk);
}

constexpr std::int64_t kNoData = -1;  // no row of chunk_data has this id

struct Cut {
  std::size_t begin = 0, end = 0;
};

// The piece of `all` that contains `points`, or all where these lie far apart or `all` is small. Pieces lie
// on a grid, so that a chunk is cut a few dozen times at most.
Cut cut_around(std::span<const StoredPoint> all, std::span<const StoredPoint> points) {
  const Cut whole{0, all.size()};
  if (all.size() <= kWholeChunk) return whole;
  const auto place = [&](std::int64_t step) {
    const auto found = std::ranges::lower_bound(all, step, {}, &StoredPoint::step);
    return static_cast<std::size_t>(found - all.begin());
  };
  Cut cut{place(points.front().step) / kPointsInPiece * kPointsInPiece,
          (place(points.back().step) / kPointsInPiece + 1) * kPointsInPiece};
  if (cut.end + kPointsInPiece > all.size()) cut.end = all.size();
  return cut.end - cut.begin > kWholeChunk - kPointsInPiece ? whole : cut;
}

template <class T>
std::optional<T> part(const std::optional<StoredPoint>& point, T StoredPoint::*member) {
  return point ? std::optional((*point).*member) : std::nullopt;
}

}  // namespace

ChunkWriter::ChunkWriter(Database& db)
    : database_(db),
      count_open_(db, "SELECT count(*), coalesce(sum(count), 0) FROM open_points WHERE series = ?1"),
      open_row_(db, "SELECT max(first_step) FROM open_points WHERE series = ?1 AND first_step <= ?2"),
      read_open_(db,
                 "SELECT points, first_step, count FROM open_points WHERE series = ?1"
                 " AND first_step BETWEEN ?2 AND ?3 ORDER BY first_step"),
      put_open_(db, "INSERT INTO open_points (series, first_step, count, points) VALUES (?1, ?2, ?3, ?4)"),
      delete_open_(db, "DELETE FROM open_points WHERE series = ?1 AND first_step BETWEEN ?2 AND ?3"),
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
          " broken_ms, data, spans) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14,"
          " ?15, ?16, ?17, ?18, ?19, ?20)"),
      put_data_(db, "INSERT INTO chunk_data (blocks, points) VALUES (?1, ?2)"),
      delete_chunk_(db, "DELETE FROM chunks WHERE series = ?1 AND first_step = ?2"),
      delete_data_(db, "DELETE FROM chunk_data WHERE id = ?1"),
      keep_chunk_(db,
                  "INSERT INTO damaged_chunks (series, first_step, last_step, count, blocks, points)"
                  " SELECT ?1, ?2, ?3, ?4, d.blocks, d.points FROM (SELECT 1)"
                  " LEFT JOIN chunk_data d ON d.id = ?5"),
      keep_open_(db,
                 "INSERT INTO damaged_chunks (series, first_step, count, points)"
                 " SELECT series, first_step, count, points FROM open_points"
                 " WHERE series = ?1 AND first_step = ?2"),
      name_of_(db, "SELECT job, key FROM series WHERE id = ?1"),
      put_repeated_(db, kPutRepeatedPoint) {}

// Merges two lists by step. At a step of both, the point of the later attempt stays; of one attempt the new
// point.
std::vector<StoredPoint> ChunkWriter::merged(std::int64_t series, std::span<const StoredPoint> old,
                                             std::span<const StoredPoint> fresh) {
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
      if (a->attempt == 0 && b->attempt > 0)
        put_repeated_.run(series, a->step, a->time_ms, bits_of_value(a->value));
      all.push_back(b->attempt >= a->attempt ? *b : *a);
      ++a, ++b;
    }
  }
  all.insert(all.end(), a, old.end());
  all.insert(all.end(), b, fresh.end());
  return all;
}

OpenChunk ChunkWriter::open_chunk(std::int64_t series) {
  OpenChunk open;
  for (count_open_.start(series); count_open_.next();)
    open = {count_open_.integer(0), count_open_.integer(1)};
  return open;
}

// The open rows that begin in this range.
std::vector<StoredPoint> ChunkWriter::take_open(std::int64_t series, OpenChunk& open, std::int64_t from,
                                                std::int64_t to) {
  std::vector<StoredPoint> points;
  for (read_open_.start(series, from, to); read_open_.next();) {
    const auto more = decode_points(read_open_.blob(0));
    if (more) {
      points.insert(points.end(), more->begin(), more->end());
    } else {
      keep_open_.run(series, read_open_.integer(1));
      tell_damage(series, "what came from step " + std::to_string(read_open_.integer(1)) + " on",
                  more.errors().front().message);
    }
    --open.rows;
    open.points -= read_open_.integer(2);
  }
  delete_open_.run(series, from, to);
  return points;
}

void ChunkWriter::put_open(std::int64_t series, OpenChunk& open, std::span<const StoredPoint> points) {
  if (points.empty()) return;
  const std::string packed = encode_points(points);
  put_open_.run(series, points.front().step, std::int64_t{std::ssize(points)}, Blob{packed});
  ++open.rows;
  open.points += std::ssize(points);
}

std::int64_t ChunkWriter::append(std::int64_t series, OpenChunk& open, std::span<const StoredPoint> points) {
  if (has_room(open, 1, points)) {
    put_open(series, open, points);
    return std::ssize(points);
  }
  open = open_chunk(series);
  const std::int64_t opened = open.points;
  const std::vector<StoredPoint> all = merged(series, take_open(series, open, INT64_MIN, INT64_MAX), points);
  const auto closed = std::span(all).first(all.size() / kPointsInChunk * kPointsInChunk);
  const auto rest = std::span(all).subspan(closed.size());
  const std::int64_t grown = put_in_place(series, closed);
  put_open(series, open, rest);
  return grown + std::ssize(rest) - opened;
}

std::int64_t ChunkWriter::merge(std::int64_t series, OpenChunk& open, std::span<const StoredPoint> points) {
  if (!has_room(open, 2, points)) return close_with(series, open, points);
  std::optional<std::int64_t> row;
  for (open_row_.start(series, points.front().step); open_row_.next();) row = open_row_.optional_integer(0);
  if (!row) return close_with(series, open, points);
  const std::int64_t before = open.points;
  const std::vector<StoredPoint> all =
      merged(series, take_open(series, open, *row, points.back().step), points);
  const Cut cut = cut_around(all, points);
  const std::span<const StoredPoint> rest = all;
  put_open(series, open, rest.first(cut.begin));
  put_open(series, open, rest.subspan(cut.begin, cut.end - cut.begin));
  put_open(series, open, rest.subspan(cut.end));
  return open.points - before;
}

void ChunkWriter::close_open(std::int64_t series) {
  OpenChunk open;
  close_with(series, open, {});
}

std::int64_t ChunkWriter::close_with(std::int64_t series, OpenChunk& open,
                                     std::span<const StoredPoint> points) {
  open = open_chunk(series);  // whoever closes chunks knows nothing of those that others have in mind
  const std::int64_t opened = open.points;
  const std::vector<StoredPoint> all = merged(series, take_open(series, open, INT64_MIN, INT64_MAX), points);
  return put_in_place(series, all) - opened;
}

// A chunk covers the steps from its first to that of the next chunk; the first chunk also covers all earlier
// steps.
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
  std::int64_t lost = 0;
  if (chunk.there && apart && !full) old = take_if_whole(series, chunk);
  if (chunk.there && !apart) {
    old = take(series, chunk);
    lost = chunk.points - std::ssize(old);
  }
  const std::vector<StoredPoint> all = merged(series, old, points);
  if (old.empty() || apart || !close_piece(series, all, points, is_last)) close_all(series, all, is_last);
  return std::ssize(all) - std::ssize(old) - lost;
}

// At the end of a series more points will follow: makes full chunks and one with the rest. Elsewhere makes
// equal parts, with room in each.
void ChunkWriter::close_all(std::int64_t series, std::span<const StoredPoint> points, bool is_last) {
  if (points.empty()) return;
  const std::size_t parts = (points.size() + kPointsInChunk - 1) / kPointsInChunk;
  const std::size_t most = is_last ? kPointsInChunk : (points.size() + parts - 1) / parts;
  for (; !points.empty(); points = points.subspan(std::min(most, points.size())))
    close(series, points.first(std::min(most, points.size())));
}

// Cuts out the piece of a chunk that has the points just logged, for the next such to find it small; false
// where they are many, or the chunk is.
bool ChunkWriter::close_piece(std::int64_t series, std::span<const StoredPoint> all,
                              std::span<const StoredPoint> points, bool is_last) {
  const Cut cut = cut_around(all, points);
  if (cut.end - cut.begin == all.size()) return false;
  const std::span<const StoredPoint> before = all.first(cut.begin);
  if (is_last && cut.end == all.size())
    close_all(series, joined_before(series, before), false);
  else
    close_all(series, before, false);
  close_all(series, all.subspan(cut.begin, cut.end - cut.begin), is_last);
  close_all(series, all.subspan(cut.end), is_last);
  return true;
}

// Small remainders of a growing series are joined with the chunk before.
std::vector<StoredPoint> ChunkWriter::joined_before(std::int64_t series,
                                                    std::span<const StoredPoint> points) {
  std::vector<StoredPoint> joined;
  if (!points.empty()) {
    const Closed chunk = chunk_at(series, points.front().step);
    if (chunk.there && chunk.points + std::ssize(points) <= static_cast<std::int64_t>(kPointsInChunk))
      joined = take_if_whole(series, chunk);
  }
  joined.insert(joined.end(), points.begin(), points.end());
  return joined;
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

// Damaged pages spoil the transaction in which they are read: it fails, and the next leaves them alone.
Result<std::vector<StoredPoint>> ChunkWriter::read(const Closed& chunk) try {
  if (on_damaged_pages_.contains(chunk.data)) return damaged("pages of the database are");
  const bool found = read_points_.start(chunk.data).next();
  auto points = decode_points(found ? read_points_.blob(0) : "");
  read_points_.start();
  return points;
} catch (const SqliteError& error) {
  if (error.is_damage()) on_damaged_pages_.insert(chunk.data);
  throw;
}

// Returns nothing of a damaged chunk, which stays, because its row still has some of its data.
std::vector<StoredPoint> ChunkWriter::take_if_whole(std::int64_t series, const Closed& chunk) {
  auto points = read(chunk);
  if (!points) return {};
  remove(series, chunk);
  return std::move(points).value();
}

// Returns nothing of a damaged chunk, which is set aside, so that its series and all others in the batch go
// on.
std::vector<StoredPoint> ChunkWriter::take(std::int64_t series, const Closed& chunk) {
  auto points = read(chunk);
  if (points) {
    remove(series, chunk);
    return std::move(points).value();
  }
  tell_damage(
      series,
      "the chunk of steps " + std::to_string(chunk.first_step) + " to " + std::to_string(chunk.last_step),
      points.errors().front().message);
  set_aside(series, chunk);
  return {};
}

// Sets aside the row and its bytes; on damaged pages the bytes stay in place.
void ChunkWriter::set_aside(std::int64_t series, const Closed& chunk) {
  const bool on_damaged_pages = on_damaged_pages_.contains(chunk.data);
  keep_chunk_.run(series, chunk.first_step, chunk.last_step, chunk.points,
                  on_damaged_pages ? kNoData : chunk.data);
  delete_chunk_.run(series, chunk.first_step);
  if (!on_damaged_pages) delete_data_.run(chunk.data);
}

void ChunkWriter::tell_damage(std::int64_t series, const std::string& what, const std::string& why) {
  std::string name;
  for (name_of_.start(series); name_of_.next();)
    name = fmt::format(" ({} of job {})", name_of_.text(1), name_of_.integer(0));
  spdlog::error(
      "podium.db is damaged: metric series {}{}: {}: {}. It is set aside in the table damaged_chunks and new "
      "points are taken; to have its points again, restore a backup of the coordinator's home",
      series, name, what, why);
}

void ChunkWriter::remove(std::int64_t series, const Closed& chunk) {
  delete_chunk_.run(series, chunk.first_step);
  delete_data_.run(chunk.data);
}

void ChunkWriter::close(std::int64_t series, std::span<const StoredPoint> points) {
  const RollUp all = roll_up(points);
  const std::string blocks = encode_roll_ups(roll_ups(points, kPointsInBlock));
  const std::string spans = encode_roll_ups(roll_ups(points, kPointsInSpan));
  const std::string packed = encode_points(points);
  put_data_.run(Blob{blocks}, Blob{packed});
  put_chunk_.run(series, points.front().step, points.back().step, all.points, all.numbers, all.sum,
                 points.front().time_ms, points.front().value, points.back().time_ms, points.back().value,
                 part(all.low, &StoredPoint::step), part(all.low, &StoredPoint::time_ms),
                 part(all.low, &StoredPoint::value), part(all.high, &StoredPoint::step),
                 part(all.high, &StoredPoint::time_ms), part(all.high, &StoredPoint::value),
                 part(all.broken, &StoredPoint::step), part(all.broken, &StoredPoint::time_ms),
                 database_.last_insert_id(), Blob{spans});
}

std::vector<StoredPoint> ChunkWriter::take_chunk(std::int64_t series, std::int64_t from_step) {
  std::vector<StoredPoint> points;
  while (points.empty()) {  // one that is damaged has none
    const Closed chunk = chunk_from(series, from_step);
    if (!chunk.there) break;
    points = take(series, chunk);
  }
  return points;
}

}  // namespace podium
