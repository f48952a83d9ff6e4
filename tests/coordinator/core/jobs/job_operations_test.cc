// Hold, release, priority, requeue, and jobs that wait for other jobs.
#include "common/model/lease.h"
#include "coordinator/core/plan/wait_reasons.h"
#include "tests/coordinator/core/cluster_fixture.h"

namespace podium {
namespace {

const NodeDescription kNode = node_with("a", 1);

class JobOperations : public ClusterTest {
 protected:
  JobOperations() { join(kNode); }

  // A job that runs on the one device there is.
  JobId run_one() {
    const JobId id = submit(request_for(1));
    report(kNode);
    EXPECT_EQ(state_of(id), JobState::running);
    return id;
  }

  void end(JobId id, const TaskExit& exit) { report(kNode, {{task(id, 0), exit}}); }

  static JobRequest following(JobId on, When when) {
    JobRequest request = request_for(1);
    request.after = {{on, when}};
    return request;
  }

  bool lives(JobId id) { return find_job(state_, id) != nullptr; }
};

TEST_F(JobOperations, HeldJobsWaitOutsideOfTheQueues) {
  const JobId running = run_one();
  const JobId held = submit(request_for(1)), next = submit(request_for(1));
  turn(HoldJob{held});
  EXPECT_EQ(reason(held), "is held; podium release 2 lets it start");
  EXPECT_EQ(state_.indexes.queues.at("cpu").at(JobClass{"default", {1, 0}}).size(), 1u)
      << "a pass never sees it";
  end(running, {});
  EXPECT_EQ(state_of(next), JobState::starting) << "it passes the held one";
  report(kNode);
  end(next, {});
  EXPECT_EQ(state_of(held), JobState::queued);
  turn(ReleaseJob{held});
  EXPECT_EQ(state_of(held), JobState::starting);
}

TEST_F(JobOperations, ATrackedRunTakesANumberAndNothingElse) {
  const JobId before = submit(request_for(1));
  const ClusterState was = state_;
  turn(TrackRun{{}, "elsewhere"});
  turn(TrackRun{ExperimentId{was.next_experiment.value}, ""});
  EXPECT_EQ(state_.next_job.value, was.next_job.value + 2);
  EXPECT_EQ(state_.next_experiment.value, was.next_experiment.value + 1);
  EXPECT_EQ(state_.jobs.size(), was.jobs.size()) << "it is not scheduled";
  EXPECT_EQ(state_.epoch, was.epoch) << "and no plan looks at it";
  EXPECT_EQ(submit(request_for(1)).value, before.value + 3);
  for (const std::int64_t none : {0, 99})
    EXPECT_FALSE(handle(state_, TrackRun{ExperimentId{none}, ""}, now_)) << none;
  const Result<Events> refused = handle(state_, HoldJob{{before.value + 1}}, now_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.errors().front().code, ErrorCode::conflict);
}

TEST_F(JobOperations, HoldingARunningJobLetsItGoOn) {
  const JobId id = run_one();
  turn(HoldJob{id});
  EXPECT_EQ(state_of(id), JobState::running);
  turn(RequeueJob{id});
  end(id, {0, 15, ""});
  EXPECT_EQ(state_of(id), JobState::queued) << "held: it does not start again";
  turn(ReleaseJob{id});
  EXPECT_EQ(job(id).attempts, 2);
}

TEST_F(JobOperations, ANewPriorityMovesAJobInItsQueue) {
  const JobId running = run_one();
  const JobId first = submit(request_for(1)), second = submit(request_for(1));
  turn(PrioritiseJob{second, 90});
  end(running, {});
  EXPECT_EQ(state_of(second), JobState::starting);
  EXPECT_EQ(state_of(first), JobState::queued);
  EXPECT_EQ(turn(PrioritiseJob{first, 101}).errors().at(0).message, "a priority must be between 0 and 100");
}

TEST_F(JobOperations, RequeueStopsGracefullyAtNoCost) {
  const JobId id = run_one();
  turn(RequeueJob{id});
  EXPECT_EQ(state_of(id), JobState::stopping);
  EXPECT_EQ(node_orders(state_, kNode.id).tasks.at(0).action, TaskAction::stop);
  end(id, {});
  EXPECT_EQ(job(id).attempts, 2) << "it was next again";
  EXPECT_EQ(job(id).retries.failures, 0);
}

TEST_F(JobOperations, RequeueForgetsABackOff) {
  const JobId id = submit(request_for(1));
  for (int i = 0; i < 2; ++i) {  // fails twice at once
    report(kNode);
    end(id, {1, 0, "no"});
  }
  ASSERT_TRUE(job(id).not_before.has_value());
  turn(RequeueJob{id});
  EXPECT_EQ(state_of(id), JobState::starting);
  report(kNode);
  turn(CheckpointSaved{job(id).attempt_id(), 10});
  end(id, {1, 0, "no"});
  EXPECT_FALSE(job(id).not_before) << "its quick failures count from the requeue";
  EXPECT_EQ(state_of(id), JobState::starting);
}

TEST_F(JobOperations, EndedAndUnknownJobsRefuse) {
  const JobId id = run_one();
  end(id, {});
  EXPECT_EQ(turn(HoldJob{id}).errors().at(0).code, ErrorCode::conflict);
  EXPECT_EQ(turn(RequeueJob{{99}}).errors().at(0).code, ErrorCode::not_found);
}

TEST_F(JobOperations, StartsWhenWhatItFollowsSucceeded) {
  const JobId first = run_one();
  const JobId second = submit(following(first, When::ok));
  EXPECT_EQ(reason(second), "waits for job 1 to succeed");
  EXPECT_TRUE(state_.indexes.queues.empty());
  end(first, {});
  EXPECT_EQ(state_of(second), JobState::starting);
  EXPECT_TRUE(state_.indexes.dependents.empty());
}

TEST_F(JobOperations, AFailureCancelsTheWholeChainButForThoseContentWithAnyEnd) {
  const JobId first = run_one();
  const JobId second = submit(following(first, When::ok));
  const JobId third = submit(following(second, When::ok));
  const JobId cleanup = submit(following(second, When::any));
  const auto answer = turn(CancelJob{first});
  EXPECT_TRUE(lives(third)) << "the first still stops";
  end(first, {0, 15, ""});
  EXPECT_FALSE(lives(second));
  EXPECT_FALSE(lives(third));
  EXPECT_EQ(state_of(cleanup), JobState::starting);
}

TEST_F(JobOperations, TellsWhyADependentWasCancelled) {
  const JobId first = submit(following(run_one(), When::any)), second = submit(following(first, When::ok));
  const auto answer = turn(CancelJob{first});
  ASSERT_TRUE(answer.ok());
  const auto& last = std::get<JobStateChanged>(answer->back().body);
  EXPECT_EQ(last.job, second);
  EXPECT_EQ(last.reason, "job 2, which it was to follow, was cancelled");
}

TEST_F(JobOperations, ListsWhatAJobFollowsInFewWords) {
  for (int i = 0; i < 20; ++i) submit(request_for(1));
  JobRequest request = request_for(1);
  for (const int id : {7, 3, 5, 4}) request.after.push_back({JobId{id}, When::any});
  EXPECT_EQ(reason(submit(request)), "waits for jobs 3–5, 7 to end");
  for (const int id : {9, 12, 13, 20}) request.after.push_back({JobId{id}, When::any});
  request.after.push_back({JobId{2}, When::ok});
  EXPECT_EQ(reason(submit(request)), "waits for job 2 to succeed, and for jobs 3–5, 7, 9 and 3 more to end");
}

TEST_F(JobOperations, JobsThatHaveEndedAreResolvedAtSubmit) {
  const JobId ended = run_one();
  end(ended, {65, 0, "bad data"});
  SubmitExperiment submit{"test", {following(ended, When::ok), following({9}, When::any)}};
  auto errors = turn(submit).errors();
  ASSERT_EQ(errors.size(), 2u);
  EXPECT_EQ(errors[0].message, "job \"job\" cannot wait: job 1 has just ended; submit it again");
  EXPECT_EQ(errors[1].message, "job \"job\" cannot wait: there is no job 9");
  submit.ended = {{ended, JobState::failed}};
  EXPECT_EQ(turn(submit).errors().at(0).message,
            "job \"job\" cannot wait: job 1, which it was to follow, failed; write \"when: any\" to start "
            "nevertheless");
  submit.jobs = {following(ended, When::any)};
  EXPECT_TRUE(turn(submit).ok());
  EXPECT_EQ(state_of({2}), JobState::starting);
}

TEST_F(JobOperations, JobsInTurnStartWhenThoseBeforeHaveEndedHowever) {
  SubmitExperiment study{"study", {request_for(1), request_for(1), request_for(1), request_for(1)}};
  for (JobRequest& request : study.jobs) request.max_restarts = 0;
  study.in_turn = true;
  join(node_with("b", 2));
  ASSERT_TRUE(turn(study).ok());
  const JobId first{1}, second{2}, third{3}, fourth{4};
  EXPECT_EQ(state_of(first), JobState::starting);
  EXPECT_EQ(reason(second), "waits for job 1 to end");
  EXPECT_EQ(reason(third), "waits for jobs 1–2 to end");
  ASSERT_TRUE(turn(CancelJob{second}).ok());
  EXPECT_EQ(reason(third), "waits for job 1 to end") << "it is next, and still not beside the first";
  report(kNode);
  end(first, {65, 0, "bad data"});
  EXPECT_FALSE(lives(first));
  EXPECT_EQ(state_of(third), JobState::starting);
  EXPECT_EQ(state_of(fourth), JobState::queued);
}

// What the store tells of it.
EndedJob ended_as(JobState state, int attempts, JobRequest request = request_for(1)) {
  return {{1}, std::move(request), state, attempts, std::chrono::hours(2), std::chrono::hours(2)};
}

TEST_F(JobOperations, AJobThatFailedGoesOnUnderItsNumberWithAllItsRetries) {
  JobRequest request = request_for(1);
  request.max_restarts = 0;
  const JobId id = submit(request);
  report(kNode);
  end(id, {1, 0, "no"});
  ASSERT_FALSE(lives(id));
  EXPECT_EQ(turn(RequeueJob{id}).errors().at(0).code, ErrorCode::conflict) << "nobody told what it was";

  now_ += std::chrono::hours(5);
  join(kNode);
  const auto answer = turn(RequeueJob{id, ended_as(JobState::failed, 1, request)});
  ASSERT_TRUE(answer.ok());
  const auto* changed = find<JobStateChanged>(answer);
  ASSERT_TRUE(changed);
  EXPECT_EQ(changed->from, JobState::failed);
  EXPECT_EQ(changed->to, JobState::queued);
  EXPECT_EQ(state_of(id), JobState::starting);
  EXPECT_EQ(job(id).attempts, 2) << "an attempt's number is never used again";
  EXPECT_EQ(job(id).submitted, now_) << "it passes nobody who waited meanwhile";
  EXPECT_EQ(job(id).retries, RetryCounts{});
  EXPECT_EQ(job(id).served, std::chrono::hours(2));
  report(kNode);
  end(id, {});
  EXPECT_FALSE(lives(id));
}

// It was queued, and failed on its node.
TEST_F(JobOperations, AJobWhoseCodeIsGoneIsNotRequeued) {
  const JobId id = run_one();
  end(id, {65, 0, "bad data"});
  EndedJob ended = ended_as(JobState::failed, 1);
  ended.lacks_code = true;
  const auto answer = turn(RequeueJob{id, ended});
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.errors()[0].code, ErrorCode::conflict);
  EXPECT_EQ(
      answer.errors()[0].message,
      "the code of job " + to_string(id) +
          " is no longer kept, for newer code took its room; submit its spec again from its folder, with "
          "\"resume: {job: " +
          to_string(id) + "}\" to go on from its checkpoint");
}

TEST_F(JobOperations, AJobThatSucceededIsNotRequeued) {
  const JobId id = run_one();
  end(id, {});
  EXPECT_EQ(turn(RequeueJob{id, ended_as(JobState::succeeded, 1)}).errors().at(0).message,
            "job 1 has succeeded; a new job goes on from it with \"resume: {job: 1}\", and more "
            "training.schedule.steps where it has taken all of its own");
}

TEST_F(JobOperations, ARequeuedJobWaitsAgainForWhatItWasToFollow) {
  const JobId first = run_one();
  const JobId second = submit(following(first, When::ok));
  turn(CancelJob{first});
  end(first, {0, 15, ""});
  ASSERT_FALSE(lives(second));
  RequeueJob again{
      second, ended_as(JobState::cancelled, 0, following(first, When::ok)), {{first, JobState::cancelled}}};
  const auto refused = turn(again);
  ASSERT_FALSE(refused.ok()) << "what it was to follow was cancelled";
  EXPECT_EQ(
      describe(refused.errors()),
      "job \"job\" cannot wait: job 1, which it was to follow, was cancelled; requeue that one first, or "
      "submit this one anew with \"when: any\" to start nevertheless");
  turn(RequeueJob{first, ended_as(JobState::cancelled, 1)});
  again.ends.clear();
  ASSERT_TRUE(turn(again).ok());
  EXPECT_EQ(reason(second), "waits for job 1 to succeed");
}

// An attempt of the other would find other checkpoints than the one before.
TEST_F(JobOperations, AJobWhoseWeightsALiveOneBeginsWithIsNotRequeued) {
  const JobId first = run_one();
  end(first, {65, 0, "bad data"});
  ASSERT_FALSE(lives(first));
  JobRequest taking = request_for(1);
  taking.name = "squad";
  taking.init = first;
  const JobId second = submit(taking);
  const auto answer = turn(RequeueJob{first, ended_as(JobState::failed, 1)});
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.errors()[0].code, ErrorCode::conflict);
  EXPECT_EQ(answer.errors()[0].message,
            "job 1 cannot go on before job 2 (squad) has ended, which begins with its weights: it would find "
            "other checkpoints; requeue it then, or cancel job 2");
  turn(CancelJob{second});
  report(kNode);
  if (lives(second)) end(second, {0, 15, ""});
  ASSERT_FALSE(lives(second));
  EXPECT_TRUE(turn(RequeueJob{first, ended_as(JobState::failed, 1)}).ok());
}

TEST_F(JobOperations, AJobWhoseCheckpointsALiveOneNeedsIsNotRequeued) {
  const JobId first = run_one();
  end(first, {65, 0, "bad data"});
  JobRequest going_on = request_for(1);
  going_on.resume = first;
  const JobId second = submit(going_on);
  const auto answer = turn(RequeueJob{first, ended_as(JobState::failed, 1)});
  ASSERT_FALSE(answer.ok()) << "by its number";
  EXPECT_EQ(
      answer.errors()[0].message,
      "job 1 cannot go on before job 2 (job) has ended, which begins with its checkpoint: it would find "
      "other checkpoints; requeue it then, or cancel job 2");
  report(kNode);
  turn(CheckpointSaved{{second, 1}, 10});
  EXPECT_EQ(job(second).checkpoint, 10);
  EXPECT_TRUE(turn(RequeueJob{first, ended_as(JobState::failed, 1)}).ok()) << "it has one of its own";
}

TEST_F(JobOperations, AJobWhoseCheckpointsALiveOneNamesByTheirPathIsNotRequeued) {
  const JobId first = run_one();
  end(first, {65, 0, "bad data"});
  const JobId second = submit(request_for(1));
  EndedJob ended = ended_as(JobState::failed, 1);
  ended.read_by = second;
  EXPECT_FALSE(turn(RequeueJob{first, ended}).ok());
  turn(CancelJob{second});
  report(kNode);
  if (lives(second)) end(second, {0, 15, ""});
  ASSERT_FALSE(lives(second));
  EXPECT_TRUE(turn(RequeueJob{first, ended}).ok());
}

TEST_F(JobOperations, ARequeuedJobWhoseTasksWereAllSeenToEndStartsWithoutAFence) {
  const auto wait_of = [&](bool astray) {
    const JobId id = run_one();
    end(id, {65, 0, "bad data"});
    EndedJob ended = ended_as(JobState::failed, 1);
    ended.astray = astray;
    EXPECT_TRUE(turn(RequeueJob{id, ended}).ok());
    EXPECT_EQ(state_of(id), JobState::starting);
    const auto fence = behind_fence(job(id), state_.limits, now_);
    EXPECT_EQ(fence.has_value(), astray);
    if (fence) {
      EXPECT_EQ(fence->until, now_ + lease::fence_wait(state_.limits.lease));
    }
    EXPECT_FALSE(behind_fence(job(id), state_.limits, now_ + lease::fence_wait(state_.limits.lease)));
    const Duration wait = node_orders(state_, kNode.id).tasks.at(0).wait;
    report(kNode);
    EXPECT_FALSE(behind_fence(job(id), state_.limits, now_)) << "it runs";
    end(id, {});
    return wait;
  };
  EXPECT_EQ(wait_of(false), Duration{0});
  EXPECT_EQ(wait_of(true), lease::fence_wait(state_.limits.lease)) << "one may run on a node that is silent";
}

TEST_F(JobOperations, ALongerWalltimeCountsForTheAttemptThatRuns) {
  JobRequest request = request_for(1);
  request.walltime = std::chrono::seconds(60);
  const JobId id = submit(request);
  report(kNode);
  for (int i = 0; i < 10; ++i) wait(5), report(kNode);
  ASSERT_TRUE(turn(ExtendJob{id, std::chrono::seconds(120)}).ok());
  EXPECT_TRUE(state_.indexes.timers.contains({job(id).attempt->created + std::chrono::seconds(120), id}));
  for (int i = 0; i < 10; ++i) wait(5), report(kNode);
  EXPECT_EQ(state_of(id), JobState::running);
  for (int i = 0; i < 5; ++i) wait(5), report(kNode);
  EXPECT_EQ(state_of(id), JobState::stopping);
  EXPECT_EQ(turn(ExtendJob{id, std::chrono::hours(1)}).errors().at(0).code, ErrorCode::conflict)
      << "it is too late";
}

TEST_F(JobOperations, AWalltimeIsOnlyMadeLongerAndHasABound) {
  const JobId id = run_one();
  const std::string shorter = "job 1 has a walltime of 1d already, and it can only be made longer";
  const std::string longer = "100000d is too long: a walltime is at most 3650d on this coordinator";
  for (const auto& [bad, why] : {std::pair(Duration{}, shorter),
                                 {std::chrono::hours(24), shorter},
                                 {std::chrono::days(100'000), longer}}) {
    const auto answer = turn(ExtendJob{id, bad});
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.errors()[0].code, ErrorCode::invalid);
    EXPECT_EQ(answer.errors()[0].message, why);
  }
  state_.scheduling.max_walltime = std::chrono::hours(48);
  EXPECT_FALSE(turn(ExtendJob{id, std::chrono::hours(49)}).ok()) << "the operator's bound holds for it too";
  EXPECT_TRUE(turn(ExtendJob{id, std::chrono::hours(48)}).ok());
}

TEST_F(JobOperations, AJobResumesOnlyWhatIsThereAndStaysAsItIs) {
  const JobId first = run_one();
  JobRequest request = request_for(1);
  request.resume = JobId{9};
  EXPECT_EQ(turn(SubmitExperiment{"test", {request}}).errors().at(0).message,
            "job \"job\" cannot resume: there is no job 9");
  request.resume = first;
  EXPECT_EQ(turn(SubmitExperiment{"test", {request}}).errors().at(0).message,
            "job \"job\" cannot resume: job 1 has not ended; write \"after: [{job: 1, when: any}]\" to start "
            "when it has");
  JobRequest waits = request;
  waits.after = {{first, When::any}};
  EXPECT_TRUE(turn(SubmitExperiment{"test", {waits}}).ok());
  end(first, {});
  EXPECT_TRUE(turn(SubmitExperiment{"test", {request}}).ok());
}

TEST_F(JobOperations, AJobTakesTheWeightsOfOneThatIsThereAndStaysAsItIs) {
  const JobId first = run_one();
  JobRequest request = request_for(1);
  request.init = JobId{9};
  const auto refused = turn(SubmitExperiment{"test", {request}});
  EXPECT_EQ(refused.errors().at(0).message, "job \"job\" cannot take its first weights: there is no job 9");
  EXPECT_EQ(refused.errors().at(0).where, "/model/init");
  request.init = first;
  EXPECT_EQ(turn(SubmitExperiment{"test", {request}}).errors().at(0).message,
            "job \"job\" cannot take its first weights: job 1 has not ended; write \"after: [{job: 1}]\" to "
            "start when it has");
  JobRequest waits = request;
  waits.after = {{first, When::ok}};
  ASSERT_TRUE(turn(SubmitExperiment{"test", {waits}}).ok());
  EXPECT_EQ(reason(JobId{first.value + 1}), "waits for job 1 to succeed");
  end(first, {});
  EXPECT_TRUE(turn(SubmitExperiment{"test", {request}}).ok());
}

TEST_F(JobOperations, JobsOfOneSpecFollowEachOther) {
  const JobId other = run_one();
  JobRequest first = request_for(1), second = request_for(1), third = request_for(1);
  second.after = {{other, When::any}};
  SubmitExperiment chain{"chain", {first, second, third}};
  chain.links.resize(3);
  chain.links[1].after = {{0, When::ok}};
  chain.links[1].init = 0;
  chain.links[2].after = {{0, When::ok}, {1, When::any}};
  chain.links[2].resume = 1;
  const JobId begin = state_.next_job;
  ASSERT_TRUE(turn(chain).ok());
  const JobId middle{begin.value + 1}, last{begin.value + 2};
  EXPECT_EQ(job(middle).request.after, (std::vector<Dependency>{{other, When::any}, {begin, When::ok}}));
  EXPECT_EQ(job(middle).request.init, begin);
  EXPECT_EQ(job(last).request.after, (std::vector<Dependency>{{begin, When::ok}, {middle, When::any}}));
  EXPECT_EQ(job(last).request.resume, middle);
  turn(CancelJob{begin});
  EXPECT_FALSE(lives(middle)) << "what it was to follow was cancelled";
  EXPECT_FALSE(lives(last));
}

TEST_F(JobOperations, OfJobsOfOneSpecAllAreQueuedOrNone) {
  JobRequest fits = request_for(1), never = request_for(1);
  never.kind = "tpu";
  SubmitExperiment chain{"chain", {fits, never}};
  chain.links.resize(2);
  chain.links[1].after = {{0, When::ok}};
  const JobId begin = state_.next_job;
  EXPECT_FALSE(turn(chain).ok());
  EXPECT_EQ(state_.next_job, begin);
}

}  // namespace
}  // namespace podium
