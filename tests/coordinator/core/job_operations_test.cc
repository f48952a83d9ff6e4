// Hold, release, priority, requeue, and jobs that wait for other jobs.
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
  EXPECT_EQ(state_.queues.at("cpu").at(LineKey{"default", {1, 0}}).size(), 1u) << "a pass never sees it";
  end(running, {});
  EXPECT_EQ(state_of(next), JobState::starting) << "it passes the held one";
  report(kNode);
  end(next, {});
  EXPECT_EQ(state_of(held), JobState::queued);
  turn(ReleaseJob{held});
  EXPECT_EQ(state_of(held), JobState::starting);
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
  EXPECT_TRUE(state_.queues.empty());
  end(first, {});
  EXPECT_EQ(state_of(second), JobState::starting);
  EXPECT_TRUE(state_.dependents.empty());
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

}  // namespace
}  // namespace podium
