// Reader: the points of a series, or about so many of them that show what all of them would. Few points are
// all read; of many, what blocks of 64 come to, and of very many, whole chunks.
#include "coordinator/store/chunk_reader.h"
#include "coordinator/store/reader_impl.h"

namespace podium {
namespace {

constexpr std::int64_t kFewestInBucket = 2;  // runs of which a bucket of the thinned curve is made

SeriesPoint shown(const StoredPoint& point) { return {point.step, from_millis(point.time_ms), point.value}; }

std::optional<SeriesPoint> shown(const std::optional<StoredPoint>& point) {
  return point ? std::optional(shown(*point)) : std::nullopt;
}

SeriesRun shown(const RollUp& run) { return {shown(run.low), shown(run.high), shown(run.broken)}; }

enum class Grain { points, blocks, chunks };

Grain grain_for(std::int64_t points, int wanted) {
  const std::int64_t in_bucket = 2 * points / wanted;
  if (in_bucket < kFewestInBucket * static_cast<std::int64_t>(kPointsInBlock)) return Grain::points;
  return in_bucket < kFewestInBucket * static_cast<std::int64_t>(kPointsInChunk) ? Grain::blocks
                                                                                 : Grain::chunks;
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
    const Grain grain = grain_for(count_, wanted);
    if (grain == Grain::points) return thinned_points(wanted);
    Series kept = thinned_runs(grain, wanted);
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
    Thinner thinner(static_cast<std::size_t>(count_), wanted);
    for (const StoredPoint& point : before_) thinner.add(shown(point));
    for (const ChunkRow& chunk : chunks_)
      for (const StoredPoint& point : reader_.points(chunk, range_)) thinner.add(shown(point));
    for (const StoredPoint& point : after_) thinner.add(shown(point));
    return std::move(thinner).finish();
  }

  Series thinned_runs(Grain grain, int wanted) {
    std::vector<SeriesRun> runs;
    const auto add_all = [&](const std::vector<RollUp>& blocks) {
      for (const RollUp& block : blocks) runs.push_back(shown(block));
    };
    add_all(roll_up_blocks(before_));
    for (const ChunkRow& chunk : chunks_)
      if (grain == Grain::chunks)
        runs.push_back(shown(chunk.all));
      else
        add_all(reader_.blocks(chunk));
    add_all(roll_up_blocks(after_));
    Thinner thinner(runs.size(),
                    wanted - 4);  // for the ends, and for a second mark of the first run and the last
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

Series Reader::series(JobId job, const std::string& key, int points, const StepRange& range) {
  const Moment moment(impl_->database);
  Statement find(impl_->database, "SELECT id FROM series WHERE job = ?1 AND key = ?2");
  if (!find.start(job.value, key).next()) return {};
  ChunkReader reader(impl_->database, find.integer(0));
  return Window(reader, range).thinned(points);
}

}  // namespace podium
