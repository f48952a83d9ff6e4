// Reader: the points of a series, or about so many of them that show what all of them would. Few points are
// all read; of many, what every 64 or 256 of them come to, and of very many, whole chunks.
#include "coordinator/store/chunk_reader.h"
#include "coordinator/store/reader.h"
#include "coordinator/store/sqlite.h"

namespace podium {
namespace {

SeriesPoint shown(const StoredPoint& point) { return {point.step, from_millis(point.time_ms), point.value}; }

std::optional<SeriesPoint> shown(const std::optional<StoredPoint>& point) {
  return point ? std::optional(shown(*point)) : std::nullopt;
}

SeriesRun shown(const RollUp& run) { return {shown(run.low), shown(run.high), shown(run.broken)}; }

// The longest runs of which each bucket of the thinned curve has one at least; 1: points.
std::size_t run_length(std::int64_t points, int wanted) {
  const std::int64_t in_bucket = 2 * points / wanted;
  for (const std::size_t each : {kPointsInChunk, kPointsInSpan, kPointsInBlock})
    if (in_bucket >= static_cast<std::int64_t>(each)) return each;
  return 1;
}

// A series between two steps: the chunks that lie within, and the points before and after them.
class Window {
 public:
  Window(ChunkReader& reader, const StepRange& range) : reader_(reader), range_(range) {
    for (const ChunkRow& chunk : reader.chunks(range)) {
      const bool within = range.holds(chunk.first.step) && range.holds(chunk.last.step);
      if (within) {
        chunks_.push_back(chunk);
        count_ += chunk.all.points;
      } else {
        add(chunks_.empty() ? before_ : after_, reader.points(chunk, range));
      }
    }
    add(after_, reader.open(range));
    count_ += std::ssize(before_) + std::ssize(after_);
  }

  Series thinned(int wanted) {
    if (count_ == 0) return {};
    const std::size_t each = run_length(count_, wanted);
    if (each == 1) return thinned_points(wanted);
    Series kept = thinned_runs(each, wanted);
    const SeriesPoint first = shown(first_point()), last = shown(last_point());
    if (kept.empty() || kept.front().step != first.step) kept.insert(kept.begin(), first);
    if (kept.back().step != last.step) kept.push_back(last);
    return kept;
  }

 private:
  static void add(std::vector<StoredPoint>& points, const std::vector<StoredPoint>& more) {
    points.insert(points.end(), more.begin(), more.end());
  }

  const StoredPoint& first_point() const {
    if (!before_.empty()) return before_.front();
    return !chunks_.empty() ? chunks_.front().first : after_.front();
  }
  const StoredPoint& last_point() const {
    if (!after_.empty()) return after_.back();
    return !chunks_.empty() ? chunks_.back().last : before_.back();
  }

  Series thinned_points(int wanted) {
    Series all;
    const auto add_all = [&all](const std::vector<StoredPoint>& points) {
      for (const StoredPoint& point : points) all.push_back(shown(point));
    };
    add_all(before_);
    for (const ChunkRow& chunk : chunks_) add_all(reader_.points(chunk, range_));
    add_all(after_);
    return thin(all, wanted);
  }

  Series thinned_runs(std::size_t each, int wanted) {
    std::vector<SeriesRun> runs;
    const auto add_all = [&](const std::vector<RollUp>& more) {
      for (const RollUp& run : more) runs.push_back(shown(run));
    };
    add_all(roll_ups(before_, each));
    for (const ChunkRow& chunk : chunks_)
      if (each == kPointsInChunk)
        runs.push_back(shown(chunk.all));
      else
        add_all(each == kPointsInSpan ? reader_.spans(chunk) : reader_.blocks(chunk));
    add_all(roll_ups(after_, each));
    // Fewer, for the ends, and for a second mark of the first run and the last.
    Thinner thinner = Thinner::of_runs(runs.size(), wanted - 4);
    for (const SeriesRun& run : runs) thinner.add(run);
    return std::move(thinner).finish();
  }

  ChunkReader& reader_;
  StepRange range_;
  std::vector<StoredPoint> before_, after_;
  std::vector<ChunkRow> chunks_;
  std::int64_t count_ = 0;
};

}  // namespace

SeriesView Reader::series(JobId job, const std::string& key, int points, const StepRange& range) {
  const ReadTransaction moment(*database_);
  Statement find(*database_, "SELECT id FROM series WHERE job = ?1 AND key = ?2");
  if (!find.start(job.value, key).next()) return {};
  ChunkReader reader(*database_, find.integer(0));
  Window window(reader, range);
  SeriesView view{window.thinned(points)};
  view.lost = reader.lost();
  return view;
}

}  // namespace podium
