// Which jobs want nodes on demand, and which nodes are lent.
#include "coordinator/pilots/pilot_stand.h"

#include <gmock/gmock.h>

#include "tests/coordinator/core/cluster_fixture.h"

namespace podium {
namespace {

using std::chrono::hours;
using testing::ElementsAre;
using testing::IsEmpty;

class PilotStandTest : public ClusterTest {
 protected:
  PilotStandTest() {
    OnDemandNodes offered;
    offered.devices = 4;
    offered.nodes = 3;
    offered.walltime = hours(10);
    state_.scheduling.on_demand = offered;
  }

  JobId submit_for(int devices, Duration walltime = hours(1), const std::string& kind = "cpu") {
    JobRequest request = request_for(devices, 0, kind);
    request.walltime = walltime;
    return submit(request);
  }
  std::set<JobId> asked_about_;
  PilotStand stand() { return pilot_stand(state_, plan_, asked_about_, now_); }
  std::vector<std::int64_t> wishes() {
    std::vector<std::int64_t> jobs;
    for (const NodeWish& wish : stand().wishes) jobs.push_back(wish.job.value);
    return jobs;
  }
};

TEST_F(PilotStandTest, AJobThatWaitsForDevicesWishesForNodes) {
  const JobId id = submit_for(5);
  EXPECT_THAT(stand().wishes, ElementsAre(NodeWish{id, 1, 2, 5, hours(1)}));
}

TEST_F(PilotStandTest, JobsBehindTheFirstWishAsWellInTheirOrder) {
  submit_for(4);
  submit_for(2);
  submit_for(4);
  EXPECT_THAT(wishes(), ElementsAre(1, 2, 3));
  submit_for(4);
  EXPECT_EQ(wishes().size(), 3u) << "as many as nodes are allowed";
}

TEST_F(PilotStandTest, AJobThatRunsWishesForNothing) {
  join(node_with("own", 4));
  submit_for(4);
  EXPECT_THAT(wishes(), IsEmpty());
  submit_for(4);
  EXPECT_THAT(wishes(), ElementsAre(2));
}

TEST_F(PilotStandTest, AHeldJobAndOneBeyondALimitWishForNothing) {
  const JobId id = submit_for(4);
  asked_about_ = {id};
  turn(HoldJob{id});
  EXPECT_THAT(wishes(), IsEmpty());
  EXPECT_THAT(stand().waiting, IsEmpty());
  turn(ReleaseJob{id});
  EXPECT_THAT(wishes(), ElementsAre(1));
  turn(ChangeAccount{"default", {}, {}, {{"cpu", 3}}});
  EXPECT_THAT(wishes(), IsEmpty());
  EXPECT_THAT(stand().waiting, ElementsAre(id));
}

TEST_F(PilotStandTest, JobsThatNodesOnDemandCannotHoldWishForNothing) {
  submit_for(1, hours(1), "gpu");
  const JobId tall = submit_for(1, hours(11));
  EXPECT_THAT(wishes(), IsEmpty());
  EXPECT_THAT(stand().too_long, ElementsAre(tall));
}

TEST_F(PilotStandTest, WithoutNodesOnDemandNobodyWishes) {
  submit_for(4);
  state_.scheduling.on_demand.reset();
  EXPECT_THAT(wishes(), IsEmpty());
}

TEST_F(PilotStandTest, NobodyWishesWhileACoordinatorThatWasAwayListens) {
  join(node_with("own", 1));
  submit_for(4);
  ASSERT_THAT(wishes(), ElementsAre(1));
  turn(CoordinatorUp{});
  EXPECT_THAT(wishes(), IsEmpty());
}

TEST_F(PilotStandTest, NodesAreOfTheAllocationThatTheirLabelNames) {
  NodeDescription node = node_with("n1-17", 4);
  node.labels = {{"slurm-job", "17"}};
  join(node);
  NodeDescription odd = node_with("odd", 1);
  odd.labels = {{"slurm-job", "x"}};
  join(odd);
  join(node_with("own", 1));
  ASSERT_EQ(stand().lent.size(), 1u);
  const auto look = [&] { return stand().lent.at(17).at(0); };
  EXPECT_EQ(look().id.value, "n1-17");
  EXPECT_FALSE(look().busy || look().lost || look().closed);
  turn(DrainNode{node.id, "", now_ + hours(5), {}});
  EXPECT_FALSE(look().closed) << "a window of later";
  submit_for(4);
  EXPECT_TRUE(look().busy);
  turn(DrainNode{node.id, "", {}, {}});
  EXPECT_TRUE(look().closed);
  wait(300);
  EXPECT_TRUE(look().lost);
}

}  // namespace
}  // namespace podium
