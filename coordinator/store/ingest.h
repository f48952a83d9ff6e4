// Streams of tasks into tables, each byte once: what a chunk says takes effect in the same transaction that
// moves the stream's offset over it. Lives on the writer's thread.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/model/worker_event.h"
#include "coordinator/store/event_lines.h"
#include "coordinator/store/history.h"
#include "coordinator/store/sqlite.h"
#include "coordinator/store/store.h"

namespace podium {

// Gathers the news of one batch.
class NewsDesk {
 public:
  JobNews& of(AttemptId attempt);
  void add_point(AttemptId attempt, std::string_view key, SeriesPoint point);
  std::vector<JobNews> publish() &&;

 private:
  struct Entry {
    JobNews news;
    std::map<std::string, Series, std::less<>> points;
  };
  std::map<JobId, Entry> entries_;
};

class Ingestor {
 public:
  struct Taken {
    std::int64_t next = 0;   // the stream's offset now
    std::int64_t bytes = 0;  // how far this call moved it
    bool more = false;       // the chunk holds more that can be taken
  };

  Ingestor(Database& database, std::filesystem::path home);

  // Takes about `budget` bytes of what is new in the chunk; call again while there is more. Inside a
  // transaction.
  Taken take(const StreamChunk& chunk, std::size_t budget, NewsDesk& news);

  // The transaction was rolled back: what is cached may never have happened.
  void forget();

 private:
  struct SeriesState {
    std::int64_t id = 0;
    int attempt = 0;
    std::int64_t last_step = 0, last_ms = 0;
    double last = 0, min = 0, max = 0;
    bool changed = false;
  };
  struct KeyHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view key) const { return std::hash<std::string_view>{}(key); }
  };
  using JobSeries = std::unordered_map<std::string, SeriesState, KeyHash, std::equal_to<>>;
  struct PointRow {
    std::int64_t series, step, time_ms;
    double value;
  };
  struct Line {
    TaskId task;
    std::string_view text;
    std::int64_t offset;
  };

  bool knows(TaskId task);
  std::int64_t offset_of(const StreamChunk& chunk);
  void take_events(TaskId task, std::string_view text, std::int64_t offset, NewsDesk& news);
  bool take_line(const Line& line, NewsDesk& news);
  void take_metrics(TaskId task, const MetricsLine& line, NewsDesk& news);
  void take_event(TaskId task, const WorkerEvent& event, NewsDesk& news);
  void take_body(TaskId task, Time time, const StartedEvent& e, NewsDesk& news);
  void take_body(TaskId task, Time time, const MetricsEvent& e, NewsDesk& news);
  void take_body(TaskId task, Time time, const CheckpointEvent& e, NewsDesk& news);
  void take_body(TaskId task, Time time, const TargetEvent& e, NewsDesk& news);
  void take_body(TaskId task, Time time, const NoteEvent& e, NewsDesk& news);
  void take_body(TaskId task, Time time, const FinishedEvent& e, NewsDesk& news);
  SeriesState& series_of(JobSeries& job, JobId id, int attempt, std::string_view key);
  void note_progress(std::int64_t step, std::optional<std::int64_t> steps, Time time);
  void write_progress(AttemptId attempt);
  void write_points(AttemptId attempt);

  Database& database_;
  std::filesystem::path home_;
  History history_;
  Statement find_task_, find_offset_, put_offset_;
  Statement find_series_, insert_series_, update_series_, put_point_;
  Statement put_checkpoint_, reach_target_, start_steps_, put_progress_, attempt_progress_;
  std::unordered_map<JobId, JobSeries> series_;

  // Of the piece at hand.
  struct PieceProgress {
    std::int64_t step = 0;
    std::optional<std::int64_t> steps;  // unless it said how many there will be
    Time updated;
  };
  std::vector<PointRow> rows_;
  std::optional<PieceProgress> progress_;
  MetricsLine metrics_;
};

}  // namespace podium
