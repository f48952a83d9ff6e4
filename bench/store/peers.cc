// Other ways to keep the points of a curve, in as many bytes as they take: bit streams as Gorilla has them
// (Pelkonen et al., VLDB 2015), differences and values with their bytes shuffled and packed by zstd, and rows
// of a table. Their steps are packed as their times are.
#include <sqlite3.h>
#include <zstd.h>

#include <bit>
#include <span>
#include <stdexcept>
#include <tuple>

#include "bench/store/benchmarks.h"
#include "coordinator/store/sqlite.h"
#include "tests/temp_folder.h"

namespace podium {
namespace {

// Differences of differences, with Gorilla's prefixes; those that do not fit 12 bits take 64.
std::size_t gorilla_bits(const std::vector<std::int64_t>& values) {
  std::size_t bits = 64;
  std::int64_t before = 0;
  for (std::size_t i = 1; i < values.size(); ++i) {
    const std::int64_t delta = values[i] - values[i - 1], change = delta - before;
    before = delta;
    bits += change == 0                         ? 1
            : change >= -63 && change <= 64     ? 2 + 7
            : change >= -255 && change <= 256   ? 3 + 9
            : change >= -2047 && change <= 2048 ? 4 + 12
                                                : 4 + 64;
  }
  return bits;
}

std::size_t gorilla_value_bits(const std::vector<StoredPoint>& points) {
  std::size_t bits = 64;
  int leading = 65, trailing = 0;  // of the window that is open; none
  for (std::size_t i = 1; i < points.size(); ++i) {
    const auto changed =
        std::bit_cast<std::uint64_t>(points[i].value) ^ std::bit_cast<std::uint64_t>(points[i - 1].value);
    if (changed == 0) {
      bits += 1;
      continue;
    }
    const int ahead = std::min(31, std::countl_zero(changed)), behind = std::countr_zero(changed);
    if (ahead >= leading && behind >= trailing && leading <= 31) {
      bits += 2 + static_cast<std::size_t>(64 - leading - trailing);
      continue;
    }
    leading = ahead;
    trailing = behind;
    bits += 2 + 5 + 6 + static_cast<std::size_t>(64 - leading - trailing);
  }
  return bits;
}

template <class Column>
std::vector<std::int64_t> column(const std::vector<StoredPoint>& points, Column member) {
  std::vector<std::int64_t> values;
  for (const StoredPoint& point : points) values.push_back(point.*member);
  return values;
}

std::size_t zstd_bytes(const std::string& plain) {
  std::string packed(ZSTD_compressBound(plain.size()), '\0');
  const std::size_t size = ZSTD_compress(packed.data(), packed.size(), plain.data(), plain.size(), 3);
  if (ZSTD_isError(size)) throw std::runtime_error(ZSTD_getErrorName(size));
  return size;
}

std::size_t shuffled_column_bytes(const std::vector<std::uint64_t>& words) {
  std::string planes;
  for (int byte = 0; byte < 8; ++byte)
    for (const std::uint64_t word : words) planes.push_back(static_cast<char>(word >> (8 * byte)));
  return zstd_bytes(planes);
}

std::size_t shuffled_differences(const std::vector<std::int64_t>& values) {
  std::vector<std::uint64_t> words;
  std::int64_t before = 0;
  for (const std::int64_t value : values)
    words.push_back(static_cast<std::uint64_t>(value - std::exchange(before, value)));
  return shuffled_column_bytes(words);
}

}  // namespace

std::size_t gorilla_bytes(const std::vector<StoredPoint>& points) {
  return (gorilla_bits(column(points, &StoredPoint::step)) +
          gorilla_bits(column(points, &StoredPoint::time_ms)) + gorilla_value_bits(points) + 7) /
         8;
}

std::size_t shuffled_bytes(const std::vector<StoredPoint>& points) {
  std::vector<std::uint64_t> values;
  for (const StoredPoint& point : points) values.push_back(std::bit_cast<std::uint64_t>(point.value));
  return shuffled_differences(column(points, &StoredPoint::step)) +
         shuffled_differences(column(points, &StoredPoint::time_ms)) + shuffled_column_bytes(values);
}

// As the store kept them before it had chunks; of the file, less what an empty one takes.
std::size_t row_bytes(const std::vector<StoredPoint>& points) {
  const TempFolder folder;
  const auto path = folder.path() / "rows.db";
  Database database(path, Access::write, 2000);
  database.run(
      "CREATE TABLE points (series INTEGER NOT NULL, step INTEGER NOT NULL, attempt INTEGER NOT NULL,"
      " time_ms INTEGER NOT NULL, value REAL, PRIMARY KEY (series, step)) WITHOUT ROWID");
  database.run("PRAGMA wal_checkpoint(TRUNCATE)");
  const auto empty = std::filesystem::file_size(path);
  Transaction transaction(database);
  Statement insert(database, "INSERT INTO points VALUES (1, ?1, 1, ?2, ?3)");
  for (const StoredPoint& point : points) insert.run(point.step, point.time_ms, point.value);
  transaction.commit();
  database.run("PRAGMA wal_checkpoint(TRUNCATE)");
  return std::filesystem::file_size(path) - empty;
}

}  // namespace podium
