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
  pass(30);
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
  pass(4);
  EXPECT_EQ(states(), "3:running");
}

TEST_F(Services, WhatTheOldOneHadBesideItsActiveReplicasIsCancelledLast) {
  submit_service(1, 3);
  pass(3);
  submit_service(1, 2);
  pass(1);
  EXPECT_EQ(states(), "1:running 2:paused 3:paused 4:starting 5:paused");
  pass(5);
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
  pass(30);
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
  fail_for_good({4});
  pass(300);
  EXPECT_EQ(states(), "1:running 2:running 3:paused 5:paused 6:paused");
  EXPECT_EQ(roll_of(service()), Roll::halted);
  EXPECT_THAT(history_, ElementsAre("promote 4"));
}

TEST_F(Services, WhileARollIsHaltedTheOldOneFollowsItsLoad) {
  submit_service(1, 2);
  pass(3);
  submit_service(1, 2);
  slow_ = {{3}};
  pass(2);
  fail_for_good({3});
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
  fail_for_good({3});
  pass(3);
  submit_service(1, 1);
  pass(10);
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
  pass(4);
  ASSERT_EQ(states(), "2:running 3:running 4:running 5:running 6:paused");
  fail_for_good({5});
  pass(20);
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
  pass(30);
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

TEST_F(Services, ARestartOfTheCoordinatorAtEveryMomentOfARollChangesNothing) {
  submit_service(2, 2);
  pass(3);
  submit_service(2, 2);
  fewest_ready_ = 100;
  for (int i = 0; i < 20; ++i) {
    second();
    restart_coordinator();
  }
  EXPECT_EQ(states(), "3:running 4:running");
  EXPECT_THAT(history_, ElementsAre("promote 3", "cancel 1", "promote 4", "cancel 2"));
  EXPECT_EQ(fewest_ready_, 2);
}

TEST_F(Services, ARestartOfTheCoordinatorKeepsAHaltedRollHalted) {
  submit_service(1, 2);
  pass(3);
  submit_service(1, 2);
  slow_ = {{3}};
  pass(2);
  fail_for_good({3});
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
