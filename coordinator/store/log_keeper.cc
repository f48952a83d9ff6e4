#include "coordinator/store/log_keeper.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <charconv>
#include <limits>

namespace podium {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr int kLogKeeperCacheKib = 512;
constexpr auto kRemoveLogsEvery = 10min;
constexpr auto kLookForRoomEvery = 5s;  // when all logs are those of running jobs

const std::string kDueJobs =
    " FROM jobs j JOIN experiments e ON e.id = j.experiment LEFT JOIN retention_rules r ON r.experiment = "
    "e.name"
    " WHERE j.ended_ms <= ?1 - coalesce(r.logs_ms, ?2)";

// Ends the query, so that the next one sees what has been written since.
bool found(Statement& look) {
  const bool any = look.next();
  look.start();
  return any;
}

}  // namespace

LogKeeper::LogKeeper(fs::path home, const LogLimits& limits, Duration usual)
    : home_(std::move(home)),
      limits_(limits),
      usual_(usual),
      writer_(home_, limits.one),
      database_(home_ / "podium.db", Access::read, kLogKeeperCacheKib),
      find_task_(database_,
                 "SELECT 1 FROM tasks WHERE job = ?1 AND attempt = ?2 AND rank = ?3 AND node = ?4"),
      find_end_(
          database_,
          "SELECT next FROM stream_offsets WHERE job = ?1 AND attempt = ?2 AND rank = ?3 AND stream = ?4"),
      due_jobs_(database_, "SELECT j.id" + kDueJobs + " ORDER BY j.ended_ms"),
      is_due_(database_, "SELECT 1" + kDueJobs + " AND j.id = ?3"),
      ended_jobs_(database_, "SELECT id FROM jobs WHERE ended_ms IS NOT NULL ORDER BY ended_ms"),
      has_ended_(database_, "SELECT 1 FROM jobs WHERE id = ?1 AND ended_ms IS NOT NULL"),
      newest_event_(database_, "SELECT time_ms FROM events ORDER BY seq DESC LIMIT 1"),
      thread_([this] { work(); }) {}

LogKeeper::~LogKeeper() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void LogKeeper::write(std::shared_ptr<StreamBatch> streams, Done done) {
  const bool output = std::ranges::any_of(
      streams->chunks, [](const StreamChunk& chunk) { return is_output(chunk.stream); });
  if (!output) return done(std::nullopt);
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back({std::move(streams), std::move(done)});
  }
  wake_.notify_one();
}

void LogKeeper::rules_changed() {
  {
    const std::lock_guard lock(mutex_);
    rules_changed_ = true;
  }
  wake_.notify_one();
}

void LogKeeper::work() {
  measure();
  for (;;) {
    std::unique_lock lock(mutex_);
    wake_.wait_until(lock, next_house_, [this] { return stopping_ || !queue_.empty() || rules_changed_; });
    if (stopping_ && queue_.empty()) return;
    if (std::exchange(rules_changed_, false)) next_house_ = {};
    std::deque<Work> queue = std::exchange(queue_, {});
    lock.unlock();
    if (!queue.empty()) write_together(std::move(queue));
    if (std::chrono::steady_clock::now() >= next_house_ || (total_ > limits_.all && !full_)) keep_house();
  }
}

void LogKeeper::write_together(std::deque<Work> queue) {
  std::optional<Error> failure;
  try {
    Ends ends;
    for (const Work& work : queue) write_one(*work.streams, ends);
    writer_.sync();
  } catch (const std::exception& error) {  // a full disk, mostly
    failure = Error{ErrorCode::unavailable, std::string("streams could not be written: ") + error.what(), ""};
  }
  for (const Work& work : queue) work.done(failure);
}

void LogKeeper::write_one(StreamBatch& streams, Ends& ends) {
  for (std::size_t i = 0; i < streams.chunks.size(); ++i) {
    const StreamChunk& chunk = streams.chunks[i];
    if (!is_output(chunk.stream)) continue;
    const std::int64_t size = std::ssize(chunk.bytes);
    if (chunk.offset > std::numeric_limits<std::int64_t>::max() - size) continue;
    const std::int64_t from = end_of(streams.node, chunk.task, chunk.stream, ends);
    const bool follows = chunk.offset <= from || chunk.after_gap;
    if (from < 0 || !follows || chunk.offset + size <= from) continue;
    const std::int64_t begin = std::max(from, chunk.offset);
    const auto fresh = chunk.bytes.substr(static_cast<std::size_t>(begin - chunk.offset));
    const std::int64_t grown = full_ ? 0 : writer_.write(chunk.task, chunk.stream, from, begin, fresh);
    sizes_[chunk.task.attempt.job] += grown;
    total_ += grown;
    ends[{chunk.task, chunk.stream}] = begin + std::ssize(fresh);
    streams.on_disk[i] = true;
  }
}

// The end of the stream, from what is committed and what was just written; -1: the task is not the node's.
std::int64_t LogKeeper::end_of(const NodeId& node, TaskId task, StreamKind stream, Ends& ends) {
  const auto known = ends.find({task, stream});
  if (known != ends.end()) return known->second;
  const std::int64_t job = task.attempt.job.value;
  std::int64_t end = -1;
  for (find_task_.start(job, task.attempt.number, task.rank, node.value); find_task_.next();) end = 0;
  if (end < 0) return end;
  for (find_end_.start(job, task.attempt.number, task.rank, to_string(stream)); find_end_.next();)
    end = find_end_.integer(0);
  return end;
}

void LogKeeper::measure() {
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(home_ / "logs", none)) {
    const std::string name = entry.path().filename();
    JobId job;
    std::from_chars(name.data(), name.data() + name.size(), job.value);
    total_ += sizes_[job] = size_of_logs(home_, job);
  }
}

void LogKeeper::keep_house() {
  try {
    // Uses the cluster's time, which is at least that of the newest event: this machine's clock may jump.
    std::int64_t now = 0;
    for (newest_event_.start(); newest_event_.next();) now = newest_event_.integer(0);
    const auto is_due = [&](JobId job) { return found(is_due_.start(now, usual_.count(), job.value)); };
    remove_logs(with_logs(due_jobs_.start(now, usual_.count())), 0, is_due);
    // Some more than needed, so that it is not for every line.
    const auto has_ended = [&](JobId job) { return found(has_ended_.start(job.value)); };
    if (total_ > limits_.all) remove_logs(with_logs(ended_jobs_.start()), limits_.all / 10 * 9, has_ended);
  } catch (const std::exception& error) {
    spdlog::warn("old logs could not be removed: {}", error.what());
  }
  const bool was_full = std::exchange(full_, total_ > limits_.all);
  if (full_ && !was_full)
    spdlog::warn(
        "the logs of running jobs alone are more than --logs-quota: what they write now is left out");
  next_house_ = std::chrono::steady_clock::now();
  next_house_ += full_ ? std::chrono::seconds(kLookForRoomEvery) : std::chrono::seconds(kRemoveLogsEvery);
}

std::deque<JobId> LogKeeper::with_logs(Statement& jobs) {
  std::deque<JobId> with;
  while (jobs.next())
    if (const JobId job{jobs.integer(0)}; sizes_.contains(job)) with.push_back(job);
  return with;
}

// In this order, until all logs together have `until` bytes; of those of which it still holds that they may
// go: meanwhile a rule may change, or a job be queued again.
void LogKeeper::remove_logs(std::deque<JobId> jobs, std::int64_t until,
                            const std::function<bool(JobId)>& may_go) {
  for (; !jobs.empty() && total_ > until; jobs.pop_front()) {
    if (!may_go(jobs.front())) continue;
    const auto size = sizes_.find(jobs.front());
    fs::remove_all(logs_of(home_, jobs.front()));
    spdlog::info("removed the logs of job {}, {} bytes", to_string(jobs.front()), size->second);
    total_ -= size->second;
    sizes_.erase(size);
  }
}

}  // namespace podium
