// What is asked of Slurm, kept and given back, from what waits and what Slurm lists.
#include "coordinator/pilots/pilot_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace podium {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class PilotPlan : public testing::Test {
 protected:
  PilotPlan() {
    options_.partition = "main";
    options_.cpu_slots = 2;
    options_.nodes = 4;
    options_.idle = 5min;
    options_.walltime = 24h;
    options_.shared = "/shared";
  }

  void wish(std::int64_t job, int nodes, int devices) {
    stand_.waiting.insert({job});
    stand_.wishes.push_back({{job}, 1, nodes, devices, 1h});
  }
  LentNode& lend(std::int64_t allocation, const std::string& name, bool busy = false) {
    return stand_.lent[allocation].emplace_back(LentNode{{name}, busy});
  }
  PilotSteps plan() { return plan_pilots(options_, stand_, jobs_, memory_, now_); }
  std::vector<std::int64_t> asked() {
    std::vector<std::int64_t> jobs;
    for (const Ask& ask : plan().ask) jobs.push_back(ask.job.value);
    return jobs;
  }
  static std::vector<std::string> removed(const PilotSteps& steps) {
    std::vector<std::string> nodes;
    for (const Command& command : steps.commands)
      if (const auto* remove = std::get_if<RemoveNode>(&command)) nodes.push_back(remove->node.value);
    return nodes;
  }
  static std::vector<std::int64_t> given_back(const PilotSteps& steps) {
    std::vector<std::int64_t> allocations;
    for (const GiveBack& each : steps.give_back) allocations.push_back(each.allocation);
    return allocations;
  }

  SlurmOptions options_;
  PilotStand stand_;
  std::vector<SlurmJob> jobs_;
  PilotMemory memory_;
  Time now_ = from_millis(1'700'000'000'000);
};

TEST_F(PilotPlan, AsksForAJobThatWaits) {
  wish(1, 2, 3);
  EXPECT_THAT(plan().ask, ElementsAre(Ask{{1}, 1, 2, walltime_for(options_, 1h)}));
}

TEST_F(PilotPlan, AsksOnceWhileTheAllocationComes) {
  wish(1, 2, 3);
  for (const char* state : {"PENDING", "CONFIGURING", "RUNNING"}) {
    jobs_ = {{17, state, 2, {1}, 1, "Priority"}};
    EXPECT_THAT(asked(), IsEmpty()) << state;
  }
  lend(17, "n1-17");  // one of two
  EXPECT_THAT(asked(), IsEmpty());
}

TEST_F(PilotPlan, AsksAgainOnceTheAllocationHasEnded) {
  wish(1, 1, 1);
  jobs_ = {{17, "CANCELLED", 1, {1}, 1, "None"}};
  EXPECT_THAT(asked(), ElementsAre(1));  // after a restart: whether its agents came is not known
}

TEST_F(PilotPlan, AsksAgainForAnAllocationThatSlurmHasLost) {
  wish(1, 1, 1);
  jobs_ = {{17, "PENDING", 1, {1}, 1, "None"}};
  EXPECT_THAT(asked(), IsEmpty());
  jobs_.clear();
  EXPECT_THAT(asked(), ElementsAre(1));
}

TEST_F(PilotPlan, AJobThatStillWaitsWhereItsNodesAreTakenGetsOthers) {
  wish(1, 1, 2);
  jobs_ = {{17, "RUNNING", 1, {1}, 1, "None"}};
  lend(17, "n1-17", true);
  EXPECT_THAT(asked(), ElementsAre(1));
}

TEST_F(PilotPlan, AsksForNoMoreNodesThanAllowed) {
  wish(1, 3, 6);
  wish(2, 2, 4);
  wish(3, 1, 2);
  EXPECT_THAT(asked(), ElementsAre(1, 3));
  jobs_ = {{17, "RUNNING", 4, {9}, 1, "None"}};
  for (const char* name : {"a", "b", "c", "d"}) lend(17, name, true);
  EXPECT_THAT(asked(), IsEmpty());
  jobs_.front().state = "COMPLETING";
  EXPECT_THAT(asked(), ElementsAre(1, 3));
}

TEST_F(PilotPlan, WhatComesForOneJobHoldsThoseAfterIt) {
  options_.cpu_slots = 8;
  wish(1, 1, 3);
  wish(2, 1, 5);
  wish(3, 1, 1);
  EXPECT_THAT(asked(), ElementsAre(1, 3));
  jobs_ = {{17, "PENDING", 1, {1}, 1, "Priority"}};
  EXPECT_THAT(asked(), ElementsAre(3));
}

TEST_F(PilotPlan, OfTwoForOneJobTheLaterIsGivenBack) {
  wish(1, 1, 1);
  jobs_ = {{18, "PENDING", 1, {1}, 1, "None"}, {17, "PENDING", 1, {1}, 1, "None"}};
  EXPECT_THAT(given_back(plan()), ElementsAre(18));
  jobs_.front().state = "RUNNING";
  EXPECT_THAT(given_back(plan()), ElementsAre(17));
}

TEST_F(PilotPlan, APendingOneIsGivenBackWhenItsJobNoLongerWaits) {
  jobs_ = {{17, "PENDING", 1, {1}, 1, "None"}};
  EXPECT_THAT(given_back(plan()), ElementsAre(17));
  stand_.waiting.insert({1});  // it backs off
  EXPECT_THAT(given_back(plan()), IsEmpty());
}

TEST_F(PilotPlan, IsKeptForTheNextJobUntilItHasBeenIdleForLong) {
  jobs_ = {{17, "RUNNING", 1, {1}, 1, "None"}};
  LentNode& node = lend(17, "n1-17");
  EXPECT_THAT(given_back(plan()), IsEmpty());
  now_ += 4min;
  node.busy = true;
  EXPECT_THAT(given_back(plan()), IsEmpty());
  node.busy = false;
  now_ += 4min;
  EXPECT_THAT(given_back(plan()), IsEmpty());
  now_ += 5min;
  const PilotSteps steps = plan();
  EXPECT_THAT(given_back(steps), ElementsAre(17));
  ASSERT_EQ(steps.commands.size(), 1u);  // closed before, so that nothing starts there meanwhile
  EXPECT_EQ(std::get<DrainNode>(steps.commands.front()).node.value, "n1-17");
}

TEST_F(PilotPlan, NodesLeaveWithTheirAllocation) {
  jobs_ = {{17, "TIMEOUT", 2, {1}, 1, "None"}};
  lend(17, "n1-17", true);
  lend(17, "n2-17");
  EXPECT_THAT(removed(plan()), ElementsAre("n1-17", "n2-17"));
}

TEST_F(PilotPlan, NodesThatNobodyHearsLeaveOnceTheyAreLost) {
  jobs_ = {{17, "CANCELLED", 1, {1}, 1, "None"}};
  LentNode& node = lend(17, "n1-17", true);
  node.silent = true;
  EXPECT_THAT(removed(plan()), IsEmpty());
  node.lost = true;
  EXPECT_THAT(removed(plan()), ElementsAre("n1-17"));
}

TEST_F(PilotPlan, NodesOfAMachineThatFailedLeaveOnceTheyAreLost) {
  jobs_ = {{17, "NODE_FAIL", 1, {1}, 1, "None"}};
  LentNode& node = lend(17, "n1-17", true);
  EXPECT_THAT(removed(plan()), IsEmpty());
  node.lost = true;
  EXPECT_THAT(removed(plan()), ElementsAre("n1-17"));
}

TEST_F(PilotPlan, NodesThatSlurmKnowsNothingOfLeaveOnceTheyAreLost) {
  LentNode& node = lend(17, "n1-17", true);
  EXPECT_THAT(removed(plan()), IsEmpty());
  node.lost = true;
  EXPECT_THAT(removed(plan()), ElementsAre("n1-17"));
}

TEST_F(PilotPlan, NothingIsRemovedWhileItsProcessesEnd) {
  jobs_ = {{17, "COMPLETING", 1, {1}, 1, "None"}};
  lend(17, "n1-17", true);
  EXPECT_THAT(plan().commands, IsEmpty());
}

TEST_F(PilotPlan, AgentsThatDoNotComeCostAPause) {
  wish(1, 1, 1);
  jobs_ = {{17, "RUNNING", 1, {1}, 1, "None"}};
  EXPECT_THAT(given_back(plan()), IsEmpty());
  now_ += kJoinWithin;
  EXPECT_THAT(given_back(plan()), ElementsAre(17));
  EXPECT_THAT(memory_.pauses.at({1}).why,
              HasSubstr("did not join within 5m; see /shared/podium-slurm-17.log"));
  jobs_.front().state = "CANCELLED";
  EXPECT_THAT(asked(), IsEmpty());
  EXPECT_EQ(memory_.pauses.at({1}).times, 1);  // its end is no second failure
  now_ += 30s;
  EXPECT_THAT(asked(), ElementsAre(1));
}

TEST_F(PilotPlan, AnAllocationThatEndsBeforeItsAgentsJoinCostsAPause) {
  wish(1, 1, 1);
  jobs_ = {{17, "RUNNING", 1, {1}, 1, "None"}};
  plan();
  jobs_.front().state = "FAILED";
  EXPECT_THAT(asked(), IsEmpty());
  EXPECT_THAT(memory_.pauses.at({1}).why, HasSubstr("ended as FAILED before its agents had joined"));
}

TEST_F(PilotPlan, AnAllocationThatEndsRightAfterItsAgentsJoinedCostsNone) {
  wish(1, 1, 1);
  jobs_ = {{17, "RUNNING", 1, {1}, 1, "None"}};
  plan();
  jobs_.front().state = "CANCELLED";
  lend(17, "n1-17");
  EXPECT_THAT(asked(), ElementsAre(1));
}

TEST_F(PilotPlan, PausesGrowAndEndWithTheWait) {
  wish(1, 1, 1);
  for (const Duration length : {Duration(30s), Duration(60s), Duration(120s)}) {
    pause_asking(memory_, {1}, "refused", now_);
    EXPECT_EQ(memory_.pauses.at({1}).until, now_ + length);
  }
  for (int i = 0; i < 40; ++i) pause_asking(memory_, {1}, "refused", now_);
  EXPECT_EQ(memory_.pauses.at({1}).until, now_ + 10min);
  stand_.waiting.clear();
  stand_.wishes.clear();
  plan();
  EXPECT_THAT(memory_.pauses, IsEmpty());
}

}  // namespace
}  // namespace podium
