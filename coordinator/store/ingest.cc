#include "coordinator/store/ingest.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "coordinator/store/log_files.h"

namespace podium {
namespace {

constexpr std::size_t kLongestLine = 1 << 20;
constexpr std::size_t kJobsCached = 256;  // series of so many jobs are kept in mind
constexpr int kLivePoints = 200;          // of one key in one batch
constexpr int kMalformedTold = 3;         // lines of one piece; the rest are counted

// Bytes of a broken line as text that any JSON writer accepts.
std::string excerpt(std::string_view bytes) {
  std::string text(bytes.substr(0, 120));
  for (char& c : text)
    if (c < 0x20 || c > 0x7e) c = '?';
  return bytes.size() > text.size() ? text + "…" : text;
}

std::int64_t end_of(const StreamChunk& chunk) {
  const std::int64_t size = std::ssize(chunk.bytes);
  return chunk.offset > INT64_MAX - size ? INT64_MAX : chunk.offset + size;
}

}  // namespace

JobNews& NewsDesk::of(AttemptId attempt) {
  JobNews& news = entries_[attempt.job].news;
  news.job = attempt.job;
  news.attempt = std::max(news.attempt, static_cast<int>(attempt.number));
  return news;
}

void NewsDesk::add_point(AttemptId attempt, std::string_view key, SeriesPoint point) {
  of(attempt);
  auto& points = entries_[attempt.job].points;
  auto series = points.find(key);
  if (series == points.end()) series = points.emplace(std::string(key), Series{}).first;
  series->second.push_back(point);
}

std::vector<JobNews> NewsDesk::publish() && {
  std::vector<JobNews> all;
  for (auto& [job, entry] : entries_) {
    for (const auto& [key, series] : entry.points)
      for (const SeriesPoint& point : thin(series, kLivePoints))
        entry.news.points.push_back({key, point.step, point.time, point.value});
    all.push_back(std::move(entry.news));
  }
  return all;
}

Ingestor::Ingestor(Database& db, std::filesystem::path home)
    : database_(db),
      home_(std::move(home)),
      history_(db),
      find_task_(db, "SELECT 1 FROM tasks WHERE job = ?1 AND attempt = ?2 AND rank = ?3"),
      find_offset_(
          db,
          "SELECT next FROM stream_offsets WHERE job = ?1 AND attempt = ?2 AND rank = ?3 AND stream = ?4"),
      put_offset_(db,
                  "INSERT INTO stream_offsets VALUES (?1, ?2, ?3, ?4, ?5)"
                  " ON CONFLICT DO UPDATE SET next = excluded.next"),
      find_series_(db,
                   "SELECT id, attempt, last_step, last_ms, last_value, min_value, max_value FROM series"
                   " WHERE job = ?1 AND key = ?2"),
      insert_series_(db,
                     "INSERT INTO series (job, key, attempt, last_step, last_ms) VALUES (?1, ?2, 0, 0, 0)"),
      update_series_(
          db,
          "UPDATE series SET attempt = ?2, last_step = ?3, last_ms = ?4, last_value = ?5, min_value = ?6,"
          " max_value = ?7 WHERE id = ?1"),
      put_point_(db,
                 "INSERT INTO points VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO UPDATE SET attempt = "
                 "excluded.attempt,"
                 " time_ms = excluded.time_ms, value = excluded.value WHERE excluded.attempt >= attempt"),
      put_checkpoint_(db, "INSERT OR REPLACE INTO checkpoints VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)"),
      reach_target_(db,
                    "UPDATE jobs SET target_reached_ms = ?2, target_reached_step = ?3"
                    " WHERE id = ?1 AND target_reached_ms IS NULL AND target_metric = ?4"),
      start_steps_(db, "UPDATE attempts SET first_step = ?3 WHERE job = ?1 AND number = ?2"),
      put_progress_(db,
                    "UPDATE jobs SET step = ?3, steps = coalesce(?4, steps), progress_ms = ?5"
                    " WHERE id = ?1 AND attempt = ?2"),
      attempt_progress_(db,
                        "UPDATE attempts SET last_step = max(?3, coalesce(last_step, 0))"
                        " WHERE job = ?1 AND number = ?2") {}

bool Ingestor::knows(TaskId task) {
  find_task_.start(task.attempt.job.value, task.attempt.number, task.rank);
  const bool known = find_task_.next();
  find_task_.start();
  return known;
}

std::int64_t Ingestor::offset_of(const StreamChunk& chunk) {
  const TaskId task = chunk.task;
  find_offset_.start(task.attempt.job.value, task.attempt.number, task.rank, to_string(chunk.stream));
  std::int64_t next = 0;
  while (find_offset_.next()) next = find_offset_.integer(0);
  return next;
}

Ingestor::Taken Ingestor::take(const StreamChunk& chunk, std::size_t budget, NewsDesk& news) {
  const TaskId task = chunk.task;
  const std::int64_t end = end_of(chunk);
  // Of an attempt this database never had: nobody will ever ask for it, so the agent may forget it.
  if (!knows(task)) return {end, 0, false};
  const std::int64_t from = offset_of(chunk);
  if (chunk.offset > from || end <= from) return {from, 0, false};

  const std::string_view fresh = chunk.bytes.substr(static_cast<std::size_t>(from - chunk.offset));
  std::size_t length = std::min(fresh.size(), budget);
  if (chunk.stream == StreamKind::events) {
    std::size_t last = fresh.substr(0, length).rfind('\n');
    if (last == std::string_view::npos) last = fresh.find('\n');
    if (last != std::string_view::npos)
      length = last + 1;
    else
      length = fresh.size() > kLongestLine ? fresh.size() : 0;
    take_events(task, fresh.substr(0, length), from, news);
  } else {
    write_log(log_path(home_, task, chunk.stream), from, fresh.substr(0, length));
  }
  const std::int64_t next = from + static_cast<std::int64_t>(length);
  if (length > 0)
    put_offset_.run(task.attempt.job.value, task.attempt.number, task.rank, to_string(chunk.stream), next);
  return {next, static_cast<std::int64_t>(length), length > 0 && length < fresh.size()};
}

void Ingestor::take_events(TaskId task, std::string_view text, std::int64_t offset, NewsDesk& news) {
  const Time now = SystemClock().now();
  int malformed = 0;
  progress_.reset();
  while (!text.empty()) {
    const std::size_t size = std::min(text.find('\n'), text.size());
    const Line line{task, text.substr(0, size), offset};
    if (!line.text.empty() && !take_line(line, news) && ++malformed <= kMalformedTold)
      history_.add(task.attempt.job, now, "note", "warning",
                   fmt::format("rank {}: events.jsonl has a malformed line at byte {}, left out: {}",
                               task.rank, offset, excerpt(line.text)));
    const std::size_t step = std::min(size + 1, text.size());
    text.remove_prefix(step);
    offset += static_cast<std::int64_t>(step);
  }
  if (malformed > kMalformedTold)
    history_.add(task.attempt.job, now, "note", "warning",
                 fmt::format("rank {}: {} more malformed lines in events.jsonl were left out", task.rank,
                             malformed - kMalformedTold));
  write_points(task.attempt);
  write_progress(task.attempt);
}

bool Ingestor::take_line(const Line& line, NewsDesk& news) {
  if (parse_metrics_line(line.text, metrics_)) {
    take_metrics(line.task, metrics_, news);
    return true;
  }
  try {
    take_event(line.task, worker_event_from_json(nlohmann::json::parse(line.text)), news);
    return true;
  } catch (const nlohmann::json::exception&) {
    return false;
  } catch (const std::invalid_argument&) {
    return false;
  }
}

void Ingestor::take_event(TaskId task, const WorkerEvent& event, NewsDesk& news) {
  std::visit([&](const auto& body) { take_body(task, event.time, body, news); }, event.body);
}

void Ingestor::take_metrics(TaskId task, const MetricsLine& line, NewsDesk& news) {
  const AttemptId attempt = task.attempt;
  if (series_.size() > kJobsCached && !series_.contains(attempt.job)) series_.clear();
  JobSeries& job = series_[attempt.job];
  const Time time = from_millis(line.time_ms);
  for (const auto& [key, value] : line.values) {
    SeriesState& series = series_of(job, attempt.job, attempt.number, key);
    rows_.push_back({series.id, line.step, line.time_ms, value});
    news.add_point(attempt, key, {line.step, time, value});
    series.changed = true;
    // fmin and fmax leave out a NaN.
    series.min = std::fmin(series.min, value);
    series.max = std::fmax(series.max, value);
    if (std::pair{int{attempt.number}, line.step} < std::pair{series.attempt, series.last_step}) continue;
    series.attempt = attempt.number;
    series.last_step = line.step;
    series.last_ms = line.time_ms;
    series.last = value;
  }
  if (task.rank == 0) note_progress(line.step, std::nullopt, time);
}

Ingestor::SeriesState& Ingestor::series_of(JobSeries& job, JobId id, int attempt, std::string_view key) {
  if (const auto known = job.find(key); known != job.end()) return known->second;
  SeriesState state;
  find_series_.start(id.value, key);
  if (find_series_.next()) {
    state = {find_series_.integer(0), find_series_.small(1), find_series_.integer(2), find_series_.integer(3),
             find_series_.real(4),    find_series_.real(5),  find_series_.real(6),    false};
    find_series_.start();
  } else {
    insert_series_.run(id.value, key);
    const double none = std::nan("");
    state = {database_.last_insert_id(), attempt, 0, 0, none, none, none, true};
  }
  return job.emplace(std::string(key), state).first->second;
}

void Ingestor::write_points(AttemptId attempt) {
  if (rows_.empty()) return;
  // In the order of the table's key, so that each series' rows go to neighbouring places; equal steps keep
  // their order.
  std::ranges::stable_sort(rows_, [](const PointRow& a, const PointRow& b) {
    return std::pair{a.series, a.step} < std::pair{b.series, b.step};
  });
  for (const PointRow& row : rows_)
    put_point_.run(row.series, row.step, attempt.number, row.time_ms, row.value);
  rows_.clear();
  for (auto& [key, series] : series_[attempt.job]) {
    if (!std::exchange(series.changed, false)) continue;
    update_series_.run(series.id, series.attempt, series.last_step, series.last_ms, series.last, series.min,
                       series.max);
  }
}

void Ingestor::note_progress(std::int64_t step, std::optional<std::int64_t> steps, Time time) {
  if (!progress_) progress_.emplace();
  progress_->step = step;
  progress_->updated = time;
  if (steps) progress_->steps = *steps;
}

void Ingestor::write_progress(AttemptId attempt) {
  if (!progress_) return;
  put_progress_.run(attempt.job.value, attempt.number, progress_->step, progress_->steps,
                    to_millis(progress_->updated));
  attempt_progress_.run(attempt.job.value, attempt.number, progress_->step);
}

void Ingestor::take_body(TaskId task, Time time, const StartedEvent& e, NewsDesk&) {
  if (task.rank != 0) return;
  start_steps_.run(task.attempt.job.value, task.attempt.number, e.step);
  note_progress(e.step, e.steps, time);
  history_.add(task.attempt.job, time, "training_started", "info",
               fmt::format("training goes on after step {} of {}, {} parameters, on {}", e.step, e.steps,
                           e.parameters, e.device));
}

void Ingestor::take_body(TaskId task, Time time, const MetricsEvent& e, NewsDesk& news) {
  MetricsLine line{to_millis(time), e.step, {}};
  for (const auto& [key, value] : e.values) line.values.emplace_back(key, value);
  take_metrics(task, line, news);
}

void Ingestor::take_body(TaskId task, Time time, const CheckpointEvent& e, NewsDesk& news) {
  const AttemptId attempt = task.attempt;
  put_checkpoint_.run(attempt.job.value, attempt.number, e.step, to_millis(time), e.path, e.bytes, e.seconds);
  auto& newest = news.of(attempt).checkpoint;
  newest = std::max(newest.value_or(e.step), e.step);
  history_.add(attempt.job, time, "checkpoint_saved", "info",
               fmt::format("checkpoint of step {}, {:.1f} MB in {:.2f} s", e.step,
                           static_cast<double>(e.bytes) / 1e6, e.seconds));
}

void Ingestor::take_body(TaskId task, Time time, const TargetEvent& e, NewsDesk& news) {
  reach_target_.run(task.attempt.job.value, to_millis(time), e.step, e.metric);
  if (sqlite3_changes(database_.handle()) == 0) return;
  news.of(task.attempt).target_reached = true;
  history_.add(task.attempt.job, time, "target_reached", "info",
               fmt::format("{} reached its target with {:.6g} at step {}", e.metric, e.value, e.step));
}

void Ingestor::take_body(TaskId task, Time time, const NoteEvent& e, NewsDesk&) {
  const bool known = e.level == "info" || e.level == "warning" || e.level == "error";
  history_.add(task.attempt.job, time, "note", known ? e.level : "info",
               fmt::format("rank {}: {}", task.rank, e.message));
}

void Ingestor::take_body(TaskId task, Time time, const FinishedEvent& e, NewsDesk&) {
  if (task.rank == 0) note_progress(e.step, std::nullopt, time);
}

void Ingestor::forget() {
  series_.clear();
  rows_.clear();
}

}  // namespace podium
