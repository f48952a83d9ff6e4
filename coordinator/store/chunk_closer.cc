#include "coordinator/store/chunk_closer.h"

namespace podium {
namespace {

constexpr int kLooksAtOnce = 1000;
constexpr int kLooksAClose = 30;  // what closing one takes, in looks

}  // namespace

ChunkCloser::ChunkCloser(Database& database)
    : database_(database),
      next_(database,
            "SELECT o.series, j.ended_ms IS NOT NULL FROM (SELECT min(series) AS series FROM open_points"
            " WHERE series > ?1) o JOIN series s ON s.id = o.series JOIN jobs j ON j.id = s.job"),
      chunks_(database) {}

bool ChunkCloser::walk_on() {
  Transaction transaction(database_);
  for (int looks = 0; looks < kLooksAtOnce; ++looks) {
    if (!next_.start(series_).next()) {
      series_ = 0;
      transaction.commit();
      return false;
    }
    series_ = next_.integer(0);
    const bool over = next_.integer(1) != 0;
    next_.start();
    if (!over) continue;
    chunks_.close_open(series_);
    looks += kLooksAClose;
  }
  transaction.commit();
  return true;
}

}  // namespace podium
