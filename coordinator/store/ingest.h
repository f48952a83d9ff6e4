// Writes the streams of tasks into tables, each byte once: a chunk takes effect in the same transaction that
// moves the stream's offset past it. Output is on disk already (log_keeper.h) when its chunk arrives here, so
// only its offset moves. Lives on the writer's thread.
#pragma once

#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/model/worker_event.h"
#include "coordinator/store/event_lines.h"
#include "coordinator/store/history.h"
#include "coordinator/store/ledger_marks.h"
#include "coordinator/store/milestones.h"
#include "coordinator/store/series_table.h"
#include "coordinator/store/sqlite.h"
#include "coordinator/store/store.h"
#include "coordinator/store/webhook_rows.h"

namespace podium {

class Ingestor {
 public:
  Ingestor(Database& database, WebhookRows& webhooks);

  // Takes about `budget` new bytes of the batch, in the caller's transaction, and lowers `budget` by their
  // cost. False while a later transaction has more to take. A node may write only the streams of tasks that
  // it was given.
  bool take(StreamBatch& batch, std::size_t& budget);

  SeriesTable& series() { return series_; }  // of which a database has one writer
  Milestones& milestones() { return milestones_; }

  // Call after a rollback: drops the caches, which may hold what was never written.
  void forget();

 private:
  struct Taken {
    std::int64_t next = 0;   // the stream's offset now
    std::int64_t bytes = 0;  // how far this call moved it
    bool more = false;       // the chunk holds more that can be taken
  };
  struct Stream {
    std::int64_t next = 0;
    bool skipping = false;      // `next` is within a line that is too long
    std::int64_t left_out = 0;  // lines
  };

  // The series of a value in a metrics line. Most lines of a task name the same metrics in the same order, so
  // the slot of the same position in the previous line is tried first.
  struct Slot {
    std::string_view key;
    SeriesTable::State* series = nullptr;  // null: refused
    Series* news = nullptr;
  };

  Taken take(const StreamChunk& chunk, bool on_disk, std::size_t budget);
  bool knows(TaskId task, const NodeId& node);
  Stream find_stream(const StreamChunk& chunk);
  void put_stream(const StreamChunk& chunk, const Stream& stream);
  void take_events(TaskId task, std::string_view text, Stream& stream);
  std::string take_line(TaskId task, std::string_view line);
  void leave_out(TaskId task, std::string_view line, Stream& stream, const std::string& why);
  void take_metrics(TaskId task, const MetricsLine& line);
  Series& fresh_points(JobId job, std::string_view key);
  const Slot& slot(std::size_t at, AttemptId attempt, std::string_view key);
  void refuse_metric(JobId job, Time time, std::string_view key);
  void take_event(TaskId task, const WorkerEvent& event);
  void take_body(TaskId task, Time time, const StartedEvent& e);
  void take_body(TaskId task, Time time, const MetricsEvent& e);
  void take_body(TaskId task, Time time, const CheckpointEvent& e);
  void take_body(TaskId task, Time time, const TargetEvent& e);
  void take_body(TaskId task, Time time, const NoteEvent& e);
  void take_body(TaskId task, Time time, const FinishedEvent& e);
  void take_body(TaskId task, Time time, const PhaseEvent& e);
  void take_origin(AttemptId attempt, Time time, const Origin& origin, std::int64_t step);
  void note_progress(std::int64_t step, std::optional<std::int64_t> steps, Time time);
  void write_progress(AttemptId attempt);

  Database& database_;
  History history_;
  LedgerMarks ledger_;
  Milestones milestones_;
  SeriesTable series_;
  Statement find_task_, find_stream_, put_stream_;
  Statement put_checkpoint_, start_steps_;
  Statement put_found_, put_text_, put_origin_, begin_anew_, other_origin_;
  Statement was_refused_;
  std::set<JobId> refused_;  // jobs with too many metrics, reported once

  // Of the piece being taken.
  std::optional<ProgressTold> progress_;
  MetricsLine metrics_;
  std::vector<Slot> slots_;  // of the piece's last line
  StreamBatch* batch_ = nullptr;
  const char* file_ = "events.jsonl";  // of the chunk being taken
  bool leads_ = false;                 // it tells the job's progress: rank 0's events, or any rank's output
};

}  // namespace podium
