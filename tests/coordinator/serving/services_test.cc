// How many replicas a service has, which are started again, and how it ends.
#include <gmock/gmock.h>

#include "coordinator/serving/replica_failures.h"
#include "coordinator/serving/restarts.h"
#include "tests/coordinator/serving/services_fixture.h"

namespace podium {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

TEST_F(Services, NothingIsDoneWhileAllIsAsItShouldBe) {
  submit_service(2, 4);
  pass(600);
  EXPECT_THAT(history_, IsEmpty());
  EXPECT_EQ(states(), "1:running 2:running 3:paused 4:paused");
  EXPECT_EQ(roll_of(service()), Roll::none);
}

TEST_F(Services, RequestsThatWaitBringOneMoreUpToTheMost) {
  submit_service(1, 3);
  pass(2);
  queue_ms_ = 50;
  pass(15);
  EXPECT_THAT(history_, IsEmpty()) << "a short burst is nothing";
  pass(1);
  EXPECT_THAT(done_, ElementsAre("promote 2"));
  EXPECT_EQ(reason({2}), "");
  pass(14);
  EXPECT_EQ(history_.size(), 1u) << "it is given time";
  pass(200);
  EXPECT_THAT(history_, ElementsAre("promote 2", "promote 3"));
}

TEST_F(Services, RequestsThatWaitAsLongAsTheyMayBringNone) {
  submit_service(1, 2);
  queue_ms_ = 20;
  pass(100);
  EXPECT_THAT(history_, IsEmpty());
}

TEST_F(Services, NoneIsAddedBeforeTheLastOneIsReady) {
  submit_service(1, 3);
  pass(2);
  queue_ms_ = 50;
  slow_ = {{2}};
  pass(100);
  EXPECT_THAT(history_, ElementsAre("promote 2"));
}

TEST_F(Services, AMomentOfShortQueuesBeginsTheCountAgain) {
  submit_service(1, 3);
  pass(2);
  for (int i = 0; i < 10; ++i) {
    queue_ms_ = 50;
    pass(14);
    queue_ms_ = 10;
    pass(1);
  }
  EXPECT_THAT(history_, IsEmpty());
}

TEST_F(Services, FiveIdleMinutesTakeOneAwayDownToTheFewest) {
  submit_service(1, 3);
  pass(2);
  queue_ms_ = 50;
  pass(60);
  ASSERT_EQ(states(), "1:running 2:running 3:running");
  queue_ms_ = 3.9;
  history_.clear();
  pass(300);
  EXPECT_THAT(history_, IsEmpty());
  pass(1);
  EXPECT_THAT(history_, ElementsAre("pause 3"));
  pass(1200);
  EXPECT_THAT(history_, ElementsAre("pause 3", "pause 2"));
  EXPECT_EQ(states(), "1:running 2:paused 3:paused");
}

TEST_F(Services, AFifthOfTheQueueIsNotIdle) {
  submit_service(1, 2);
  pass(2);
  queue_ms_ = 50;
  pass(30);
  queue_ms_ = 4.0;
  history_.clear();
  pass(1000);
  EXPECT_THAT(history_, IsEmpty());
}

TEST_F(Services, WhoIsNotReadyIsTakenAwayFirstAndTheLastOneThatAnswersNever) {
  submit_service(1, 3);
  pass(2);
  queue_ms_ = 50;
  pass(60);
  ASSERT_EQ(states(), "1:running 2:running 3:running");
  queue_ms_ = 1;
  limits_.ready_within = std::chrono::hours(10);
  slow_ = {{1}, {2}};
  history_.clear();
  pass(700);
  EXPECT_THAT(history_, ElementsAre("pause 2", "pause 1"));
  EXPECT_EQ(states(), "1:paused 2:paused 3:running");
}

TEST_F(Services, TheTimeBeforeASlowStartDoesNotCount) {
  submit_service(1, 3);
  pass(2);
  queue_ms_ = 50;
  slow_ = {{2}};
  pass(100);
  slow_.clear();
  pass(15);
  EXPECT_THAT(history_, ElementsAre("promote 2")) << "it is given time to help";
  pass(2);
  EXPECT_THAT(history_, ElementsAre("promote 2", "promote 3"));
}

TEST_F(Services, AllThatAreMissingStartAtOnce) {
  submit_service(2, 4);
  pass(3);
  for (const JobId id : {JobId{1}, JobId{2}}) turn(PauseReplica{id, "somebody asks for it"});
  second();
  EXPECT_THAT(done_, ElementsAre("promote 2", "promote 1"));
}

TEST_F(Services, SinceWhenAReplicaIsReadyIsKnown) {
  submit_service(1, 1);
  pass(3);
  const Time ready = now_ - seconds(2);
  const auto since = [this] { return memory_.attempts.at(job({1}).attempt_id()).ready_since; };
  EXPECT_EQ(since(), ready);
  slow_ = {{1}};
  second();
  EXPECT_FALSE(since());
  slow_.clear();
  second();
  EXPECT_EQ(since(), now_);
  turn(CancelJob{{1}});
  pass(3);
  EXPECT_TRUE(memory_.attempts.empty());
}

TEST_F(Services, OneThatFailsForGoodIsReplaced) {
  submit_service(2, 3);
  pass(3);
  fail_to_load({1});
  pass(3);
  EXPECT_EQ(states(), "2:running 3:running");
}

TEST_F(Services, OneThatIsHeldIsReplacedWhileItIs) {
  submit_service(1, 2);
  pass(3);
  turn(HoldJob{{1}});
  pass(3);
  EXPECT_EQ(states(), "1:running 2:paused") << "it serves as long as it runs";
  turn(RequeueJob{{1}});
  pass(5);
  EXPECT_EQ(states(), "1:queued 2:running");
}

TEST_F(Services, OneThatWasReadyAndAnswersNoMoreIsStartedAgain) {
  submit_service(2, 2);
  pass(3);
  silent_since_[{1}] = now_;
  pass(9);
  EXPECT_THAT(history_, IsEmpty());
  second();
  EXPECT_THAT(done_, ElementsAre("restart 1"));
  EXPECT_EQ(job({1}).attempt->stop, StopCause::requeued);
  silent_since_.clear();
  pass(3);
  EXPECT_EQ(job({1}).attempts, 2);
  EXPECT_EQ(states(), "1:running 2:running");
  EXPECT_EQ(history_.size(), 1u);
}

TEST_F(Services, OneThatDoesNotBecomeReadyIsStartedAgainAfterFiveMinutes) {
  submit_service(1, 1);
  slow_ = {{1}};
  pass(300);
  EXPECT_THAT(history_, IsEmpty());
  second();
  EXPECT_THAT(done_, ElementsAre("restart 1"));
}

TEST_F(Services, ReplicasThatAreSilentTogetherStartAgainOneByOne) {
  submit_service(3, 3);
  pass(3);
  for (const JobId id : {JobId{1}, JobId{3}}) silent_since_[id] = now_;
  pass(10);
  EXPECT_THAT(history_, ElementsAre("restart 1"));
  silent_since_.erase({1});
  pass(29);
  EXPECT_EQ(history_.size(), 1u);
  second();
  EXPECT_THAT(history_, ElementsAre("restart 1", "restart 3"));
}

TEST_F(Services, ACutOfTheNetworkRestartsNothing) {
  submit_service(2, 2);
  pass(3);
  silent_since_ = {{{1}, now_ - seconds(1)}, {{2}, now_}};  // the last answers came just before
  for (int i = 0; i < 15; ++i) {
    now_ += seconds(1);
    turn(Tick{});
    look();
    EXPECT_THAT(done_, IsEmpty()) << i;
  }
  pass(4);
  EXPECT_THAT(history_, IsEmpty()) << "they have a moment to be heard again";
  pass(2);
  EXPECT_THAT(history_, ElementsAre("restart 1")) << "but no more";
}

TEST_F(Services, EachSlowStartHasTwiceTheTimeOfTheOneBefore) {
  submit_service(1, 1);
  slow_ = {{1}};
  for (const int minutes_of : {5, 10, 20, 40, 60, 60}) {
    while (job({1}).state != JobState::running) second();
    history_.clear();
    pass(minutes_of * 60 - 1);
    EXPECT_THAT(history_, IsEmpty()) << minutes_of;
    pass(2);
    EXPECT_THAT(history_, ElementsAre("restart 1")) << minutes_of;
  }
}

TEST_F(Services, AStartThatSucceedsEndsTheDoubling) {
  submit_service(1, 1);
  slow_ = {{1}};
  pass(310);
  ASSERT_EQ(job({1}).attempts, 2);
  slow_.clear();
  pass(5);
  turn(RequeueJob{{1}});
  slow_ = {{1}};
  pass(310);
  EXPECT_EQ(job({1}).attempts, 4);
}

TEST_F(Services, WhyOneIsNotReadyIsTold) {
  submit_service(1, 2);
  const auto why = [this](std::size_t replica) {
    return why_unready(service().own[replica], memory_, limits_, now_);
  };
  slow_ = {{1}};
  EXPECT_EQ(why(0), "") << "it does not run yet";
  pass(184);
  EXPECT_EQ(why(0), "has not been ready for 3m3s and starts again after 5m");
  EXPECT_EQ(why(1), "");
  pass(310 - 184);
  EXPECT_THAT(why(0), testing::EndsWith(" and starts again after 10m"));
  slow_.clear();
  second();
  EXPECT_EQ(why(0), "");
}

TEST_F(Services, ReplicasLeaveADrainedNodeOneByOne) {
  submit_service(2, 2);
  pass(3);
  join_another(6);
  turn(DrainNode{nodes_[0].id, "new fans", {}, {}});
  fewest_ready_ = 100;
  pass(1);
  EXPECT_THAT(history_, ElementsAre("restart 1"));
  EXPECT_EQ(job({1}).attempt->stop, StopCause::requeued);
  pass(20);
  EXPECT_THAT(history_, ElementsAre("restart 1", "restart 2"));
  EXPECT_EQ(node_of({1}), nodes_[1].id);
  EXPECT_EQ(node_of({2}), nodes_[1].id);
  EXPECT_EQ(fewest_ready_, 1);
}

TEST_F(Services, TheNextOneStaysOnADrainedNodeUntilTheFirstIsReadyElsewhere) {
  submit_service(2, 2);
  pass(3);
  join_another(1);
  turn(DrainNode{nodes_[0].id, "new fans", {}, {}});
  slow_ = {{1}};
  pass(100);
  EXPECT_EQ(node_of({2}), nodes_[0].id);
  slow_.clear();
  pass(10);
  EXPECT_EQ(states(), "1:running 2:queued") << "there is no room for both";
}

TEST_F(Services, AnotherTakesThePlaceOfTheOnlyReplicaOnADrainedNode) {
  submit_service(1, 2);
  pass(3);
  join_another(6);
  turn(DrainNode{nodes_[0].id, "new fans", {}, {}});
  fewest_ready_ = 100;
  pass(10);
  EXPECT_THAT(history_, ElementsAre("promote 2", "restart 1"));
  EXPECT_EQ(node_of({1}), nodes_[1].id);
  EXPECT_EQ(node_of({2}), nodes_[1].id);
  EXPECT_EQ(fewest_ready_, 1);
}

TEST_F(Services, ReplicasStayOnADrainedNodeWhereNoneCouldHoldThemOrNoneAnswersMeanwhile) {
  submit_service(2, 2);
  submit_service(1, 1, "others");
  pass(3);
  turn(DrainNode{nodes_[0].id, "new fans", {}, {}});
  pass(10);
  EXPECT_THAT(history_, IsEmpty());
  turn(CancelJob{{1}});
  turn(CancelJob{{2}});
  join_another(6);
  pass(10);
  EXPECT_EQ(states(), "3:running") << "nothing else answers";
  EXPECT_EQ(node_of({3}), nodes_[0].id);
}

TEST_F(Services, AMaintenanceWindowDrainsOnceItBegins) {
  submit_service(2, 2);
  pass(3);
  join_another(6);
  turn(DrainNode{nodes_[0].id, "new fans", now_ + seconds(10), {}});
  pass(9);
  EXPECT_THAT(history_, IsEmpty());
  second();
  EXPECT_THAT(history_, ElementsAre("restart 1"));
}

TEST_F(Services, AReplicaOfANodeThatIsSilentIsLeftToTheCore) {
  submit_service(1, 1);
  pass(3);
  silent_since_[{1}] = now_;
  for (int i = 0; i < 40; ++i) {
    now_ += seconds(1);
    turn(Tick{});
    if (state_.nodes.at({"node-1"}).state != NodeState::up) break;
  }
  ASSERT_NE(state_.nodes.at({"node-1"}).state, NodeState::up);
  look();
  EXPECT_THAT(done_, IsEmpty());
}

TEST_F(Services, TheEndOfAServiceCancelsAllItsJobs) {
  submit_service(1, 2);
  pass(3);
  submit_service(1, 2);
  submit_service(1, 1, "others");
  pass(1);
  for (const Command& command : stop_service(service())) ASSERT_TRUE(turn(command).ok());
  pass(3);
  EXPECT_EQ(states(), "5:running");
}

TEST_F(Services, AnEndThatComesByItselfDoesNotHinderTheEndOfItsService) {
  submit_service(2, 2);
  pass(3);
  const std::vector<Command> commands = stop_service(service());
  fail_to_load({1});
  std::vector<Errors> answers;
  for (const Command& command : commands) answers.push_back(turn(command).errors());
  ASSERT_FALSE(answers[0].empty());
  EXPECT_THAT(hindrance(answers), IsEmpty());
  answers.push_back({{ErrorCode::unavailable, "the disk is full", ""}});
  EXPECT_EQ(hindrance(answers), answers.back());
}

TEST_F(Services, OneNodeThatCannotReadTheModelUsesUpNoService) {
  submit_service(1, 4);
  join_another(1);
  pass(3);
  turn(CancelJob{{1}});
  pass(3);
  const NodeId bad = node_of({2});
  fail_to_load({2});
  pass(10);
  EXPECT_EQ(states(), "2:running 3:paused 4:paused");
  EXPECT_NE(node_of({2}), bad);
}

TEST_F(Services, AFailureIsKnownUntilALaterSpecOrTheEndOfTheService) {
  submit_service(2, 2);
  ReplicaFailures failures(state_);
  const auto end = [&](JobId job, JobState state) {
    failures.notice({{now_, JobStateChanged{job, JobState::running, state, "no such model"}}});
  };
  const auto begin = [&](JobId job, ExperimentId experiment) {
    JobRequest request = request_for(1);
    request.replica = Replica{"answers", 1, 1, {}};
    failures.notice({{now_, JobQueued{job, experiment, request}}});
  };
  end({9}, JobState::failed);
  EXPECT_FALSE(failures.find("answers")) << "a job of something else";
  end({1}, JobState::failed);
  ASSERT_TRUE(failures.find("answers"));
  EXPECT_EQ(failures.find("answers")->job, JobId{1});
  EXPECT_EQ(failures.find("answers")->reason, "no such model");
  begin({3}, {1});
  EXPECT_TRUE(failures.find("answers"));
  begin({4}, {2});
  EXPECT_FALSE(failures.find("answers"));
  end({2}, JobState::failed);
  end({3}, JobState::cancelled);
  EXPECT_TRUE(failures.find("answers"));
  end({4}, JobState::failed);
  EXPECT_FALSE(failures.find("answers")) << "nothing is left that it could be told of";
}

TEST_F(Services, TheirReasonsAreToldWithTheStop) {
  submit_service(1, 2);
  pass(3);
  silent_since_[{1}] = now_ - minutes(1);
  pass(6);
  EXPECT_EQ(job({1}).attempt->stop, StopCause::requeued);
  queue_ms_ = 50;
  ServiceMemory memory;
  memory.loads["answers"].full_since = now_ - minutes(1);
  silent_since_.clear();
  pass(3);
  const auto commands = steps(state_, health(), memory, limits_, now_);
  ASSERT_EQ(commands.size(), 1u);
  EXPECT_EQ(std::get<PromoteReplica>(commands[0]).reason,
            "requests wait 50ms in the queues, and at most 20ms are wished");
}

}  // namespace
}  // namespace podium
