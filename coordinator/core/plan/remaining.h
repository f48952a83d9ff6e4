// What a pass over one kind's queue can still grant: free devices, room under quotas and limits, and the
// future that reservations leave open. During a pass it only decreases.
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
  // The devices on nodes with these labels. The reference stays valid.
  const DevicePool& pool(const Labels& nodes);
  const AccountLedger& ledger() const { return ledger_; }
  const Reservations& reservations() const { return reservations_; }
  Reservations& reservations() { return reservations_; }

  // The job starts on `slices` now and ends at `end`.
  void start(const Job& job, const NodeSlices& slices, Time end);
  // Keeps `slices` for a stopping job that starts again on them, with `more` devices than it has now.
  void set_aside(const Job& job, NodeSlices slices, int more);

 private:
  void take(const NodeSlices& slices);

  const ClusterState& state_;
  std::map<Labels, DevicePool> pools_;  // those asked for, without what was taken
  NodeSlices taken_;
  AccountLedger ledger_;
  Reservations reservations_;
};

}  // namespace podium
