// Lemons: nodes on which jobs fail that run elsewhere.
#include "coordinator/core/nodes/suspicion.h"

#include <csignal>
#include <nlohmann/json.hpp>

#include "tests/coordinator/core/cluster_fixture.h"

namespace podium {
namespace {

class Lemons : public ClusterTest {
 protected:
  Lemons() {
    join(lemon_);
    join(good_);
  }

  // The job's only rank fails where it is; says where that was.
  NodeId fail(JobId id, TaskExit exit = {1, 0, "no such file"}) {
    const NodeId node = job(id).attempt->allocation.ranks[0].node;
    report(node == lemon_.id ? lemon_ : good_, {{task(id, 0), exit}});
    turn(Tick{});
    return node;
  }

  // A job of an experiment of its own, on the lemon.
  JobId submit_to_lemon() {
    turn(DrainNode{good_.id, "for the test", {}, {}});
    const JobId id = submit(request_for(1));
    turn(ResumeNode{good_.id});
    EXPECT_EQ(job(id).attempt->allocation.ranks[0].node, lemon_.id);
    return id;
  }

  // What was tried again elsewhere runs there.
  void a_minute_passes() {
    for (int i = 0; i < 7; ++i) report(lemon_), report(good_), wait(10);
  }

  const std::optional<Drain>& drain() { return state_.nodes.at(lemon_.id).drain; }

  NodeDescription lemon_ = node_with("lemon", 4), good_ = node_with("good", 8);
};

TEST_F(Lemons, SeveralQuickFailuresOfDifferentJobsDrainTheNodeWithTheEvidence) {
  for (int i = 1; i <= 3; ++i) {
    EXPECT_FALSE(drain());
    const JobId id = submit_to_lemon();
    fail(id);
    EXPECT_EQ(job(id).attempt->allocation.ranks[0].node, good_.id) << "it is tried elsewhere";
  }
  EXPECT_FALSE(drain()) << "they may yet fail there";
  a_minute_passes();
  ASSERT_TRUE(drain());
  EXPECT_EQ(drain()->reason.find("3 jobs that run well elsewhere failed here within a minute of their start: "
                                 "job 1, rank 0 on lemon: exit code 1"),
            0u)
      << drain()->reason;
  EXPECT_NE(drain()->reason.find("job 3, rank 0 on lemon"), std::string::npos);
  turn(ResumeNode{lemon_.id});
  wait(10);
  EXPECT_FALSE(drain()) << "resuming it clears it";
}

TEST_F(Lemons, EvidenceIsCutBetweenCharacters) {
  for (std::size_t shift = 0; shift < 3; ++shift) {
    const JobId id = submit_to_lemon();
    std::string words(shift, 'x');
    for (int i = 0; i < 100; ++i) words += "—";
    fail(id, {1, 0, words});
  }
  a_minute_passes();
  ASSERT_TRUE(drain());
  EXPECT_NO_THROW(nlohmann::json(drain()->reason).dump());
  EXPECT_NO_THROW(to_json(state_).dump());
}

TEST_F(Lemons, AJobThatFailsEverywhereIsItsOwnFault) {
  for (int i = 0; i < 4; ++i) {
    const JobId id = submit_to_lemon();
    EXPECT_EQ(fail(id), lemon_.id);
    EXPECT_EQ(fail(id), good_.id);
    turn(CancelJob{id});
  }
  EXPECT_FALSE(drain());
  EXPECT_FALSE(state_.nodes.at(good_.id).drain);
  EXPECT_TRUE(state_.indexes.suspects.empty());
}

TEST_F(Lemons, AJobThatEndsWellThereClearsTheNode) {
  for (int i = 0; i < 4; ++i) {
    const JobId id = submit_to_lemon();
    fail(id);
    if (i != 1) continue;
    const JobId well = submit_to_lemon();
    report(lemon_, {{task(well, 0), {}}});
  }
  a_minute_passes();
  EXPECT_FALSE(drain());
}

TEST_F(Lemons, OneExperimentsJobsCountOnce) {
  turn(DrainNode{good_.id, "for the test", {}, {}});
  turn(SubmitExperiment{"sweep", {request_for(1), request_for(1), request_for(1), request_for(1)}});
  turn(ResumeNode{good_.id});
  for (int id = 1; id <= 4; ++id) fail({id});
  a_minute_passes();
  EXPECT_FALSE(drain());
}

TEST_F(Lemons, WhatCanOnlyBeTheJobsFaultCountsForNothing) {
  for (const TaskExit& exit : {TaskExit{64, 0, ""}, TaskExit{65, 0, ""}, TaskExit{76, 0, ""},
                               TaskExit{75, 0, ""}, TaskExit{0, SIGTERM, ""}})
    fail(submit_to_lemon(), exit);
  a_minute_passes();
  EXPECT_FALSE(drain());
}

TEST_F(Lemons, FailuresOfLongAgoCountForNothing) {
  for (int i = 0; i < 4; ++i) {
    fail(submit_to_lemon());
    for (int minute = 0; minute < 31; ++minute) {
      for (int part = 0; part < 6; ++part) wait(10), report(lemon_), report(good_);
    }
  }
  EXPECT_FALSE(drain());
}

TEST_F(Lemons, TheOnlyNodeIsNotDrained) {
  turn(DrainNode{good_.id, "new fans", {}, {}});
  for (int i = 0; i < 4; ++i) fail(submit(request_for(1)));
  EXPECT_FALSE(drain());
}

TEST_F(Lemons, ASnapshotKeepsWhatIsHeldAgainstANode) {
  fail(submit_to_lemon());
  fail(submit_to_lemon());
  const auto keep = [&] {
    state_ = cluster_state_from_json(to_json(state_), ClusterState{});
    turn(CoordinatorUp{});
    report(lemon_);
    report(good_);
  };
  keep();
  fail(submit_to_lemon());
  for (int id = 1; id <= 3; ++id) report(good_, {{task({id}, 0), {}}});
  keep();
  wait(5);
  EXPECT_TRUE(drain());
}

TEST_F(Lemons, JobsThatRunWellThereAfterAllDrainNoNode) {
  turn(DrainNode{good_.id, "too soon for them", now_ + std::chrono::hours(1), {}});
  std::vector<JobId> jobs;
  for (int i = 0; i < 3; ++i) jobs.push_back(submit(request_for(1)));
  for (const JobId id : jobs) EXPECT_EQ(fail(id), lemon_.id);
  a_minute_passes();
  for (const JobId id : jobs) ASSERT_EQ(job(id).attempt->allocation.ranks[0].node, lemon_.id);
  EXPECT_FALSE(drain());
}

TEST_F(Lemons, MistakesThatNobodyTriesElsewhereDrainNoNode) {
  JobRequest request = request_for(1);
  request.max_restarts = 0;
  turn(DrainNode{good_.id, "for the test", {}, {}});
  std::vector<JobId> jobs;
  for (int i = 0; i < 4; ++i) jobs.push_back(submit(request));
  turn(ResumeNode{good_.id});
  for (const JobId id : jobs) fail(id);
  a_minute_passes();
  EXPECT_FALSE(drain());
}

}  // namespace
}  // namespace podium
