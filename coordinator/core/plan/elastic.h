// Elastic jobs run on any of several numbers of devices (JobRequest::sizes). They start on as many as are
// free, grow into devices that nobody in line can use, and shrink for a job that may go first. A change of
// size is a graceful stop and a start, so an attempt is left alone until it is
// SchedulingOptions::resize_after old, and one that writes checkpoints grows only soon after one.
//
// A job on its way to another size must not end up with less than it gave up: from the order to stop until it
// runs again, the devices it comes back to (Resize::kept) are counted as given away in every plan.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "coordinator/core/accounts/account_ledger.h"
#include "coordinator/core/placement/placement.h"
#include "coordinator/core/plan/plan.h"

namespace podium {

// The shape of a job that runs on so many devices.
Shape shape_at(const JobRequest& request, int devices);

// Running jobs of a kind that may grow now, if there is room. `wake` becomes no later than the moment at
// which another may.
std::vector<const Job*> jobs_to_grow(const ClusterState& state, const std::string& kind, Time now,
                                     std::optional<Time>& wake);
// From what it holds to these devices.
Resize resize_to(const ClusterState& state, const Job& job, const Shares& place);

// Of these devices, those that the job does not hold already.
Shares beyond_held(const ClusterState& state, const Job& job, const Shares& place);
// All that is kept for a leaving job.
Shares kept_by(const ClusterState& state, const Job& job);
// Of it, the part it does not hold already: free devices that nobody else may have.
Shares kept_free(const ClusterState& state, const Job& job);
// Of what the job holds, the part that it does not keep.
Shares given_up(const ClusterState& state, const Job& job, const Resize& resize);
// Gives a pool what a leaving job holds, but for the part that is kept for it.
void release_leaving(const ClusterState& state, const Job& job, DevicePool& pool);
// How many devices its account holds less when the job has left.
int gives_up(const Job& job);
// Where a job that has left for another size starts again; nothing where the nodes are not what they were.
std::optional<Shares> kept_place(const ClusterState& state, const Job& job, const FreeDevices& free);

// Running jobs that shrink, the least deserving first and no more and no further than it takes, so that the
// blocked one can start. `pool` and `ledger` as for choose_victims. Empty where that would not do.
using MayShrink = std::function<bool(const Job& running)>;
std::vector<Resizing> choose_shrinks(const ClusterState& state, DevicePool pool, AccountLedger ledger,
                                     const Job& blocked, const MayShrink& may_shrink, Time now,
                                     std::optional<Time>& wake);

}  // namespace podium
