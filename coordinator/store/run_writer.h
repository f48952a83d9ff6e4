// Writes what programs log, change by change, in the caller's transaction. A change that is refused has
// written nothing, so that the others of the transaction stand. Lives on the writer's thread.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "coordinator/store/history.h"
#include "coordinator/store/milestones.h"
#include "coordinator/store/run_bytes.h"
#include "coordinator/store/run_change.h"
#include "coordinator/store/run_group_writer.h"
#include "coordinator/store/run_inputs.h"
#include "coordinator/store/run_points.h"
#include "coordinator/store/sqlite.h"

namespace podium {

class RunWriter {
 public:
  RunWriter(Database& database, SeriesTable& series, Milestones& milestones);

  // For a job that RunTracked has just made.
  void begin(JobId job, const NewRun& run);

  Result<std::int64_t> take(const RunChange& change);
  // Whether write() has so much to do that it should come before more changes.
  bool is_full() const { return points_.is_full(); }
  // Call before the commit.
  void write();
  // Call after a rollback.
  void forget();

 private:
  struct Row {
    bool tracked = false;
    JobState state = JobState::running;
    int attempt = 0;  // of a scheduled job the last
    std::int64_t started_ms = 0;
  };

  Result<Row> writable(JobId run, bool also_deleted = false);
  bool is_of_spec(JobId run, const std::string& key, const std::string& value);
  // Nothing, or why they are refused. `more`: the bytes that they add.
  std::optional<Error> check_params(JobId run, bool has_spec, const std::vector<KeyValue>& params,
                                    std::int64_t& more);
  std::optional<Error> is_podiums(JobId run, const std::string& key);
  std::optional<Error> check_tags(JobId run, bool tracked, const std::vector<KeyValue>& tags,
                                  std::int64_t& more);
  void put_params(JobId run, const std::vector<KeyValue>& params);
  void put_tags(JobId run, bool tracked, const std::vector<KeyValue>& tags);
  void change_state(JobId run, const Row& row, const UpdateRun& update, std::int64_t now_ms);
  Result<std::int64_t> take(const RunChange& change, const LogToRun& log);
  Result<std::int64_t> take(const RunChange& change, const UpdateRun& update);
  Result<std::int64_t> take(const RunChange& change, const RemoveRunTag& remove);
  Result<std::int64_t> take(const RunChange& change, const DeleteRun& remove);
  Result<std::int64_t> take(const RunChange& change, const AddRunInputs& add);
  template <class GroupChange>
  Result<std::int64_t> take(const RunChange& change, const GroupChange& group) {
    return groups_.take(change.now_ms, group);
  }

  void note_points(const RunChange& change, const Row& row, const std::vector<RunPoint>& points);
  void forget_transaction();
  void write_progress(AttemptId attempt, const ProgressTold& told);

  SeriesTable& series_;
  Milestones& milestones_;
  RunPoints points_;
  RunGroupWriter groups_;
  RunBytes bytes_;
  RunInputs inputs_;
  History history_;
  Statement begin_, find_, param_, count_params_, put_param_, count_tags_, has_tag_, is_tag_, submitted_tag_,
      put_tag_, of_spec_, remove_tag_, show_tags_, rename_, set_state_, set_deleted_, progress_;

  std::int64_t& count(std::map<JobId, std::int64_t>& counts, Statement& counting, JobId run);

  // Since the last write().
  std::map<AttemptId, ProgressTold> progress_told_;
  std::set<JobId> labels_changed_;
  std::map<JobId, std::int64_t> params_, tags_;  // that a run has
};

}  // namespace podium
