#include "coordinator/core/lifecycle.h"

#include <algorithm>
#include <csignal>
#include <string_view>

#include "common/base/check.h"
#include "common/base/units.h"

namespace podium {
namespace {

struct ExitMeaning {
  int code;
  std::string_view meaning;
  Retry retry;
};

constexpr ExitMeaning kWorkerExits[] = {
    {static_cast<int>(WorkerExit::bug), "an unexpected failure", Retry::failure},
    {static_cast<int>(WorkerExit::bad_spec), "the job cannot work as written", Retry::never},
    {static_cast<int>(WorkerExit::bad_data), "unreadable or malformed input", Retry::never},
    {static_cast<int>(WorkerExit::disk_full), "a file could not be written", Retry::never},
    {static_cast<int>(WorkerExit::peer_lost), "another rank vanished", Retry::failure},
    {static_cast<int>(WorkerExit::address_in_use), "its port was taken", Retry::requeue},
    {static_cast<int>(WorkerExit::diverged), "the loss is not a number", Retry::never},
    {static_cast<int>(WorkerExit::no_device), "its device or the driver is missing", Retry::move},
};

// What launchers and Megatron agree on; a shell reports a signal as 128 + its number.
constexpr ExitMeaning kCommandExits[] = {
    {16, "wants to run again on other hardware", Retry::move},
    {17, "its results failed their validation", Retry::never},
    {75, "asks to be queued again", Retry::requeue},
    {93, "asks not to be queued again", Retry::never},
    {134, "aborted, often by the NCCL watchdog", Retry::failure},
    {137, "killed, or out of memory", Retry::failure},
    {143, "terminated", Retry::failure},
};

const ExitMeaning* meaning_of(int code, bool command) {
  const auto find = [code](const auto& table) -> const ExitMeaning* {
    const auto found = std::ranges::find(table, code, &ExitMeaning::code);
    return found == std::end(table) ? nullptr : &*found;
  };
  return command ? find(kCommandExits) : find(kWorkerExits);
}

std::string_view signal_name(int signal) {
  switch (signal) {
    case SIGKILL:
      return "SIGKILL, often out of memory";
    case SIGTERM:
      return "SIGTERM";
    case SIGABRT:
      return "SIGABRT, an internal check failed";
    case SIGSEGV:
      return "SIGSEGV, an invalid memory access";
    case SIGBUS:
      return "SIGBUS, often a full disk or a truncated file";
    case SIGILL:
      return "SIGILL, built for another processor";
    case SIGFPE:
      return "SIGFPE";
    case SIGINT:
      return "SIGINT";
    default:
      return "";
  }
}

bool ended_by(const TaskExit& exit, int signal) { return exit.signal == signal || exit.code == 128 + signal; }

std::string place(const Job& job, int rank) {
  return "rank " + std::to_string(rank) + " on " +
         job.attempt->allocation.ranks[static_cast<std::size_t>(rank)].node.value;
}

const Task& task_of(const Job& job, int rank) { return job.attempt->tasks[static_cast<std::size_t>(rank)]; }

Verdict give_up(Verdict verdict, const std::string& why) {
  verdict.next = JobState::failed;
  verdict.job_reason = verdict.attempt_reason + "; " + why;
  return verdict;
}

std::string count_of(int used, int budget) { return std::to_string(used) + " of " + std::to_string(budget); }

Verdict after_loss(const Job& job, Verdict verdict) {
  const auto lost = std::ranges::find(job.attempt->tasks, TaskPhase::lost, &Task::phase);
  verdict.end = AttemptEnd::node_lost;
  verdict.attempt_reason =
      place(job, static_cast<int>(lost - job.attempt->tasks.begin())) + " was lost: " + lost->exit->message;
  if (++verdict.retries.losses > kLosses) return give_up(verdict, "it lost its nodes too often");
  verdict.next = JobState::queued;
  verdict.job_reason = verdict.attempt_reason + "; queued again at no cost";
  return verdict;
}

void count_progress(const Job& job, Time now, Verdict& verdict) {
  RetryCounts& retries = verdict.retries;
  const bool quick = now - job.attempt->created < kQuick;
  retries.quick = quick ? retries.quick + 1 : 0;
  // A program of the user's own says nothing of its checkpoints.
  const bool fruitless = !job.request.command && job.checkpoint <= job.attempt->first_checkpoint;
  retries.fruitless = fruitless ? retries.fruitless + 1 : 0;
  if (retries.quick < 2) return;
  const Duration back_off = std::chrono::seconds(1) * (std::int64_t{1} << std::min(retries.quick - 1, 10));
  verdict.not_before = now + std::min(back_off, kLongestBackOff);
}

void avoid_node(const Job& job, int rank, std::vector<NodeId>& avoid) {
  const NodeId& node = job.attempt->allocation.ranks[static_cast<std::size_t>(rank)].node;
  if (std::ranges::find(avoid, node) == avoid.end()) avoid.push_back(node);
}

Verdict after_failure(const Job& job, Time now, Verdict verdict) {
  PODIUM_CHECK(job.attempt->culprit, "a failed attempt has a task to blame");
  const int rank = *job.attempt->culprit;
  const TaskExit& exit = *task_of(job, rank).exit;
  verdict.end = AttemptEnd::failed;
  verdict.attempt_reason = place(job, rank) + ": " + describe_exit(exit, job.request.command);
  count_progress(job, now, verdict);
  RetryCounts& retries = verdict.retries;
  std::string count;
  switch (retry_after(exit, job.request.command)) {
    case Retry::never:
      return give_up(verdict, "not retried, for it would only fail again");
    case Retry::failure:
      if (++retries.failures > job.request.max_restarts)
        return give_up(verdict, "its " + std::to_string(job.request.max_restarts) + " restarts are used up");
      if (retries.fruitless >= kFruitless)
        return give_up(verdict,
                       std::to_string(kFruitless) + " attempts in a row ended without a newer checkpoint");
      count = "restart " + count_of(retries.failures, job.request.max_restarts);
      break;
    case Retry::requeue:
      if (++retries.requeues > kRequeues) return give_up(verdict, "it was queued again too often");
      count = "requeue " + count_of(retries.requeues, kRequeues);
      break;
    case Retry::move:
      if (++retries.moves > kMoves) return give_up(verdict, "it moved to other nodes too often");
      avoid_node(job, rank, verdict.avoid);
      count = "move " + count_of(retries.moves, kMoves);
      break;
  }
  verdict.next = JobState::queued;
  verdict.job_reason = verdict.attempt_reason + "; queued again (" + count + ")";
  return verdict;
}

// Of the scheduler or an operator: the job did nothing wrong.
Verdict after_wish(const Job& job, Verdict verdict) {
  const StopCause stop = job.attempt->stop;
  verdict.end = stop == StopCause::resized ? AttemptEnd::resized : AttemptEnd::preempted;
  verdict.next = JobState::queued;
  if (stop == StopCause::resized)
    verdict.attempt_reason = (job.resize->grows() ? "grew " : "shrank ") + describe(*job.resize);
  else
    verdict.attempt_reason = stop == StopCause::requeued ? "was requeued" : "made room for another job";
  verdict.job_reason = verdict.attempt_reason + "; queued again at no cost";
  return verdict;
}

}  // namespace

Retry retry_after(const TaskExit& exit, bool command) {
  if (exit.signal != 0) return Retry::failure;
  const ExitMeaning* meaning = meaning_of(exit.code, command);
  return meaning ? meaning->retry : Retry::failure;
}

Blame blame_for(const TaskExit& exit, bool stopping, bool command) {
  if (exit.clean()) return Blame::none;
  if (!command && exit.signal == 0 && exit.code == static_cast<int>(WorkerExit::peer_lost))
    return Blame::peer_lost;
  if (stopping && ended_by(exit, SIGTERM)) return Blame::stopped;
  if (stopping && ended_by(exit, SIGKILL)) return Blame::killed;
  return Blame::failed;
}

std::string describe_exit(const TaskExit& exit, std::optional<bool> command) {
  std::string text;
  std::string_view meaning;
  if (exit.signal != 0) {
    text = "killed by signal " + std::to_string(exit.signal);
    meaning = signal_name(exit.signal);
  } else {
    text = "exit code " + std::to_string(exit.code);
    const ExitMeaning* known = command ? meaning_of(exit.code, *command) : nullptr;
    if (known) meaning = known->meaning;
  }
  if (!meaning.empty()) text += " (" + std::string(meaning) + ")";
  if (!exit.message.empty()) text += ": " + exit.message;
  return text;
}

Verdict conclude(const Job& job, Time now) {
  PODIUM_CHECK(job.attempt && std::ranges::all_of(job.attempt->tasks, &Task::over),
               "only a finished attempt concludes");
  const Attempt& attempt = *job.attempt;
  Verdict verdict;
  verdict.retries = job.retries;
  verdict.avoid = job.avoid;
  switch (attempt.stop) {
    case StopCause::none:
      return verdict;
    case StopCause::cancelled:
      verdict.end = AttemptEnd::cancelled;
      verdict.next = JobState::cancelled;
      verdict.attempt_reason = verdict.job_reason = "cancelled";
      return verdict;
    case StopCause::walltime:
      verdict.end = AttemptEnd::walltime;
      verdict.attempt_reason = "ran longer than its walltime of " + format_duration(job.request.walltime);
      return give_up(verdict,
                     "ask for more under resources.walltime, or resubmit to go on from its checkpoint");
    case StopCause::preempted:
    case StopCause::requeued:
    case StopCause::resized:
    case StopCause::task_failed:
    case StopCause::node_lost:
      break;
  }
  if (attempt.blame == Blame::failed) return after_failure(job, now, verdict);
  if (std::ranges::find(attempt.tasks, TaskPhase::lost, &Task::phase) != attempt.tasks.end())
    return after_loss(job, verdict);
  if (attempt.stop == StopCause::task_failed || attempt.stop == StopCause::node_lost)
    return after_failure(job, now, verdict);
  return after_wish(job, verdict);
}

}  // namespace podium
