// Who goes first. A policy ranks jobs; gangs, reservations and backfill (plan.h) are the same under every
// policy.
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
  // Smaller goes first. For a waiting job it may depend only on the job, not on the time: queues are kept
  // sorted by it.
  virtual std::int64_t rank(const SchedulingOptions& options, const Standing& job, Time now) const = 0;
  // Blocked jobs of a kind that are promised a start; behind the last of them nothing of their kind starts if
  // none may.
  virtual int reservations(const SchedulingOptions& options) const { return options.reservations; }
  // Whether it ever stops running jobs; where not, nobody looks for victims.
  virtual bool preempts(const SchedulingOptions&) const { return true; }
  // Whether a waiting job may stop a running one to take its place.
  virtual bool may_preempt(const SchedulingOptions& options, const Standing& waiting, const Standing& running,
                           Time now) const = 0;
  // Whether waiting weighs like priority (SchedulingOptions::ageing).
  virtual bool ages() const { return false; }
  // Whether accounts take turns by what they have used (accounts/fair_share_tree.h); rank then counts within
  // one, and nobody makes room for another account's job.
  virtual bool by_account() const { return false; }
  // How often to look again while jobs wait, where ranks of running jobs move with time.
  virtual std::optional<Duration> interval() const { return std::nullopt; }
};

// What a walltime weighs where waiting weighs, as waiting that it takes away.
Duration weight_of_walltime(const SchedulingOptions& options, Duration walltime);

const Policy& policy_of(PolicyKind kind);
std::optional<PolicyKind> policy_named(std::string_view name);
std::vector<std::string> policy_names();

QueueKey queue_key(const ClusterState& state, const Job& job);

}  // namespace podium
