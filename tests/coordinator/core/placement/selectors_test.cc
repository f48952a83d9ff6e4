// Jobs that ask for labels of their nodes.
#include <nlohmann/json.hpp>

#include "tests/coordinator/core/cluster_fixture.h"

namespace podium {
namespace {

class Selectors : public ClusterTest {
 protected:
  Selectors() {
    nlp_.labels = {{"partition", "nlp"}};
    join(nlp_);
    join(other_);
  }
  JobRequest asking(int devices, const Labels& nodes) {
    JobRequest request = request_for(devices);
    request.nodes = nodes;
    return request;
  }
  std::string refusal(const JobRequest& request) {
    const auto answer = turn(SubmitExperiment{"test", {request}});
    return answer ? "" : answer.errors()[0].message;
  }

  NodeDescription nlp_ = node_with("node-1", 2);
  NodeDescription other_ = node_with("node-2", 4);
};

TEST_F(Selectors, AJobRunsOnNodesThatMatch) {
  const JobId first = submit(asking(2, {{"partition", "nlp"}}));
  const JobId second = submit(asking(1, {{"partition", "nlp"}}));
  const JobId free = submit(request_for(1));
  EXPECT_EQ(job(first).attempt->allocation.ranks[0].node, nlp_.id);
  EXPECT_EQ(reason(second), "needs 1 free cpu device on nodes with partition=nlp that are up; none is free");
  EXPECT_EQ(job(free).attempt->allocation.ranks[0].node, other_.id);
}

TEST_F(Selectors, JobsWithAndWithoutOneShareDevices) {
  submit(request_for(5));
  const JobId waiting = submit(asking(2, {{"partition", "nlp"}}));
  EXPECT_EQ(state_of(waiting), JobState::queued) << "the tightest fit left one device of node-1";
  ASSERT_EQ(plan_.reservations.size(), 1u);
  EXPECT_EQ(plan_.reservations[0].claims[0].node, state_.nodes.at(nlp_.id).ordinal);
}

TEST_F(Selectors, RefusesWhatNoNodeHas) {
  EXPECT_EQ(refusal(asking(1, {{"partition", "vision"}})),
            "job \"job\" asks for nodes with partition=vision; no node with cpu devices has it");
  EXPECT_EQ(refusal(asking(1, {{"partition", "nlp"}, {"rack", "r1"}})),
            "job \"job\" asks for nodes with partition=nlp, rack=r1; no node with cpu devices has them");
  EXPECT_EQ(refusal(asking(4, {{"partition", "nlp"}})),
            "job \"job\" asks for 4 cpu devices on nodes with partition=nlp; such nodes have 2 on 1 node");
}

TEST_F(Selectors, FollowLabelsThatChange) {
  const JobId id = submit(asking(2, {{"partition", "nlp"}}));
  const JobId next = submit(asking(2, {{"partition", "nlp"}}));
  turn(LabelNode{other_.id, {{"partition", "nlp"}}});
  EXPECT_EQ(state_of(next), JobState::starting) << "node-2 is of the partition now";
  turn(LabelNode{nlp_.id, {{"partition", "vision"}}});
  EXPECT_EQ(state_of(id), JobState::starting) << "what runs goes on";
  const JobId third = submit(asking(2, {{"partition", "nlp"}}));
  turn(LabelNode{other_.id, {{"partition", std::nullopt}}});
  EXPECT_EQ(job(third).attempt->allocation.ranks[0].node, other_.id);
  turn(CancelJob{next});
  const JobRequest request = asking(1, {{"partition", "nlp"}});
  EXPECT_NE(refusal(request), "");
}

TEST_F(Selectors, PoolsComeAndGoWithTheirJobs) {
  const PoolKey key{"cpu", {{"partition", "nlp"}}};
  const JobId id = submit(asking(1, key.nodes));
  const JobId waiting = submit(asking(2, key.nodes));
  EXPECT_EQ(state_.indexes.pools.at(key).users, 2);
  EXPECT_EQ(state_.indexes.pools.at(key).free.total(), 1);
  const ClusterState again = cluster_state_from_json(to_json(state_), ClusterState{});
  EXPECT_EQ(again.indexes.pools, state_.indexes.pools);
  turn(CancelJob{waiting});
  report(nlp_, {{task(id, 0), {}}});
  EXPECT_FALSE(state_.indexes.pools.contains(key));
}

}  // namespace
}  // namespace podium
