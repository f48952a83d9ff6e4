// The coordinator's disk: event log, projections for the API, metric series, checkpoints and logs, all in one
// home folder. One thread owns the writing connection and commits all queued work in one transaction.
// Callbacks run where `Post` puts them. A commit that fails is repeated until it succeeds, because the state
// in memory already contains it; meanwhile failure() returns the reason. An ingest that fails is answered
// with `unavailable`, because the agent keeps what it could not deliver.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/model/links.h"
#include "common/model/stream_chunk.h"
#include "coordinator/core/events/events.h"
#include "coordinator/core/plan/wait_log.h"
#include "coordinator/store/disk_room.h"
#include "coordinator/store/reader.h"
#include "coordinator/store/retention.h"
#include "coordinator/store/stream_batch.h"
#include "coordinator/store/webhook_filter.h"
#include "coordinator/tracking/energy.h"

namespace podium {

class LogKeeper;
struct NewRun;
struct RunChange;

// The parts of a new experiment that the event log does not hold.
struct ExperimentText {
  ExperimentId experiment;
  std::string spec;                    // the YAML as submitted
  std::string file;                    // its name
  std::string source;                  // JSON: repository, commit, path, dirty; "" without
  std::string idempotency_key;         // "": none; else one that no experiment has, written or queued
  std::vector<std::string> job_specs;  // normalised JSON of each job, in the order of their ids
  std::vector<JobLinks> links = {};    // of each listed job to others, which job_specs lack; empty: no list
};

struct AttemptSecret {
  AttemptId attempt;
  std::string secret;
};

// One turn of the loop.
struct Commit {
  Events events;
  std::optional<ExperimentText> experiment;
  std::vector<AttemptSecret> secrets;            // one for each AttemptCreated
  std::shared_ptr<const ClusterState> snapshot;  // the state after these events; null unless wants_snapshot()
  std::vector<WaitMark> waits = {};
  std::vector<DrawnEnergy> energy = {};
  std::vector<RetentionChange> retention = {};
  std::shared_ptr<const NewRun> run = {};    // of the RunTracked among the events
  std::vector<std::int64_t> delivered = {};  // rows of webhook_queue that are done with
};

// What a restarted coordinator continues with.
struct Loaded {
  ClusterState state;
  std::vector<AttemptSecret> secrets;  // of the attempts that have not ended
  Time newest_event;
  std::map<JobId, std::string> waits = {};  // for WaitLog
};

// The identity of this database's cluster, and the folder of its jobs in the nodes' shared folder.
struct ClusterRecord {
  ClusterName name;
  std::string folder;
};

struct StoreOptions {
  std::optional<std::int64_t> disk_reserve;  // bytes
  LogLimits logs;
  Retention retention = kUsualRetention;
  std::vector<WebhookFilter> webhooks = {};
};

class Store {
 public:
  using Post = std::function<void(std::function<void()>)>;

  // Creates or migrates `home`/podium.db. Throws SqliteError or std::system_error naming the file.
  Store(std::filesystem::path home, Post post, const StoreOptions& options = {});
  ~Store();  // writes what is queued first

  // Call once, before load: raises the generation. A new database becomes that of the cluster with the id
  // `fresh`.
  ClusterRecord begin(const std::string& fresh);

  // Call before the first commit: records that the cluster's time stepped at the start of this coordinator
  // (`to`).
  void note_clock_step(Time from, Time to, Duration step);

  // Call once, before the first commit. Limits come from `empty`, not from the disk.
  Loaded load(const ClusterState& empty);

  void commit(Commit turn, std::function<void()> done);

  // When `done` runs, the batch's positions are filled in and durable, and so is every turn committed before
  // this call. Error: `unavailable` when the queue or the disk is full.
  using IngestDone = std::function<void(const std::optional<Error>&)>;
  void ingest(std::shared_ptr<StreamBatch> streams, IngestDone done);

  // Writes what a program logs, wholly or not at all. When `done` runs, it is on disk, as is every turn
  // committed before this call. The number is that of what was made, 0 where nothing was. Errors: the
  // change's own, or `unavailable` when the queue or the disk is full.
  using RunDone = std::function<void(const Result<std::int64_t>&)>;
  void change(std::shared_ptr<const RunChange> change, RunDone done);

  // Why turns cannot be written at present, if so; they wait.
  std::optional<Error> failure() const;

  // Why streams and submissions, which can wait, are refused at present, if so: failure(), a disk that is
  // nearly full, or a home that is gone. Orders, reports and commands continue: the disk reserve is kept for
  // them.
  std::optional<Error> refusal() const;

  std::optional<DiskFigures> disk() const { return room_->figures(); }

  // Whether so many events followed the last snapshot that the next commit should carry one.
  bool wants_snapshot() const;

  const StoreOptions& options() const { return options_; }

  // A new reader with a connection of its own. Use each reader from one thread at a time.
  std::unique_ptr<Reader> open_reader() const;

 private:
  class Writer;
  std::filesystem::path home_;
  StoreOptions options_;
  Post post_;
  std::shared_ptr<std::atomic<std::size_t>> queued_bytes_;    // of streams; shared with their callbacks
  std::shared_ptr<std::atomic<std::size_t>> queued_changes_;  // of changes of runs, likewise
  std::unique_ptr<Writer> writer_;
  std::unique_ptr<LogKeeper> logs_;  // after the writer, which it hands on to
  std::optional<DiskRoom> room_;     // once the database is there
};

}  // namespace podium
