#include "coordinator/core/jobs/lifecycle.h"

#include <algorithm>

#include "common/base/check.h"
#include "common/base/units.h"
#include "common/model/launch.h"
#include "coordinator/core/placement/placement.h"

namespace podium {
namespace {

std::string place(const Job& job, int rank) {
  return "rank " + std::to_string(rank) + " on " +
         job.attempt->allocation.ranks[static_cast<std::size_t>(rank)].node.value;
}

const Task& task_of(const Job& job, int rank) { return job.attempt->tasks[static_cast<std::size_t>(rank)]; }

Verdict queue_again(Verdict verdict, RestartCause cause, const std::string& count) {
  verdict.next = JobState::queued;
  verdict.restart = cause;
  verdict.job_reason = verdict.attempt_reason + "; queued again " + count;
  return verdict;
}

constexpr char kAtNoCost[] = "at no cost";

Verdict give_up(Verdict verdict, const std::string& why) {
  verdict.next = JobState::failed;
  verdict.job_reason = verdict.attempt_reason + "; " + why;
  return verdict;
}

// A replica is started again as often as it takes: the load decides how long it is needed.
bool used_up(const Job& job, int used, int budget) { return !job.request.replica && used > budget; }

std::string count_of(const std::string& what, int used, int budget) {
  return "(" + what + " " + std::to_string(used) + " of " + std::to_string(budget) + ")";
}

std::string count_of(const Job& job, const std::string& what, int used, int budget) {
  return job.request.replica ? "(" + what + " " + std::to_string(used) + ")" : count_of(what, used, budget);
}

void avoid_node(const Job& job, int rank, Time now, Verdict& verdict) {
  const NodeId& node = job.attempt->allocation.ranks[static_cast<std::size_t>(rank)].node;
  if (std::ranges::find(verdict.avoid, node) == verdict.avoid.end()) verdict.avoid.push_back(node);
  verdict.avoid_until = now + kAvoidFor;
}

Verdict after_loss(const Job& job, Verdict verdict) {
  const auto lost = std::ranges::find(job.attempt->tasks, TaskPhase::lost, &Task::phase);
  const int rank = static_cast<int>(lost - job.attempt->tasks.begin());
  verdict.end = AttemptEnd::node_lost;
  verdict.attempt_reason = place(job, rank) + " was lost: " + lost->exit->message;
  if (used_up(job, ++verdict.retries.losses, kLosses)) return give_up(verdict, "it lost its nodes too often");
  return queue_again(std::move(verdict), RestartCause::node_loss, kAtNoCost);
}

// Nodes did not start their tasks in time: their devices are occupied, or their agents hang.
Verdict after_no_start(const Job& job, Time now, Verdict verdict) {
  verdict.end = AttemptEnd::node_lost;
  for (std::size_t rank = 0; rank < job.attempt->tasks.size(); ++rank) {
    if (job.attempt->tasks[rank].pid != 0) continue;
    if (verdict.attempt_reason.empty()) verdict.attempt_reason = place(job, static_cast<int>(rank)) + " was";
    avoid_node(job, static_cast<int>(rank), now, verdict);
  }
  if (verdict.attempt_reason.empty()) verdict.attempt_reason = "its last rank was";
  verdict.attempt_reason += " not started in time";
  if (used_up(job, ++verdict.retries.losses, kLosses))
    return give_up(verdict, "its nodes failed to start it in time too often");
  return queue_again(std::move(verdict), RestartCause::node_loss, kAtNoCost);
}

// Each of several quick attempts in a row waits longer before the next.
void back_off(const Job& job, Time now, Verdict& verdict, Duration at_least = {}) {
  int& quick = verdict.retries.quick;
  quick = now - job.attempt->created < kQuick ? quick + 1 : 0;
  Duration pause = at_least;
  if (quick >= 2)
    pause = std::max<Duration>(pause, std::chrono::seconds(1) * (std::int64_t{1} << std::min(quick - 1, 10)));
  if (pause > Duration{}) verdict.not_before = now + std::min(pause, kLongestBackOff);
}

void count_progress(const Job& job, Time now, Verdict& verdict) {
  const bool saved = job.checkpoint > job.attempt->first_checkpoint;
  const bool tells = !job.request.command || job.checkpoint >= 0;  // a user's own program need not
  const bool fruitless = tells && !job.request.replica && !saved;
  verdict.retries.fruitless = fruitless ? verdict.retries.fruitless + 1 : 0;
  if (saved || now - job.attempt->created >= kAvoidFor) verdict.retries.moves = 0;
}

// The node, the agent or a foreign SIGTERM ended the task, or the agent could not start it: the job is not to
// blame.
Verdict after_taking(const Job& job, Time now, Verdict verdict) {
  const int rank = *job.attempt->culprit;
  const TaskExit& exit = *task_of(job, rank).exit;
  const bool never_ran = exit.cause == ExitCause::not_started;
  const bool node = exit.cause == ExitCause::node_restarted || exit.cause == ExitCause::no_record;
  verdict.end = never_ran ? AttemptEnd::failed : node ? AttemptEnd::node_lost : AttemptEnd::preempted;
  verdict.attempt_reason = place(job, rank) + ": " + describe_exit(exit, job.request.command);
  back_off(job, now, verdict);
  if (never_ran) avoid_node(job, rank, now, verdict);
  if (used_up(job, ++verdict.retries.losses, kLosses))
    return give_up(verdict, never_ran ? "its nodes failed to start it too often"
                                      : "it was taken from its nodes too often");
  return queue_again(std::move(verdict), RestartCause::node_loss, kAtNoCost);
}

// A rank that had to be killed hung, and the others waited for it: their messages say more than its signal.
std::string describe_failure(const Job& job, int rank) {
  const bool command = job.request.command;
  const std::string text = place(job, rank) + ": " + describe_exit(*task_of(job, rank).exit, command);
  if (job.attempt->blame != Blame::killed) return text;
  const auto waited = std::ranges::find_if(job.attempt->tasks, [&](const Task& task) {
    return task.exit && task.phase == TaskPhase::exited && !task.exit->message.empty() &&
           blame_for(*task.exit, false, command) == Blame::peer_lost;
  });
  if (waited == job.attempt->tasks.end()) return text;
  const int victim = static_cast<int>(waited - job.attempt->tasks.begin());
  return place(job, rank) + " hung: " + place(job, victim) + " said: " + waited->exit->message + "; rank " +
         std::to_string(rank) + " was " + describe_exit(*task_of(job, rank).exit, command);
}

// A node may lack what others have: one other node is tried, and more for a job that has run before.
Verdict after_lack(const ClusterState& state, const Job& job, int rank, Time now, Verdict verdict) {
  const std::string before = verdict.avoid.empty() ? "another node" : verdict.avoid.back().value;
  avoid_node(job, rank, now, verdict);
  const bool has_run = job.served > Duration{};
  const int most = has_run ? kMoves : 1;
  if (++verdict.retries.moves > most) return give_up(verdict, "nor could it run on " + before);
  if (!has_run && !fits_without(state, job.request, verdict.avoid))
    return give_up(verdict, "not retried, for no other node could hold it");
  return queue_again(std::move(verdict), RestartCause::move, count_of("move", verdict.retries.moves, most));
}

// A replica's model lies below the data folder of its node, which may be missing there alone.
bool may_serve_elsewhere(const Job& job, const TaskExit& exit, Retry retry) {
  if (!job.request.replica) return false;
  const bool unreadable = exit.signal == 0 && exit.code == static_cast<int>(WorkerExit::bad_data);
  return retry == Retry::move || retry == Retry::lacking || (retry == Retry::never && unreadable);
}

// A replica ends only where several nodes, or all that could hold it, have failed it. A node that fails it
// again, for no other has room, tells nothing new.
Verdict after_lack_of_replica(const ClusterState& state, const Job& job, int rank, Time now,
                              Verdict verdict) {
  avoid_node(job, rank, now, verdict);
  ++verdict.retries.moves;
  const bool proven = job.served >= kProven;
  if (!proven && std::ssize(verdict.avoid) > kMoves)
    return give_up(verdict, "not retried, for " + std::to_string(verdict.avoid.size()) + " nodes failed it");
  if (!proven && !fits_without(state, job.request, verdict.avoid))
    return give_up(verdict, "not retried, for no other node could hold it");
  return queue_again(std::move(verdict), RestartCause::move, count_of(job, "move", verdict.retries.moves, 0));
}

Verdict after_failure(const ClusterState& state, const Job& job, Time now, Verdict verdict) {
  PODIUM_CHECK(job.attempt->culprit, "a failed attempt has a task to blame");
  const int rank = *job.attempt->culprit;
  const TaskExit& exit = *task_of(job, rank).exit;
  verdict.end = AttemptEnd::failed;
  verdict.attempt_reason = describe_failure(job, rank);
  const Retry retry = retry_after(exit, job.request.command);
  back_off(job, now, verdict, retry == Retry::wait ? kShortestWait : Duration{});
  const bool elsewhere = may_serve_elsewhere(job, exit, retry);
  if (retry == Retry::lacking && !elsewhere) return after_lack(state, job, rank, now, std::move(verdict));
  if (retry != Retry::wait) count_progress(job, now, verdict);
  if (elsewhere) return after_lack_of_replica(state, job, rank, now, std::move(verdict));
  RetryCounts& retries = verdict.retries;
  switch (retry) {
    case Retry::never:
      return give_up(verdict, "not retried, for it would only fail again");
    case Retry::failure:
      if (used_up(job, ++retries.failures, job.request.max_restarts))
        return give_up(verdict, "its " + std::to_string(job.request.max_restarts) + " restarts are used up");
      if (retries.fruitless >= kFruitless)
        return give_up(verdict,
                       std::to_string(kFruitless) + " attempts in a row ended without a newer checkpoint");
      return queue_again(verdict, RestartCause::failure,
                         count_of(job, "restart", retries.failures, job.request.max_restarts));
    case Retry::wait:
    case Retry::requeue:
      if (used_up(job, ++retries.requeues, kRequeues))
        return give_up(verdict, "it was queued again too often");
      return queue_again(verdict, RestartCause::requeue,
                         count_of(job, "requeue", retries.requeues, kRequeues));
    case Retry::move:
      if (++retries.moves > kMoves) return give_up(verdict, "it moved to other nodes too often");
      avoid_node(job, rank, now, verdict);
      return queue_again(verdict, RestartCause::move, count_of("move", retries.moves, kMoves));
    case Retry::lacking:
      break;
  }
  PODIUM_CHECK(false, "unknown Retry");
}

// The scheduler or an operator stopped it: the job is not to blame.
Verdict after_wish(const Job& job, Verdict verdict) {
  const StopCause stop = job.attempt->stop;
  if (stop == StopCause::resized) {
    verdict.end = AttemptEnd::resized;
    verdict.attempt_reason = (job.resize->grows() ? "grew " : "shrank ") + describe(*job.resize);
    return queue_again(std::move(verdict), RestartCause::resize, kAtNoCost);
  }
  if (stop == StopCause::paused) {
    verdict.end = AttemptEnd::paused;
    verdict.next = JobState::queued;
    // The job itself tells why, as long as it is.
    verdict.attempt_reason = job.request.replica ? "paused by its service" : "paused by its sweep";
    if (!job.paused) verdict.restart = RestartCause::promotion;  // meanwhile
    return verdict;
  }
  const bool requeued = stop == StopCause::requeued;
  verdict.end = AttemptEnd::preempted;
  verdict.attempt_reason = requeued ? "was requeued" : "made room for another job";
  return queue_again(std::move(verdict), requeued ? RestartCause::requeue : RestartCause::preemption,
                     kAtNoCost);
}

// Whether all that it had to do is done, though it was told to leave. podium-worker's exit code says so; a
// program that answers the signal with 0 may have left early.
bool has_finished(const Job& job) {
  return std::ranges::all_of(job.attempt->tasks, [&](const Task& task) {
    if (task.phase != TaskPhase::exited || task.exit->code != 0 || task.exit->signal != 0) return false;
    return !job.request.command || task.exit->succeeded();
  });
}

Verdict after_walltime(const Job& job, Time now, Verdict verdict) {
  const std::string walltime = format_duration(job.request.walltime);
  const bool within = now < job.attempt->created + job.request.walltime;
  if (within && has_finished(job)) return verdict;
  verdict.end = AttemptEnd::walltime;
  verdict.attempt_reason = within ? "left before the end of its walltime of " + walltime
                                  : "ran longer than its walltime of " + walltime;
  if (job.request.replica) return queue_again(std::move(verdict), RestartCause::requeue, kAtNoCost);
  return give_up(verdict, "podium requeue " + to_string(job.id) +
                              " lets it go on from its checkpoint for as long again; podium extend " +
                              to_string(job.id) + " gives it more once it is requeued");
}

}  // namespace

Verdict conclude(const ClusterState& state, const Job& job, Time now) {
  PODIUM_CHECK(job.attempt && std::ranges::all_of(job.attempt->tasks, &Task::over),
               "only a finished attempt concludes");
  const Attempt& attempt = *job.attempt;
  Verdict verdict;
  verdict.retries = job.retries;
  if (job.avoids(now)) {
    verdict.avoid = job.avoid;
    verdict.avoid_until = job.avoid_until;
  }
  switch (attempt.stop) {
    case StopCause::none:
      return verdict;
    case StopCause::cancelled:
      verdict.end = AttemptEnd::cancelled;
      verdict.next = JobState::cancelled;
      verdict.attempt_reason = verdict.job_reason = "cancelled";
      return verdict;
    case StopCause::walltime:
      return after_walltime(job, now, std::move(verdict));
    case StopCause::paused:
      if (std::ranges::all_of(attempt.tasks, [](const Task& task) { return task.exit->succeeded(); }))
        return verdict;
      break;
    case StopCause::preempted:
    case StopCause::requeued:
    case StopCause::resized:
    case StopCause::task_failed:
    case StopCause::node_lost:
    case StopCause::not_started:
      break;
  }
  const bool late = attempt.stop == StopCause::not_started;
  const bool wished = !late && attempt.stop != StopCause::task_failed && attempt.stop != StopCause::node_lost;
  if (attempt.blame == Blame::failed) return after_failure(state, job, now, verdict);
  if (attempt.blame >= Blame::left && !wished) return after_taking(job, now, verdict);
  if (std::ranges::find(attempt.tasks, TaskPhase::lost, &Task::phase) != attempt.tasks.end())
    return after_loss(job, verdict);
  if (late) return after_no_start(job, now, verdict);
  return wished ? after_wish(job, verdict) : after_failure(state, job, now, verdict);
}

}  // namespace podium
