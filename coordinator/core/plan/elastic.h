// Elastic jobs run on any of several numbers of devices (JobRequest::sizes). They start on as many as are
// free, grow into devices that no job in line can use, and shrink for a job that may go first. A change of
// size is a graceful stop and a start. Therefore an attempt keeps its size until it is
// SchedulingOptions::resize_after old, and one that writes checkpoints grows only soon after one.
//
// A job that is being resized must get its new devices: from the order to stop until it runs again, every
// plan counts the devices that it starts again on (Resize::restart_on) as allocated.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "coordinator/core/accounts/account_ledger.h"
#include "coordinator/core/placement/placement.h"
#include "coordinator/core/plan/plan.h"

namespace podium {

// The shape of a job on `devices` devices.
Shape shape_at(const JobRequest& request, int devices);

// The running jobs of a kind that may grow now, if there is room. Lowers `wake` to the time at which another
// may.
std::vector<const Job*> jobs_to_grow(const ClusterState& state, const std::string& kind, Time now,
                                     std::optional<Time>& wake);
// The resize from the devices that the job has to `place`.
Resize resize_to(const ClusterState& state, const Job& job, const NodeSlices& place);

// The devices of `place` that are not allocated to the job yet.
NodeSlices beyond_allocated(const ClusterState& state, const Job& job, const NodeSlices& place);
// The devices that a leaving job starts again on; none where it does not restart by itself.
NodeSlices restart_slices(const ClusterState& state, const Job& job);
// The part of them that is not allocated to the job yet: free devices that no other job may have.
NodeSlices still_to_get(const ClusterState& state, const Job& job);
// The devices of the job that the resize frees.
NodeSlices surplus_of(const ClusterState& state, const Job& job, const Resize& resize);
// Adds the devices that a leaving job frees to the pool.
void add_leaving_devices(const ClusterState& state, const Job& job, DevicePool& pool);
// By how many devices the account's allocation falls once the job has left.
int surplus_devices(const Job& job);
// The place where a resized job starts again; nothing where its nodes have changed.
std::optional<NodeSlices> restart_place(const ClusterState& state, const Job& job, const FreeDevices& free);

// The running jobs to shrink so that the blocked one can start: the least deserving first, no more jobs and
// no further than necessary. `pool` and `ledger` as for choose_victims. Empty where shrinking is not enough.
using MayShrink = std::function<bool(const Job& running)>;
std::vector<Resizing> choose_shrinks(const ClusterState& state, DevicePool pool, AccountLedger ledger,
                                     const Job& blocked, const MayShrink& may_shrink, Time now,
                                     std::optional<Time>& wake);

}  // namespace podium
