// Writes the output in streams to disk, on a thread of its own, so that no turn waits for its fsyncs. It
// writes all queued batches together and syncs each file once; then each batch goes on, and its offsets are
// moved. It also deletes logs whose time is over and keeps all logs within the quota: logs of the jobs that
// ended longest ago are deleted first; where only logs of running jobs are left, new output is dropped until
// there is room again.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "common/base/time.h"
#include "coordinator/store/log_files.h"
#include "coordinator/store/retention.h"
#include "coordinator/store/sqlite.h"
#include "coordinator/store/stream_batch.h"

namespace podium {

class LogKeeper {
 public:
  using Done = std::function<void(const std::optional<Error>&)>;

  // The database must exist. `usual`: how long logs are kept without a rule.
  LogKeeper(std::filesystem::path home, const LogLimits& limits, Duration usual);
  ~LogKeeper();  // writes what is queued

  // Sets on_disk. `done` is called on the keeper's thread, or at once where the streams hold no output.
  void write(std::shared_ptr<StreamBatch> streams, Done done);

  // Call after the rules changed: soon looks for logs to delete.
  void rules_changed();

 private:
  struct Work {
    std::shared_ptr<StreamBatch> streams;
    Done done;
  };
  using Ends = std::map<std::pair<TaskId, StreamKind>, std::int64_t>;

  void work();
  void write_together(std::deque<Work> queue);
  void write_one(StreamBatch& streams, Ends& ends);
  std::int64_t end_of(const NodeId& node, TaskId task, StreamKind stream, Ends& ends);
  void measure();
  void keep_house();
  std::deque<JobId> with_logs(Statement& jobs);
  void remove_logs(std::deque<JobId> jobs, std::int64_t until, const std::function<bool(JobId)>& may_go);

  std::filesystem::path home_;
  LogLimits limits_;
  Duration usual_;
  LogWriter writer_;
  Database database_;
  Statement find_task_, find_end_, due_jobs_, is_due_, ended_jobs_, has_ended_, newest_event_;
  std::map<JobId, std::int64_t> sizes_;  // of the logs of each job, in bytes
  std::int64_t total_ = 0;
  bool full_ = false;  // new output is dropped
  std::chrono::steady_clock::time_point next_house_{};

  std::mutex mutex_;  // guards the next three
  std::deque<Work> queue_;
  bool stopping_ = false;
  bool rules_changed_ = false;
  std::condition_variable wake_;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace podium
