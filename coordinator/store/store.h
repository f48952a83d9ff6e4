// The coordinator's disk: event log, projections for the API, metric series, checkpoints, logs; all under one
// home. One thread owns the writing connection and commits what has queued up together. Callbacks run where
// `Post` puts them. A commit that fails ends the process: the state in memory would be ahead of the disk. An
// ingest that fails is an answer (`unavailable`), because the agent keeps what it could not deliver.
#pragma once

#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/model/stream_chunk.h"
#include "coordinator/core/events.h"
#include "coordinator/store/reader.h"

namespace podium {

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
};

// What a restarted coordinator continues with.
struct Loaded {
  ClusterState state;
  std::vector<AttemptSecret> secrets;  // of the attempts that have not ended
};

// What a batch of streams told, one entry a job, for the live stream and the core. The reader has the rest.
struct JobNews {
  JobId job;
  int attempt = 0;
  std::vector<Point> points;               // at most a few hundred of each key; the series has them all
  std::optional<std::int64_t> checkpoint;  // the newest step
  bool target_reached = false;
};

struct Ingested {
  std::vector<StreamPosition> positions;
  std::vector<JobNews> news;
};

class Store {
 public:
  using Post = std::function<void(std::function<void()>)>;

  // Creates or migrates `home`/podium.db. Throws SqliteError or std::system_error naming the file.
  Store(std::filesystem::path home, Post post);
  ~Store();  // finishes what is queued

  // Once, before the first commit. The limits are the daemon's, not the disk's.
  Loaded load(const ClusterState& empty);

  void commit(Commit turn, std::function<void()> done);

  // `body` as common/model/stream_chunk.h describes; at most 8 MiB. All its positions are durable when `done`
  // runs. Errors: `invalid` for a malformed body, `unavailable` when the queue or the disk is full.
  void ingest(std::string body, std::function<void(Result<Ingested>)> done);

  // Enough events since the last snapshot that the next commit should bring one.
  bool wants_snapshot() const;

  // A new read-only view with its own connection; use each from one thread at a time.
  std::unique_ptr<Reader> open_reader() const;

 private:
  class Writer;
  std::filesystem::path home_;
  std::unique_ptr<Writer> writer_;
};

}  // namespace podium
