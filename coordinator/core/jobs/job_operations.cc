#include "coordinator/core/jobs/job_operations.h"

#include <algorithm>

#include "common/base/units.h"
#include "coordinator/core/accounts/account_rules.h"
#include "coordinator/core/jobs/draft.h"
#include "coordinator/core/jobs/replicas.h"
#include "coordinator/core/placement/placement.h"

namespace podium {
namespace {

constexpr int kHighestPriority = 100;

std::string job_text(JobId job) { return "job " + to_string(job); }

// Nothing where the job is live.
std::optional<Error> not_alive(const ClusterState& state, JobId id) {
  if (find_job(state, id)) return std::nullopt;
  if (id.value > 0 && id < state.next_job)
    return Error{ErrorCode::conflict, job_text(id) + " has already ended", ""};
  return Error{ErrorCode::not_found, "there is no " + job_text(id), ""};
}

bool satisfies(JobState end, When when) { return when == When::any || end == JobState::succeeded; }

std::string unmet(JobId on, JobState end) {
  return job_text(on) + ", which it was to follow, " +
         (end == JobState::cancelled ? "was cancelled"
          : end == JobState::stopped ? "was stopped by its sweep"
                                     : "failed");
}

// The error for a job that exceeds a limit even if it is the only one.
std::optional<Error> over_every_limit(const ClusterState& state, const JobRequest& request) {
  for (const std::string& account : lineage(request.account)) {
    const auto& limits = rules_of(state, account).limit;
    const auto limit = limits.find(request.kind);
    if (limit == limits.end() || request.devices <= limit->second) continue;
    return Error{ErrorCode::invalid,
                 "job \"" + request.name + "\" asks for " + std::to_string(request.devices) + " " +
                     request.kind + " devices; account " + account + " may hold at most " +
                     std::to_string(limit->second),
                 "/account"};
  }
  return std::nullopt;
}

std::optional<Error> too_long(const ClusterState& state, const JobRequest& request) {
  if (request.walltime <= state.scheduling.max_walltime) return std::nullopt;
  return Error{ErrorCode::invalid,
               "job \"" + request.name + "\" has a walltime of " + format_duration(request.walltime) +
                   "; this coordinator allows at most " + format_duration(state.scheduling.max_walltime) +
                   " (its --max-walltime): set resources.walltime",
               "/resources/walltime"};
}

std::optional<Error> bad_account(const ClusterState& state, const JobRequest& request) {
  if (const auto bad = bad_account_name(request.account)) return Error{ErrorCode::invalid, *bad, "/account"};
  if (!account_exists(state, request.account)) return no_such_account(request.account, "/account");
  return over_every_limit(state, request);
}

// Keeps the dependencies on jobs that have not ended; the others are met or refused by how their jobs ended.
// `remedy`: of an end for which it was not to start.
void resolve_after(const ClusterState& state, const std::map<JobId, JobState>& ends, const char* remedy,
                   JobRequest& request, Errors& errors) {
  std::vector<Dependency> open;
  const auto refuse = [&](ErrorCode code, const std::string& why) {
    errors.push_back({code, "job \"" + request.name + "\" cannot wait: " + why, "/after"});
  };
  for (const Dependency& on : request.after) {
    const auto ended = ends.find(on.job);
    if (find_job(state, on.job))
      open.push_back(on);
    else if (on.job.value < 1 || on.job >= state.next_job)
      refuse(ErrorCode::invalid, "there is no " + job_text(on.job));
    else if (ended == ends.end())
      refuse(ErrorCode::conflict, job_text(on.job) + " has just ended; submit it again");
    else if (!is_terminal(ended->second))
      refuse(ErrorCode::invalid, job_text(on.job) +
                                     " is a run that a program elsewhere logs, whose end Podium "
                                     "does not see; leave it out, or submit this once it has ended");
    else if (!satisfies(ended->second, on.when))
      refuse(ErrorCode::invalid, unmet(on.job, ended->second) + remedy);
  }
  request.after = std::move(open);
}

// A job whose checkpoints another starts from, and the words for that.
struct Predecessor {
  std::optional<JobId> job;
  const char* cannot;
  const char* pointer;
  const char* when;  // to write under `after`: its usual end
};

// It must have ended, or the request must wait for its end.
void check_predecessor(const ClusterState& state, const JobRequest& request, const Predecessor& before,
                       Errors& errors) {
  if (!before.job) return;
  const JobId of = *before.job;
  const bool follows = std::ranges::find(request.after, of, &Dependency::job) != request.after.end();
  const auto refuse = [&](const std::string& why) {
    errors.push_back(
        {ErrorCode::invalid, "job \"" + request.name + "\" " + before.cannot + ": " + why, before.pointer});
  };
  if (of.value < 1 || of >= state.next_job)
    refuse("there is no " + job_text(of));
  else if (find_job(state, of) && !follows)
    refuse(job_text(of) + " has not ended; write \"after: [{job: " + to_string(of) + before.when +
           "}]\" to start when it has");
}

void check_predecessors(const ClusterState& state, const JobRequest& request, Errors& errors) {
  check_predecessor(state, request, {request.resume, "cannot resume", "/resume", ", when: any"}, errors);
  check_predecessor(state, request, {request.init, "cannot take its first weights", "/model/init", ""},
                    errors);
}

// The conditions under which a job may be queued, for the first time or again.
void check_request(const ClusterState& state, const std::map<JobId, JobState>& ends, const char* remedy,
                   JobRequest& request, Errors& errors) {
  if (auto reason = never_fits(state, request))
    errors.push_back({ErrorCode::invalid, "job \"" + request.name + "\" " + *reason, "/resources"});
  if (const auto bad = bad_account(state, request)) errors.push_back(*bad);
  check_predecessors(state, request, errors);
  resolve_after(state, ends, remedy, request, errors);
}

// Whether the job reads the other's checkpoints: for its first weights, or until it has some of its own.
bool begins_from(const Job& job, JobId other) {
  return job.request.init == other || (job.request.resume == other && job.checkpoint < 0);
}

// A live job that begins with the checkpoints of another must find the same ones at every attempt.
std::optional<Error> checkpoints_in_use(const ClusterState& state, JobId of, std::optional<JobId> read_by) {
  for (const auto& [id, job] : state.jobs)
    if (id == read_by || begins_from(job, of))
      return Error{ErrorCode::conflict,
                   job_text(of) + " cannot go on before " + job_text(id) + " (" + job.request.name +
                       ") has ended, which begins with its " +
                       (job.request.resume == of ? "checkpoint" : "weights") +
                       ": it would find other checkpoints; requeue it then, or cancel " + job_text(id),
                   ""};
  return std::nullopt;
}

// A replica of an earlier spec would only be rolled off again.
std::optional<Error> was_replaced(const ClusterState& state, JobId id, const EndedJob& ended) {
  if (!ended.request.replica) return std::nullopt;
  const std::string& service = ended.request.replica->service;
  const std::optional<ExperimentId> newest = newest_experiment(state, service);
  if (!newest || *newest <= ended.experiment) return std::nullopt;
  return Error{ErrorCode::conflict,
               job_text(id) + " was a replica of " + service + " of experiment " +
                   to_string(ended.experiment) + ", and experiment " + to_string(*newest) +
                   " has taken its place; submit the earlier spec again to go back to it",
               ""};
}

// An ended job continues like a job that was submitted just now: its retries are reset, its attempts keep
// their numbers.
Result<Events> recall(const ClusterState& state, const RequeueJob& command, Time now) {
  EndedJob ended = *command.ended;
  if (ended.state == JobState::succeeded)
    return Error{ErrorCode::conflict,
                 job_text(command.job) + " has succeeded; a new job goes on from it with \"resume: {job: " +
                     to_string(command.job) +
                     "}\", and more training.schedule.steps where it has taken all of its own",
                 ""};
  if (ended.lacks_code)
    return Error{
        ErrorCode::conflict,
        "the code of " + job_text(command.job) +
            " is no longer kept, for newer code took its room; submit its spec again from its folder, "
            "with \"resume: {job: " +
            to_string(command.job) + "}\" to go on from its checkpoint",
        ""};
  if (auto error = checkpoints_in_use(state, command.job, ended.read_by)) return std::move(*error);
  if (auto error = was_replaced(state, command.job, ended)) return std::move(*error);
  Errors errors;
  check_request(state, command.ends,
                "; requeue that one first, or submit this one anew with \"when: any\" to start nevertheless",
                ended.request, errors);
  for (Error& error : errors) error.where.clear();  // nobody looks at a spec
  if (!errors.empty()) return errors;
  return Events{{now, JobRecalled{command.job, ended.experiment, std::move(ended.request), ended.state,
                                  ended.attempts, ended.served, ended.attained, ended.astray}},
                {now, JobStateChanged{command.job, ended.state, JobState::queued, "requeued"}}};
}

void settle_dependent(JobDraft& draft, JobId ended, JobState end) {
  if (draft.job().state != JobState::queued) return;  // another it waited for has failed
  const bool met = std::ranges::none_of(draft.job().request.after, [&](const Dependency& on) {
    return on.job == ended && !satisfies(end, on.when);  // one job may be named twice
  });
  if (met)
    draft.emit(DependencyMet{draft.job().id, ended});
  else
    draft.change_state(JobState::cancelled, unmet(ended, end));
}

}  // namespace

Result<Events> submit(const ClusterState& state, const SubmitExperiment& command, Time now) {
  if (command.jobs.empty()) return Error{ErrorCode::invalid, "an experiment needs at least one job", ""};
  Errors errors;
  Events events{{now, ExperimentCreated{state.next_experiment, command.name}}};
  JobId job = state.next_job;
  for (JobRequest request : command.jobs) {
    const std::size_t before = errors.size();
    check_request(state, command.ended, "; write \"when: any\" to start nevertheless", request, errors);
    if (request.replica && request.walltime == kLongestWalltime)  // its spec names none
      request.walltime = state.scheduling.max_walltime;
    if (const auto longer = too_long(state, request)) errors.push_back(*longer);
    if (command.in_turn)
      for (JobId earlier = state.next_job; earlier < job; ++earlier.value)
        request.after.push_back({earlier, When::any});
    if (!command.links.empty()) {
      const auto index = static_cast<std::size_t>(job.value - state.next_job.value);
      link(request, command.links[index], state.next_job);
      for (std::size_t i = before; i < errors.size(); ++i)
        errors[i].where = "/jobs/" + std::to_string(index) + errors[i].where;
    }
    const auto place = job.value - state.next_job.value;
    const std::string pause = request.replica ? why_begins_paused(state, *request.replica, place) : "";
    events.push_back({now, JobQueued{job, state.next_experiment, std::move(request)}});
    if (!pause.empty()) events.push_back({now, ReplicaPaused{job, pause}});
    ++job.value;
  }
  if (!errors.empty()) return errors;
  if (command.asha)
    events.push_back({now, SweepBegun{state.next_experiment, *command.asha, state.next_job,
                                      static_cast<int>(command.jobs.size())}});
  return events;
}

Result<Events> track(const ClusterState& state, const TrackRun& command, Time now) {
  if (!command.experiment)
    return Events{{now, ExperimentCreated{state.next_experiment, command.name}},
                  {now, RunTracked{state.next_job, state.next_experiment}}};
  if (command.experiment->value < 1 || *command.experiment >= state.next_experiment)
    return Error{ErrorCode::not_found, "there is no experiment " + to_string(*command.experiment), ""};
  return Events{{now, RunTracked{state.next_job, *command.experiment}}};
}

Result<Events> cancel(const ClusterState& state, JobId id, Time now) {
  if (auto error = not_alive(state, id)) return std::move(*error);
  Events events;
  JobDraft draft(state.jobs.at(id), events, now);
  if (draft.job().attempt)
    draft.stop(StopCause::cancelled, "cancelled");
  else
    draft.change_state(JobState::cancelled, "cancelled");
  return events;
}

Result<Events> hold(const ClusterState& state, JobId id, Time now) {
  if (auto error = not_alive(state, id)) return std::move(*error);
  if (state.jobs.at(id).held) return Events{};
  return Events{{now, JobHeld{id}}};
}

// Refused while a task of the job that this database never ordered may run.
std::optional<Error> runs_unknown(const ClusterState& state, JobId id) {
  const auto unknown = find_unknown(state, id);
  if (!unknown) return std::nullopt;
  return Error{ErrorCode::conflict,
               "attempt " + std::to_string(unknown->task.attempt.number) + " of " + job_text(id) +
                   " runs on " + unknown->node.value +
                   " and is newer than this database, which was restored. Let it end, or stop it with podium "
                   "nodes adopt " +
                   unknown->node.value + " --stop; then release the job",
               ""};
}

Result<Events> release(const ClusterState& state, JobId id, Time now) {
  if (auto error = not_alive(state, id)) return std::move(*error);
  if (!state.jobs.at(id).held) return Events{};
  if (auto error = runs_unknown(state, id)) return std::move(*error);
  return Events{{now, JobReleased{id}}};
}

Result<Events> prioritise(const ClusterState& state, const PrioritiseJob& command, Time now) {
  if (auto error = not_alive(state, command.job)) return std::move(*error);
  if (command.priority < 0 || command.priority > kHighestPriority)
    return Error{ErrorCode::invalid, "a priority must be between 0 and " + std::to_string(kHighestPriority),
                 "/priority"};
  if (state.jobs.at(command.job).request.priority == command.priority) return Events{};
  return Events{{now, JobPrioritised{command.job, command.priority}}};
}

Result<Events> extend(const ClusterState& state, const ExtendJob& command, Time now) {
  if (auto error = not_alive(state, command.job)) {
    if (error->code == ErrorCode::conflict) error->message += "; requeue it, and extend it then";
    return std::move(*error);
  }
  const Job& job = state.jobs.at(command.job);
  const Duration longest = std::min(kLongestWalltime, state.scheduling.max_walltime);
  if (command.walltime > longest)
    return Error{ErrorCode::invalid,
                 format_duration(command.walltime) + " is too long: a walltime is at most " +
                     format_duration(longest) + " on this coordinator",
                 "/walltime"};
  if (command.walltime <= job.request.walltime)
    return Error{ErrorCode::invalid,
                 job_text(command.job) + " has a walltime of " + format_duration(job.request.walltime) +
                     " already, and it can only be made longer",
                 "/walltime"};
  if (job.attempt && job.attempt->stop == StopCause::walltime)
    return Error{
        ErrorCode::conflict,
        job_text(command.job) + " is being stopped at the end of its walltime; requeue it when it has", ""};
  return Events{{now, JobExtended{command.job, command.walltime}}};
}

Result<Events> requeue(const ClusterState& state, const RequeueJob& command, Time now) {
  const JobId id = command.job;
  if (!find_job(state, id) && command.ended) return recall(state, command, now);
  if (auto error = not_alive(state, id)) return std::move(*error);
  const Job& job = state.jobs.at(id);
  Events events;
  if (!job.attempt) {
    RetryCounts retries = job.retries;
    retries.quick = 0;
    if (job.not_before || !job.avoid.empty()) events.push_back({now, RetryPlanned{id, retries, {}, {}}});
    return events;
  }
  const StopCause stop = job.attempt->stop;
  if (stop == StopCause::cancelled || stop == StopCause::walltime || stop == StopCause::task_failed)
    return Error{ErrorCode::conflict,
                 job_text(id) + " is being stopped and may end; requeue it once it has ended", ""};
  JobDraft(job, events, now).stop(StopCause::requeued, command.reason);
  return events;
}

void settle_dependents(const ClusterState& state, Events& events, Time now) {
  if (state.indexes.dependents.empty()) return;
  Drafts drafts(state, events, now);
  for (std::size_t i = 0; i < events.size(); ++i) {  // grows: a dependent that is cancelled ends as well
    const auto* changed = std::get_if<JobStateChanged>(&events[i].body);
    if (!changed || !is_terminal(changed->to)) continue;
    const JobId ended = changed->job;
    const JobState end = changed->to;
    auto next = state.indexes.dependents.lower_bound({ended, JobId{0}});
    for (; next != state.indexes.dependents.end() && next->first == ended; ++next)
      settle_dependent(drafts.of(next->second), ended, end);
  }
}

}  // namespace podium
