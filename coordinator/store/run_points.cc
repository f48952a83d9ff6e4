#include "coordinator/store/run_points.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "coordinator/store/chunk_reader.h"
#include "coordinator/store/one_row.h"
#include "coordinator/store/repeated_points.h"

namespace podium {
namespace {

constexpr SeriesLimits kRunLimits{kMostRunMetrics, 1000};

auto point_place(const StoredPoint& point) {
  return std::tuple(point.step, point.time_ms, bits_of_value(point.value));
}

bool precedes(const StoredPoint& a, const StoredPoint& b) { return point_place(a) < point_place(b); }
bool is_same(const StoredPoint& a, const StoredPoint& b) { return point_place(a) == point_place(b); }

// The points that a series has at some steps, read chunk by chunk as the steps ascend.
class PointsAt {
 public:
  PointsAt(Database& database, std::int64_t series, const StepRange& range)
      : reader_(database, series), chunks_(reader_.chunks(range)), open_(reader_.open(range)) {}

  std::optional<StoredPoint> at(std::int64_t step) {
    while (next_ < chunks_.size() && chunks_[next_].last.step < step) ++next_;
    if (next_ < chunks_.size() && chunks_[next_].first.step <= step) {
      if (read_ != next_) points_ = reader_.points(chunks_[next_], {});
      read_ = next_;
      if (const auto found = find(points_, step)) return found;
    }
    return find(open_, step);
  }

 private:
  static std::optional<StoredPoint> find(const std::vector<StoredPoint>& points, std::int64_t step) {
    const auto found = std::ranges::lower_bound(points, step, {}, &StoredPoint::step);
    return found != points.end() && found->step == step ? std::optional(*found) : std::nullopt;
  }

  ChunkReader reader_;
  std::vector<ChunkRow> chunks_;
  std::vector<StoredPoint> open_, points_;
  std::size_t next_ = 0, read_ = SIZE_MAX;
};

}  // namespace

RunPoints::RunPoints(Database& database, SeriesTable& series)
    : database_(database),
      series_(series),
      put_repeated_(database, kPutRepeatedPoint),
      count_points_(database, "SELECT coalesce(sum(points), 0) FROM series WHERE job = ?1") {}

// Counted once, for it takes a look at all metrics of the run.
std::int64_t& RunPoints::count(JobId job) {
  constexpr std::size_t kMostKnown = 10'000;
  if (counts_.size() >= kMostKnown && !counts_.contains(job)) counts_.clear();
  const auto [known, fresh] = counts_.try_emplace(job, 0);
  if (fresh) known->second = number_in(count_points_.start(job.value));
  return known->second;
}

std::vector<RunPoints::OfSeries> RunPoints::by_key(const std::vector<RunPoint>& points) {
  std::vector<OfSeries> all;
  std::unordered_map<std::string_view, std::size_t> known;
  for (const RunPoint& point : points) {
    const auto [place, fresh] = known.try_emplace(point.key, all.size());
    if (fresh) all.push_back({point.key, {}});
    const double value = point.value + 0.0;  // SQLite keeps no sign of zero
    all[place->second].points.push_back({point.step, point.time_ms, value, 0});
  }
  return all;
}

std::optional<Error> RunPoints::add(JobId job, const std::vector<RunPoint>& points) {
  std::vector<OfSeries> all = by_key(points);
  const AttemptId none{job, 0};  // whoever logs knows of no attempts
  const std::int64_t more = std::ranges::count_if(
      all, [&](const OfSeries& of) { return series_.find(none, of.key, kNoNewSeries) == nullptr; });
  if (more > 0 && series_.count(job) + more > kMostRunMetrics)
    return Error{
        ErrorCode::invalid,
        fmt::format("a run may have {} different metrics, and with the {} new ones of this request it "
                    "would have {}; log fewer, or log these to another run",
                    kMostRunMetrics, more, series_.count(job) + more),
        ""};
  std::int64_t& held = count(job);
  const bool full = held + std::ssize(points) > kMostRunPoints;
  if (full) held = number_in(count_points_.start(job.value));  // without those that came again
  if (held + std::ssize(points) > kMostRunPoints)
    return Error{ErrorCode::invalid,
                 fmt::format("a run may have about {} points, and job {} has {}; log to another run",
                             kMostRunPoints, job.value, held),
                 ""};
  held += std::ssize(points);
  for (OfSeries& of : all) add(none, *series_.find(none, of.key, kRunLimits), std::move(of));
  return std::nullopt;
}

void RunPoints::put_in_order(std::vector<StoredPoint>& points) {
  if (!std::ranges::is_sorted(points, {}, point_place)) std::ranges::sort(points, {}, point_place);
  const auto twice = std::ranges::unique(points, {}, point_place);
  points.erase(twice.begin(), twice.end());
}

// Of each step the last; the others are repeated.
std::vector<StoredPoint> RunPoints::tops_of(SeriesTable::State& series,
                                            const std::vector<StoredPoint>& points) {
  std::vector<StoredPoint> tops;
  for (std::size_t i = 0; i < points.size(); ++i)
    if (i + 1 == points.size() || points[i + 1].step != points[i].step)
      tops.push_back(points[i]);
    else
      repeat(series, points[i]);
  return tops;
}

// Later steps than all before follow at once.
void RunPoints::add(AttemptId job, SeriesTable::State& series, OfSeries of) {
  put_in_order(of.points);
  const bool empty = series.points == 0 && series.fresh.empty();
  const auto later = empty ? of.points.begin()
                     : series.attempt != 0
                         ? of.points.end()
                         : std::ranges::lower_bound(of.points, series.last_step, {}, &StoredPoint::step);
  if (later != of.points.begin()) {
    auto& earlier = earlier_[{job.job, std::string(of.key)}];
    earlier.insert(earlier.end(), of.points.begin(), later);
    of.points.erase(of.points.begin(), later);
  }
  for (const StoredPoint& point : tops_of(series, of.points)) add_one(job, series, point);
}

bool RunPoints::is_full() const {
  constexpr std::size_t kMost = 32;
  return earlier_.size() >= kMost;
}

void RunPoints::write() {
  for (auto& [place, points] : std::exchange(earlier_, {})) {
    const AttemptId job{place.first, 0};
    SeriesTable::State& series = *series_.find(job, place.second, kRunLimits);
    put_in_order(points);
    add_to_earlier(job, series, tops_of(series, points));
  }
}

// At the last step or beyond it, where the newest point is known.
void RunPoints::add_one(AttemptId job, SeriesTable::State& series, const StoredPoint& point) {
  const bool empty = series.points == 0 && series.fresh.empty();
  if (!empty && point.step == series.last_step)
    settle(job, series, {series.last_step, series.last_ms, series.last, 0}, point);
  else
    series_.add(series, job, {point.step, from_millis(point.time_ms), point.value});
}

// Which of two points of a step the series has. One that a task told stays.
void RunPoints::settle(AttemptId job, SeriesTable::State& series, const StoredPoint& before,
                       const StoredPoint& now) {
  if (is_same(before, now)) return;
  if (before.attempt > 0 || precedes(now, before)) return repeat(series, now);
  repeat(series, before);
  series_.add(series, job, {now.step, from_millis(now.time_ms), now.value});
}

void RunPoints::add_to_earlier(AttemptId job, SeriesTable::State& series,
                               std::span<const StoredPoint> points) {
  if (points.empty()) return;
  series_.write(series);  // what is looked up must be in the tables
  PointsAt known(database_, series.id, {points.front().step, points.back().step});
  for (const StoredPoint& point : points) {
    if (const auto before = known.at(point.step))
      settle(job, series, *before, point);
    else
      series_.add(series, job, {point.step, from_millis(point.time_ms), point.value});
  }
}

void RunPoints::repeat(SeriesTable::State& series, const StoredPoint& point) {
  put_repeated_.run(series.id, point.step, point.time_ms, bits_of_value(point.value));
  series_.widen(series, point.value);
}

}  // namespace podium
