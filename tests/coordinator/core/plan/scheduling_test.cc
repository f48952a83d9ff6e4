// Who starts, where, in which order, and what the others are told.
#include <algorithm>
#include <cstdlib>
#include <set>

#include "tests/coordinator/core/cluster_fixture.h"

namespace podium {
namespace {

class Scheduling : public ClusterTest {};

TEST_F(Scheduling, RanksCountByNodeThenDevice) {
  join(node_with("b", 2));
  join(node_with("a", 2));
  const JobId id = submit(request_for(4));
  const Allocation& allocation = job(id).attempt->allocation;
  ASSERT_EQ(allocation.ranks.size(), 4u);
  EXPECT_EQ(allocation.ranks[0], (Placement{{"a"}, 0, 0, 2, 0, 0}));
  EXPECT_EQ(allocation.ranks[1], (Placement{{"a"}, 1, 1, 2, 0, 0}));
  EXPECT_EQ(allocation.ranks[2], (Placement{{"b"}, 0, 0, 2, 1, 0}));
  EXPECT_EQ(allocation.ranks[3], (Placement{{"b"}, 1, 1, 2, 1, 0}));
  EXPECT_EQ(allocation.nodes, 2);
  EXPECT_EQ(allocation.master_address, "a.local");
}

TEST_F(Scheduling, OneProcessANodeHoldsAllOfTheJobsDevicesThereUntilItEnds) {
  const NodeDescription a = node_with("a", 3), b = node_with("b", 2);
  join(a);
  join(b);
  JobRequest request = request_for(4, 2);
  request.process_per_node = true;
  const JobId id = submit(request);
  const Allocation& allocation = job(id).attempt->allocation;
  ASSERT_EQ(allocation.ranks.size(), 2u);
  EXPECT_EQ(allocation.ranks[0], (Placement{{"a"}, 0, 0, 1, 0, 0, {1}}));
  EXPECT_EQ(allocation.ranks[1], (Placement{{"b"}, 0, 0, 1, 1, 0, {1}}));
  EXPECT_EQ(job(id).devices(), 4);
  EXPECT_EQ(node_orders(state_, b.id).tasks.at(0).launch.world_size, 2);
  EXPECT_EQ(devices_of(node_orders(state_, b.id).tasks.at(0).launch), (std::vector{0, 1}));
  report(a);
  report(b);
  const JobId next = submit(request_for(2, 2));
  EXPECT_EQ(state_of(next), JobState::queued) << "only one device of a is free";
  turn(CancelJob{id});
  report(b, {{task(id, 1), TaskExit{}}});
  EXPECT_EQ(job(id).allocated_devices(), 2);
  EXPECT_EQ(job(next).attempt->allocation.ranks[0].node.value, "b");
  EXPECT_EQ(state_.accounts.at("default").usage.at("cpu").devices, 4) << "2 of each job";
}

TEST_F(Scheduling, PacksOntoTheTightestNode) {
  join(node_with("big", 4));
  join(node_with("small", 2));
  EXPECT_EQ(job(submit(request_for(2))).attempt->allocation.ranks[0].node.value, "small");
}

TEST_F(Scheduling, SpreadsByPerNode) {
  join(node_with("a", 4));
  join(node_with("b", 4));
  const Allocation allocation = job(submit(request_for(2, 1))).attempt->allocation;
  EXPECT_EQ(allocation.ranks[0].node.value, "a");
  EXPECT_EQ(allocation.ranks[1].node.value, "b");
}

TEST_F(Scheduling, BeginsAtOtherPortsThanAnotherClusterOnTheSameNodes) {
  join(node_with("a", 3));
  std::set<int> ports;
  for (const char* cluster : {"one", "another", "a third"}) {
    state_.cluster.id = cluster;
    ports.insert(job(submit(request_for(1))).attempt->allocation.master_port / 10);
  }
  EXPECT_EQ(ports.size(), 3u);
}

TEST_F(Scheduling, GivesEveryAttemptItsOwnPorts) {
  join(node_with("a", 2));
  const int first = job(submit(request_for(1))).attempt->allocation.master_port;
  const int second = job(submit(request_for(1))).attempt->allocation.master_port;
  EXPECT_GE(std::abs(second - first), 3);
  EXPECT_LT(std::max(first, second) + 2, 32768);
}

TEST_F(Scheduling, JobsStartedByOnePlanHaveDifferentPorts) {
  const JobId first = submit(request_for(1)), second = submit(request_for(1));
  const JobId third = submit(request_for(1, 0, "gpu"));
  NodeDescription node = node_with("a", 3);
  node.devices[2].kind = "gpu";
  join(node);
  std::set<int> ports;
  for (const JobId id : {first, second, third}) {
    ASSERT_EQ(state_of(id), JobState::starting);
    ports.insert(job(id).attempt->allocation.master_port);
  }
  EXPECT_EQ(ports.size(), 3u);
}

TEST_F(Scheduling, APortOfALivingAttemptIsNotGivenAgain) {
  join(node_with("a", 3));
  const int first = job(submit(request_for(1))).attempt->allocation.master_port;
  const auto before = state_.attempts_created;
  state_.attempts_created = before - 1 + 4000;  // thousands of others started and ended meanwhile
  EXPECT_NE(job(submit(request_for(1))).attempt->allocation.master_port, first);
  state_.attempts_created = before - 1 + 8000;
  std::set<int> ports;
  for (const auto& [id, job] : state_.jobs) ports.insert(job.attempt->allocation.master_port);
  ports.insert(job(submit(request_for(1))).attempt->allocation.master_port);
  EXPECT_EQ(ports.size(), 3u);
}

// A reservation for three of four devices from when the first job ends: one is spare then.
TEST_F(Scheduling, WhatEndsAsAReservationBeginsTakesNothingOfIt) {
  join(node_with("a", 4));
  const auto with_walltime = [](int devices, int hours) {
    JobRequest request = request_for(devices);
    request.walltime = std::chrono::hours(hours);
    return request;
  };
  submit(with_walltime(2, 10));
  submit(with_walltime(3, 10));
  turn(SubmitExperiment{"both", {with_walltime(1, 10), with_walltime(1, 20)}});
  EXPECT_EQ(state_of({3}), JobState::starting) << "it is gone when the other begins";
  EXPECT_EQ(state_of({4}), JobState::starting) << "on the spare one";
}

TEST_F(Scheduling, StartsGangsWholeOrNotAtAll) {
  join(node_with("a", 2));
  join(node_with("b", 1));
  submit(request_for(2));
  const JobId gang = submit(request_for(2));
  EXPECT_EQ(state_of(gang), JobState::queued);
  EXPECT_EQ(reason(gang), "needs 2 free cpu devices on nodes that are up; 1 is free");
}

TEST_F(Scheduling, GoesByPriorityThenAge) {
  join(node_with("a", 1));
  submit(request_for(1));
  const JobId old = submit(request_for(1)), young = submit(request_for(1));
  JobRequest urgent = request_for(1);
  urgent.priority = 90;
  const JobId first = submit(urgent);
  const auto order = state_.indexes.queues.at("cpu").at(JobClass{"default", {1, 0}});
  std::vector<JobId> ids;
  for (const QueueKey& key : order) ids.push_back(key.job);
  EXPECT_EQ(ids, (std::vector<JobId>{first, old, young}));
  EXPECT_EQ(reason(young), "needs 1 free cpu device on nodes that are up; none is free");
}

TEST_F(Scheduling, TellsTheRestWhomTheyWaitBehind) {
  join(node_with("a", 1));
  submit(request_for(1));
  const JobId first = submit(request_for(1));
  for (int i = 0; i < state_.scheduling.reservations; ++i) submit(request_for(1));
  EXPECT_EQ(reason(submit(request_for(1))),
            "waits behind job " + to_string(first) +
                ", which needs 1 free cpu device on nodes that are up; none is free");
}

TEST_F(Scheduling, FillsGapsWithoutDelayingAReservedJob) {
  join(node_with("a", 3));
  JobRequest running = request_for(2);
  running.walltime = std::chrono::hours(4);
  submit(running);
  JobRequest wide = request_for(3);
  wide.walltime = std::chrono::hours(1);
  const JobId gang = submit(wide);
  ASSERT_EQ(plan_.reservations.size(), 1u);
  EXPECT_EQ(plan_.reservations[0].at, now_ + std::chrono::hours(4));

  JobRequest small = request_for(1);
  small.walltime = std::chrono::hours(5);
  const JobId too_long = submit(small);
  small.walltime = std::chrono::hours(4);
  const JobId in_time = submit(small);
  EXPECT_EQ(state_of(gang), JobState::queued);
  EXPECT_EQ(state_of(too_long), JobState::queued) << "it would take what the gang waits for";
  EXPECT_EQ(state_of(in_time), JobState::starting);
}

TEST_F(Scheduling, LongJobsFillWhatAReservationLeaves) {
  join(node_with("a", 4));
  JobRequest running = request_for(2);
  running.walltime = std::chrono::hours(1);
  submit(running);
  const JobId gang = submit(request_for(3));
  EXPECT_EQ(state_of(gang), JobState::queued);
  EXPECT_EQ(state_of(submit(request_for(1))), JobState::starting) << "the fourth device is nobody's";
  EXPECT_EQ(state_of(submit(request_for(1))), JobState::queued);
}

TEST_F(Scheduling, ReservesForSeveralJobsAtOnce) {
  join(node_with("a", 2));
  JobRequest request = request_for(2);
  request.walltime = std::chrono::hours(2);
  submit(request);
  submit(request);
  submit(request);
  ASSERT_EQ(plan_.reservations.size(), 2u);
  EXPECT_EQ(plan_.reservations[0].at, now_ + std::chrono::hours(2));
  EXPECT_EQ(plan_.reservations[1].at, now_ + std::chrono::hours(4));
}

TEST_F(Scheduling, FifoLetsNobodyPass) {
  state_.scheduling.policy = PolicyKind::fifo;
  join(node_with("a", 3));
  submit(request_for(2));
  submit(request_for(3));
  JobRequest short_job = request_for(1);
  short_job.walltime = std::chrono::minutes(1);
  EXPECT_EQ(state_of(submit(short_job)), JobState::queued);
}

TEST_F(Scheduling, WaitingWeighsAgainstPriority) {
  join(node_with("a", 1));
  submit(request_for(1));
  const JobId old = submit(request_for(1));
  now_ += std::chrono::hours(11);
  turn(Tick{});
  JobRequest urgent = request_for(1);
  urgent.priority = 60;
  submit(urgent);
  EXPECT_EQ(state_.indexes.queues.at("cpu").at(JobClass{"default", {1, 0}}).begin()->job, old)
      << "11 h of waiting outweigh 10 points";
}

TEST_F(Scheduling, DevicesABlockedJobCannotUseAreFree) {
  join(node_with("big", 2));
  join(node_with("small", 1));
  join(node_with("gpu", 1, "gpu"));
  submit(request_for(1, 1));  // takes the tightest node, "small"
  submit(request_for(1));     // on "big"
  const JobId gang = submit(request_for(2, 2));
  turn(CancelJob{{1}});
  report(node_with("small", 1), {{task({1}, 0), {}}});
  EXPECT_EQ(state_of(gang), JobState::queued);
  EXPECT_EQ(reason(gang), "needs 2 free cpu devices on one node that is up; the most on one is 1");
  EXPECT_EQ(state_of(submit(request_for(1))), JobState::starting) << "on the small node";
  EXPECT_EQ(state_of(submit(request_for(1, 0, "gpu"))), JobState::starting);
}

TEST_F(Scheduling, RefusesWhatCanNeverRun) {
  join(node_with("a", 8, "gpu"));
  const auto answer =
      turn(SubmitExperiment{"x", {request_for(16, 0, "gpu"), request_for(1), request_for(8, 0, "gpu")}});
  ASSERT_EQ(answer.errors().size(), 2u) << "every job that cannot run, not the first alone";
  EXPECT_EQ(answer.errors()[0].message, "job \"job\" asks for 16 gpu devices; the cluster has 8 on 1 node");
  EXPECT_EQ(answer.errors()[1].message, "job \"job\" asks for 1 cpu device; the cluster has 0 on 0 nodes");
  EXPECT_TRUE(state_.jobs.empty()) << "all jobs of a spec or none";
  join(node_with("b", 8, "gpu"));
  EXPECT_EQ(turn(SubmitExperiment{"x", {request_for(12, 12, "gpu")}}).errors().at(0).message,
            "job \"job\" asks for 12 gpu devices, 12 on each node; the cluster has 2 nodes with gpu devices, "
            "with at "
            "most 8 on one");
}

TEST_F(Scheduling, QueuesWhileNoNodeIsKnown) {
  const JobId id = submit(request_for(3));
  EXPECT_EQ(reason(id), "needs 3 free cpu devices on nodes that are up; none is free");
  join(node_with("a", 2));
  EXPECT_EQ(reason(id), "asks for 3 cpu devices; the cluster has 2 on 1 node");
  EXPECT_EQ(state_of(submit(request_for(1))), JobState::starting) << "it does not block those that can run";
}

TEST_F(Scheduling, LeavesUnhealthyDevicesAlone) {
  NodeDescription node = node_with("a", 2);
  node.devices[0].health = "too many memory errors";
  join(node);
  EXPECT_EQ(job(submit(request_for(1))).attempt->allocation.ranks[0].device, 1);
  const JobId second = submit(request_for(1));
  EXPECT_EQ(reason(second), "needs 1 free cpu device on nodes that are up; none is free");
}

TEST_F(Scheduling, PreemptsTheLowestAndYoungestOnlyWhenTold) {
  join(node_with("a", 2));
  JobRequest low = request_for(1);
  low.priority = 10;
  const JobId older = submit(low);
  now_ += std::chrono::seconds(1);
  const JobId younger = submit(low);
  JobRequest high = request_for(1);
  high.priority = 90;
  submit(high);
  EXPECT_EQ(state_of(younger), JobState::starting) << "not by default";

  state_.scheduling.preempt = true;
  turn(Tick{});
  EXPECT_EQ(state_of(older), JobState::starting);
  EXPECT_EQ(state_of(younger), JobState::stopping);
  turn(Tick{});
  EXPECT_EQ(state_of(older), JobState::starting) << "one that leaves is enough";
}

// It would go first again as soon as it had left.
TEST_F(Scheduling, PriorityDoesNotStopAJobWhoseAgeOutweighsIt) {
  state_.scheduling.preempt = true;
  join(node_with("a", 1));
  JobRequest low = request_for(1);
  low.walltime = std::chrono::hours(10);
  JobRequest high = low;
  low.priority = 49;
  const JobId old = submit(low);
  now_ += std::chrono::hours(2);
  report(node_with("a", 1));
  submit(high);
  EXPECT_EQ(job(old).attempt->stop, StopCause::none);
  high.priority = 53;
  submit(high);
  EXPECT_EQ(job(old).attempt->stop, StopCause::preempted);
}

// The gang needs what a job started in the very same plan will leave.
TEST_F(Scheduling, ReservesWhatThisPlanHasJustGiven) {
  join(node_with("a", 2));
  const JobId id = state_.next_job;
  JobRequest longer = request_for(1);
  longer.walltime += std::chrono::hours(1);
  turn(SubmitExperiment{"test", {request_for(1), request_for(2), longer}});
  EXPECT_EQ(state_of(id), JobState::starting);
  EXPECT_EQ(state_of({id.value + 1}), JobState::queued);
  EXPECT_EQ(state_of({id.value + 2}), JobState::queued) << "it would delay the gang";
}

// 106751991167d overflowed into the past: first in the queue, past reservations, and over as soon as it ran.
TEST_F(Scheduling, AnOperatorBoundsTheWalltime) {
  join(node_with("a", 1));
  state_.scheduling.max_walltime = std::chrono::hours(48);
  JobRequest request = request_for(1);
  request.walltime = std::chrono::hours(48);
  EXPECT_TRUE(turn(SubmitExperiment{"x", {request}}).ok());
  request.walltime += Duration(1);
  EXPECT_EQ(
      turn(SubmitExperiment{"x", {request}}).errors().at(0).message,
      "job \"job\" has a walltime of 2d1ms; this coordinator allows at most 2d (its --max-walltime): set "
      "resources.walltime");
}

}  // namespace
}  // namespace podium
