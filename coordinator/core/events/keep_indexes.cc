#include "coordinator/core/events/keep_indexes.h"

#include "coordinator/core/policies/policy.h"
#include "coordinator/core/state/pools.h"

namespace podium {
namespace {

bool runs_elastic(const Job& job) { return job.request.elastic() && job.state == JobState::running; }

void leave_service(ClusterState& state, const Job& job) {
  if (!job.request.replica) return;
  const auto service = state.indexes.services.find(job.request.replica->service);
  service->second.erase(job.id);
  if (service->second.empty()) state.indexes.services.erase(service);
}

}  // namespace

void leave_indexes(ClusterState& state, const Job& job) {
  if (job.in_line()) {
    const auto queue = state.indexes.queues.find(job.request.kind);
    const auto line = queue->second.find(class_of(job.request));
    line->second.erase(queue_key(state, job));
    if (line->second.empty()) queue->second.erase(line);
    if (queue->second.empty()) state.indexes.queues.erase(queue);
  }
  if (const auto timer = next_timer(job)) state.indexes.timers.erase({*timer, job.id});
  if (const auto deadline = next_deadline(job, state.limits))
    state.indexes.deadlines.erase({*deadline, job.id});
  for (const Dependency& on : job.request.after) state.indexes.dependents.erase({on.job, job.id});
  state.indexes.leaving.erase(job.id);
  state.indexes.resizing.erase(job.id);
  leave_service(state, job);
  if (!runs_elastic(job)) return;
  const auto elastic = state.indexes.elastic.find(job.request.kind);
  elastic->second.erase(job.id);
  if (elastic->second.empty()) state.indexes.elastic.erase(elastic);
}

void enter_indexes(ClusterState& state, const Job& job) {
  if (job.in_line())
    state.indexes.queues[job.request.kind][class_of(job.request)].insert(queue_key(state, job));
  if (const auto timer = next_timer(job)) state.indexes.timers.insert({*timer, job.id});
  if (const auto deadline = next_deadline(job, state.limits))
    state.indexes.deadlines.insert({*deadline, job.id});
  for (const Dependency& on : job.request.after) state.indexes.dependents.insert({on.job, job.id});
  if (job.attempt && job.attempt->stop != StopCause::none) state.indexes.leaving.insert(job.id);
  if (job.resize) state.indexes.resizing.insert(job.id);
  if (job.request.replica) state.indexes.services[job.request.replica->service].insert(job.id);
  if (runs_elastic(job)) state.indexes.elastic[job.request.kind].insert(job.id);
  follow_running(state, job);
}

void enter_window(ClusterState& state, const Node& node) {
  if (node.has_windows())
    state.indexes.windows.insert(node.description.id);
  else
    state.indexes.windows.erase(node.description.id);
}

}  // namespace podium
