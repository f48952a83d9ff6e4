#include "coordinator/core/events/apply_job.h"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

#include "common/base/check.h"
#include "coordinator/core/state/exits.h"

namespace podium {
namespace {

// Whether an exit that says when it failed comes before the culprit's, which says so, too.
bool failed_before_culprit(const Attempt& attempt, Blame blame, const TaskExit& exit) {
  if (blame != Blame::failed || !attempt.culprit || exit.failed_at == Time{}) return false;
  const Time before = attempt.tasks[static_cast<std::size_t>(*attempt.culprit)].exit->failed_at;
  return before != Time{} && exit.failed_at < before;
}

struct JobApplier {
  Job& job;
  Time at;

  Attempt& attempt(AttemptId id) const {
    PODIUM_CHECK(job.attempt && job.attempt_id() == id,
                 "an event is about the attempt that lives: " + to_string(id));
    return *job.attempt;
  }
  Task& task(TaskId id) const { return attempt(id.attempt).tasks.at(static_cast<std::size_t>(id.rank)); }

  void operator()(const AttemptCreated& e) const {
    PODIUM_CHECK(!job.attempt && e.attempt.number == job.newest_attempt() + 1, "attempts follow one another");
    job.attempts = e.attempt.number;
    job.not_before.reset();
    job.resize.reset();
    Attempt& created = job.attempt.emplace();
    created.number = e.attempt.number;
    created.allocation = e.allocation;
    created.tasks.resize(e.allocation.ranks.size());
    created.created = at;
    created.first_checkpoint = job.checkpoint;
    created.fenced = job.astray && !job.request.replica;  // a replica writes nothing that two could spoil
  }
  void operator()(const TaskListed& e) const { task(e.task).listed = true; }
  void operator()(const TaskStaging& e) const {
    Attempt& now = attempt(e.task.attempt);
    PODIUM_CHECK(task(e.task).staging == e.over, "a task stages, or has its inputs: " + to_string(e.task));
    task(e.task).staging = !e.over;
    now.staging += e.over ? -1 : 1;
    if (e.over) now.staged = at;
  }
  void operator()(const TaskStarted& e) const {
    task(e.task).listed = true;
    task(e.task).phase = TaskPhase::running;
    task(e.task).pid = e.pid;
    job.astray = false;
  }
  void operator()(const TaskExited& e) const {
    Attempt& now = attempt(e.task.attempt);
    end_task(e.task, TaskPhase::exited, e.exit);
    const Blame blame = blame_for(e.exit, now.stop != StopCause::none, job.request.command);
    if (blame < now.blame || (blame == now.blame && !failed_before_culprit(now, blame, e.exit))) return;
    now.blame = blame;
    now.culprit = e.task.rank;
  }
  void operator()(const TaskMissed& e) const { task(e.task).missing_since = at; }
  void operator()(const TaskFound& e) const { task(e.task).missing_since.reset(); }
  void operator()(const TaskLost& e) const { end_task(e.task, TaskPhase::lost, TaskExit{-1, 0, e.reason}); }
  void operator()(const ResizePlanned& e) const {
    PODIUM_CHECK(job.devices() == e.resize.from, "a job is resized from the size it has");
    attempt(e.attempt);
    job.resize = e.resize;
  }
  void operator()(const AttemptStopping& e) const {
    Attempt& now = attempt(e.attempt);
    const Duration grace = grace_for(job, e.cause, at);
    const bool first = now.stop == StopCause::none;
    if (first || at + grace < *now.stopping + now.grace) {  // a job that is cancelled waits for no walltime
      now.stopping = at;
      now.grace = grace;
    }
    now.stop = e.cause;
    if (e.cause != StopCause::resized) job.resize.reset();
  }
  void operator()(const AttemptEnded& e) const {
    PODIUM_CHECK(std::ranges::all_of(attempt(e.attempt).tasks, &Task::over),
                 "an attempt ends after its tasks");
    if (const auto started = job.attempt->started) {
      job.served += at - *started;
      job.attained += (at - *started) * job.devices();
    }
    if (e.end != AttemptEnd::resized) job.resize.reset();
    job.astray |= std::ranges::any_of(job.attempt->tasks,
                                      [](const Task& task) { return may_still_run(task.phase, *task.exit); });
    job.attempt.reset();
  }
  void operator()(const RetryPlanned& e) const {
    job.retries = e.retries;
    job.not_before = e.not_before;
    job.avoid = e.avoid;
    job.avoid_until = e.avoid_until;
  }
  void operator()(const JobStateChanged& e) const {
    PODIUM_CHECK(job.state == e.from && may_follow(e.from, e.to),
                 "job " + to_string(job.id) + " cannot go from " + std::string(to_string(job.state)) +
                     " to " + std::string(to_string(e.to)));
    job.state = e.to;
    if (e.to == JobState::running) job.attempt->started = at;
  }
  void operator()(const JobHeld& e) const {
    job.held = true;
    job.held_because = e.reason;
    job.attempts_told = std::max(job.attempts_told, e.attempts);
    job.astray |= e.attempts > 0;  // and may run on a node that is silent
  }
  void operator()(const JobReleased&) const {
    job.held = false;
    job.held_because.clear();
    if (!job.attempt) job.resize.reset();  // it has lost its turn
  }
  void operator()(const TrialPaused&) const { job.paused = true; }
  void operator()(const TrialPromoted&) const {
    job.paused = false;
    if (!job.attempt) job.resize.reset();  // it has lost its turn
  }
  void operator()(const ReplicaPaused&) const { job.paused = true; }
  void operator()(const ReplicaPromoted&) const { job.paused = false; }
  void operator()(const JobPrioritised& e) const { job.request.priority = e.priority; }
  void operator()(const JobExtended& e) const { job.request.walltime = e.walltime; }
  void operator()(const DependencyMet& e) const {
    std::erase_if(job.request.after, [&](const Dependency& on) { return on.job == e.on; });
  }
  void operator()(const CheckpointNoted& e) const {
    job.checkpoint = e.step;
    job.saved = at;
    job.retries.fruitless = 0;
  }
  template <class Other>
  void operator()(const Other&) const {
    PODIUM_CHECK(false, "only events about a job that lives reach it");
  }

  void end_task(TaskId id, TaskPhase phase, const TaskExit& exit) const {
    Task& ended = task(id);
    PODIUM_CHECK(!ended.over(), "a task ends once: " + to_string(id));
    if (std::exchange(ended.staging, false)) --job.attempt->staging;
    ended.phase = phase;
    ended.exit = exit;
    ended.missing_since.reset();
  }
};

}  // namespace

Job recalled_job(const JobRecalled& recalled, Time at) {
  Job job;
  job.id = recalled.job;
  job.experiment = recalled.experiment;
  job.request = recalled.request;
  job.state = recalled.from;
  job.submitted = at;  // it passes nobody who waited meanwhile
  job.attempts = recalled.attempts;
  job.astray = recalled.astray;
  job.served = recalled.served;
  job.attained = recalled.attained;
  return job;
}

void apply_to_job(Job& job, const Event& event) { std::visit(JobApplier{job, event.at}, event.body); }

void apply_to_sweep(Halving& halving, const Event& event) {
  const auto job = job_of(event);
  const auto found = job ? halving.trials.find(*job) : halving.trials.end();
  if (found == halving.trials.end()) return;
  if (const auto* reached = std::get_if<RungReached>(&event.body)) {
    tell(halving, *job, reached->rung, reached->report);
  } else if (std::holds_alternative<TrialPaused>(event.body)) {
    pause(halving, *job);
  } else if (const auto* promoted = std::get_if<TrialPromoted>(&event.body)) {
    PODIUM_CHECK(found->second.rung == promoted->rung, "a trial is promoted from the rung where it is");
    promote(halving, *job);
  } else if (const auto* changed = std::get_if<JobStateChanged>(&event.body)) {
    if (is_terminal(changed->from)) recall(halving, *job);
    change_state(halving, *job, is_terminal(changed->to), changed->to == JobState::succeeded);
  }
}

}  // namespace podium
