// Replicas of a service as jobs: which start, what pauses and what restarts them.
#include "coordinator/core/jobs/replicas.h"

#include <gmock/gmock.h>

#include <csignal>

#include "coordinator/core/jobs/lifecycle.h"
#include "tests/coordinator/core/cluster_fixture.h"

namespace podium {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

constexpr TaskExit kSaved{79, 0, "", ExitCause::ordered};

class Replicas : public ClusterTest {
 protected:
  Replicas() { join(node_); }

  static SubmitExperiment service(int min, int max, const std::string& name = "answers") {
    JobRequest request = request_for(1);
    request.replica = Replica{name, min, max, milliseconds(20)};
    request.walltime = kLongestWalltime;
    return {name, std::vector<JobRequest>(static_cast<std::size_t>(max), request)};
  }
  Result<Events> begin(int min, int max) {
    auto answer = turn(service(min, max));
    EXPECT_TRUE(answer.ok()) << describe(answer.errors());
    report(node_);
    return answer;
  }
  void end(JobId id, TaskExit exit) { report(node_, {{task(id, 0), std::move(exit)}}); }
  std::string states() {
    std::string text;
    for (const auto& [id, job] : state_.jobs)
      text += (text.empty() ? "" : " ") + std::string(job.paused ? "paused" : to_string(job.state));
    return text;
  }
  NodeId node_of(JobId id) { return job(id).attempt->allocation.ranks[0].node; }
  // It fails, and runs again after its back-off.
  void fail(JobId id, const TaskExit& exit) {
    end(id, exit);
    if (!find_job(state_, id)) return;
    if (job(id).not_before) now_ = *job(id).not_before;
    turn(Tick{});
    report(node_);
  }

  const NodeDescription node_ = node_with("node-1", 4);
};

// Also those that start in one turn: the end of a node ends one of them.
TEST_F(Replicas, GoOntoNodesThatHaveNoneOfTheirService) {
  const NodeDescription other = node_with("node-2", 4);
  join(other);
  begin(2, 3);
  report(other);
  EXPECT_NE(node_of({1}), node_of({2}));
  turn(PromoteReplica{{3}, "more load"});
  EXPECT_TRUE(job({3}).attempt) << "where each node has one, any will do";
}

TEST_F(Replicas, OneOfALostNodeStartsElsewhereBehindNoFence) {
  begin(1, 1);
  for (int i = 0; i < 40; ++i) wait(5);
  ASSERT_EQ(state_.nodes.at(node_.id).state, NodeState::lost);
  join(node_with("node-2", 1));
  for (int i = 0; i < 40 && !job({1}).attempt; ++i) wait(5);
  ASSERT_TRUE(job({1}).attempt);
  EXPECT_FALSE(job({1}).attempt->fenced);
}

TEST_F(Replicas, TheFewestOfANewServiceStartAndTheOthersWait) {
  begin(2, 4);
  EXPECT_EQ(states(), "running running paused paused");
  EXPECT_EQ(reason({3}),
            "is paused by its service: 2 of its 4 replicas are enough for its load; one more starts once "
            "requests wait longer than 20ms");
  EXPECT_EQ(blockers_of(state_, plan_, {3}, now_).front().code, BlockerCode::paused);
}

TEST_F(Replicas, AllOfALaterSpecWaitToBeRolledIn) {
  begin(1, 1);
  begin(2, 2);
  EXPECT_EQ(states(), "running paused paused");
  EXPECT_EQ(reason({2}), "is paused by its service: the replicas of experiment 1 are replaced one by one");
  turn(PauseReplica{{1}, "replaced"});
  end({1}, kSaved);
  EXPECT_EQ(reason({1}), "is paused by its service: experiment 2 takes its place");
}

TEST_F(Replicas, WhereASpecWasNotRolledInThePausedOnesSaySo) {
  begin(1, 2);
  begin(1, 2);
  turn(PromoteReplica{{3}, "it is rolled in"});
  report(node_);
  EXPECT_EQ(reason({2}), "is paused by its service: experiment 2 takes its place");
  end({3}, {64, 0, "no such task"});
  EXPECT_EQ(
      reason({4}),
      "is paused by its service: a replica of its spec has ended and none is active, so that experiment "
      "1 goes on");
  EXPECT_EQ(reason({2}),
            "is paused by its service: 1 of its 2 replicas are enough for its load; one more starts once "
            "requests wait longer than 20ms");
}

TEST_F(Replicas, AServiceOfAnotherNameIsNoEarlierSpec) {
  begin(1, 1);
  turn(service(1, 1, "others"));
  report(node_);
  EXPECT_EQ(states(), "running running");
}

TEST_F(Replicas, WhatIsStoppedAltogetherIsNoEarlierSpecEither) {
  begin(1, 1);
  turn(CancelJob{{1}});
  end({1}, kSaved);
  EXPECT_FALSE(newest_experiment(state_, "answers"));
  begin(1, 1);
  EXPECT_EQ(states(), "running");
}

TEST_F(Replicas, APauseIsAGracefulStopAtNoCostAndAPromotionStartsItAgain) {
  begin(1, 2);
  const auto paused = turn(PauseReplica{{1}, "its load is low"});
  EXPECT_EQ(find<AttemptStopping>(paused)->cause, StopCause::paused);
  EXPECT_EQ(find<AttemptStopping>(paused)->reason, "paused by its service: its load is low");
  EXPECT_TRUE(turn(PauseReplica{{1}, "again"})->empty());
  NodeReport left{node_, {{task({1}, 0), TaskState::exited, 1, kSaved}}, 0};
  const auto ended = turn(NodeReported{left});
  EXPECT_EQ(find<AttemptEnded>(ended)->end, AttemptEnd::paused);
  EXPECT_EQ(find<AttemptEnded>(ended)->reason, "paused by its service");
  EXPECT_EQ(states(), "paused paused");
  EXPECT_EQ(job({1}).retries, RetryCounts{});
  turn(PromoteReplica{{1}, "requests wait"});
  EXPECT_TRUE(turn(PromoteReplica{{1}, "again"})->empty());
  EXPECT_EQ(state_of({1}), JobState::starting);
  EXPECT_EQ(job({1}).attempts, 2);
}

TEST_F(Replicas, OneThatIsPromotedWhileItStopsGoesOnAfterIt) {
  begin(1, 1);
  turn(PauseReplica{{1}, "its load is low"});
  turn(PromoteReplica{{1}, "requests wait"});
  NodeReport left{node_, {{task({1}, 0), TaskState::exited, 1, kSaved}}, 0};
  EXPECT_EQ(find<AttemptEnded>(turn(NodeReported{left}))->restart, RestartCause::promotion);
  EXPECT_EQ(state_of({1}), JobState::starting);
}

TEST_F(Replicas, OnlyReplicasThatLiveArePausedAndPromoted) {
  const JobId training = submit(request_for(1));
  for (const JobId id : {training, JobId{9}}) {
    EXPECT_EQ(turn(PauseReplica{id, "no"}).errors().at(0).code, ErrorCode::conflict);
    EXPECT_EQ(turn(PromoteReplica{id, "no"}).errors().at(0).code, ErrorCode::conflict);
  }
}

TEST_F(Replicas, FailuresAndRequeuesNeverUseUpItsRestarts) {
  for (const TaskExit& exit : {TaskExit{1, 0, ""}, TaskExit{0, SIGKILL, ""}, TaskExit{75, 0, ""}}) {
    begin(1, 1);
    const JobId id = state_.jobs.begin()->first;
    for (int i = 0; i < kRequeues + 5; ++i) fail(id, exit);
    ASSERT_TRUE(find_job(state_, id)) << exit.code;
    EXPECT_EQ(job(id).attempts, kRequeues + 6);
    turn(CancelJob{id});
    end(id, kSaved);
  }
}

TEST_F(Replicas, NorDoLossesOfItsNode) {
  begin(1, 1);
  for (int i = 0; i < kLosses + 5; ++i) fail({1}, {-1, 0, "", ExitCause::node_restarted});
  ASSERT_TRUE(find_job(state_, {1}));
  EXPECT_GT(job({1}).retries.losses, kLosses);
}

TEST_F(Replicas, ABackOffIsAtMostFiveMinutes) {
  begin(1, 1);
  for (int i = 0; i < 20; ++i) fail({1}, {1, 0, ""});
  end({1}, {1, 0, ""});
  EXPECT_EQ(job({1}).not_before, now_ + kLongestBackOff);
}

TEST_F(Replicas, ItEndsOfWhatWouldOnlyFailAgain) {
  join(node_with("node-2", 4));
  for (const TaskExit& exit :
       {TaskExit{64, 0, "no such task"}, TaskExit{-1, 0, "too old an agent", ExitCause::refused}}) {
    begin(1, 1);
    const JobId id = state_.jobs.begin()->first;
    end(id, exit);
    EXPECT_FALSE(find_job(state_, id)) << exit.message;
  }
}

// What one node alone may lack: the model's folder, a driver, the program.
const TaskExit kLacks[] = {
    {65, 0, "no such model"}, {77, 0, "no driver"}, {-1, 0, "no python", ExitCause::cannot_run}};

TEST_F(Replicas, WhatOneNodeLacksMovesItToAnother) {
  const NodeDescription good = node_with("node-2", 8);
  join(good);
  for (const TaskExit& exit : kLacks) {
    begin(1, 1);
    const JobId id = state_.jobs.begin()->first;
    ASSERT_EQ(node_of(id), node_.id);
    fail(id, exit);
    ASSERT_TRUE(find_job(state_, id)) << exit.message;
    EXPECT_EQ(node_of(id), good.id);
    EXPECT_EQ(job(id).retries.moves, 1);
    turn(CancelJob{id});
    report(good, {{task(id, 0), kSaved}});
  }
}

TEST_F(Replicas, ANodeThatFailsItAgainWhileTheOthersAreFullIsNoFurtherNode) {
  const NodeDescription full = node_with("node-2", 8);
  join(full);
  submit(request_for(8, 8));
  report(full);
  begin(1, 1);
  while (job({2}).attempts <= 3 * kMoves) {
    ASSERT_EQ(node_of({2}), node_.id);
    end({2}, kLacks[0]);
    ASSERT_TRUE(find_job(state_, {2})) << job({2}).attempts;
    while (state_of({2}) != JobState::running) {
      now_ += seconds(5);
      report(full);
      report(node_);
      turn(Tick{});
    }
  }
  EXPECT_GT(job({2}).retries.quick, 3) << "ever more slowly";
}

TEST_F(Replicas, ItEndsWhereEveryNodeThatCouldHoldItFailedIt) {
  for (const TaskExit& exit : kLacks) {
    begin(1, 1);
    const JobId id = state_.jobs.begin()->first;
    end(id, exit);
    EXPECT_FALSE(find_job(state_, id)) << exit.message;
  }
}

TEST_F(Replicas, ItEndsWhereFourNodesFailedIt) {
  std::map<NodeId, NodeDescription> nodes{{node_.id, node_}};
  for (const char* name : {"node-2", "node-3", "node-4", "node-5"}) {
    nodes[{name}] = node_with(name, 4);
    join(nodes[{name}]);
  }
  begin(1, 1);
  for (int failed = 1; failed <= kMoves + 1; ++failed) {
    ASSERT_TRUE(find_job(state_, {1})) << failed;
    const NodeDescription& node = nodes.at(node_of({1}));
    report(node, {{task({1}, 0), kLacks[0]}});
    if (!find_job(state_, {1})) continue;
    now_ = job({1}).not_before.value_or(now_);
    for (const auto& [id, other] : nodes) report(other);
    for (const auto& [id, other] : nodes) report(other);
  }
  EXPECT_FALSE(find_job(state_, {1}));
}

TEST_F(Replicas, OneThatHasServedIsNeverGivenUp) {
  begin(1, 1);
  now_ += kProven;
  fail({1}, {75, 0, ""});
  for (int i = 0; i < 20; ++i) fail({1}, kLacks[0]);
  ASSERT_TRUE(find_job(state_, {1}));
  EXPECT_EQ(job({1}).attempts, 22);
  end({1}, kLacks[0]);
  EXPECT_EQ(job({1}).not_before, now_ + kLongestBackOff);
}

TEST_F(Replicas, TheEndOfItsWalltimeIsARestart) {
  state_.scheduling.max_walltime = seconds(60);
  begin(1, 1);
  EXPECT_EQ(job({1}).request.walltime, seconds(60)) << "an operator's longest is no refusal";
  for (int i = 0; i < 13; ++i) {
    now_ += seconds(5);
    report(node_);
    turn(Tick{});
  }
  EXPECT_EQ(state_of({1}), JobState::stopping);
  NodeReport left{node_, {{task({1}, 0), TaskState::exited, 1, kSaved}}, 0};
  const auto ended = turn(NodeReported{left});
  EXPECT_EQ(find<AttemptEnded>(ended)->end, AttemptEnd::walltime);
  EXPECT_EQ(find<AttemptEnded>(ended)->restart, RestartCause::requeue);
  EXPECT_EQ(job({1}).attempts, 2);
}

TEST_F(Replicas, AWalltimeThatItsSpecNamesIsRefusedAsAnyJobsWhereItIsTooLong) {
  state_.scheduling.max_walltime = seconds(60);
  SubmitExperiment command = service(1, 1);
  command.jobs[0].walltime = seconds(61);
  const auto refused = turn(command);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.errors().at(0).where, "/resources/walltime");
}

TEST_F(Replicas, OneThatHasBeenRolledOffIsNotRequeued) {
  begin(1, 1);
  const JobRequest request = job({1}).request;
  turn(CancelJob{{1}});
  end({1}, kSaved);
  const RequeueJob requeue{{1}, EndedJob{{1}, request, JobState::cancelled, 1}};
  begin(1, 1);
  const auto refused = turn(requeue);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.errors().at(0).code, ErrorCode::conflict);
  EXPECT_THAT(refused.errors().at(0).message, HasSubstr("experiment 2 has taken its place"));
  turn(CancelJob{{2}});
  end({2}, kSaved);
  EXPECT_TRUE(turn(requeue).ok()) << "nothing serves under its name now";
  EXPECT_EQ(states(), "starting");
}

TEST_F(Replicas, AnOperatorsHoldAndRequeueAreAsForAnyJob) {
  begin(1, 2);
  turn(RequeueJob{{1}});
  EXPECT_EQ(job({1}).attempt->stop, StopCause::requeued);
  turn(HoldJob{{1}});
  end({1}, kSaved);
  EXPECT_EQ(state_of({1}), JobState::queued);
  turn(ReleaseJob{{1}});
  EXPECT_EQ(state_of({1}), JobState::starting);
}

TEST_F(Replicas, ASnapshotKeepsThemAndTheirIndex) {
  begin(1, 3);
  ClusterState empty;
  empty.limits = state_.limits;
  const ClusterState read = cluster_state_from_json(to_json(state_), empty);
  EXPECT_EQ(read.indexes.services, state_.indexes.services);
  EXPECT_EQ(read.jobs, state_.jobs);
  EXPECT_EQ(read.indexes.services.at("answers"), (std::set<JobId>{{1}, {2}, {3}}));
}

}  // namespace
}  // namespace podium
