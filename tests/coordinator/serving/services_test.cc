// The controller of services against the real core: replicas on nodes that start what they are told, and a
// gateway whose word is what the test says.
#include "coordinator/serving/services.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <set>

#include "tests/coordinator/core/cluster_fixture.h"

namespace podium {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr TaskExit kSaved{79, 0, "", ExitCause::ordered};

class Services : public ClusterTest {
 protected:
  Services() { join(node_); }

  void submit_service(int min, int max, const std::string& name = "answers", int priority = 50) {
    JobRequest request = request_for(1);
    request.replica = Replica{name, min, max, milliseconds(20)};
    request.walltime = kLongestWalltime;
    request.priority = priority;
    const auto answer =
        turn(SubmitExperiment{name, std::vector<JobRequest>(static_cast<std::size_t>(max), request)});
    ASSERT_TRUE(answer.ok()) << describe(answer.errors());
  }

  // One second: what has been told to stop leaves, what was ordered runs, and whoever runs is ready, but for
  // those in `slow_`.
  void second() {
    now_ += seconds(1);
    std::vector<Told> exits;
    for (const auto& [id, job] : state_.jobs)
      if (job.attempt && job.attempt->stop != StopCause::none && !stubborn_.contains(id))
        exits.push_back({task(id, 0), kSaved});
    report(node_, exits);
    turn(Tick{});
    look();
    note_ready();
  }

  // What the controller decides for what is true now.
  void look() {
    done_.clear();
    for (const Command& command : steps(state_, health(), memory_, limits_, now_)) {
      EXPECT_TRUE(turn(command).ok());
      done_.push_back(text_of(command));
    }
    for (const std::string& text : done_) history_.push_back(text);
  }

  void pass(int count) {
    for (int i = 0; i < count; ++i) second();
  }

  ReplicasHealth health() const {
    ReplicasHealth health;
    for (const auto& [id, job] : state_.jobs) {
      if (job.state != JobState::running || job.attempt->stop != StopCause::none) continue;
      ReplicaHealth& of = health[job.attempt_id()];
      const auto silent = silent_since_.find(id);
      of.ready = !slow_.contains(id) && silent == silent_since_.end();
      if (silent != silent_since_.end()) of.silent = now_ - silent->second;
      of.queue_ms = queue_ms_;
    }
    return health;
  }

  static std::string text_of(const Command& command) {
    if (const auto* pause = std::get_if<PauseReplica>(&command)) return "pause " + to_string(pause->job);
    if (const auto* promote = std::get_if<PromoteReplica>(&command))
      return "promote " + to_string(promote->job);
    if (const auto* requeue = std::get_if<RequeueJob>(&command)) return "restart " + to_string(requeue->job);
    return "cancel " + to_string(std::get<CancelJob>(command).job);
  }

  // How many were ready at the least, since the test began to look.
  void note_ready() {
    int ready = 0;
    for (const auto& [attempt, health] : health()) ready += health.ready;
    fewest_ready_ = std::min(fewest_ready_, ready);
  }

  std::string states() {
    std::string text;
    for (const auto& [id, job] : state_.jobs)
      text += (text.empty() ? "" : " ") + to_string(id) + ":" +
              std::string(job.paused ? "paused" : to_string(job.state));
    return text;
  }

  // As after a restart of the coordinator: a state from the disk, and no memory.
  void restart_coordinator() {
    ClusterState empty;
    empty.limits = state_.limits;
    empty.scheduling = state_.scheduling;
    state_ = cluster_state_from_json(nlohmann::json::parse(to_json(state_).dump()), empty);
    memory_ = {};
    plan_ = {};
    turn(CoordinatorUp{});
    EXPECT_THAT(steps(state_, {}, memory_, limits_, now_), IsEmpty())
        << "before the gateway has told anything";
  }

  void fail_for_good(JobId id) { report(node_, {{task(id, 0), {65, 0, "no such model"}}}); }
  ServiceStand service() {
    health_ = health();
    return services_of(state_, health_).at(0);
  }

  NodeDescription node_ = node_with("node-1", 6);
  ServiceMemory memory_;
  ServiceLimits limits_;
  ReplicasHealth health_;
  std::set<JobId> slow_, stubborn_;
  std::map<JobId, Time> silent_since_;
  double queue_ms_ = 10;  // neither long nor short
  std::vector<std::string> done_, history_;
  int fewest_ready_ = 100;
};

TEST_F(Services, NothingIsDoneWhileAllIsAsItShouldBe) {
  submit_service(2, 4);
  pass(600);
  EXPECT_THAT(history_, IsEmpty());
  EXPECT_EQ(states(), "1:running 2:running 3:paused 4:paused");
  EXPECT_EQ(roll_of(service()), Roll::none);
}

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
  submit_service(1, 1);
  pass(3);
  submit_service(1, 1);
  slow_ = {{2}};
  pass(60);
  EXPECT_EQ(states(), "1:running 2:running");
  EXPECT_EQ(roll_of(service()), Roll::rolling);
  slow_.clear();
  pass(3);
  EXPECT_EQ(states(), "2:running");
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
  pass(2);
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

TEST_F(Services, OneThatDrainsForLongIsNotToldTwice) {
  submit_service(1, 1);
  pass(3);
  submit_service(1, 1);
  stubborn_ = {{1}};
  pass(20);
  EXPECT_THAT(history_, ElementsAre("promote 2", "cancel 1"));
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
