#include "coordinator/store/run_writer.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "common/model/codec.h"
#include "coordinator/store/one_row.h"

namespace podium {
namespace {

Error refused(std::string message) { return {ErrorCode::invalid, std::move(message), ""}; }

}  // namespace

RunWriter::RunWriter(Database& db, SeriesTable& series, Milestones& milestones)
    : series_(series),
      milestones_(milestones),
      points_(db, series),
      groups_(db),
      bytes_(db),
      inputs_(db, bytes_),
      history_(db),
      begin_(db, "UPDATE jobs SET run_group = ?2, name = ?3, user = ?4, started_ms = ?5 WHERE id = ?1"),
      find_(db,
            "SELECT tracked, deleted, state, attempt, coalesce(started_ms, submitted_ms) FROM jobs"
            " WHERE id = ?1"),
      param_(db, "SELECT value FROM params WHERE job = ?1 AND key = ?2"),
      count_params_(db, "SELECT count(*) FROM params WHERE job = ?1"),
      put_param_(db, "INSERT OR REPLACE INTO params (job, key, value) VALUES (?1, ?2, ?3)"),
      count_tags_(db, "SELECT count(*) FROM tags WHERE job = ?1"),
      has_tag_(db, "SELECT length(CAST(value AS BLOB)) FROM tags WHERE job = ?1 AND key = ?2"),
      is_tag_(db, "SELECT 1 FROM tags WHERE job = ?1 AND key = ?2 AND value = ?3"),
      submitted_tag_(db, "SELECT 1 FROM submitted_tags WHERE job = ?1 AND key = ?2"),
      put_tag_(db, "INSERT OR REPLACE INTO tags (job, key, value) VALUES (?1, ?2, ?3)"),
      of_spec_(db, "SELECT 1 FROM submitted_params WHERE job = ?1 AND key = ?2 AND value = ?3"),
      remove_tag_(db, "DELETE FROM tags WHERE job = ?1 AND key = ?2"),
      // Those that people give, as labels, which lists show and find.
      show_tags_(
          db,
          "UPDATE jobs SET labels = (SELECT json_group_object(key, value) FROM (SELECT key, value FROM "
          "tags WHERE job = ?1 AND key NOT LIKE 'mlflow.%' AND length(value) <= 200 LIMIT 50))"
          " WHERE id = ?1"),
      rename_(db, "UPDATE jobs SET name = ?2 WHERE id = ?1"),
      set_state_(db, "UPDATE jobs SET state = ?2, ended_ms = ?3 WHERE id = ?1"),
      set_deleted_(db, "UPDATE jobs SET deleted = ?2 WHERE id = ?1"),
      progress_(db,
                "UPDATE jobs SET step = max(coalesce(step, 0), ?2), steps = 0, progress_ms = ?3"
                " WHERE id = ?1 AND tracked") {}

void RunWriter::begin(JobId job, const NewRun& run) {
  begin_.run(job.value, run.group.value, run.name, run.user, run.started_ms);
  put_tags(job, true, run.tags);
  show_tags_.run(job.value);
}

Result<std::int64_t> RunWriter::take(const RunChange& change) {
  return std::visit([&](const auto& what) { return take(change, what); }, change.what);
}

// Its row, unless there is none or it was deleted.
Result<RunWriter::Row> RunWriter::writable(JobId run, bool also_deleted) {
  if (!find_.start(run.value).next())
    return Error{ErrorCode::not_found, "there is no job " + to_string(run), ""};
  const Row row{find_.integer(0) != 0, job_state_from(find_.text(2)), find_.small(3), find_.integer(4)};
  const bool deleted = find_.integer(1) != 0;
  find_.start();
  if (deleted && !also_deleted)
    return refused("the run (job " + to_string(run) +
                   ") must be in the 'active' state and is in the 'deleted' state; restore it to log to it");
  return row;
}

// Of what a run has, counted once a transaction.
std::int64_t& RunWriter::count(std::map<JobId, std::int64_t>& counts, Statement& counting, JobId run) {
  const auto [known, fresh] = counts.try_emplace(run, 0);
  if (fresh) known->second = number_in(counting.start(run.value));
  return known->second;
}

bool RunWriter::is_of_spec(JobId run, const std::string& key, const std::string& value) {
  return has_row(of_spec_.start(run.value, key, value));
}

// A program may give a value of its own to what a key of its spec's outermost level is called, too; it does
// so once.
std::optional<Error> RunWriter::check_params(JobId run, bool has_spec, const std::vector<KeyValue>& params,
                                             std::int64_t& more) {
  std::int64_t fresh = 0;
  for (const auto& [key, value] : params) {
    if (!param_.start(run.value, key).next()) {
      ++fresh;
      more += std::ssize(key) + std::ssize(value);
      continue;
    }
    const std::string before = param_.text(0);
    param_.start();
    if (before != value && !(has_spec && key.find('.') == std::string::npos && is_of_spec(run, key, before)))
      return refused(
          fmt::format("Changing param values is not allowed. Param with key='{}' was already logged "
                      "with value='{}' for job {}. Attempted logging new value '{}'",
                      key, before, run.value, value));
    more += std::ssize(value) - std::ssize(before);
  }
  if (fresh > 0 && count(params_, count_params_, run) + fresh > kMostRunParams)
    return refused(fmt::format("a run may have {} params", kMostRunParams));
  return std::nullopt;
}

// Of a job that Podium schedules: what its spec and Podium say of it, which its program cannot make to lie.
std::optional<Error> RunWriter::is_podiums(JobId run, const std::string& key) {
  if (!key.starts_with("podium.") && !has_row(submitted_tag_.start(run.value, key))) return std::nullopt;
  return refused(
      fmt::format("the tag \"{}\" of job {} is Podium's own, or a label of its spec, and stays as it "
                  "is; give the tag another name",
                  key, run.value));
}

std::optional<Error> RunWriter::check_tags(JobId run, bool tracked, const std::vector<KeyValue>& tags,
                                           std::int64_t& more) {
  if (!tracked)
    for (const auto& [key, value] : tags)
      if (key != kRunNameTag && !has_row(is_tag_.start(run.value, key, value)))
        if (auto error = is_podiums(run, key)) return error;
  std::int64_t fresh = 0;
  for (const auto& [key, value] : tags) {
    const bool known = has_tag_.start(run.value, key).next();
    fresh += !known;
    more += std::ssize(value) + (known ? -has_tag_.integer(0) : std::ssize(key));
    has_tag_.start();
  }
  if (fresh == 0 || count(tags_, count_tags_, run) + fresh <= kMostRunTags) return std::nullopt;
  return refused(fmt::format("a run may have {} tags", kMostRunTags));
}

void RunWriter::put_params(JobId run, const std::vector<KeyValue>& params) {
  const auto known = params_.find(run);
  for (const auto& [key, value] : params) {
    if (known != params_.end()) known->second += !has_row(param_.start(run.value, key));
    put_param_.run(run.value, key, value);
  }
}

// A job has the name that its spec gives it.
void RunWriter::put_tags(JobId run, bool tracked, const std::vector<KeyValue>& tags) {
  for (const auto& [key, value] : tags) {
    if (key == kRunNameTag && !tracked) continue;
    if (const auto known = tags_.find(run); known != tags_.end())
      known->second += !has_row(has_tag_.start(run.value, key));
    put_tag_.run(run.value, key, value);
    if (key == kRunNameTag) rename_.run(run.value, value);
  }
}

Result<std::int64_t> RunWriter::take(const RunChange& change, const LogToRun& log) {
  const Result<Row> row = writable(change.run);
  if (!row) return row.errors();
  std::int64_t more = 0;  // bytes
  if (const auto error = check_params(change.run, !row->tracked, log.params, more)) return *error;
  if (const auto error = check_tags(change.run, row->tracked, log.tags, more)) return *error;
  if (const auto error = bytes_.refuse(change.run, more)) return *error;
  if (const auto error = points_.add(change.run, log.points)) return *error;
  bytes_.add(change.run, more);
  put_params(change.run, log.params);
  put_tags(change.run, row->tracked, log.tags);
  if (row->tracked && !log.tags.empty()) labels_changed_.insert(change.run);
  note_points(change, *row, log.points);
  return 0;
}

// The clocks of programs elsewhere may be ahead; nothing happens in the future.
void RunWriter::note_points(const RunChange& change, const Row& row, const std::vector<RunPoint>& points) {
  for (const RunPoint& point : points) {
    const Time time = from_millis(std::min(point.time_ms, change.now_ms));
    milestones_.take(change.run, time, point.step, point.key, point.value);
    if (!tells_progress(point.key)) continue;
    ProgressTold& told = progress_told_[{change.run, row.attempt}];
    told.step = std::max(told.step, point.step);
    told.updated = from_millis(change.now_ms);
  }
}

void RunWriter::change_state(JobId run, const Row& row, const UpdateRun& update, std::int64_t now_ms) {
  const JobState from = row.state, to = update.state.value_or(from);
  const bool over = is_terminal(to);
  if (to == from && !(over && update.ended_ms)) return;
  std::optional<std::int64_t> ended;
  // Whoever starts a run and who ends it may have different clocks.
  if (over) ended = std::max(update.ended_ms.value_or(now_ms), row.started_ms);
  set_state_.run(run.value, to_string(to), ended);
  if (to == from) return;
  history_.add(run, from_millis(now_ms), "job_state_changed", to == JobState::failed ? "error" : "info",
               fmt::format("{} → {}, as its program tells", to_string(from), to_string(to)));
}

Result<std::int64_t> RunWriter::take(const RunChange& change, const UpdateRun& update) {
  const Result<Row> row = writable(change.run);
  if (!row) return row.errors();
  if (!row->tracked) return 0;
  change_state(change.run, *row, update, change.now_ms);
  if (!update.name) return 0;
  put_tags(change.run, true, {{kRunNameTag, *update.name}});
  bytes_.forget(change.run);
  return 0;
}

Result<std::int64_t> RunWriter::take(const RunChange& change, const RemoveRunTag& remove) {
  const Result<Row> row = writable(change.run);
  if (!row) return row.errors();
  if (!has_row(has_tag_.start(change.run.value, remove.key)))
    return Error{ErrorCode::not_found, "job " + to_string(change.run) + " has no tag \"" + remove.key + "\"",
                 ""};
  if (!row->tracked)
    if (const auto error = is_podiums(change.run, remove.key)) return *error;
  remove_tag_.run(change.run.value, remove.key);
  tags_.erase(change.run);
  bytes_.forget(change.run);
  if (row->tracked) labels_changed_.insert(change.run);
  return 0;
}

Result<std::int64_t> RunWriter::take(const RunChange& change, const DeleteRun& remove) {
  const Result<Row> row = writable(change.run, true);
  if (!row) return row.errors();
  if (!row->tracked && remove.deleted)
    return refused(
        "job " + to_string(change.run) +
        " is scheduled by Podium and stays in its lists; only runs that a program logs by itself are "
        "deleted");
  set_deleted_.run(change.run.value, remove.deleted);
  return 0;
}

Result<std::int64_t> RunWriter::take(const RunChange& change, const AddRunInputs& add) {
  const Result<Row> row = writable(change.run);
  if (!row) return row.errors();
  if (const auto error = inputs_.add(change.run, add.inputs)) return *error;
  return 0;
}

// Programs log their last figures at step 0, where they name none: the highest step counts.
void RunWriter::write_progress(AttemptId attempt, const ProgressTold& told) {
  if (attempt.number == 0) {
    progress_.run(attempt.job.value, told.step, to_millis(told.updated));
    return;
  }
  ProgressTold furthest = told;
  furthest.step = std::max(told.step, milestones_.last_step(attempt).value_or(0));
  milestones_.put(attempt, furthest);
}

void RunWriter::write() {
  points_.write();
  series_.write();
  for (const JobId run : labels_changed_) show_tags_.run(run.value);
  for (const auto& [attempt, told] : progress_told_) write_progress(attempt, told);
  forget_transaction();
}

void RunWriter::forget() {
  bytes_.forget();
  points_.forget_counts();
  forget_transaction();
}

void RunWriter::forget_transaction() {
  progress_told_.clear();
  labels_changed_.clear();
  params_.clear();
  tags_.clear();
  points_.forget();
}

}  // namespace podium
