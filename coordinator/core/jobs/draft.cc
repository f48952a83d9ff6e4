#include "coordinator/core/jobs/draft.h"

#include <algorithm>

#include "coordinator/core/events/apply_job.h"
#include "coordinator/core/jobs/lifecycle.h"

namespace podium {

void JobDraft::emit(decltype(Event::body) body) {
  events_.push_back({now_, std::move(body)});
  apply_to_job(job_, events_.back());
}

void JobDraft::change_state(JobState to, std::string reason) {
  emit(JobStateChanged{job_.id, job_.state, to, std::move(reason)});
}

void JobDraft::stop(StopCause cause, const std::string& reason) {
  const StopCause now = job_.attempt->stop;
  if (now != StopCause::none && (cause != StopCause::cancelled || now == StopCause::cancelled)) return;
  emit(AttemptStopping{job_.attempt_id(), cause, reason});
  if (job_.state != JobState::stopping) change_state(JobState::stopping, reason);
}

void JobDraft::settle(const ClusterState& state) {
  if (!job_.attempt) return;
  const auto& tasks = job_.attempt->tasks;
  const auto failed =
      std::ranges::find_if(tasks, [](const Task& t) { return t.exit && !t.exit->succeeded(); });
  if (failed != tasks.end()) {
    const bool lost = failed->phase == TaskPhase::lost;
    const bool taken = job_.attempt->blame >= Blame::left;
    stop(lost ? StopCause::node_lost : StopCause::task_failed,
         "rank " + std::to_string(failed - tasks.begin()) +
             (lost    ? " was lost"
              : taken ? ": " + describe_exit(*failed->exit, job_.request.command)
                      : " failed"));
  } else if (job_.state == JobState::starting &&
             std::ranges::none_of(tasks, [](const Task& t) { return t.phase == TaskPhase::ordered; })) {
    change_state(JobState::running, "");
  }
  if (std::ranges::all_of(tasks, &Task::over)) conclude_attempt(state);
}

void JobDraft::conclude_attempt(const ClusterState& state) {
  const Verdict verdict = conclude(state, job_, now_);
  emit(AttemptEnded{job_.attempt_id(), verdict.end, verdict.attempt_reason, verdict.restart});
  if (verdict.next == JobState::queued)
    emit(RetryPlanned{job_.id, verdict.retries, verdict.not_before, verdict.avoid, verdict.avoid_until});
  change_state(verdict.next, verdict.job_reason);
}

JobDraft& Drafts::of(JobId job) {
  const auto found = drafts_.find(job);
  if (found != drafts_.end()) return found->second;
  return drafts_.try_emplace(job, state_.jobs.at(job), events_, now_).first->second;
}

void Drafts::settle_all() {
  for (auto& [id, draft] : drafts_) draft.settle(state_);
}

}  // namespace podium
