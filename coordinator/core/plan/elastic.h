// Elastic jobs run on any of several numbers of devices (JobRequest::sizes). They start on as many as are
// free, grow into devices that nobody in line can use, and shrink for a job that may go first. A change of
// size is a graceful stop and a start, so an attempt is left alone until it is
// SchedulingOptions::resize_after old, and one that writes checkpoints grows only soon after one.
//
// A job that is being resized must not end up with less than it freed: from the order to stop until it runs
// again, every plan counts the devices that it starts again on (Resize::restart_on) as allocated.
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
// From the devices that are allocated to it to these.
Resize resize_to(const ClusterState& state, const Job& job, const NodeSlices& place);

// Of these devices, those that are not allocated to the job already.
NodeSlices beyond_allocated(const ClusterState& state, const Job& job, const NodeSlices& place);
// What a leaving job starts again on; nothing where it does not restart by itself.
NodeSlices restart_slices(const ClusterState& state, const Job& job);
// Of that, what is not allocated to it yet: free devices that no other job may have.
NodeSlices still_to_get(const ClusterState& state, const Job& job);
// Of what is allocated to the job, what it frees by the resize.
NodeSlices surplus_of(const ClusterState& state, const Job& job, const Resize& resize);
// Adds to a pool what a leaving job frees.
void add_leaving_devices(const ClusterState& state, const Job& job, DevicePool& pool);
// How many devices its account has less once the job has left.
int surplus_devices(const Job& job);
// Where a job that has left for another size starts again; nothing where the nodes are not what they were.
std::optional<NodeSlices> restart_place(const ClusterState& state, const Job& job, const FreeDevices& free);

// Running jobs that shrink, the least deserving first and no more and no further than it takes, so that the
// blocked one can start. `pool` and `ledger` as for choose_victims. Empty where that would not do.
using MayShrink = std::function<bool(const Job& running)>;
std::vector<Resizing> choose_shrinks(const ClusterState& state, DevicePool pool, AccountLedger ledger,
                                     const Job& blocked, const MayShrink& may_shrink, Time now,
                                     std::optional<Time>& wake);

}  // namespace podium
