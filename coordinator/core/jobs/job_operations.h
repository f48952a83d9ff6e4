// What users do to jobs: submit, cancel, hold, release, prioritise, requeue; and what the end of a job means
// to those that wait for it. Asking for what already is changes nothing and is no mistake.
#pragma once

#include "common/base/error.h"
#include "coordinator/core/events/commands.h"
#include "coordinator/core/events/events.h"

namespace podium {

Result<Events> submit(const ClusterState& state, const SubmitExperiment& command, Time now);
Result<Events> cancel(const ClusterState& state, JobId job, Time now);
Result<Events> hold(const ClusterState& state, JobId job, Time now);
Result<Events> release(const ClusterState& state, JobId job, Time now);
Result<Events> prioritise(const ClusterState& state, const PrioritiseJob& command, Time now);
Result<Events> requeue(const ClusterState& state, const RequeueJob& command, Time now);
Result<Events> extend(const ClusterState& state, const ExtendJob& command, Time now);

// Adds what follows for the jobs that wait for one that ends in `events`: it is one less to wait for, or it
// ended otherwise than they demand, and they are cancelled, with those that wait for them.
void settle_dependents(const ClusterState& state, Events& events, Time now);

}  // namespace podium
