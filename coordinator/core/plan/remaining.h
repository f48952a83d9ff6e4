// What a pass over one kind's queue can still give: free devices, room under quotas and limits, and the
// future that reservations leave open. In a pass all of it only becomes less.
#pragma once

#include <map>
#include <string>

#include "coordinator/core/accounts/account_ledger.h"
#include "coordinator/core/plan/reservations.h"

namespace podium {

class Remaining {
 public:
  Remaining(const ClusterState& state, const std::string& kind, Time now)
      : state_(state), ledger_(state, kind), reservations_(state, kind, now) {}

  const std::string& kind() const { return ledger_.kind(); }
  // The devices on nodes with these labels. The reference stays good.
  const DevicePool& pool(const Labels& nodes);
  const AccountLedger& ledger() const { return ledger_; }
  const Reservations& reservations() const { return reservations_; }
  Reservations& reservations() { return reservations_; }

  // The job starts on these now and ends at `end`.
  void start(const Job& job, const NodeSlices& slices, Time end);
  // No other job gets these: the job, which is stopping, starts on them with so many devices more.
  void set_aside(const Job& job, NodeSlices slices, int more);

 private:
  void take(const NodeSlices& slices);

  const ClusterState& state_;
  std::map<Labels, DevicePool> pools_;  // those looked at, less what was taken
  NodeSlices taken_;
  AccountLedger ledger_;
  Reservations reservations_;
};

}  // namespace podium
