// A sweep that ends its losing trials: what the rule decides, and what becomes of the jobs.
#include <gmock/gmock.h>

#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <tuple>

#include "coordinator/core/jobs/trials.h"
#include "tests/coordinator/core/cluster_fixture.h"

namespace podium {
namespace {

using testing::HasSubstr;

constexpr TaskExit kSaved{79, 0, "", ExitCause::ordered};

// Trials of one device each on a node that holds them all; they are judged at steps 100, 200 and 400 of 800.
class AshaTest : public ClusterTest {
 protected:
  AshaTest() { join(node_); }

  void begin(int trials, int reduction = 2) {
    SubmitExperiment sweep{"sweep",
                           std::vector<JobRequest>(static_cast<std::size_t>(trials), request_for(1))};
    sweep.asha = Asha{"eval/loss", Goal::min, 100, 800, reduction};
    ASSERT_TRUE(turn(sweep).ok());
    report(node_);
  }

  Result<Events> tell(int trial, int rung, double value) {
    return turn(RungTold{JobId{trial}, rung, 100 << (rung - 1), value});
  }
  // What was told to stop has saved and left.
  void leave() {
    std::vector<Told> exits;
    for (const auto& [id, job] : state_.jobs)
      if (job.state == JobState::stopping) exits.push_back({task(id, 0), kSaved});
    report(node_, exits);
  }
  void finish(int trial) { report(node_, {{task({trial}, 0), TaskExit{}}}); }
  std::string states() {
    std::string text;
    for (int id = 1; id < state_.next_job.value; ++id) {
      const Job* job = find_job(state_, {id});
      text += (text.empty() ? "" : " ") +
              (job ? std::string(job->paused ? "paused" : to_string(job->state)) : std::string("over"));
    }
    return text;
  }

  const NodeDescription node_ = node_with("node-1", 8);
};

TEST_F(AshaTest, ATrialThatIsNotAmongTheBestStopsGracefullyAndWaitsOutOfLine) {
  begin(4);
  EXPECT_EQ(states(), "running running running running");
  const auto first = tell(1, 1, 3.0);
  ASSERT_TRUE(find<AttemptStopping>(first));
  EXPECT_EQ(find<AttemptStopping>(first)->cause, StopCause::paused);
  EXPECT_EQ(state_of({1}), JobState::stopping);
  leave();
  EXPECT_EQ(state_of({1}), JobState::queued);
  EXPECT_FALSE(job({1}).attempt) << "its device is free";
  EXPECT_FALSE(job({1}).in_line());
  EXPECT_EQ(job({1}).retries, RetryCounts{}) << "a pause costs no retry";
  EXPECT_EQ(reason({1}),
            "is paused by its sweep: 1st of 1 at rung 1 (step 100) with eval/loss 3, of which the best goes "
            "on once "
            "2 have told; 3 trials have yet to tell there");
  EXPECT_EQ(blockers_of(state_, plan_, {1}, now_).front().code, BlockerCode::paused);
}

TEST_F(AshaTest, WhoIsAmongTheBestTrainsOnWithoutAStop) {
  begin(4);
  tell(1, 1, 3.0);
  const auto second = tell(2, 1, 2.0);
  EXPECT_TRUE(find<TrialPromoted>(second));
  EXPECT_FALSE(find<AttemptStopping>(second));
  EXPECT_EQ(states(), "paused running running running");
}

TEST_F(AshaTest, APausedTrialStartsAgainWhenMoreHaveToldAndItIsAmongTheBest) {
  begin(4);
  tell(1, 1, 2.0);
  leave();
  const auto second = tell(2, 1, 3.0);
  ASSERT_TRUE(find<TrialPromoted>(second));
  EXPECT_EQ(find<TrialPromoted>(second)->job, JobId{1});
  EXPECT_THAT(find<TrialPromoted>(second)->reason, HasSubstr("1st of 2 at rung 1 (step 100)"));
  EXPECT_EQ(state_of({1}), JobState::starting);
  EXPECT_EQ(job({1}).attempts, 2);
}

TEST_F(AshaTest, OneThatIsPromotedWhileItStopsIsStartedAgainAtNoCost) {
  begin(4);
  tell(1, 1, 2.0);
  tell(2, 1, 3.0);
  EXPECT_EQ(state_of({1}), JobState::stopping);
  EXPECT_FALSE(job({1}).paused);
  NodeReport exits{node_, {{task({1}, 0), TaskState::exited, 1, kSaved}}, 0};
  const auto left = turn(NodeReported{exits});
  ASSERT_TRUE(find<AttemptEnded>(left));
  EXPECT_EQ(find<AttemptEnded>(left)->end, AttemptEnd::paused);
  EXPECT_EQ(find<AttemptEnded>(left)->restart, RestartCause::promotion);
  EXPECT_EQ(job({1}).attempts, 2);
  EXPECT_EQ(job({1}).retries, RetryCounts{});
}

TEST_F(AshaTest, TheWordOfARungThatATrialWasNotPromotedToWaitsUntilItIs) {
  begin(4);
  tell(1, 1, 2.0);
  tell(1, 2, 1.9);  // it was not stopped at once
  const Halving& halving = state_.sweeps.at({1});
  EXPECT_TRUE(ranking(halving, 2).empty());
  tell(2, 1, 3.0);  // promotes trial 1, which is judged at rung 2 by what it has told
  EXPECT_EQ(ranking(halving, 2), std::vector{JobId{1}});
  EXPECT_TRUE(job({1}).paused);
  EXPECT_THAT(why_paused(state_, job({1})), HasSubstr("1st of 1 at rung 2 (step 200) with eval/loss 1.9"));
}

TEST_F(AshaTest, OnlyTheFirstWordOnARungCounts) {
  begin(4);
  tell(1, 1, 2.0);
  EXPECT_TRUE(tell(1, 1, 9.0)->empty());
  EXPECT_TRUE(turn(RungTold{{2}, 1, 99, 1.0})->empty()) << "before the rung's step";
  EXPECT_TRUE(turn(RungTold{{2}, 4, 800, 1.0})->empty()) << "there are three rungs";
  EXPECT_TRUE(turn(RungTold{{9}, 1, 100, 1.0})->empty()) << "no such trial";
  EXPECT_EQ(state_.sweeps.at({1}).trials.at({1}).reports.at(1).value, 2.0);
}

TEST_F(AshaTest, WhatIsNotANumberIsTheWorstAndNeverGoesOn) {
  begin(4);
  tell(1, 1, std::numeric_limits<double>::quiet_NaN());
  tell(2, 1, std::numeric_limits<double>::infinity());
  EXPECT_EQ(states(), "paused paused running running");
  EXPECT_THAT(why_paused(state_, job({1})), HasSubstr("its eval/loss at rung 1 (step 100) is not a number"));
  tell(3, 1, 1e9);
  EXPECT_EQ(states(), "paused paused running running");
  leave();
  report(node_, {{task({3}, 0), TaskExit{76, 0, "diverged"}}, {task({4}, 0), TaskExit{76, 0, "diverged"}}});
  leave();
  EXPECT_EQ(states(), "over over over over") << "no number, no last call";
}

TEST_F(AshaTest, AGoalOfMaxTurnsTheOrder) {
  SubmitExperiment sweep{"sweep", {request_for(1), request_for(1)}};
  sweep.asha = Asha{"eval/accuracy", Goal::max, 100, 800, 2};
  turn(sweep);
  report(node_);
  tell(1, 1, 0.2);
  tell(2, 1, 0.5);
  EXPECT_EQ(states(), "paused running");
}

TEST_F(AshaTest, AWordThatComesAfterTheTrialsEndCounts) {
  begin(4);
  finish(1);
  EXPECT_EQ(states(), "over running running running");
  tell(2, 1, 3.0);
  EXPECT_TRUE(job({2}).paused);
  tell(1, 1, 4.0);
  EXPECT_FALSE(job({2}).paused) << "it is the better of two";
}

TEST_F(AshaTest, OneThatFinishesBeforeItCanBePausedHasSucceeded) {
  begin(2);
  tell(1, 1, 3.0);
  report(node_, {{task({1}, 0), TaskExit{}}});
  EXPECT_EQ(states(), "over running");
  EXPECT_TRUE(state_.sweeps.at({1}).trials.at({1}).succeeded);
}

TEST_F(AshaTest, WhenTheWinnerIsThroughThePausedEndAsStoppedAndSayWhy) {
  begin(2);
  tell(1, 1, 3.0);
  leave();
  tell(2, 1, 2.0);
  // Alone at rung 2 it is not among the best half of one: the last call lets it go on.
  const auto second = tell(2, 2, 1.0);
  EXPECT_EQ(states(), "paused paused");
  EXPECT_FALSE(find<TrialPromoted>(second)) << "it still stops";
  leave();
  EXPECT_EQ(state_of({2}), JobState::starting);
  report(node_);
  tell(2, 3, 0.9);
  leave();
  report(node_);
  EXPECT_EQ(states(), "paused running");
  NodeReport exits{node_, {{task({2}, 0), TaskState::exited, 1, TaskExit{}}}, 0};
  const auto ended = turn(NodeReported{exits});
  ASSERT_TRUE(ended.ok());
  const auto& stopped = std::get<JobStateChanged>(ended->back().body);
  EXPECT_EQ(stopped,
            (JobStateChanged{{1},
                             JobState::queued,
                             JobState::stopped,
                             "stopped by its sweep: 2nd of 2 at rung 1 (step 100) with eval/loss 3, of "
                             "which the best goes on"}));
  EXPECT_TRUE(state_.sweeps.empty());
  EXPECT_TRUE(tell(1, 2, 1.0)->empty()) << "it has decided";
}

TEST_F(AshaTest, WhereTheWinnerFailsTheNextBestGoesOn) {
  begin(2);
  tell(1, 1, 3.0);
  leave();
  tell(2, 1, 2.0);
  report(node_, {{task({2}, 0), TaskExit{76, 0, "diverged"}}});
  EXPECT_EQ(states(), "starting over") << "never retried; trial 1 starts again";
}

TEST_F(AshaTest, AHeldTrialIsWaitedForAndDoesNotStartBeforeItIsReleased) {
  begin(2);
  tell(1, 1, 2.0);
  leave();
  turn(HoldJob{{1}});
  tell(2, 1, 3.0);
  EXPECT_FALSE(job({1}).paused);
  EXPECT_EQ(state_of({1}), JobState::queued);
  leave();
  EXPECT_EQ(states(), "queued paused");
  turn(ReleaseJob{{1}});
  EXPECT_EQ(state_of({1}), JobState::starting);
}

TEST_F(AshaTest, WhatFollowsAStoppedTrialIsCancelledAndSaysSo) {
  begin(2);
  JobRequest follower = request_for(1);
  follower.after = {{{1}, When::ok}};
  submit(follower);
  tell(1, 1, 3.0);
  leave();
  tell(2, 1, 2.0);
  finish(2);
  EXPECT_EQ(states(), "over over over");
}

TEST_F(AshaTest, AnOperatorMayLetAStoppedTrialGoOnAndNoSweepJudgesIt) {
  begin(2);
  tell(1, 1, 3.0);
  leave();
  tell(2, 1, 2.0);
  finish(2);
  EXPECT_EQ(states(), "over over");
  RequeueJob again{{1}};
  again.ended = {{1}, request_for(1), JobState::stopped, 1};
  ASSERT_TRUE(turn(again).ok());
  report(node_);
  EXPECT_EQ(states(), "running over");
  EXPECT_TRUE(tell(1, 2, 99.0)->empty());
}

TEST_F(AshaTest, ATrialThatIsRequeuedWhileItsSweepDecidesIsJudgedBeforeItStarts) {
  begin(4);
  tell(1, 1, 3.0);
  leave();
  turn(CancelJob{{1}});
  EXPECT_EQ(states(), "over running running running");
  RequeueJob again{{1}};
  again.ended = {{1}, request_for(1), JobState::cancelled, 1};
  const auto recalled = turn(again);
  ASSERT_TRUE(find<TrialPaused>(recalled)) << "it has told at its rung, and is not among the best there";
  EXPECT_EQ(states(), "paused running running running");
  EXPECT_EQ(job({1}).attempts, 1) << "it was not started for nothing";
  tell(2, 1, 4.0);
  EXPECT_EQ(state_of({1}), JobState::starting) << "it is promoted as any other";
}

TEST_F(AshaTest, ATrialThatIsRequeuedAsTheLastThatCouldTellLetsItsSweepDecide) {
  begin(2);
  tell(1, 1, 3.0);
  leave();
  turn(CancelJob{{1}});
  RequeueJob again{{1}};
  again.ended = {{1}, request_for(1), JobState::cancelled, 1};
  turn(again);
  EXPECT_EQ(states(), "paused running");
  finish(2);
  EXPECT_EQ(states(), "over over");
}

// The order of each rung beside one that is sorted anew, of trials that tell, are promoted and tell again.
TEST(Halving, WhoStandsWhereIsWhatSortingAllOfThemSays) {
  std::mt19937 random(7);
  Halving halving;
  halving.rule = {"eval/loss", Goal::min, 1, 100, 3};
  constexpr int kTrials = 60;
  for (int id = 1; id <= kTrials; ++id) add_trial(halving, {id}, {});
  std::map<int, std::vector<std::tuple<bool, double, JobId>>> told;
  std::uniform_int_distribution<int> any(1, kTrials), some_value(0, 12);
  for (int i = 0; i < 600; ++i) {
    const JobId job{any(random)};
    const Trial& trial = halving.trials.at(job);
    const int rung = trial.rung;
    if (trial.reports.contains(rung)) {
      if (rung < 4) promote(halving, job);
      continue;
    }
    const int value = some_value(random);
    tell(halving, job, rung, {rung, value == 12 ? std::nullopt : std::optional<double>(value)});
    told[rung].emplace_back(value == 12, value, job);
    std::ranges::sort(told[rung]);
    std::vector<JobId> sorted;
    for (const auto& [broken, metric, id] : told[rung]) sorted.push_back(id);
    ASSERT_EQ(ranking(halving, rung), sorted);
    const auto place = std::ranges::find(sorted, job) - sorted.begin() + 1;
    if (value != 12) {
      ASSERT_THAT(standing(halving, job, rung), testing::StartsWith(std::to_string(place)));
    }
  }
  EXPECT_GT(told[4].size(), 30u);
}

TEST_F(AshaTest, ASnapshotKeepsWhatWasToldAndDecided) {
  begin(4);
  tell(1, 1, 3.0);
  tell(2, 1, 2.0);
  tell(3, 1, std::numeric_limits<double>::quiet_NaN());
  ClusterState empty;
  const ClusterState read = cluster_state_from_json(to_json(state_), empty);
  EXPECT_EQ(read.sweeps, state_.sweeps);
  EXPECT_TRUE(read.jobs.at({1}).paused);
}

TEST(Asha, RungsAreBelowTheMostSteps) {
  EXPECT_EQ(rung_steps({"m", Goal::min, 100, 1600, 4}), (std::vector<std::int64_t>{100, 400}));
  EXPECT_EQ(rung_steps({"m", Goal::min, 100, 1601, 4}), (std::vector<std::int64_t>{100, 400, 1600}));
  EXPECT_EQ(rung_steps({"m", Goal::min, 5, 6, 4}), (std::vector<std::int64_t>{5}));
  EXPECT_EQ(rung_steps({"m", Goal::min, 1, INT64_MAX, 2}).size(), 63u) << "without an overflow";
}

}  // namespace
}  // namespace podium
