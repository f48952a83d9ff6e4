#include "coordinator/core/plan/elastic.h"

#include <algorithm>
#include <tuple>

#include "coordinator/core/plan/preemption.h"
#include "coordinator/core/plan/reservations.h"
#include "coordinator/core/policies/policy.h"

namespace podium {
namespace {

constexpr Duration kSoonAfterSave = std::chrono::minutes(1);
constexpr std::size_t kMostShrunk = 256;  // candidates that a plan looks at

void earlier(std::optional<Time>& wake, Time time) { wake = wake ? std::min(*wake, time) : time; }

const std::set<JobId>& elastic_of(const ClusterState& state, const std::string& kind) {
  static const std::set<JobId> none;
  const auto found = state.indexes.elastic.find(kind);
  return found == state.indexes.elastic.end() ? none : found->second;
}

// Whether the attempt is old enough to change its size; if not, lowers `wake` to the time when it will be.
bool old_enough(const ClusterState& state, const Job& job, Time now, std::optional<Time>& wake) {
  const Time at = job.attempt->created + state.scheduling.resize_after;
  if (at > now) earlier(wake, at);
  return at <= now;
}

// Whether the job starts again by itself: not while an operator holds it or it is paused.
bool restarts_resized(const Job& job) { return job.resize && !job.held && !job.paused; }

bool just_saved(const Job& job, Time now) {
  return job.saved && *job.saved >= job.attempt->created && now - *job.saved <= kSoonAfterSave;
}

// The healthy devices that are allocated to the job on nodes that get work.
std::map<std::size_t, int> allocated_by_node(const ClusterState& state, const Job& job) {
  std::map<std::size_t, int> allocated;
  if (!job.attempt) return allocated;
  for (std::size_t rank = 0; rank < job.attempt->tasks.size(); ++rank) {
    if (!job.attempt->is_allocated(rank)) continue;
    const Placement& place = job.attempt->allocation.ranks[rank];
    const Node& node = state.nodes.at(place.node);
    if (!node.usable()) continue;
    if (const int healthy = healthy_devices(node, place); healthy > 0) allocated[node.ordinal] += healthy;
  }
  return allocated;
}

NodeSlices slices_after_resize(const ClusterState& state, const Job& job) {
  NodeSlices slices;
  for (const auto& [id, devices] : job.resize->restart_on)
    if (const Node* node = find_node(state, id)) slices.push_back({node->ordinal, devices});
  return slices;
}

FreeDevices only(const ClusterState& state, const std::map<std::size_t, int>& allocated,
                 const std::function<bool(std::size_t)>& counts) {
  FreeDevices free;
  for (const auto& [ordinal, devices] : allocated) {
    free.place(ordinal, state.nodes.at(state.indexes.node_ids[ordinal]).place);
    if (counts(ordinal)) free.set(ordinal, devices);
  }
  return free;
}

// A job that could shrink, and the part of its devices that the blocked job could use.
class Shrinking {
 public:
  Shrinking(const ClusterState& state, const Job& job, const DevicePool& pool)
      : state_(state), job_(job), allocated_(allocated_by_node(state, job)) {
    all_ = only(state, allocated_, [](std::size_t) { return true; });
    apart_ = only(state, allocated_, [&](std::size_t node) { return pool.capacity.free(node) == 0; });
  }

  const Job& job() const { return job_; }
  const NodeSlices& place() const { return place_; }
  bool shrinks() const { return !place_.empty(); }

  // Keeps `devices` of the job's devices, first those that the blocked job cannot use, and adds the rest to
  // the pool. False where its layout does not allow it.
  bool shrink(int devices, DevicePool& pool) {
    const Shape shape = shape_at(job_.request, devices);
    auto place = choose(apart_, shape);
    if (!place) place = choose(all_, shape);
    if (!place) return false;
    place_ = std::move(*place);
    move(1, pool);
    return true;
  }
  void undo(DevicePool& pool) {
    move(-1, pool);
    place_.clear();
  }

 private:
  void move(int by, DevicePool& pool) const {
    std::map<std::size_t, int> freed = allocated_;
    for (const NodeSlice& slice : place_) freed[slice.node] -= slice.devices;
    for (const auto& [node, devices] : freed)
      if (pool.capacity.free(node) > 0) pool.free.add(node, by * devices);
  }

  const ClusterState& state_;
  const Job& job_;
  std::map<std::size_t, int> allocated_;
  FreeDevices all_, apart_;  // allocated to it; of these, on nodes outside the blocked job's pool
  NodeSlices place_;         // that it keeps
};

struct Candidate {
  const Job* job = nullptr;
  std::int64_t rank = 0;
  Duration lost{};
};

std::vector<Candidate> candidates(const ClusterState& state, const Job& blocked, const MayShrink& may_shrink,
                                  Time now, std::optional<Time>& wake) {
  const Policy& policy = policy_of(state.scheduling.policy);
  std::vector<Candidate> found;
  for (const JobId id : elastic_of(state, blocked.request.kind)) {
    const Job& job = state.jobs.at(id);
    if (job.devices() <= job.request.devices || job.held || almost_done(job, now)) continue;
    if (!may_shrink(job)) continue;
    if (!old_enough(state, job, now, wake)) continue;
    found.push_back({&job, policy.rank(state.scheduling, standing_of(job), now), lost_work(job, now)});
  }
  std::ranges::sort(found, [](const Candidate& a, const Candidate& b) {
    return std::tuple(-a.rank, a.lost, b.job->id) < std::tuple(-b.rank, b.lost, a.job->id);
  });
  if (found.size() > kMostShrunk) found.resize(kMostShrunk);
  return found;
}

// Leaves the job as many devices as possible while the blocked one can start: all, where it need not shrink.
// It gets more than the fewest only as far as the limits of its account, which may be lower now, let it start
// again.
template <class FitsNow>
void shrink_less(Shrinking& shrinking, DevicePool& pool, const AccountLedger& ledger,
                 const FitsNow& fits_now) {
  const JobRequest& request = shrinking.job().request;
  const std::vector<int>& sizes = request.sizes;
  shrinking.undo(pool);
  if (fits_now(pool)) return;
  auto low = sizes.begin();  // would do
  auto high = std::ranges::find(sizes, shrinking.job().devices());
  while (high - low > 1) {
    const auto middle = low + (high - low) / 2;
    if (ledger.over_limit(request.account, *middle - request.devices) || !shrinking.shrink(*middle, pool)) {
      high = middle;
      continue;
    }
    (fits_now(pool) ? low : high) = middle;
    shrinking.undo(pool);
  }
  shrinking.shrink(*low, pool);
}

}  // namespace

Shape shape_at(const JobRequest& request, int devices) {
  Shape shape = shape_of(request);
  shape.devices = devices;
  return shape;
}

std::vector<const Job*> jobs_to_grow(const ClusterState& state, const std::string& kind, Time now,
                                     std::optional<Time>& wake) {
  std::vector<std::pair<std::int64_t, const Job*>> ranked;
  for (const JobId id : elastic_of(state, kind)) {
    const Job& job = state.jobs.at(id);
    if (job.devices() == job.request.sizes.back() || job.held || almost_done(job, now)) continue;
    if ((job.request.saves && !just_saved(job, now)) || !old_enough(state, job, now, wake)) continue;
    ranked.emplace_back(policy_of(state.scheduling.policy).rank(state.scheduling, standing_of(job), now),
                        &job);
  }
  std::ranges::sort(ranked, {}, [](const auto& entry) { return std::pair(entry.first, entry.second->id); });
  std::vector<const Job*> jobs;
  for (const auto& [rank, job] : ranked) jobs.push_back(job);
  return jobs;
}

Resize resize_to(const ClusterState& state, const Job& job, const NodeSlices& place) {
  Resize resize{.from = job.devices()};
  for (const NodeSlice& slice : place) {
    resize.to += slice.devices;
    resize.restart_on[state.indexes.node_ids[slice.node]] = slice.devices;
  }
  return resize;
}

NodeSlices beyond_allocated(const ClusterState& state, const Job& job, const NodeSlices& place) {
  const std::map<std::size_t, int> allocated = allocated_by_node(state, job);
  NodeSlices beyond;
  for (const NodeSlice& slice : place) {
    const auto own = allocated.find(slice.node);
    const int more = slice.devices - (own == allocated.end() ? 0 : own->second);
    if (more > 0) beyond.push_back({slice.node, more});
  }
  return beyond;
}

NodeSlices restart_slices(const ClusterState& state, const Job& job) {
  return restarts_resized(job) ? slices_after_resize(state, job) : NodeSlices{};
}

NodeSlices still_to_get(const ClusterState& state, const Job& job) {
  return beyond_allocated(state, job, restart_slices(state, job));
}

NodeSlices surplus_of(const ClusterState& state, const Job& job, const Resize& resize) {
  std::map<std::size_t, int> allocated = allocated_by_node(state, job);
  for (const auto& [id, devices] : resize.restart_on) {
    const Node* const node = find_node(state, id);
    if (const auto own = node ? allocated.find(node->ordinal) : allocated.end(); own != allocated.end())
      own->second = std::max(own->second - devices, 0);
  }
  NodeSlices slices;
  for (const auto& [node, devices] : allocated)
    if (devices > 0) slices.push_back({node, devices});
  return slices;
}

void add_leaving_devices(const ClusterState& state, const Job& job, DevicePool& pool) {
  if (!restarts_resized(job)) return add_devices(state, job, pool);
  for (const NodeSlice& slice : surplus_of(state, job, *job.resize))
    if (pool.capacity.free(slice.node) > 0) pool.free.add(slice.node, slice.devices);
}

int surplus_devices(const Job& job) {
  return std::max(job.allocated_devices() - (restarts_resized(job) ? job.resize->to : 0), 0);
}

std::optional<NodeSlices> restart_place(const ClusterState& state, const Job& job, const FreeDevices& free) {
  NodeSlices place = slices_after_resize(state, job);
  for (const NodeSlice& slice : place)
    if (free.free(slice.node) < slice.devices) return std::nullopt;
  return place;
}

std::vector<Resizing> choose_shrinks(const ClusterState& state, DevicePool pool, AccountLedger ledger,
                                     const Job& blocked, const MayShrink& may_shrink, Time now,
                                     std::optional<Time>& wake) {
  const auto fits_now = [&](const DevicePool& now_free) { return has_room(state, now_free, blocked, now); };
  if (elastic_of(state, blocked.request.kind).empty() || fits_now(pool)) return {};
  std::vector<Shrinking> shrunk;
  for (const Candidate& candidate : candidates(state, blocked, may_shrink, now, wake)) {
    if (fits_now(pool)) break;
    const Job& job = *candidate.job;
    const int most = job.devices() - job.request.devices;
    if (!ledger.may_take(job.request.account, most, blocked.request)) continue;
    if (ledger.over_limit(job.request.account, -most)) continue;
    Shrinking shrinking(state, job, pool);
    if (!shrinking.shrink(job.request.devices, pool)) continue;
    ledger.change(job.request.account, -most);
    shrunk.push_back(std::move(shrinking));
  }
  if (!fits_now(pool)) return {};
  std::vector<Resizing> chosen;
  for (auto last = shrunk.rbegin(); last != shrunk.rend(); ++last) {
    shrink_less(*last, pool, ledger, fits_now);
    const JobRequest& request = last->job().request;
    Resize resize = resize_to(state, last->job(), last->place());
    ledger.change(request.account, (last->shrinks() ? resize.to : resize.from) - request.devices);
    if (!last->shrinks()) continue;
    resize.room_for = blocked.id;
    chosen.insert(chosen.begin(), {last->job().id, std::move(resize)});
  }
  return chosen;
}

}  // namespace podium
