// Streams of tasks into tables, each byte once: what a chunk says takes effect in the same transaction that
// moves the stream's offset over it. Output is on disk already (log_keeper.h) when its chunk comes here; only
// its offset moves. Lives on the writer's thread.
#pragma once

#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/model/worker_event.h"
#include "coordinator/store/board_runs.h"
#include "coordinator/store/event_lines.h"
#include "coordinator/store/history.h"
#include "coordinator/store/ledger_marks.h"
#include "coordinator/store/series_table.h"
#include "coordinator/store/sqlite.h"
#include "coordinator/store/store.h"

namespace podium {

// Gathers the news of one batch.
class NewsDesk {
 public:
  JobNews& of(AttemptId attempt);
  Series& series(AttemptId attempt, std::string_view key);  // to add points to; stays where it is
  void note(std::string text) { notes_.insert(std::move(text)); }
  void publish(Ingested& answer) &&;

 private:
  struct Entry {
    JobNews news;
    std::map<std::string, Series, std::less<>> points;
  };
  std::map<JobId, Entry> entries_;
  std::set<std::string> notes_;
};

class Ingestor {
 public:
  struct Taken {
    std::int64_t next = 0;   // the stream's offset now
    std::int64_t bytes = 0;  // how far this call moved it
    bool more = false;       // the chunk holds more that can be taken
  };

  explicit Ingestor(Database& database);

  // Takes about `budget` bytes of what is new in the chunk that `node` sent; call again while there is more.
  // A node may write the streams of tasks that were given to it. Inside a transaction. `on_disk`: of a chunk
  // of output, that its bytes are.
  Taken take(const NodeId& node, const StreamChunk& chunk, bool on_disk, std::size_t budget,
             const WriterClock& clock, NewsDesk& news);

  // The transaction was rolled back: what is cached may never have happened.
  void forget();

 private:
  struct Stream {
    std::int64_t next = 0;
    bool skipping = false;      // a line that is too long goes on at `next`
    std::int64_t left_out = 0;  // lines
  };
  struct Target {
    std::string metric;  // "": none, or reached
    double at_least = 0, at_most = 0;
  };

  // Where a value of a metrics line goes. Lines of a task name the same metrics in the same order, mostly:
  // each value is looked for where that of the line before went.
  struct Slot {
    std::string_view key;
    SeriesTable::State* series = nullptr;  // null: refused
    Series* news = nullptr;
  };

  bool knows(TaskId task, const NodeId& node);
  Stream find_stream(const StreamChunk& chunk);
  void put_stream(const StreamChunk& chunk, const Stream& stream);
  void take_events(TaskId task, std::string_view text, Stream& stream, NewsDesk& news);
  std::string take_line(TaskId task, std::string_view line, NewsDesk& news);
  void leave_out(TaskId task, std::string_view line, Stream& stream, const std::string& why);
  void take_metrics(TaskId task, const MetricsLine& line, NewsDesk& news);
  const Slot& slot(std::size_t at, AttemptId attempt, std::string_view key, NewsDesk& news);
  void refuse_metric(JobId job, Time time, std::string_view key, NewsDesk& news);
  const Target& target_of(JobId job);
  void take_event(TaskId task, const WorkerEvent& event, NewsDesk& news);
  void take_body(TaskId task, Time time, const StartedEvent& e, NewsDesk& news);
  void take_body(TaskId task, Time time, const MetricsEvent& e, NewsDesk& news);
  void take_body(TaskId task, Time time, const CheckpointEvent& e, NewsDesk& news);
  void take_body(TaskId task, Time time, const TargetEvent& e, NewsDesk& news);
  void take_body(TaskId task, Time time, const NoteEvent& e, NewsDesk& news);
  void take_body(TaskId task, Time time, const FinishedEvent& e, NewsDesk& news);
  void take_body(TaskId task, Time time, const PhaseEvent& e, NewsDesk& news);
  void note_progress(std::int64_t step, std::optional<std::int64_t> steps, Time time);
  void write_progress(AttemptId attempt);

  Database& database_;
  History history_;
  LedgerMarks ledger_;
  BoardRuns board_;
  SeriesTable series_;
  Statement find_task_, find_stream_, put_stream_;
  Statement put_checkpoint_, find_target_, reach_target_, start_steps_, put_progress_, attempt_progress_;
  Statement put_text_;
  Statement was_refused_;
  std::unordered_map<JobId, Target> targets_;
  std::set<JobId> refused_;  // jobs that were told that they have too many metrics

  // Of the piece at hand.
  struct PieceProgress {
    std::int64_t step = 0;
    std::optional<std::int64_t> steps;  // unless it said how many there will be
    Time updated;
  };
  std::optional<PieceProgress> progress_;
  MetricsLine metrics_;
  std::vector<Slot> slots_;  // of the piece's last line
  WriterClock clock_;
};

}  // namespace podium
