// What users do to jobs: submit, track, cancel, hold, release, prioritise, requeue, extend; and what the end
// of a job means for jobs that wait for it. A request for what is already so changes nothing and is no
// mistake.
#pragma once

#include "common/base/error.h"
#include "coordinator/core/events/commands.h"
#include "coordinator/core/events/events.h"

namespace podium {

Result<Events> submit(const ClusterState& state, const SubmitExperiment& command, Time now);
Result<Events> track(const ClusterState& state, const TrackRun& command, Time now);
Result<Events> cancel(const ClusterState& state, JobId job, Time now);
Result<Events> hold(const ClusterState& state, JobId job, Time now);
Result<Events> release(const ClusterState& state, JobId job, Time now);
Result<Events> prioritise(const ClusterState& state, const PrioritiseJob& command, Time now);
Result<Events> requeue(const ClusterState& state, const RequeueJob& command, Time now);
Result<Events> extend(const ClusterState& state, const ExtendJob& command, Time now);

// Adds the consequences for jobs that wait for a job that ends in `events`: they have one less to wait for
// or, where it did not end as they demand, they are cancelled, together with the jobs that wait for them.
void settle_dependents(const ClusterState& state, Events& events, Time now);

}  // namespace podium
