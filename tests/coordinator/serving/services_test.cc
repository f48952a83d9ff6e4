// How many replicas a service has, which are started again, and how it ends.
#include <gmock/gmock.h>

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
  fail_for_good({1});
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

TEST_F(Services, TheirReasonsAreToldWithTheStop) {
  submit_service(1, 2);
  pass(3);
  silent_since_[{1}] = now_ - minutes(1);
  second();
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
