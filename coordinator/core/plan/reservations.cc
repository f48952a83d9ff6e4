#include "coordinator/core/plan/reservations.h"

#include <algorithm>
#include <optional>

#include "coordinator/core/plan/elastic.h"
#include "coordinator/core/policies/policy.h"

namespace podium {

namespace {

void add_allocated(const ClusterState& state, const Job& job, int by, DevicePool& pool) {
  for (std::size_t rank = 0; rank < job.attempt->tasks.size(); ++rank) {
    const Placement& place = job.attempt->allocation.ranks[rank];
    const Node& node = state.nodes.at(place.node);
    if (!job.attempt->is_allocated(rank) || !node.usable() || pool.capacity.free(node.ordinal) == 0) continue;
    if (const int healthy = healthy_devices(node, place); healthy > 0)
      pool.free.add(node.ordinal, by * healthy);
  }
}

void add_allocated(const ClusterState& state, const RunningJob& running, int by, DevicePool& pool) {
  const auto impaired = [&](const NodeSlice& slice) { return state.indexes.impaired.contains(slice.node); };
  if (std::ranges::any_of(running.slices, impaired))
    return add_allocated(state, state.jobs.at(running.job), by, pool);
  for (const NodeSlice& slice : running.slices)
    if (pool.capacity.free(slice.node) > 0) pool.free.add(slice.node, by * slice.devices);
}

}  // namespace

void add_devices(const ClusterState& state, const Job& job, DevicePool& pool) {
  add_allocated(state, job, 1, pool);
}
void remove_devices(const ClusterState& state, const Job& job, DevicePool& pool) {
  add_allocated(state, job, -1, pool);
}
void add_devices(const ClusterState& state, const RunningJob& job, DevicePool& pool) {
  add_allocated(state, job, 1, pool);
}
void remove_devices(const ClusterState& state, const RunningJob& job, DevicePool& pool) {
  add_allocated(state, job, -1, pool);
}

void close_windows(const ClusterState& state, const std::string& account, Time start, Time end,
                   FreeDevices& free) {
  for (const NodeId& id : state.indexes.windows) {
    const Node& node = state.nodes.at(id);
    if (node.forbids(account, start, end)) free.set(node.ordinal, 0);
  }
}

bool has_room(const ClusterState& state, const DevicePool& pool, const Job& job, Time now) {
  const Shape shape = shape_of(job.request);
  if (state.indexes.windows.empty()) return fits(pool.free, shape);
  FreeDevices open = pool.free;
  close_windows(state, job.request.account, now, now + job.request.walltime, open);
  return fits(open, shape);
}

bool Reservations::bind(Time end) const {
  return !state_.indexes.windows.empty() ||
         std::ranges::any_of(reservations_, [end](const Reservation& r) { return end > r.at; });
}

FreeDevices Reservations::open_to(const FreeDevices& free, const std::string& account, Time end) const {
  return open_at(free, account, now_, end);
}

FreeDevices Reservations::open_at(const FreeDevices& free, const std::string& account, Time start,
                                  Time end) const {
  FreeDevices open = free;
  for (const Reservation& reservation : reservations_) {
    if (end <= reservation.at || start >= reservation.end) continue;
    for (const Reservation::Claim& claim : reservation.claims) {
      const int left = start < reservation.at ? std::min(open.free(claim.node), claim.spare)
                                              : open.free(claim.node) - claim.devices;
      open.set(claim.node, std::max(left, 0));
    }
  }
  close_windows(state_, account, start, end, open);
  return open;
}

void Reservations::start(const NodeSlices& slices, Time end) {
  take(slices, now_, end);
  started_.emplace(end, slices);
}

void Reservations::take(const NodeSlices& slices, Time start, Time end) {
  for (Reservation& reservation : reservations_) {
    if (start >= reservation.at || end <= reservation.at) continue;
    for (Reservation::Claim& claim : reservation.claims)
      for (const NodeSlice& slice : slices)
        if (slice.node == claim.node) claim.spare -= slice.devices;
  }
}

void Reservations::add(const FreeDevices& open, const Job& job, Time at, const NodeSlices& slices) {
  const Time end = at + job.request.walltime;
  take(slices, at, end);
  Reservation reservation{job.id, at, end, {}};
  for (const NodeSlice& slice : slices)
    reservation.claims.push_back({slice.node, slice.devices, open.free(slice.node) - slice.devices});
  reservations_.push_back(std::move(reservation));
}

// The times at which devices become free, apart from the ends of jobs that ran before this plan, and those
// devices: at the ends of jobs that it starts or that restart with another size, after its reservations, and
// after nodes' windows.
std::multimap<Time, NodeSlices> Reservations::moments() const {
  std::multimap<Time, NodeSlices> moments = started_;
  for (const Reservation& reservation : reservations_) moments.emplace(reservation.end, NodeSlices{});
  for (const NodeId& id : state_.indexes.windows)
    for (const auto until : state_.nodes.at(id).window_ends())
      if (until && *until > now_) moments.emplace(*until, NodeSlices{});
  for (const JobId id : state_.indexes.resizing)
    if (const Job& job = state_.jobs.at(id); job.attempt && job.request.kind == kind_)
      moments.emplace(now_ + job.request.walltime, restart_slices(state_, job));
  return moments;
}

const Reservation* Reservations::reserve(const DevicePool& pool, const Job& job) {
  const Shape shape = shape_of(job.request);
  DevicePool later = pool;
  const auto try_at = [&](Time at) {
    if (!fits(later.free, shape)) return false;
    const FreeDevices open = open_at(later.free, job.request.account, at, at + job.request.walltime);
    const auto slices = choose(open, shape);
    if (slices) add(open, job, at, *slices);
    return slices.has_value();
  };
  for (const JobId leaving : leaving_)
    if (const Job& other = state_.jobs.at(leaving); other.request.kind == kind_)
      add_leaving_devices(state_, other, later);
  for (const auto& [shrinking, surplus] : shrinking_)
    for (const NodeSlice& slice : surplus)
      if (later.capacity.free(slice.node) > 0) later.free.add(slice.node, slice.devices);
  if (try_at(now_)) return &reservations_.back();

  const std::multimap<Time, NodeSlices> others = moments();
  auto moment = others.begin();
  std::optional<Time> untried;
  // Whether the job can start before `at`; devices that become free at one time do so together.
  const auto before = [&](Time at) {
    if (untried && *untried < at && try_at(*untried)) return true;
    untried = at;
    return false;
  };
  const auto moments_before = [&](Time at) {
    for (; moment != others.end() && moment->first < at; ++moment) {
      if (before(moment->first)) return true;
      for (const NodeSlice& slice : moment->second)
        if (later.capacity.free(slice.node) > 0) later.free.add(slice.node, slice.devices);
    }
    return before(at);
  };
  for (const auto& [time, id] : state_.indexes.timers) {
    const Job& running = state_.jobs.at(id);
    if (!running.attempt || running.request.kind != kind_ || leaving_.contains(id) || shrinking_.contains(id))
      continue;
    if (moments_before(std::max(time, now_))) return &reservations_.back();
    add_devices(state_, running, later);
  }
  if (moments_before(Time::max())) return &reservations_.back();
  return nullptr;
}

}  // namespace podium
