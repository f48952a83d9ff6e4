// Who makes room, against the plainest way to choose: all jobs looked at, sorted, and stopped one after the
// other, with the free devices counted anew each time. Seeded random clusters; a failure names its seed.
#include "coordinator/core/plan/preemption.h"

#include <map>
#include <random>
#include <set>
#include <tuple>

#include "coordinator/core/plan/reservations.h"
#include "tests/coordinator/core/cluster_fixture.h"

namespace podium {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

constexpr PolicyKind kPreempting[] = {PolicyKind::priority_backfill, PolicyKind::least_attained_service,
                                      PolicyKind::shortest_remaining_time, PolicyKind::fair_share};
constexpr const char* kAccounts[] = {"default", "nlp", "nlp/bert", "nlp/gpt", "vision"};

// A cluster some way into its life, of whom some jobs wait.
class RandomCluster {
 public:
  explicit RandomCluster(unsigned seed) : random_(seed) {
    turn(CoordinatorUp{});
    for (int n = 1; n <= 6; ++n) {
      nodes_.push_back(node_with("node-" + std::to_string(n), 4, n == 6 ? "tpu" : "gpu"));
      if (chance(30)) nodes_.back().labels["rack"] = "a";
      turn(NodeReported{{nodes_.back(), {}, 0}});
    }
    for (const char* account : kAccounts) apply_all(state_, missing_accounts(state_, account, now_));
    for (const char* account : kAccounts)
      if (chance(40)) turn(ChangeAccount{account, {}, {{"gpu", below(8)}}, {}});
    for (int step = 0; step < 60; ++step) act();
  }

  const ClusterState& state() const { return state_; }
  Time now() const { return now_; }
  bool chance(int percent) { return below(100) < percent; }

 private:
  int below(int bound) { return static_cast<int>(random_() % static_cast<unsigned>(bound)); }

  void turn(const Command& command) {
    const auto events = handle(state_, command, now_);
    if (events) apply_all(state_, *events);
    apply_all(state_, enact(state_, make_plan(state_, now_), now_));
  }

  void act() {
    now_ += minutes(below(90));
    NodeDescription& node = nodes_[static_cast<std::size_t>(below(6))];
    const int dice = below(100);
    if (dice < 45) {
      submit();
    } else if (dice < 80) {
      if (chance(10)) node.devices[0].health = node.devices[0].health.empty() ? "too hot" : "";
      report(node);
    } else if (dice < 90 && !state_.jobs.empty()) {
      const Job& job = std::next(state_.jobs.begin(), below(static_cast<int>(state_.jobs.size())))->second;
      turn(CheckpointSaved{job.attempt_id(), job.checkpoint + 1});
    } else if (dice < 94) {
      turn(DrainNode{node.id, "", now_ + hours(below(20)), now_ + hours(40)});
    } else if (dice < 96) {
      turn(DrainNode{node.id, "", {}, {}});
    } else {
      turn(ResumeNode{node.id});
    }
  }

  void submit() {
    JobRequest request = request_for(1 + below(6), chance(30) ? 1 + below(3) : 0, chance(85) ? "gpu" : "tpu");
    request.account = kAccounts[below(5)];
    request.priority = 25 * below(4);
    request.walltime = minutes(5 + below(3000));
    if (chance(15)) request.nodes["rack"] = "a";
    turn(SubmitExperiment{"test", {request}});
  }

  // What it was told to run runs, what it was told to stop has left, and now and then something ends.
  void report(const NodeDescription& node) {
    const NodeOrders orders = node_orders(state_, node.id);
    NodeReport report{node, {}, orders.version};
    for (const TaskOrder& order : orders.tasks) {
      const bool left = order.action == TaskAction::stop || chance(10);
      report.tasks.push_back({order.launch.task, left ? TaskState::exited : TaskState::running, 1,
                              left ? std::optional(TaskExit{}) : std::nullopt});
    }
    turn(NodeReported{report});
  }

  ClusterState state_;
  std::vector<NodeDescription> nodes_;
  std::mt19937 random_;
  Time now_ = from_millis(1'700'000'000'000);
};

// The plain way.
class Naive {
 public:
  Naive(const ClusterState& state, const Job& blocked, Time now)
      : state_(state),
        blocked_(blocked),
        now_(now),
        gone_(state.indexes.leaving.begin(), state.indexes.leaving.end()) {}

  template <class MayStop, class Rank>
  std::vector<JobId> choose(const MayStop& may_stop, const Rank& rank) {
    std::vector<std::tuple<std::int64_t, Duration, std::int64_t>> order;
    for (const auto& [id, job] : state_.jobs)
      if (job.attempt && !gone_.contains(id) && job.request.kind == blocked_.request.kind &&
          !almost_done(job) && !comes_back(job) && may_stop(job))
        order.emplace_back(-rank(job), lost(job), -id.value);
    std::ranges::sort(order);
    std::vector<JobId> stopped;
    for (const auto& [first, second, id] : order) {
      const JobId next{-id};
      if (fits_now()) break;
      if (!spared(state_.jobs.at(next).request)) continue;
      gone_.insert(next);
      stopped.push_back(next);
    }
    if (!fits_now()) return {};
    std::vector<JobId> needed;
    for (auto id = stopped.rbegin(); id != stopped.rend(); ++id) {
      gone_.erase(*id);
      if (fits_now()) continue;
      gone_.insert(*id);
      needed.insert(needed.begin(), *id);
    }
    return needed;
  }

 private:
  static bool comes_back(const Job& job) { return job.attempts > 1 && !job.attempt->started; }
  bool almost_done(const Job& job) const {
    const Duration walltime = job.request.walltime, left = job.attempt->created + walltime - now_;
    return left < walltime / 2 && (left < minutes(10) || left < walltime / 20);
  }

  Duration lost(const Job& job) const {
    if (!job.attempt->started) return Duration{};
    const Time since = std::max(*job.attempt->started, job.saved.value_or(*job.attempt->started));
    return (now_ - since) * job.request.devices;
  }

  int held(const std::string& account) const {
    int devices = 0;
    for (const auto& [id, job] : state_.jobs)
      if (job.attempt && !gone_.contains(id) && job.request.kind == blocked_.request.kind &&
          is_at_or_below(job.request.account, account))
        devices += job.request.devices;
    return devices;
  }

  // The deepest account around `account` that would be within its quota with so many devices more; "": none.
  std::string covering(const std::string& account, int more) const {
    std::string deepest;
    for (const auto& [name, known] : state_.accounts) {
      const auto quota = known.rules.quota.find(blocked_.request.kind);
      if (quota != known.rules.quota.end() && is_at_or_below(account, name) &&
          held(name) + more <= quota->second && name.size() > deepest.size())
        deepest = name;
    }
    return deepest;
  }

  // Whether the job's account can spare it: it is borrowed, or one quota covers both jobs, or a deeper one
  // the blocked job.
  bool spared(const JobRequest& request) const {
    const std::string covers = covering(request.account, 0);
    if (covers.empty()) return true;
    if (!is_at_or_below(blocked_.request.account, covers)) return false;
    const int quota = state_.accounts.at(covers).rules.quota.at(request.kind);
    if (held(covers) - request.devices + blocked_.request.devices <= quota) return true;
    return covering(blocked_.request.account, blocked_.request.devices).size() > covers.size();
  }

  bool fits_now() const {
    FreeDevices free;
    for (const auto& [id, node] : state_.nodes) {
      const bool asked = std::ranges::all_of(blocked_.request.nodes, [&](const auto& label) {
        const Labels labels = labels_of(node);
        return labels.contains(label.first) && labels.at(label.first) == label.second;
      });
      const bool shut = node.drain && node.drain->forbids(now_, now_ + blocked_.request.walltime);
      if (!asked || !node.usable() || shut) continue;
      for (const DeviceSlot& slot : node.devices)
        if (slot.device.kind == blocked_.request.kind && slot.device.health.empty() &&
            (!slot.holder || gone_.contains(*slot.holder)))
          free.add(node.ordinal, 1);
    }
    return fits(free, shape_of(blocked_.request));
  }

  const ClusterState& state_;
  const Job& blocked_;
  Time now_;
  std::set<JobId> gone_;
};

Duration ran(const Job& job, Time now) {
  return job.served + (job.attempt && job.attempt->started ? now - *job.attempt->started : Duration{});
}

int level(const Job& job, Time now) {
  const Duration attained = ran(job, now) * job.request.devices;
  return attained < hours(1) ? 0 : attained < hours(8) ? 1 : attained < hours(64) ? 2 : 3;
}

std::vector<JobId> naive_victims(const ClusterState& state, const Job& blocked, Time now) {
  Naive naive(state, blocked, now);
  const auto left = [now](const Job& job) {
    return std::max(job.request.walltime - ran(job, now), Duration{});
  };
  switch (state.scheduling.policy) {
    case PolicyKind::least_attained_service:
      return naive.choose([&](const Job& job) { return level(job, now) > level(blocked, now); },
                          [&](const Job& job) { return level(job, now); });
    case PolicyKind::shortest_remaining_time:
      return naive.choose([&](const Job& job) { return left(job) > 2 * left(blocked); },
                          [&](const Job& job) { return left(job).count(); });
    default: {
      const auto rank = [](const Job& job) {
        return to_millis(job.submitted) - job.request.priority * 3'600'000 +
               std::min<Duration>(job.request.walltime, hours(20)).count();
      };
      const bool by_account = state.scheduling.policy == PolicyKind::fair_share;
      return naive.choose(
          [&](const Job& job) {
            return job.request.priority < blocked.request.priority && rank(blocked) < rank(job) &&
                   (!by_account || job.request.account == blocked.request.account);
          },
          rank);
    }
  }
}

// As a plan sees them: what is leaving counts as gone.
DevicePool pool_for(const ClusterState& state, const Job& blocked) {
  DevicePool pool = state.indexes.pools.at({blocked.request.kind, blocked.request.nodes});
  for (const JobId id : state.indexes.leaving)
    if (state.jobs.at(id).request.kind == blocked.request.kind) add_devices(state, state.jobs.at(id), pool);
  return pool;
}

AccountLedger ledger_for(const ClusterState& state, const Job& blocked) {
  AccountLedger ledger(state, blocked.request.kind);
  for (const JobId id : state.indexes.leaving)
    if (const Job& leaving = state.jobs.at(id); leaving.request.kind == blocked.request.kind)
      ledger.change(leaving.request.account, -leaving.allocated_devices());
  return ledger;
}

TEST(Preemption, ChoosesAsThePlainWayDoes) {
  std::map<PolicyKind, int> found;
  int borrowers_found = 0;
  for (unsigned seed = 1; seed <= 150; ++seed) {
    const RandomCluster cluster(seed);
    ClusterState state = cluster.state();
    for (const auto& [id, blocked] : state.jobs) {
      if (blocked.state != JobState::queued) continue;
      const DevicePool pool = pool_for(state, blocked);
      const AccountLedger ledger = ledger_for(state, blocked);
      for (const PolicyKind kind : kPreempting) {
        state.scheduling.policy = kind;
        const auto victims = choose_victims(state, policy_of(kind), pool, ledger, blocked, cluster.now());
        EXPECT_EQ(victims, naive_victims(state, blocked, cluster.now()))
            << "seed " << seed << ", " << policy_of(kind).name() << ", job " << to_string(id);
        found[kind] += !victims.empty();
      }
      for (const std::string& account : lineage(blocked.request.account)) {
        const auto borrowers = choose_borrowers(state, pool, ledger, blocked, account, cluster.now());
        EXPECT_EQ(borrowers,
                  Naive(state, blocked, cluster.now())
                      .choose([&](const Job& job) { return !is_at_or_below(job.request.account, account); },
                              [](const Job&) { return std::int64_t{0}; }))
            << "seed " << seed << ", account " << account << ", job " << to_string(id);
        borrowers_found += !borrowers.empty();
      }
    }
  }
  for (const PolicyKind kind : kPreempting) EXPECT_GT(found[kind], 20) << policy_of(kind).name();
  EXPECT_GT(borrowers_found, 100);
}

// What an earlier attempt saved is not lost, and what this one did before it started is not its work.
TEST(LostWork, CountsFromTheStartOfTheAttemptWhereTheCheckpointIsOlder) {
  const Time start = from_millis(1'700'000'000'000);
  Job job;
  job.request.devices = 2;
  Attempt& attempt = job.attempt.emplace();
  attempt.allocation.ranks.resize(2);
  attempt.started = start;
  job.saved = start - minutes(30);
  EXPECT_EQ(lost_work(job, start + minutes(10)), minutes(20));
  job.saved = start + minutes(4);
  EXPECT_EQ(lost_work(job, start + minutes(10)), minutes(12));
}

}  // namespace
}  // namespace podium
