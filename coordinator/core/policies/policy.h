// The order in which jobs start. A policy ranks jobs; gangs, reservations and backfill (plan.h) are the same
// under every policy.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coordinator/core/state/state.h"

namespace podium {

class Policy {
 public:
  virtual ~Policy() = default;

  virtual std::string_view name() const = 0;
  // Smaller goes first. The rank of a waiting job must not depend on the time, because queues are kept sorted
  // by it.
  virtual std::int64_t rank(const SchedulingOptions& options, const Standing& job, Time now) const = 0;
  // How many blocked jobs of a kind get a reservation. With none, nothing starts behind the first blocked job
  // of a kind.
  virtual int reservations(const SchedulingOptions& options) const { return options.reservations; }
  // Whether it ever stops running jobs; where not, the plan does not look for victims.
  virtual bool preempts(const SchedulingOptions&) const { return true; }
  // Whether a waiting job may stop a running one to take its place.
  virtual bool may_preempt(const SchedulingOptions& options, const Standing& waiting, const Standing& running,
                           Time now) const = 0;
  // Whether waiting weighs like priority (SchedulingOptions::ageing).
  virtual bool ages() const { return false; }
  // Whether accounts take turns by their usage (accounts/fair_share_tree.h). The rank then counts within an
  // account, and no job makes room for another account's.
  virtual bool by_account() const { return false; }
  // How often to plan anew while jobs wait, where the ranks of running jobs change with time.
  virtual std::optional<Duration> interval() const { return std::nullopt; }
};

// The weight of a walltime, as the waiting time that it takes away.
Duration weight_of_walltime(const SchedulingOptions& options, Duration walltime);

const Policy& policy_of(PolicyKind kind);
std::optional<PolicyKind> policy_named(std::string_view name);
std::vector<std::string> policy_names();

QueueKey queue_key(const ClusterState& state, const Job& job);

}  // namespace podium
