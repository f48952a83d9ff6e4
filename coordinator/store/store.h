// The coordinator's disk: event log, projections for the API, metric series, checkpoints, logs; all under one
// home. One thread owns the writing connection and commits what has queued up together. Callbacks run where
// `Post` puts them. A commit that fails is tried again until it is written, for the state in memory is ahead
// of the disk by it, and failure() says so. An ingest that fails is an answer (`unavailable`), because the
// agent keeps what it could not deliver.
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
#include "common/model/stream_chunk.h"
#include "coordinator/core/events/events.h"
#include "coordinator/core/plan/wait_log.h"
#include "coordinator/store/disk_room.h"
#include "coordinator/store/reader.h"
#include "coordinator/store/retention.h"
#include "coordinator/store/stream_batch.h"
#include "coordinator/tracking/energy.h"

namespace podium {

class LogKeeper;

// What the log does not hold of a new experiment.
struct ExperimentText {
  ExperimentId experiment;
  std::string spec;                    // the YAML as it came
  std::string file;                    // its name
  std::string source;                  // JSON: repository, commit, path, dirty; "" without
  std::string idempotency_key;         // "" without; never one that exists or is on its way
  std::vector<std::string> job_specs;  // normalised JSON of each job, in the order of their ids
};

struct AttemptSecret {
  AttemptId attempt;
  std::string secret;
};

// One turn of the loop.
struct Commit {
  Events events;
  std::optional<ExperimentText> experiment;
  std::vector<AttemptSecret> secrets;  // one for each AttemptCreated
  std::shared_ptr<const ClusterState>
      snapshot;  // after these events, when wants_snapshot() said so; else none
  std::vector<WaitMark> waits = {};
  std::vector<DrawnEnergy> energy = {};
  std::vector<RetentionChange> retention = {};
};

// What a restarted coordinator continues with.
struct Loaded {
  ClusterState state;
  std::vector<AttemptSecret> secrets;  // of the attempts that have not ended
  Time newest_event;
  std::map<JobId, std::string> waits = {};  // for WaitLog
};

// Who this database is, and where its jobs are in the nodes' shared folder.
struct ClusterRecord {
  ClusterName name;
  std::string folder;
};

struct StoreOptions {
  std::optional<std::int64_t> disk_reserve;  // bytes
  LogLimits logs;
  Retention retention = kUsualRetention;
};

class Store {
 public:
  using Post = std::function<void(std::function<void()>)>;

  // Creates or migrates `home`/podium.db. Throws SqliteError or std::system_error naming the file.
  Store(std::filesystem::path home, Post post, const StoreOptions& options = {});
  ~Store();  // finishes what is queued

  // Once, before load: raises the generation. A database that is no cluster's yet becomes that of the id
  // `fresh`.
  ClusterRecord begin(const std::string& fresh);

  // Before the first commit: at the start of this coordinator, `to`, the cluster's time made a step.
  void note_clock_step(Time from, Time to, Duration step);

  // Once, before the first commit. The limits are the daemon's, not the disk's.
  Loaded load(const ClusterState& empty);

  void commit(Commit turn, std::function<void()> done);

  // Its positions are filled in and durable when `done` runs, and so is every turn that was committed before
  // this call. Errors: `unavailable` when the queue or the disk is full.
  using IngestDone = std::function<void(const std::optional<Error>&)>;
  void ingest(std::shared_ptr<StreamBatch> streams, IngestDone done);

  // Why turns cannot be written at the moment; they wait.
  std::optional<Error> failure() const;

  // Why nothing more may be taken in that can wait, streams and submissions: failure(), the disk is nearly
  // full, or the home is gone. Orders, agents' reports and users' commands go on, for which the reserve is
  // kept.
  std::optional<Error> refusal() const;

  // Enough events since the last snapshot that the next commit should bring one.
  bool wants_snapshot() const;

  const StoreOptions& options() const { return options_; }

  // A new read-only view with its own connection; use each from one thread at a time.
  std::unique_ptr<Reader> open_reader() const;

 private:
  class Writer;
  std::filesystem::path home_;
  StoreOptions options_;
  Post post_;
  std::shared_ptr<std::atomic<std::size_t>> queued_bytes_;  // of streams; shared with their callbacks
  std::unique_ptr<Writer> writer_;
  std::unique_ptr<LogKeeper> logs_;  // after the writer, which it hands on to
  std::optional<DiskRoom> room_;     // once the database is there
};

}  // namespace podium
