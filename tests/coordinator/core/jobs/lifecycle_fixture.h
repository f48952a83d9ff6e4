// A cluster of two nodes and the life of a job on it.
#pragma once

#include <csignal>

#include "coordinator/core/jobs/lifecycle.h"
#include "tests/coordinator/core/cluster_fixture.h"

namespace podium {

using std::chrono::seconds;

class Lifecycle : public ClusterTest {
 protected:
  Lifecycle() {
    join(one_);
    join(two_);
  }

  // A gang of two, one on each node, all running.
  JobId run_gang(JobRequest request = request_for(2, 1)) {
    const JobId id = submit(request);
    report(one_);
    report(two_);
    EXPECT_EQ(state_of(id), JobState::running);
    return id;
  }

  // What the newest state change of this job said.
  void fail_rank(JobId id, int rank, TaskExit exit) {
    report(rank == 0 ? one_ : two_, {{task(id, rank), exit}});
  }

  NodeDescription one_ = node_with("node-1", 1), two_ = node_with("node-2", 1);
};

}  // namespace podium
