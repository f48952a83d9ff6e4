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

// Whether its attempt is old enough to change its size; if not, `wake` is told when it will be.
bool old_enough(const ClusterState& state, const Job& job, Time now, std::optional<Time>& wake) {
  const Time at = job.attempt->created + state.scheduling.resize_after;
  if (at > now) earlier(wake, at);
  return at <= now;
}

// A job that an operator holds or a sweep has paused does not.
bool comes_back(const Job& job) { return job.resize && !job.held && !job.paused; }

bool just_saved(const Job& job, Time now) {
  return job.saved && *job.saved >= job.attempt->created && now - *job.saved <= kSoonAfterSave;
}

// What it holds of nodes that get work, but for unhealthy devices, by node.
std::map<std::size_t, int> held_by_node(const ClusterState& state, const Job& job) {
  std::map<std::size_t, int> held;
  if (!job.attempt) return held;
  for (std::size_t rank = 0; rank < job.attempt->tasks.size(); ++rank) {
    if (!job.attempt->holds(rank)) continue;
    const Placement& place = job.attempt->allocation.ranks[rank];
    const Node& node = state.nodes.at(place.node);
    if (!node.usable()) continue;
    if (const int healthy = healthy_devices(node, place); healthy > 0) held[node.ordinal] += healthy;
  }
  return held;
}

Shares kept_shares(const ClusterState& state, const Job& job) {
  Shares shares;
  for (const auto& [id, devices] : job.resize->kept) shares.push_back({state.nodes.at(id).ordinal, devices});
  return shares;
}

FreeDevices only(const ClusterState& state, const std::map<std::size_t, int>& held,
                 const std::function<bool(std::size_t)>& counts) {
  FreeDevices free;
  for (const auto& [ordinal, devices] : held) {
    free.place(ordinal, state.nodes.at(state.indexes.node_ids[ordinal]).place);
    if (counts(ordinal)) free.set(ordinal, devices);
  }
  return free;
}

// One job that could shrink, and what of its devices the blocked one could use.
class Shrinking {
 public:
  Shrinking(const ClusterState& state, const Job& job, const DevicePool& pool)
      : state_(state), job_(job), held_(held_by_node(state, job)) {
    all_ = only(state, held_, [](std::size_t) { return true; });
    apart_ = only(state, held_, [&](std::size_t node) { return pool.capacity.free(node) == 0; });
  }

  const Job& job() const { return job_; }
  const Shares& place() const { return place_; }
  bool shrinks() const { return !place_.empty(); }

  // Keeps so many of its devices, first those that the blocked job cannot use, and gives the rest to the
  // pool. False where its layout does not allow it.
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
    std::map<std::size_t, int> given = held_;
    for (const Share& share : place_) given[share.node] -= share.devices;
    for (const auto& [node, devices] : given)
      if (pool.capacity.free(node) > 0) pool.free.add(node, by * devices);
  }

  const ClusterState& state_;
  const Job& job_;
  std::map<std::size_t, int> held_;
  FreeDevices all_, apart_;  // that it holds; on nodes that are not of the blocked job's pool
  Shares place_;             // that it keeps
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

// Lets the job keep as many devices as it may for the blocked one to start: all, where it need not shrink.
// More than the least only as far as the limits of its account, lowered since it began, let it come back
// with.
template <class Holds>
void give_back(Shrinking& shrinking, DevicePool& pool, const AccountLedger& ledger, const Holds& holds) {
  const JobRequest& request = shrinking.job().request;
  const std::vector<int>& sizes = request.sizes;
  shrinking.undo(pool);
  if (holds(pool)) return;
  auto low = sizes.begin();  // would do
  auto high = std::ranges::find(sizes, shrinking.job().devices());
  while (high - low > 1) {
    const auto middle = low + (high - low) / 2;
    if (ledger.over_limit(request.account, *middle - request.devices) || !shrinking.shrink(*middle, pool)) {
      high = middle;
      continue;
    }
    (holds(pool) ? low : high) = middle;
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

Resize resize_to(const ClusterState& state, const Job& job, const Shares& place) {
  Resize resize{.from = job.devices()};
  for (const Share& share : place) {
    resize.to += share.devices;
    resize.kept[state.indexes.node_ids[share.node]] = share.devices;
  }
  return resize;
}

Shares beyond_held(const ClusterState& state, const Job& job, const Shares& place) {
  const std::map<std::size_t, int> held = held_by_node(state, job);
  Shares beyond;
  for (const Share& share : place) {
    const auto own = held.find(share.node);
    const int more = share.devices - (own == held.end() ? 0 : own->second);
    if (more > 0) beyond.push_back({share.node, more});
  }
  return beyond;
}

Shares kept_by(const ClusterState& state, const Job& job) {
  return comes_back(job) ? kept_shares(state, job) : Shares{};
}

Shares kept_free(const ClusterState& state, const Job& job) {
  return beyond_held(state, job, kept_by(state, job));
}

Shares given_up(const ClusterState& state, const Job& job, const Resize& resize) {
  std::map<std::size_t, int> held = held_by_node(state, job);
  for (const auto& [id, devices] : resize.kept)
    if (const auto own = held.find(state.nodes.at(id).ordinal); own != held.end())
      own->second = std::max(own->second - devices, 0);
  Shares shares;
  for (const auto& [node, devices] : held)
    if (devices > 0) shares.push_back({node, devices});
  return shares;
}

void release_leaving(const ClusterState& state, const Job& job, DevicePool& pool) {
  if (!comes_back(job)) return release(state, job, pool);
  for (const Share& share : given_up(state, job, *job.resize))
    if (pool.capacity.free(share.node) > 0) pool.free.add(share.node, share.devices);
}

int gives_up(const Job& job) {
  return std::max(job.held_devices() - (comes_back(job) ? job.resize->to : 0), 0);
}

std::optional<Shares> kept_place(const ClusterState& state, const Job& job, const FreeDevices& free) {
  Shares place = kept_shares(state, job);
  for (const Share& share : place)
    if (free.free(share.node) < share.devices) return std::nullopt;
  return place;
}

std::vector<Resizing> choose_shrinks(const ClusterState& state, DevicePool pool, AccountLedger ledger,
                                     const Job& blocked, const MayShrink& may_shrink, Time now,
                                     std::optional<Time>& wake) {
  const auto holds = [&](const DevicePool& now_free) { return has_room(state, now_free, blocked, now); };
  if (elastic_of(state, blocked.request.kind).empty() || holds(pool)) return {};
  std::vector<Shrinking> shrunk;
  for (const Candidate& candidate : candidates(state, blocked, may_shrink, now, wake)) {
    if (holds(pool)) break;
    const Job& job = *candidate.job;
    const int most = job.devices() - job.request.devices;
    if (!ledger.may_take(job.request.account, most, blocked.request)) continue;
    if (ledger.over_limit(job.request.account, -most)) continue;
    Shrinking shrinking(state, job, pool);
    if (!shrinking.shrink(job.request.devices, pool)) continue;
    ledger.change(job.request.account, -most);
    shrunk.push_back(std::move(shrinking));
  }
  if (!holds(pool)) return {};
  std::vector<Resizing> chosen;
  for (auto last = shrunk.rbegin(); last != shrunk.rend(); ++last) {
    give_back(*last, pool, ledger, holds);
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
