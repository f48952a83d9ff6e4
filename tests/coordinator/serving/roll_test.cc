// A new spec of a service takes the place of the one before.
#include <gmock/gmock.h>

#include "tests/coordinator/serving/services_fixture.h"

namespace podium {
namespace {

using testing::ElementsAre;

TEST_F(Services, ANewSpecTakesThePlaceOfTheOneBeforeReplicaByReplica) {
  submit_service(3, 3);
  pass(3);
  submit_service(3, 3);
  fewest_ready_ = 100;
  pass(50);
  EXPECT_THAT(history_,
              ElementsAre("promote 4", "cancel 1", "promote 5", "cancel 2", "promote 6", "cancel 3"));
  EXPECT_EQ(states(), "4:running 5:running 6:running");
  EXPECT_EQ(fewest_ready_, 3) << "as many as before answer at every moment";
  EXPECT_EQ(roll_of(service()), Roll::none);
}

TEST_F(Services, NoneOfTheOldGoesBeforeANewOneIsReady) {
  submit_service(2, 2);
  pass(3);
  submit_service(1, 1);
  slow_ = {{3}};
  pass(60);
  EXPECT_EQ(states(), "1:running 2:running 3:running");
  EXPECT_EQ(roll_of(service()), Roll::rolling);
  slow_.clear();
  pass(10);
  EXPECT_EQ(states(), "1:running 2:running 3:running") << "it may fail soon after";
  pass(4);
  EXPECT_EQ(states(), "3:running");
}

TEST_F(Services, WhatTheOldOneHadBesideItsActiveReplicasIsCancelledLast) {
  submit_service(1, 3);
  pass(3);
  submit_service(1, 2);
  pass(1);
  EXPECT_EQ(states(), "1:running 2:paused 3:paused 4:starting 5:paused");
  pass(15);
  EXPECT_EQ(states(), "4:running 5:paused");
}

TEST_F(Services, ARollKeepsTheNumberThatTheLoadAskedFor) {
  submit_service(1, 3);
  pass(3);
  queue_ms_ = 50;
  pass(40);
  queue_ms_ = 10;
  EXPECT_EQ(states(), "1:running 2:running 3:running");
  submit_service(1, 3);
  pass(50);
  EXPECT_EQ(states(), "4:running 5:running 6:running");
}

TEST_F(Services, ANewSpecWithFewerReplicasEndsWithThose) {
  submit_service(3, 3);
  pass(3);
  submit_service(1, 1);
  pass(30);
  EXPECT_EQ(states(), "4:running");
}

TEST_F(Services, ANewSpecWithMoreReplicasEndsWithThose) {
  submit_service(1, 1);
  pass(3);
  submit_service(3, 3);
  pass(30);
  EXPECT_EQ(states(), "2:running 3:running 4:running");
}

TEST_F(Services, ARollIsHaltedWhereAReplicaFailsForGoodAndNoneHasBegun) {
  submit_service(2, 3);
  pass(3);
  submit_service(2, 3);
  slow_ = {{4}};
  pass(2);
  fail_to_load({4});
  pass(300);
  EXPECT_EQ(states(), "1:running 2:running 3:paused 5:paused 6:paused");
  EXPECT_EQ(roll_of(service()), Roll::halted);
  EXPECT_THAT(history_, ElementsAre("promote 4"));
}

TEST_F(Services, OneNodeThatCannotReadTheModelHaltsNoRoll) {
  submit_service(1, 1);
  pass(3);
  join_another(6);
  submit_service(1, 1);
  pass(3);
  const NodeId bad = node_of({2});
  fail_to_load({2});
  pass(3);
  EXPECT_NE(node_of({2}), bad);
  pass(15);
  EXPECT_EQ(states(), "2:running");
}

TEST_F(Services, WhileARollIsHaltedTheOldOneFollowsItsLoad) {
  submit_service(1, 2);
  pass(3);
  submit_service(1, 2);
  slow_ = {{3}};
  pass(2);
  fail_to_load({3});
  queue_ms_ = 50;
  pass(30);
  EXPECT_EQ(states(), "1:running 2:running 4:paused");
}

TEST_F(Services, ASpecAfterAHaltedOneRollsBothOff) {
  submit_service(1, 2);
  pass(3);
  submit_service(1, 2);
  slow_ = {{3}};
  pass(2);
  fail_to_load({3});
  pass(3);
  submit_service(1, 1);
  pass(20);
  EXPECT_EQ(states(), "5:running");
}

TEST_F(Services, ACancelledNewSpecLeavesTheOldOneAsItWas) {
  submit_service(2, 2);
  pass(3);
  submit_service(2, 2);
  slow_ = {{3}};
  pass(2);
  for (const JobId id : {JobId{3}, JobId{4}}) turn(CancelJob{id});
  pass(5);
  EXPECT_EQ(states(), "1:running 2:running");
}

TEST_F(Services, OneThatFailsForGoodAfterAnotherBecameReadyHaltsNothing) {
  submit_service(3, 3);
  pass(3);
  submit_service(3, 3);
  slow_ = {{5}};
  pass(14);
  ASSERT_EQ(states(), "2:running 3:running 4:running 5:running 6:paused");
  fail_to_load({5});
  pass(40);
  EXPECT_EQ(states(), "4:running 6:running");
}

TEST_F(Services, OnAFullClusterAnOldReplicaMakesRoom) {
  submit_service(3, 3);
  turn(ChangeAccount{"default", {}, {}, {{"cpu", 3}}});
  pass(3);
  submit_service(3, 3);
  fewest_ready_ = 100;
  pass(5);
  EXPECT_EQ(states(), "1:running 2:running 3:running 4:queued 5:paused 6:paused");
  pass(60);
  EXPECT_EQ(states(), "4:running 5:running 6:running");
  EXPECT_GE(fewest_ready_, 1) << "one always answers";
}

TEST_F(Services, OnAFullClusterTheNextOneGoesOnlyWhenTheOneBeforeIsReplaced) {
  submit_service(3, 3);
  turn(ChangeAccount{"default", {}, {}, {{"cpu", 3}}});
  pass(3);
  drain_ = std::chrono::seconds(25);
  submit_service(3, 3);
  fewest_ready_ = 100;
  pass(180);
  EXPECT_EQ(states(), "4:running 5:running 6:running");
  EXPECT_EQ(fewest_ready_, 2);
}

TEST_F(Services, ANewSpecThatFailsSoonAfterItIsReadyTakesNoPlace) {
  submit_service(2, 2);
  pass(3);
  submit_service(2, 2);
  fewest_ready_ = 100;
  for (int i = 0; i < 20; ++i) {
    pass(9);
    if (job({3}).state == JobState::running) fail({3}, {1, 0, "a bug"});
  }
  EXPECT_GT(job({3}).attempts, 3);
  EXPECT_EQ(state_of({1}), JobState::running);
  EXPECT_EQ(state_of({2}), JobState::running);
  EXPECT_EQ(fewest_ready_, 2);
  EXPECT_EQ(roll_of(service()), Roll::rolling);
}

TEST_F(Services, TwoThatAnswerAreEnoughToMakeRoom) {
  submit_service(2, 2);
  turn(ChangeAccount{"default", {}, {}, {{"cpu", 2}}});
  pass(3);
  submit_service(2, 2);
  pass(60);
  EXPECT_EQ(states(), "3:running 4:running");
}

TEST_F(Services, TheOnlyReplicaThatAnswersMakesNoRoom) {
  submit_service(1, 1);
  turn(ChangeAccount{"default", {}, {}, {{"cpu", 1}}});
  pass(3);
  submit_service(1, 1);
  pass(100);
  EXPECT_EQ(states(), "1:running 2:queued");
  EXPECT_EQ(roll_of(service()), Roll::rolling);
}

TEST_F(Services, OneThatAnswersNothingMakesRoomAtOnce) {
  submit_service(1, 1);
  turn(ChangeAccount{"default", {}, {}, {{"cpu", 1}}});
  slow_ = {{1}};
  pass(3);
  submit_service(1, 1);
  pass(20);
  EXPECT_EQ(states(), "2:running");
}

TEST_F(Services, ReplicasOfTheOldThatDoNotAnswerGoFirst) {
  submit_service(3, 3);
  slow_ = {{2}};
  pass(3);
  submit_service(3, 3);
  pass(50);
  EXPECT_THAT(history_,
              ElementsAre("promote 4", "cancel 2", "promote 5", "cancel 1", "promote 6", "cancel 3"));
}

TEST_F(Services, ThreeSpecsAtOnceEndWithTheNewest) {
  submit_service(2, 2);
  pass(3);
  submit_service(2, 2);
  pass(2);
  submit_service(2, 2);
  pass(30);
  EXPECT_EQ(states(), "5:running 6:running");
}

TEST_F(Services, ARestartOfTheCoordinatorAtAnyMomentOfARollChangesNothing) {
  submit_service(2, 2);
  pass(3);
  fewest_ready_ = 100;
  for (int moment = 1; moment <= 40; ++moment) {
    const JobId first = state_.next_job;
    submit_service(2, 2);
    pass(moment);
    restart_coordinator();
    pass(40);
    const std::string text = to_string(first) + ":running " + to_string(JobId{first.value + 1}) + ":running";
    EXPECT_EQ(states(), text) << moment;
  }
  EXPECT_EQ(history_.size(), 40u * 4) << "two start, and two end";
  EXPECT_EQ(fewest_ready_, 2);
}

TEST_F(Services, ARestartOfTheCoordinatorKeepsAHaltedRollHalted) {
  submit_service(1, 2);
  pass(3);
  submit_service(1, 2);
  slow_ = {{3}};
  pass(2);
  fail_to_load({3});
  restart_coordinator();
  pass(60);
  EXPECT_EQ(states(), "1:running 2:paused 4:paused");
}

TEST_F(Services, OneThatDrainsForLongIsNotToldTwice) {
  submit_service(1, 1);
  pass(3);
  submit_service(1, 1);
  stubborn_ = {{1}};
  pass(20);
  EXPECT_THAT(history_, ElementsAre("promote 2", "cancel 1"));
}

}  // namespace
}  // namespace podium
