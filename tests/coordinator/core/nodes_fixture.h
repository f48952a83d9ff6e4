// A cluster of one node with one device.
#pragma once

#include "tests/coordinator/core/cluster_fixture.h"

namespace podium {

class Nodes : public ClusterTest {
 protected:
  Nodes() { join(node_); }

  JobId run_one() {
    const JobId id = submit(request_for(1));
    report(node_);
    EXPECT_EQ(state_of(id), JobState::running);
    return id;
  }
  NodeState node_state() { return state_.nodes.at(node_.id).state; }
  void report_nothing(std::int64_t orders_seen) { turn(NodeReported{{node_, {}, orders_seen}}); }

  NodeDescription node_ = node_with("node-1", 1);
};

}  // namespace podium
