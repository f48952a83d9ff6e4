#include "coordinator/core/plan/pass.h"

#include <algorithm>
#include <utility>

#include "coordinator/core/plan/elastic.h"
#include "coordinator/core/plan/wait_reasons.h"

namespace podium {

ClosedClasses::ClosedClasses(const ClusterState& state)
    : by_account_(std::ranges::any_of(state.indexes.windows, [&](const NodeId& id) {
        return state.nodes.at(id).reservation.has_value();
      })) {}

JobClass ClosedClasses::key(const JobClass& job_class) const {
  return by_account_ ? job_class : JobClass{"", job_class.shape};
}

const Blocker* ClosedClasses::find(const JobClass& job_class) const {
  const auto found = closed_.find(key(job_class));
  return found == closed_.end() ? nullptr : &found->second;
}

Pass::Pass(const ClusterState& state, const std::string& kind, Time now, Plan& plan, Granted& granted)
    : state_(state),
      policy_(policy_of(state.scheduling.policy)),
      now_(now),
      plan_(plan),
      granted_(granted),
      remaining_(state, kind, now),
      gang_fit_(state, remaining_),
      room_(state, now, remaining_, plan),
      closed_(state) {}

void Pass::run() {
  resume_resized();
  walk_queue();
  if (!starved_) grow();
  const auto& promised = remaining_.reservations().list();
  plan_.reservations.insert(plan_.reservations.end(), promised.begin(), promised.end());
}

// Devices that are set aside for jobs that are still leaving are not given to others.
void Pass::resume_resized() {
  for (const JobId id : state_.indexes.resizing) {
    const Job& job = state_.jobs.at(id);
    if (job.request.kind != remaining_.kind()) continue;
    if (job.attempt)
      remaining_.set_aside(job, still_to_get(state_, job),
                           job.held ? 0 : job.resize->to - job.allocated_devices());
    else if (job.in_line() && (!job.not_before || *job.not_before <= now_))
      resume(job);
  }
}

void Pass::resume(const Job& job) {
  const Time end = now_ + job.request.walltime;
  FreeDevices open = remaining_.pool(job.request.nodes).free;
  close_windows(state_, job.request.account, now_, end, open);
  const auto slices = restart_place(state_, job, open);
  if (!slices || remaining_.ledger().over_limit(job.request.account, job.resize->to)) return;
  start(job, *slices, end);
  resumed_.insert(job.id);
}

void Pass::walk_queue() {
  if (policy_.by_account() || !remaining_.ledger().quota_depths().empty()) plan_.conclusive = false;
  QuotaWalk walk(state_, remaining_.ledger(), now_);
  Next next = Next::its_class;
  while (next != Next::nobody) {
    std::optional<Line> line = walk.next();
    if (!line) return;
    const JobClass& job_class = *line->job_class;
    const JobId id = line->next->job;  // looked up where it is tried alone: there may be thousands of classes
    const bool resumed = resumed_.contains(id);
    if (const Blocker* why = closed(job_class, walk.depth()); why && !resumed) {
      auto over = remaining_.ledger().over_limit(job_class.account, job_class.shape.devices);
      plan_.blocked[id] = over ? std::move(*over) : *why;
      continue;
    }
    const std::size_t started = plan_.start.size();
    next = resumed ? Next::its_class : consider(state_.jobs.at(id), job_class, walk.depth());
    if (plan_.start.size() > started) walk.charge(*line, plan_.start.back().allocation.devices());
    if (++line->next != line->end && next == Next::its_class) walk.put_back(*line);
  }
}

Pass::Next Pass::consider(const Job& job, const JobClass& job_class, int quota_depth) {
  if (job.not_before && *job.not_before > now_) {
    plan_.blocked[job.id] = backs_off(*job.not_before);
    plan_.stale_by(*job.not_before);
    return Next::its_class;
  }
  if (auto over = remaining_.ledger().over_limit(job_class.account, job_class.shape.devices)) {
    plan_.blocked[job.id] = std::move(*over);
    return Next::other_classes;
  }
  DevicePool others;
  if (job.avoids(now_)) {
    others = without_avoided(state_, remaining_.pool(job.request.nodes), job);
    plan_.stale_by(*job.avoid_until);
  }
  const DevicePool& around = job.avoids(now_) ? others : remaining_.pool(job.request.nodes);
  const Time end = now_ + job.request.walltime;
  std::optional<NodeSlices> slices;
  if (job.request.replica) slices = gang_fit_.find(apart(around, job), job_class, job, end, quota_depth);
  if (!slices) slices = gang_fit_.find(around, job_class, job, end, quota_depth);
  if (slices) {
    start(job, *slices, end);
    return Next::its_class;
  }
  if (auto never = never_fits(state_, job.request)) {  // queued before all nodes were known
    plan_.blocked[job.id] = {.code = BlockerCode::too_large, .sentence = std::move(*never)};
    return Next::other_classes;
  }
  return wait(job, job_class, around, quota_depth);
}

// Without the nodes that have a replica of the job's service: the end of one node is to end one replica.
DevicePool Pass::apart(const DevicePool& around, const Job& job) const {
  const std::string& service = job.request.replica->service;
  std::vector<NodeId> nodes;
  const auto add = [&](const Allocation& allocation) { nodes.push_back(allocation.ranks.front().node); };
  if (const auto replicas = state_.indexes.services.find(service); replicas != state_.indexes.services.end())
    for (const JobId id : replicas->second)
      if (const Job& other = state_.jobs.at(id); other.attempt) add(other.attempt->allocation);
  for (const auto& started : plan_.start) {
    const Job& other = state_.jobs.at(started.job);
    if (other.request.replica && other.request.replica->service == service) add(started.allocation);
  }
  return without_free(state_, around, nodes);
}

Pass::Next Pass::wait(const Job& job, const JobClass& job_class, const DevicePool& around, int quota_depth) {
  starved_ = true;
  const bool kept_back = fits(around.free, job_class.shape);  // by reservations and windows alone
  const Blocker& why = plan_.blocked[job.id] =
      kept_back ? would_delay(state_, remaining_.reservations(), job, now_, now_ + job.request.walltime)
                : shortage(around.free, job.request);
  promise(job, around, quota_depth);
  const bool passable = policy_.reservations(state_.scheduling) > 0;
  const bool avoids = job.avoids(now_);
  Next next = Next::other_classes;
  if (kept_back && closed_.count_kept_back(job_class) < state_.scheduling.backfill_depth) {
    next = Next::its_class;
  } else {
    if (kept_back || !avoids) closed_.close(job_class, why);
    if (!kept_back && (may_promise() || avoids)) next = Next::its_class;
  }
  return passable ? next : Next::nobody;
}

// Makes room for the job and reserves its start, if it is its turn.
void Pass::promise(const Job& job, const DevicePool& around, int quota_depth) {
  const bool first = remaining_.reservations().size() == 0;
  if (quota_depth > 0 && !room_.engaged()) room_.reclaim(job, around);
  if (first && !room_.engaged()) room_.preempt(job, around);
  if (may_promise()) remaining_.reservations().reserve(around, job);
}

bool Pass::may_promise() const {
  return remaining_.reservations().size() < static_cast<std::size_t>(policy_.reservations(state_.scheduling));
}

// Why no job of the class can start, if one of its jobs was tried and no further reservation or room-making
// is possible.
const Blocker* Pass::closed(const JobClass& job_class, int quota_depth) const {
  if (closed_.empty() || may_promise() || (quota_depth > 0 && !room_.engaged())) return nullptr;
  return closed_.find(job_class);
}

// Grows elastic jobs into devices that no job in line can use.
void Pass::grow() {
  if (remaining_.pool({}).free.total() == 0) return;
  int tries = 0;
  for (const Job* job : jobs_to_grow(state_, remaining_.kind(), now_, plan_.stale_at)) {
    if (++tries > state_.scheduling.backfill_depth) return;
    DevicePool around = remaining_.pool(job->request.nodes);
    if (job->avoids(now_)) {
      around = without_avoided(state_, around, *job);
      plan_.stale_by(*job->avoid_until);
    }
    add_devices(state_, *job, around);
    const auto place = gang_fit_.find_largest(around.free, *job, now_ + job->request.walltime, 0);
    if (!place) continue;
    const Resize resize = resize_to(state_, *job, *place);
    remaining_.set_aside(*job, beyond_allocated(state_, *job, *place), resize.to - resize.from);
    plan_.resize.push_back({job->id, resize});
  }
}

void Pass::start(const Job& job, const NodeSlices& slices, Time end) {
  remaining_.start(job, slices, end);
  const auto nth = state_.attempts_created + std::ssize(plan_.start);
  plan_.start.push_back(
      {job.id, allocate(state_, job.request, slices, granted_, nth), remaining_.reservations().size() > 0});
}

}  // namespace podium
