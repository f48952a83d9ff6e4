#include "coordinator/store/row_packer.h"

#include <spdlog/spdlog.h>

#include <vector>

#include "coordinator/store/chunk_writer.h"

namespace podium {
namespace {

constexpr int kRowsPackedAtOnce = 16 * static_cast<int>(kPointsInChunk);

bool has_rows_table(Database& database) {
  Statement table(database, "SELECT 1 FROM sqlite_master WHERE name = 'row_points'");
  return table.start().next();
}

class RowPacker {
 public:
  explicit RowPacker(Database& database)
      : database_(database),
        chunks_(database),
        first_series_(database, "SELECT series FROM row_points ORDER BY series LIMIT 1"),
        read_(
            database,
            "SELECT step, time_ms, value, attempt FROM row_points WHERE series = ?1 ORDER BY step LIMIT ?2"),
        delete_(database, "DELETE FROM row_points WHERE series = ?1 AND step <= ?2") {}

  // How many rows it packed: none when all are.
  std::int64_t pack_piece() {
    Transaction transaction(database_);
    std::int64_t packed = 0;
    while (packed < kRowsPackedAtOnce) {
      const std::int64_t more = pack_series();
      if (more == 0) break;
      packed += more;
    }
    transaction.commit();
    return packed;
  }

 private:
  // Of the first series that has rows.
  std::int64_t pack_series() {
    if (!first_series_.start().next()) return 0;
    const std::int64_t series = first_series_.integer(0);
    first_series_.start();
    std::vector<StoredPoint> points;
    for (read_.start(series, kRowsPackedAtOnce); read_.next();)
      points.push_back({read_.integer(0), read_.integer(1), read_.real(2), read_.small(3)});
    OpenChunk none;
    chunks_.merge(series, none, points);
    delete_.run(series, points.back().step);
    return std::ssize(points);
  }

  Database& database_;
  ChunkWriter chunks_;
  Statement first_series_, read_, delete_;
};

}  // namespace

void pack_rows(Database& database) {
  if (!has_rows_table(database)) return;
  std::int64_t packed = 0;
  {
    RowPacker packer(database);
    for (std::int64_t more = packer.pack_piece(); more > 0; more = packer.pack_piece()) {
      if (packed == 0)
        spdlog::info(
            "packing metric points into chunks, once; after an interruption the next start continues");
      packed += more;
    }
  }
  database.run("DROP TABLE row_points");
  if (packed > 0) spdlog::info("packed {} points", packed);
}

}  // namespace podium
