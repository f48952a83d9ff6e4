// Looks ahead while `handle` decides: the jobs that a command touches are copied, each event is applied to
// the copy as it is emitted, and `settle` moves a job on as far as its tasks allow.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "coordinator/core/events/events.h"

namespace podium {

class JobDraft {
 public:
  JobDraft(Job job, Events& events, Time now) : job_(std::move(job)), events_(events), now_(now) {}

  const Job& job() const { return job_; }
  TaskId task(int rank) const { return {job_.attempt_id(), rank}; }

  void emit(decltype(Event::body) body);
  void change_state(JobState to, std::string reason);
  // Stops the attempt, unless it is already being stopped for a reason at least as strong.
  void stop(StopCause cause, const std::string& reason);
  void settle(const ClusterState& state);

 private:
  void conclude_attempt(const ClusterState& state);

  Job job_;
  Events& events_;
  Time now_;
};

// The drafts of one command, one a job.
class Drafts {
 public:
  Drafts(const ClusterState& state, Events& events, Time now) : state_(state), events_(events), now_(now) {}

  JobDraft& of(JobId job);
  void settle_all();

 private:
  const ClusterState& state_;
  Events& events_;
  Time now_;
  std::map<JobId, JobDraft> drafts_;
};

}  // namespace podium
