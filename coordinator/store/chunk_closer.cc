#include "coordinator/store/chunk_closer.h"

namespace podium {
namespace {

constexpr Duration kAfterEnd = std::chrono::minutes(1);  // what the agents still have has come by then
constexpr int kSeriesAtOnce = 32;
constexpr int kJobsAtOnce = 64;  // that have nothing open

}  // namespace

ChunkCloser::ChunkCloser(Database& database)
    : database_(database),
      next_job_(database,
                "SELECT ended_ms, id FROM jobs WHERE ended_ms IS NOT NULL AND (ended_ms, id) > (?1, ?2)"
                " AND ended_ms <= ?3 ORDER BY ended_ms, id LIMIT 1"),
      open_series_(database,
                   "SELECT id FROM series WHERE job = ?1"
                   " AND EXISTS (SELECT 1 FROM open_points WHERE series = series.id) LIMIT ?2"),
      chunks_(database) {}

bool ChunkCloser::close(Time now) {
  for (int jobs = 0; jobs < kJobsAtOnce; ++jobs) {
    const std::vector<std::int64_t> series = open_series();
    if (series.empty()) {
      if (!next_job(now)) return false;
      continue;
    }
    try {
      close(series);
    } catch (...) {
      next_job(now);  // what cannot be read must not keep the others open
      throw;
    }
    return true;
  }
  return true;
}

void ChunkCloser::close(const std::vector<std::int64_t>& series) {
  Transaction transaction(database_);
  for (const std::int64_t id : series) {
    OpenChunk open;
    chunks_.merge(id, open, {});
  }
  transaction.commit();
}

bool ChunkCloser::next_job(Time now) {
  bool found = false;
  for (next_job_.start(ended_ms_, job_, to_millis(now - kAfterEnd)); next_job_.next(); found = true) {
    ended_ms_ = next_job_.integer(0);
    job_ = next_job_.integer(1);
  }
  return found;
}

// Of the job at hand, some of them.
std::vector<std::int64_t> ChunkCloser::open_series() {
  std::vector<std::int64_t> series;
  for (open_series_.start(job_, kSeriesAtOnce); open_series_.next();)
    series.push_back(open_series_.integer(0));
  return series;
}

}  // namespace podium
