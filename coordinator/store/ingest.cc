#include "coordinator/store/ingest.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace podium {
namespace {

constexpr std::size_t kChunkCost = 1024;  // of a budget, beside its bytes

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

// How many bytes of a stream of events to take at once: whole lines, about `budget` bytes and at least one
// line. A line without an end is taken only if it is skipped in any case or nothing follows it.
std::size_t piece_of(std::string_view fresh, std::size_t budget, bool skipping, bool final) {
  std::size_t end = fresh.substr(0, budget).rfind('\n');
  if (end == std::string_view::npos) end = fresh.find('\n');
  if (end != std::string_view::npos) return end + 1;
  return skipping || final || fresh.size() >= kLongestEventLine ? fresh.size() : 0;
}

bool is_power_of_ten(std::int64_t n) {
  while (n > 1 && n % 10 == 0) n /= 10;
  return n == 1;
}

}  // namespace

Ingestor::Ingestor(Database& db, WebhookRows& webhooks)
    : database_(db),
      history_(db),
      ledger_(db),
      milestones_(db, webhooks),
      series_(db),
      find_task_(db, "SELECT 1 FROM tasks WHERE job = ?1 AND attempt = ?2 AND rank = ?3 AND node = ?4"),
      find_stream_(db,
                   "SELECT next, skipping, left_out FROM stream_offsets"
                   " WHERE job = ?1 AND attempt = ?2 AND rank = ?3 AND stream = ?4"),
      put_stream_(db,
                  "INSERT INTO stream_offsets (job, attempt, rank, stream, next, skipping, left_out)"
                  " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO UPDATE SET"
                  " next = excluded.next, skipping = excluded.skipping, left_out = excluded.left_out"),
      put_checkpoint_(db, "INSERT OR REPLACE INTO checkpoints VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"),
      start_steps_(db, "UPDATE attempts SET first_step = ?3 WHERE job = ?1 AND number = ?2"),
      put_found_(db,
                 "INSERT OR REPLACE INTO checkpoints SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9"
                 " WHERE NOT EXISTS (SELECT 1 FROM checkpoints WHERE job = ?1 AND path = ?5)"
                 " OR (?8 IS NOT NULL AND (?5, ?8, ?9) IS NOT (SELECT path, best_metric, best_value"
                 " FROM checkpoints WHERE job = ?1 AND best_metric IS NOT NULL"
                 " ORDER BY attempt DESC, step DESC LIMIT 1))"),
      put_text_(db, "INSERT OR REPLACE INTO texts (job, tokens, sentences, xxh3) VALUES (?1, ?2, ?3, ?4)"),
      put_origin_(
          db, "INSERT INTO origins (job, path, step, xxh3) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING"),
      begin_anew_(db,
                  "UPDATE origins SET path = ?2, step = ?3, xxh3 = ?4 WHERE job = ?1"
                  " AND EXISTS (SELECT 1 FROM jobs WHERE id = ?1 AND target_reached_ms IS NULL)"
                  " AND NOT EXISTS (SELECT 1 FROM attempts WHERE job = ?1 AND number > ?5"
                  " AND first_step IS NOT NULL)"),
      other_origin_(db, "SELECT path, step, xxh3 FROM origins WHERE job = ?1 AND xxh3 != ?2"),
      was_refused_(db, "SELECT 1 FROM history WHERE job = ?1 AND type = 'metric_refused' LIMIT 1") {}

bool Ingestor::knows(TaskId task, const NodeId& node) {
  find_task_.start(task.attempt.job.value, task.attempt.number, task.rank, node.value);
  const bool known = find_task_.next();
  find_task_.start();
  return known;
}

Ingestor::Stream Ingestor::find_stream(const StreamChunk& chunk) {
  const TaskId task = chunk.task;
  Stream stream;
  find_stream_.start(task.attempt.job.value, task.attempt.number, task.rank, to_string(chunk.stream));
  while (find_stream_.next())
    stream = {find_stream_.integer(0), find_stream_.integer(1) != 0, find_stream_.integer(2)};
  return stream;
}

void Ingestor::put_stream(const StreamChunk& chunk, const Stream& stream) {
  const TaskId task = chunk.task;
  put_stream_.run(task.attempt.job.value, task.attempt.number, task.rank, to_string(chunk.stream),
                  stream.next, stream.skipping, stream.left_out);
}

bool Ingestor::take(StreamBatch& batch, std::size_t& budget) {
  batch_ = &batch;
  while (batch.taken < batch.chunks.size() && budget > 0) {
    const StreamChunk& chunk = batch.chunks[batch.taken];
    file_ = chunk.stream == StreamKind::console ? "console.jsonl" : "events.jsonl";
    leads_ = chunk.task.rank == 0 || chunk.stream == StreamKind::console;
    const Taken taken = take(chunk, batch.on_disk[batch.taken], budget);
    budget -= std::min(budget, static_cast<std::size_t>(taken.bytes) + kChunkCost);
    if (taken.more) continue;
    const auto known = std::ranges::find_if(batch.positions, [&](const StreamPosition& p) {
      return p.task == chunk.task && p.stream == chunk.stream;
    });
    if (known != batch.positions.end())
      known->next = taken.next;
    else
      batch.positions.push_back({chunk.task, chunk.stream, taken.next});
    ++batch.taken;
  }
  return batch.taken == batch.chunks.size();
}

Ingestor::Taken Ingestor::take(const StreamChunk& chunk, bool on_disk, std::size_t budget) {
  const std::int64_t end = end_of(chunk);
  // This database never gave the task to the node and will not ask for it, so the agent may forget it.
  if (!knows(chunk.task, batch_->node)) return {end, 0, false};
  Stream stream = find_stream(chunk);
  const std::int64_t from = stream.next;
  if (end <= from) return {from, 0, false};
  if (is_output(chunk.stream)) {
    if (!on_disk) return {from, 0, false};
    stream.next = end;
    put_stream(chunk, stream);
    return {end, end - from, false};
  }
  if (chunk.offset > from) return {from, 0, false};
  const std::string_view fresh = chunk.bytes.substr(static_cast<std::size_t>(from - chunk.offset));
  const std::size_t length = piece_of(fresh, budget, stream.skipping, chunk.final);
  if (length == 0) return {from, 0, false};
  take_events(chunk.task, fresh.substr(0, length), stream);
  put_stream(chunk, stream);
  return {stream.next, static_cast<std::int64_t>(length), length < fresh.size()};
}

void Ingestor::take_events(TaskId task, std::string_view text, Stream& stream) {
  progress_.reset();
  slots_.clear();
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const bool whole = end != std::string_view::npos;
    const std::string_view line = text.substr(0, end);
    const std::size_t size = line.size() + whole;
    if (stream.skipping) {
      stream.skipping = !whole;
    } else if (size > kLongestEventLine || (!whole && size == kLongestEventLine)) {
      leave_out(task, line, stream, "too long a line (more than 256 KiB)");
      stream.skipping = !whole;
    } else if (!line.empty()) {
      if (const std::string why = take_line(task, line); !why.empty())
        leave_out(task, line, stream, "a malformed line (" + why + ")");
    }
    text.remove_prefix(size);
    stream.next += static_cast<std::int64_t>(size);
  }
  series_.write();
  write_progress(task.attempt);
}

// Takes a line; returns what is wrong with it, or "".
std::string Ingestor::take_line(TaskId task, std::string_view line) {
  if (parse_metrics_line(line, metrics_)) {
    metrics_.time_ms = to_millis(batch_->clock.correct(from_millis(metrics_.time_ms)));
    take_metrics(task, metrics_);
    return "";
  }
  try {
    take_event(task, worker_event_from_json(nlohmann::json::parse(line)));
    return "";
  } catch (const nlohmann::json::parse_error&) {
    return "it is no JSON";
  } catch (const nlohmann::json::exception& error) {
    const std::string what = error.what();  // "[json.exception.out_of_range.403] key 't' not found"
    return what.substr(std::min(what.find("] ") + 2, what.size()));
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
}

// Reports a stream's first such line, and then each time their number gets another digit.
void Ingestor::leave_out(TaskId task, std::string_view line, Stream& stream, const std::string& why) {
  if (!is_power_of_ten(++stream.left_out)) return;
  const std::string text =
      stream.left_out == 1
          ? fmt::format("rank {}: {} has {} at byte {}, left out: {}", task.rank, file_, why, stream.next,
                        excerpt(line))
          : fmt::format("rank {}: {} lines of {} were left out so far, the last as {} at byte {}", task.rank,
                        stream.left_out, file_, why, stream.next);
  history_.add(task.attempt.job, batch_->clock.now, "note", "warning", text);
}

void Ingestor::take_event(TaskId task, const WorkerEvent& event) {
  std::visit([&](const auto& body) { take_body(task, batch_->clock.correct(event.time), body); }, event.body);
}

void Ingestor::take_metrics(TaskId task, const MetricsLine& line) {
  const Time time = from_millis(line.time_ms);
  for (std::size_t i = 0; i < line.values.size(); ++i) {
    const auto& [key, value] = line.values[i];
    const Slot& to = slot(i, task.attempt, key);
    if (!to.series) {
      refuse_metric(task.attempt.job, time, key);
      continue;
    }
    const SeriesPoint point{line.step, time, value};
    series_.add(*to.series, task.attempt, point);
    to.news->push_back(point);
    milestones_.take(task.attempt.job, time, line.step, key, value);
  }
  if (leads_ && (line.values.empty() || tells_progress(line.values.front().first)))
    note_progress(line.step, std::nullopt, time);
}

// A metric's new points for the live stream. The reference stays valid.
Series& Ingestor::fresh_points(JobId job, std::string_view key) {
  auto& points = batch_->news[job];
  const auto known = points.find(key);
  return known != points.end() ? known->second : points.emplace(key, Series{}).first->second;
}

// Keys are views into the current piece, as those of lines are.
const Ingestor::Slot& Ingestor::slot(std::size_t at, AttemptId attempt, std::string_view key) {
  if (at >= slots_.size()) slots_.resize(at + 1);
  Slot& slot = slots_[at];
  if (slot.series && slot.key == key) return slot;
  slot = {key, series_.find(attempt, key), nullptr};
  if (slot.series) slot.news = &fresh_points(attempt.job, key);
  return slot;
}

void Ingestor::refuse_metric(JobId job, Time time, std::string_view key) {
  const std::string text = fmt::format(
      "metric \"{}\" was left out: a job may have {} different metrics with names of 1 to {} bytes; those "
      "it "
      "has go on",
      excerpt(key), kMostMetrics, kLongestMetricName);
  if (!refused_.insert(job).second) return;
  batch_->notes.push_back("job " + to_string(job) + ": " + text);
  was_refused_.start(job.value);
  const bool told = was_refused_.next();
  was_refused_.start();
  if (!told) history_.add(job, time, "metric_refused", "warning", text);
}

void Ingestor::note_progress(std::int64_t step, std::optional<std::int64_t> steps, Time time) {
  if (!progress_) progress_.emplace();
  progress_->step = step;
  progress_->updated = time;
  if (steps) progress_->steps = *steps;
}

void Ingestor::write_progress(AttemptId attempt) {
  if (progress_) milestones_.put(attempt, *progress_);
}

void Ingestor::take_body(TaskId task, Time time, const StartedEvent& e) {
  if (!leads_) return;
  start_steps_.run(task.attempt.job.value, task.attempt.number, e.step);
  ledger_.take(task.attempt.job, {task.attempt.number, time, LedgerKind::stepping, e.step});
  if (e.text && !e.text->xxh3.empty())
    put_text_.run(task.attempt.job.value, e.text->tokens, e.text->sentences, e.text->xxh3);
  if (e.origin) take_origin(task.attempt, time, *e.origin, e.step);
  note_progress(e.step, e.steps, time);
  std::string text = fmt::format("training goes on after step {} of {}", e.step, e.steps);
  if (e.parameters > 0) text += fmt::format(", {} parameters", e.parameters);
  if (!e.device.empty()) text += ", on " + e.device;
  history_.add(task.attempt.job, time, "training_started", "info", text);
}

// The first that is told stays, unless the job begins anew, at step 0, before it has reached its target: it
// is what the steps that count began with.
void Ingestor::take_origin(AttemptId attempt, Time time, const Origin& origin, std::int64_t step) {
  const JobId job = attempt.job;
  put_origin_.run(job.value, origin.path, origin.step, origin.xxh3);
  std::optional<Origin> first;
  for (other_origin_.start(job.value, origin.xxh3); other_origin_.next();)
    first = {other_origin_.text(0), other_origin_.integer(1), other_origin_.text(2)};
  if (!first) return;
  bool replaced = false;
  if (step == 0) {
    begin_anew_.run(job.value, origin.path, origin.step, origin.xxh3, attempt.number);
    replaced = sqlite3_changes(database_.handle()) > 0;
  }
  const std::string described = describe(origin), before = describe(*first);
  history_.add(job, time, "note", "warning",
               replaced ? fmt::format("began anew with other weights than before: the job's origin is {} and "
                                      "no longer {}",
                                      described, before)
                        : fmt::format("began with other weights than before: those of {}; the job's origin "
                                      "stays {}",
                                      described, before));
}

void Ingestor::take_body(TaskId task, Time time, const MetricsEvent& e) {
  MetricsLine line{to_millis(time), e.step, {}};
  for (const auto& [key, value] : e.values) line.values.emplace_back(key, value);
  take_metrics(task, line);
  slots_.clear();  // the keys were the event's
}

void Ingestor::take_body(TaskId task, Time time, const CheckpointEvent& e) {
  const AttemptId attempt = task.attempt;
  std::optional<std::string> metric;
  std::optional<double> value;
  if (e.best) metric = e.best->metric, value = e.best->value;
  Statement& put = e.again ? put_found_ : put_checkpoint_;
  put.run(attempt.job.value, attempt.number, e.step, to_millis(time), e.path, e.bytes, e.seconds, metric,
          value);
  if (sqlite3_changes(database_.handle()) == 0) return;  // known already
  const std::string duration =
      e.again ? ", of an attempt that did not live to tell" : fmt::format(" in {:.2f} s", e.seconds);
  history_.add(
      attempt.job, time, "checkpoint_saved", "info",
      fmt::format("checkpoint of step {}, {:.1f} MB{}: {}{}", e.step, static_cast<double>(e.bytes) / 1e6,
                  duration, e.path,
                  e.best ? fmt::format("; the best so far, {} {:.6g}", e.best->metric, e.best->value) : ""));
}

void Ingestor::take_body(TaskId task, Time time, const TargetEvent& e) {
  if (milestones_.reach(task.attempt.job, time, e.step, e.metric, e.value))
    batch_->news[task.attempt.job];  // it has changed, though perhaps without a point
}

void Ingestor::take_body(TaskId task, Time time, const NoteEvent& e) {
  const bool known = e.level == "info" || e.level == "warning" || e.level == "error";
  history_.add(task.attempt.job, time, "note", known ? e.level : "info",
               fmt::format("rank {}: {}", task.rank, e.message));
}

void Ingestor::take_body(TaskId task, Time time, const FinishedEvent& e) {
  if (task.rank != 0) return;
  note_progress(e.step, std::nullopt, time);
  ledger_.take(task.attempt.job, {task.attempt.number, time, LedgerKind::stopping, e.step});
}

void Ingestor::take_body(TaskId task, Time time, const PhaseEvent& e) {
  if (task.rank != 0) return;
  ledger_.take(task.attempt.job, {task.attempt.number, time, ledger_kind_from(to_string(e.phase)), e.step});
}

void Ingestor::forget() {
  series_.forget();
  milestones_.forget();
  refused_.clear();
}

}  // namespace podium
