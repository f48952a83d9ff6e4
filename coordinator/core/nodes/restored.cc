#include "coordinator/core/nodes/restored.h"

#include <algorithm>
#include <map>

namespace podium {
namespace {

constexpr std::int64_t kMostNumbersLost = 1'000'000;
constexpr int kMostAttemptsLost = 10'000;  // of one job

bool was_skipped(const ClusterState& state, JobId job) {
  const auto after = state.skipped.upper_bound(job);
  return after != state.skipped.begin() && job < std::prev(after)->second;
}

// The most numbers that a lost database could have assigned: one strange number must not use up all others.
bool is_likely(JobId job, JobId next) { return job.value - next.value < kMostNumbersLost; }
bool is_likely(AttemptId attempt, const Job& job) {
  return attempt.number - job.newest_attempt() < kMostAttemptsLost;
}

// Numbers of another cluster are meaningless here, and so are those of a home from before clusters had ids.
bool speaks_of_us(const ClusterState& state, const NodeReport& report) {
  return report.cluster.id == state.cluster.id;
}

// Whether one of the ranks on the node is over.
bool some_are_over(const Attempt& attempt, const NodeId& node) {
  for (std::size_t rank = 0; rank < attempt.tasks.size(); ++rank)
    if (attempt.allocation.ranks[rank].node == node && attempt.tasks[rank].over()) return true;
  return false;
}

// What it does with an attempt that it has run before, among others.
bool was_refused(const TaskReport& task) {
  return task.exit &&
         (task.exit->cause == ExitCause::no_record || task.exit->cause == ExitCause::not_started);
}

bool is_placed_on(const ClusterState& state, JobId id, const NodeId& node) {
  const Job* job = find_job(state, id);
  return job && job->attempt && std::ranges::any_of(job->attempt->allocation.ranks, [&](const auto& rank) {
           return rank.node == node;
         });
}

// It counts until it has ended, whatever happens to its job meanwhile.
bool was_unknown(const ClusterState& state, const NodeId& node, TaskId task) {
  const Node* known = find_node(state, node);
  return known && std::ranges::find(known->unknown, task) != known->unknown.end();
}

// Or the same agent under its former name. Otherwise the number was assigned twice: here, and by the database
// of which this one is a copy.
bool is_given_to(const ClusterState& state, const Attempt& attempt, int rank, const NodeDescription& node) {
  if (find_task(attempt, rank, node.id)) return true;
  const auto& ranks = attempt.allocation.ranks;
  if (node.key.empty() || rank < 0 || static_cast<std::size_t>(rank) >= ranks.size()) return false;
  return state.nodes.at(ranks[static_cast<std::size_t>(rank)].node).description.key == node.key;
}

class Future {
 public:
  Future(const ClusterState& state, const NodeReport& report) : state_(state), node_(report.node.id) {
    see({report.highest_job});
  }

  void runs(TaskId task) {
    const AttemptId attempt = task.attempt;
    see(attempt.job);
    const Job* job = find_job(state_, attempt.job);
    if (job && (!job->held || !was_unknown(state_, node_, task)))
      hold(*job, attempt, number_of(attempt) + " was running on " + node_.value + ", and " + unknown());
  }

  void has_ended(AttemptId attempt) {
    see(attempt.job);
    const Job* job = find_job(state_, attempt.job);
    if (job && is_news(*job, attempt))
      hold(*job, attempt,
           node_.value +
               " knows of an attempt of it that this database, an older copy that was restored, does not" +
               may_be_over());
  }

  void is_gone(AttemptId attempt) {
    const Job& job = state_.jobs.at(attempt.job);
    const StopCause stop = job.attempt->stop;
    const bool ends = stop == StopCause::cancelled ||  // and its job with it
                      (stop == StopCause::walltime && !job.request.replica);
    if (!ends && job.attempts_told < attempt.number)
      hold(job, attempt,
           number_of(attempt) + " has ended on " + node_.value +
               ", and this database, an older copy that was " + "restored, does not know how" +
               may_be_over());
  }

  Events events(Time now) && {
    Events events;
    for (auto& [job, held] : holds_) events.push_back({now, std::move(held)});
    if (highest_ >= state_.next_job) events.push_back({now, JobNumbersSkipped{{highest_.value + 1}}});
    return events;
  }

 private:
  static std::string number_of(AttemptId attempt) {
    return "attempt " + std::to_string(attempt.number) + " of it";
  }
  static std::string unknown() {
    return "this database, an older copy that was restored, does not know of that";
  }
  static std::string may_be_over() { return ": the job may have ended"; }

  void see(JobId job) {
    if (is_likely(job, state_.next_job)) highest_ = std::max(highest_, job);
  }

  static bool is_news(const Job& job, AttemptId attempt) {
    return attempt.number > job.newest_attempt() && is_likely(attempt, job);
  }

  void hold(const Job& job, AttemptId attempt, std::string reason) {
    JobHeld& held = holds_.try_emplace(job.id, JobHeld{job.id, std::move(reason), 0}).first->second;
    if (is_likely(attempt, job)) held.attempts = std::max<int>(held.attempts, attempt.number);
  }

  const ClusterState& state_;
  const NodeId& node_;
  std::map<JobId, JobHeld> holds_;
  JobId highest_{0};
};

}  // namespace

bool is_foreign(const ClusterState& state, const ClusterName& cluster) {
  return !cluster.id.empty() && !state.cluster.id.empty() && cluster.id != state.cluster.id;
}

bool was_lost(const ClusterState& state, JobId highest) {
  return highest >= state.next_job && is_likely(highest, state.next_job);
}

bool is_of_the_future(const ClusterState& state, const NodeDescription& node, TaskId task) {
  if (task.attempt.job >= state.next_job || was_skipped(state, task.attempt.job)) return true;
  if (was_unknown(state, node.id, task)) return true;
  const Job* job = find_job(state, task.attempt.job);
  if (!job || task.attempt.number < job->attempts) return false;
  if (task.attempt.number > job->attempts) return true;
  if (job->attempt) return !is_given_to(state, *job->attempt, task.rank, node);
  return job->attempts_told == job->attempts;  // nodes have told of a later one of this number
}

std::vector<TaskId> unknown_tasks(const ClusterState& state, const NodeReport& report) {
  std::vector<TaskId> unknown;
  for (const TaskReport& task : report.tasks)
    if (task.state != TaskState::exited &&
        (is_foreign(state, report.cluster) || is_of_the_future(state, report.node, task.task)))
      unknown.push_back(task.task);
  return unknown;
}

std::set<TaskId> gone_tasks(const ClusterState& state, const NodeReport& report) {
  std::set<TaskId> gone;
  if (!speaks_of_us(state, report)) return gone;
  const NodeId& node = report.node.id;
  std::set<TaskId> listed, refused;
  if (!report.ended.empty())
    for (const TaskReport& task : report.tasks) (was_refused(task) ? refused : listed).insert(task.task);
  for (const AttemptId ended : report.ended) {
    const Job* job = find_job(state, ended.job);
    if (!job || !job->attempt || job->attempt->number > ended.number) continue;
    const bool some_over = some_are_over(*job->attempt, node);
    for (std::size_t rank = 0; rank < job->attempt->tasks.size(); ++rank) {
      const Task& task = job->attempt->tasks[rank];
      const TaskId id{job->attempt_id(), static_cast<int>(rank)};
      if (job->attempt->allocation.ranks[rank].node != node || task.over() || listed.contains(id)) continue;
      const bool has_ended = refused.contains(id) ? !some_over && job->attempt->number == ended.number
                                                  : !some_over || task.listed;
      if (has_ended) gone.insert(id);
    }
  }
  return gone;
}

std::string why_gone(const NodeId& node) {
  return "it ended on " + node.value + " after this database was copied";
}

void stop_what_has_not_begun(const ClusterState& state, const Events& events, Drafts& drafts) {
  std::set<JobId> held;
  for (const Event& event : events)
    if (const auto* hold = std::get_if<JobHeld>(&event.body)) held.insert(hold->job);
  for (const JobId id : held)
    if (const Job& job = state.jobs.at(id);
        job.state == JobState::starting && std::ranges::none_of(job.attempt->tasks, &Task::listed))
      drafts.of(id).stop(StopCause::requeued, "nodes know of another attempt of it");
}

void respect_the_future(const ClusterState& state, const NodeReport& report, const std::set<TaskId>& gone,
                        Time now, Events& events) {
  if (is_foreign(state, report.cluster)) return;
  Future future(state, report);
  for (const TaskReport& task : report.tasks) {
    if (!is_of_the_future(state, report.node, task.task)) continue;
    if (task.state == TaskState::exited)
      future.has_ended(task.task.attempt);
    else
      future.runs(task.task);
  }
  if (speaks_of_us(state, report))
    for (const AttemptId attempt : report.ended)
      if (report.interrupted || is_placed_on(state, attempt.job, report.node.id)) future.has_ended(attempt);
  for (const TaskId task : gone) future.is_gone(task.attempt);
  for (Event& event : std::move(future).events(now)) events.push_back(std::move(event));
}

}  // namespace podium
