// Elastic jobs: how many devices they start on, when they grow and shrink, and who gets what they give up.
#include "coordinator/core/plan/elastic.h"

#include "common/model/sizes.h"
#include "tests/coordinator/core/cluster_fixture.h"

namespace podium {
namespace {

class Elastic : public ClusterTest {
 protected:
  static JobRequest elastic(std::vector<int> sizes) {
    JobRequest request = request_for(sizes.front());
    request.sizes = std::move(sizes);
    return request;
  }
  static JobRequest with_priority(JobRequest request, int priority) {
    request.priority = priority;
    return request;
  }
  static JobRequest of_account(JobRequest request, const std::string& account) {
    request.account = account;
    return request;
  }

  void join_and_keep(const NodeDescription& node) {
    nodes_.push_back(node);
    join(node);
  }

  // All nodes report: their tasks run, and those that were told to stop have left.
  void settle() {
    for (const NodeDescription& node : nodes_) {
      std::vector<Told> left;
      for (const TaskOrder& order : node_orders(state_, node.id).tasks)
        if (order.action == TaskAction::stop) left.push_back({order.launch.task, {}});
      report(node, left);
    }
  }

  // Minutes in which all nodes report; what was told to stop leaves.
  void run(int minutes) {
    for (int i = 0; i < minutes * 12; ++i) {
      now_ += std::chrono::seconds(5);
      settle();
      turn(Tick{});
    }
  }

  // Ends the job's processes well.
  void finish(JobId id) {
    for (const NodeDescription& node : nodes_) {
      std::vector<Told> left;
      for (const TaskOrder& order : node_orders(state_, node.id).tasks)
        if (order.launch.task.attempt.job == id) left.push_back({order.launch.task, {}});
      report(node, left);
    }
  }

  // From 4 to all 8 devices of the only node.
  JobId job_on_its_way_to_grow() {
    join_and_keep(node_with("a", 8));
    const JobId other = submit(request_for(4));
    const JobId id = submit(elastic({4, 8}));
    settle();
    run(11);
    finish(other);
    return id;
  }

  int size_of(JobId id) { return state_.jobs.contains(id) ? job(id).devices() : 0; }
  StopCause stop_of(JobId id) { return job(id).attempt ? job(id).attempt->stop : StopCause::none; }

  std::vector<NodeDescription> nodes_;
};

TEST_F(Elastic, StartsOnAsManyDevicesAsAreFree) {
  join_and_keep(node_with("a", 8));
  submit(request_for(3));
  const JobId id = submit(elastic({2, 4, 8}));
  EXPECT_EQ(state_of(id), JobState::starting);
  EXPECT_EQ(size_of(id), 4);
}

TEST_F(Elastic, WaitsForTheFewestDevicesItMayRunOn) {
  join_and_keep(node_with("a", 4));
  submit(request_for(3));
  const JobId id = submit(elastic({2, 4}));
  EXPECT_EQ(state_of(id), JobState::queued);
  EXPECT_EQ(reason(id), "needs 2 free cpu devices on nodes that are up; 1 is free");
}

TEST_F(Elastic, PassesAReservationWithWhatItLeaves) {
  join_and_keep(node_with("a", 8));
  submit(request_for(2));
  JobRequest next = request_for(4);
  next.walltime = std::chrono::hours(48);
  JobRequest long_one = request_for(5);
  long_one.walltime = std::chrono::hours(24);
  submit(long_one);
  submit(next);  // starts when the first ends, on 4 of the 8: one device is left beside it and the long one
  JobRequest late = elastic({1, 2});
  late.walltime = std::chrono::hours(48);
  submit(request_for(1));
  const JobId id = submit(late);
  EXPECT_NE(state_of(id), JobState::starting) << "all devices are taken or promised";
}

TEST_F(Elastic, StaysWithinItsAccountsLimit) {
  join_and_keep(node_with("a", 8));
  turn(ChangeAccount{"nlp", {}, {}, {{"cpu", 5}}});
  const JobId id = submit(of_account(elastic({2, 4, 8}), "nlp"));
  EXPECT_EQ(size_of(id), 4);
  run(30);
  EXPECT_EQ(size_of(id), 4) << "it does not grow beyond the limit";
}

// While jobs within their quotas are looked at, nobody takes what another's quota covers.
TEST_F(Elastic, BorrowsNothingThatAWaitingJobIsGuaranteed) {
  turn(ChangeAccount{"nlp", {}, {{"cpu", 4}}, {}});
  turn(ChangeAccount{"vision", {}, {{"cpu", 4}}, {}});
  const JobId id = submit(of_account(elastic({2, 4, 8}), "nlp"));
  const JobId other = submit(of_account(request_for(4), "vision"));
  join_and_keep(node_with("a", 8));
  EXPECT_EQ(size_of(id), 4);
  EXPECT_EQ(state_of(other), JobState::starting);
}

TEST_F(Elastic, GrowsIntoDevicesThatNobodyWants) {
  join_and_keep(node_with("a", 8));
  const JobId other = submit(request_for(4));
  const JobId id = submit(elastic({2, 4, 8}));
  settle();
  EXPECT_EQ(size_of(id), 4);
  finish(other);
  run(9);
  EXPECT_EQ(job(id).attempts, 1) << "an attempt keeps its size for ten minutes";
  const RetryCounts before = job(id).retries;
  run(2);
  EXPECT_EQ(job(id).attempts, 2);
  EXPECT_EQ(size_of(id), 8);
  EXPECT_EQ(state_of(id), JobState::running);
  EXPECT_EQ(job(id).retries, before);
  run(60);
  EXPECT_EQ(job(id).attempts, 2) << "it has all it may have";
}

TEST_F(Elastic, TellsWhatHappenedToItsSize) {
  const JobId id = job_on_its_way_to_grow();
  ASSERT_TRUE(job(id).resize);
  const Event planned{now_, ResizePlanned{job(id).attempt_id(), *job(id).resize}};
  EXPECT_EQ(describe(planned), "attempt 1 grows from 4 to 8 devices");
  std::vector<Told> left;
  for (int rank = 0; rank < 4; ++rank) left.push_back({task(id, rank), {}});
  const NodeOrders orders = node_orders(state_, {"a"});
  NodeReport report{nodes_[0], {}, orders.version};
  for (const Told& told : left) report.tasks.push_back({told.task, TaskState::exited, 1, told.exit});
  const auto events = turn(NodeReported{report});
  const auto* ended = find<AttemptEnded>(events);
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->end, AttemptEnd::resized);
  EXPECT_EQ(ended->reason, "grew from 4 to 8 devices");
  EXPECT_EQ(find<JobStateChanged>(events)->reason, "grew from 4 to 8 devices; queued again at no cost");
  EXPECT_EQ(size_of(id), 8);
}

TEST_F(Elastic, GrowsSoonAfterACheckpointWhereItWritesThem) {
  join_and_keep(node_with("a", 8));
  const JobId other = submit(request_for(4));
  JobRequest request = elastic({4, 8});
  request.saves = true;
  const JobId id = submit(request);
  settle();
  finish(other);
  run(30);
  EXPECT_EQ(job(id).attempts, 1);
  turn(CheckpointSaved{job(id).attempt_id(), 100});
  EXPECT_EQ(stop_of(id), StopCause::resized);
}

// The loop plans again only when the last plan is stale.
TEST_F(Elastic, ACheckpointOfAJobThatMayGrowCallsForAPlan) {
  join_and_keep(node_with("a", 8));
  const JobId other = submit(request_for(4));
  JobRequest request = elastic({4, 8});
  request.saves = true;
  const JobId id = submit(request);
  settle();
  finish(other);
  run(11);
  ASSERT_FALSE(plan_.stale(state_, now_));
  apply_all(state_, *handle(state_, CheckpointSaved{job(id).attempt_id(), 100}, now_));
  EXPECT_TRUE(plan_.stale(state_, now_));
}

TEST_F(Elastic, AnAttemptThatIsOldEnoughCallsForAPlan) {
  join_and_keep(node_with("a", 8));
  const JobId other = submit(request_for(4));
  const JobId id = submit(elastic({4, 8}));
  settle();
  finish(other);
  const Time old_enough = job(id).attempt->created + state_.scheduling.resize_after;
  EXPECT_FALSE(plan_.stale(state_, now_));
  EXPECT_TRUE(plan_.stale(state_, old_enough));
  now_ = old_enough;
  const Plan plan = make_plan(state_, now_);
  EXPECT_EQ(plan.resize.size(), 1u);
}

TEST_F(Elastic, DoesNotGrowWhileAJobWaitsForDevices) {
  join_and_keep(node_with("a", 8));
  const JobId other = submit(request_for(4));
  const JobId id = submit(elastic({2, 4, 8}));
  const JobId large = submit(with_priority(request_for(8), 10));
  settle();
  finish(other);
  run(30);
  EXPECT_EQ(size_of(id), 4);
  EXPECT_EQ(job(id).attempts, 1);
  EXPECT_EQ(state_of(large), JobState::queued);
}

// From the order to stop until it runs again, what it grows into is nobody else's.
TEST_F(Elastic, GetsTheDevicesItStoppedFor) {
  const JobId id = job_on_its_way_to_grow();
  ASSERT_EQ(stop_of(id), StopCause::resized);
  const JobId thief = submit(with_priority(request_for(4), 100));
  EXPECT_EQ(state_of(thief), JobState::queued);
  settle();
  EXPECT_EQ(size_of(id), 8);
  EXPECT_EQ(state_of(thief), JobState::queued);
  run(11);
  EXPECT_EQ(size_of(id), 4) << "and gives them up when its time has come";
  EXPECT_EQ(state_of(thief), JobState::running);
}

TEST_F(Elastic, ShrinksNoFurtherThanItTakes) {
  join_and_keep(node_with("a", 8));
  const JobId id = submit(elastic({2, 4, 6, 8}));
  settle();
  run(11);
  const JobId next = submit(request_for(2));
  ASSERT_EQ(stop_of(id), StopCause::resized);
  EXPECT_EQ(*job(id).resize, (Resize{8, 6, {{{"a"}, 6}}, next}));
  const JobId thief = submit(request_for(2));
  settle();
  EXPECT_EQ(size_of(id), 6);
  EXPECT_EQ(state_of(next), JobState::starting);
  EXPECT_EQ(state_of(thief), JobState::queued) << "what is released goes to the job it was released for";
}

TEST_F(Elastic, ShrinksForNobodyOfLowerPriority) {
  join_and_keep(node_with("a", 8));
  const JobId id = submit(elastic({2, 4, 8}));
  settle();
  run(11);
  submit(with_priority(request_for(2), 49));
  run(30);
  EXPECT_EQ(size_of(id), 8);
}

TEST_F(Elastic, ShrinksBeforeAnyJobIsStopped) {
  state_.scheduling.preempt = true;
  join_and_keep(node_with("a", 8));
  const JobId rigid = submit(with_priority(request_for(4), 10));
  const JobId id = submit(with_priority(elastic({2, 4}), 20));
  settle();
  run(11);
  const JobId urgent = submit(with_priority(request_for(2), 90));
  EXPECT_EQ(stop_of(rigid), StopCause::none);
  EXPECT_EQ(stop_of(id), StopCause::resized);
  settle();
  EXPECT_EQ(state_of(urgent), JobState::starting);
  EXPECT_EQ(size_of(id), 2);
}

TEST_F(Elastic, SeveralShrinkTogether) {
  join_and_keep(node_with("a", 4));
  join_and_keep(node_with("b", 4));
  const JobId one = submit(elastic({2, 4}));
  const JobId two = submit(elastic({2, 4}));
  settle();
  run(11);
  const JobId next = submit(request_for(4));
  EXPECT_EQ(stop_of(one), StopCause::resized);
  EXPECT_EQ(stop_of(two), StopCause::resized);
  settle();
  settle();
  EXPECT_EQ(state_of(next), JobState::running);
  EXPECT_EQ(size_of(one), 2);
  EXPECT_EQ(size_of(two), 2);
}

TEST_F(Elastic, NobodyStopsWhereShrinkingWouldNotDo) {
  join_and_keep(node_with("a", 4));
  join_and_keep(node_with("b", 4));
  const JobId one = submit(elastic({2, 4}));
  const JobId two = submit(elastic({2, 4}));
  settle();
  run(11);
  JobRequest wide = request_for(3);
  wide.within = Within::node;
  submit(wide);
  EXPECT_EQ(stop_of(one), StopCause::none);
  EXPECT_EQ(stop_of(two), StopCause::none);
}

// It keeps what the other could not use.
TEST_F(Elastic, GivesUpTheNodesThatAreWanted) {
  NodeDescription nlp = node_with("a", 4);
  nlp.labels["partition"] = "nlp";
  join_and_keep(nlp);
  join_and_keep(node_with("b", 4));
  const JobId id = submit(elastic({4, 8}));
  settle();
  run(11);
  JobRequest picky = request_for(3);
  picky.nodes["partition"] = "nlp";
  const JobId next = submit(picky);
  settle();
  settle();
  EXPECT_EQ(state_of(next), JobState::running);
  EXPECT_EQ(job(id).attempt->allocation.ranks.front().node, NodeId{"b"});
  EXPECT_EQ(size_of(id), 4);
}

TEST_F(Elastic, ABorrowerShrinksForAJobWithinItsQuota) {
  join_and_keep(node_with("a", 8));
  turn(ChangeAccount{"nlp", {}, {{"cpu", 4}}, {}});
  const JobId id = submit(with_priority(of_account(elastic({2, 4, 8}), "vision"), 90));
  settle();
  run(11);
  const JobId own = submit(with_priority(of_account(request_for(4), "nlp"), 10));
  EXPECT_EQ(stop_of(id), StopCause::resized);
  settle();
  EXPECT_EQ(state_of(own), JobState::starting);
  EXPECT_EQ(size_of(id), 4);
  const JobId more = submit(with_priority(of_account(request_for(2), "nlp"), 10));
  run(20);
  EXPECT_EQ(size_of(id), 4) << "beyond the quota its priority counts";
  EXPECT_EQ(state_of(more), JobState::queued);
}

TEST_F(Elastic, AHeldJobKeepsItsSizeAndALeavingOneItsDevicesNoLonger) {
  join_and_keep(node_with("a", 8));
  const JobId other = submit(request_for(4));
  const JobId held = submit(elastic({4, 8}));
  settle();
  turn(HoldJob{held});
  finish(other);
  run(20);
  EXPECT_EQ(job(held).attempts, 1) << "it would not start again";
  turn(ReleaseJob{held});
  ASSERT_EQ(stop_of(held), StopCause::resized);
  turn(HoldJob{held});
  EXPECT_EQ(state_of(submit(request_for(4))), JobState::starting);
  settle();
  EXPECT_EQ(state_of(held), JobState::queued);
  turn(ReleaseJob{held});
  EXPECT_EQ(size_of(held), 4);
  EXPECT_EQ(state_of(held), JobState::starting);
}

TEST_F(Elastic, ACancelledJobKeepsNothing) {
  const JobId id = job_on_its_way_to_grow();
  ASSERT_EQ(stop_of(id), StopCause::resized);
  turn(CancelJob{id});
  EXPECT_EQ(state_of(submit(request_for(4))), JobState::starting);
}

TEST_F(Elastic, StartsOnWhatIsLeftWhereItsNewNodeIsGone) {
  join_and_keep(node_with("a", 4));
  join_and_keep(node_with("b", 4));
  const JobId other = submit(request_for(4));
  const JobId id = submit(elastic({4, 8}));
  settle();
  run(11);
  finish(other);
  ASSERT_EQ(stop_of(id), StopCause::resized);
  const NodeId free = job(other.value == 1 ? id : other).attempt->allocation.ranks.front().node == NodeId{"a"}
                          ? NodeId{"b"}
                          : NodeId{"a"};
  turn(DrainNode{free, "gone", {}, {}});
  settle();
  EXPECT_EQ(state_of(id), JobState::starting);
  EXPECT_EQ(size_of(id), 4);
}

TEST_F(Elastic, NeedsNoRetriesHoweverOftenItIsResized) {
  join_and_keep(node_with("a", 8));
  JobRequest request = elastic({4, 8});
  request.max_restarts = 0;
  const JobId id = submit(request);
  settle();
  for (int i = 0; i < 3; ++i) {
    run(11);
    const JobId other = submit(request_for(4));
    run(1);
    EXPECT_EQ(size_of(id), 4);
    finish(other);
    run(12);
    EXPECT_EQ(size_of(id), 8);
  }
  EXPECT_EQ(job(id).attempts, 7);
  EXPECT_EQ(job(id).retries, RetryCounts{});
  EXPECT_EQ(job(id).not_before, std::nullopt);
}

TEST(Sizes, AreTheMultiplesThatLeaveTheBatchAsItIs) {
  SizeRules rules{.min = 1, .max = 16, .layout = {.tensor = 2}};
  rules.batches = {{96, 4}};  // 24 micro batches over 1, 2, 3, 4, 6 or 8 copies
  EXPECT_EQ(permitted_sizes(rules), (std::vector<int>{2, 4, 6, 8, 12, 16}));
  rules.batches.push_back({64, 4});
  EXPECT_EQ(permitted_sizes(rules), (std::vector<int>{2, 4, 8, 16}));
  rules.per_node = 8;
  EXPECT_EQ(permitted_sizes(rules), (std::vector<int>{8, 16}));
  EXPECT_EQ(permitted_sizes({.min = 3, .max = 6}), (std::vector<int>{3, 4, 5, 6}));
}

// An interleaved pipeline takes whole rounds of micro batches: 24, 12, 8 and 6 a copy, and not 4 × 6 ÷ 5.
TEST(Sizes, RespectAnInterleavedPipeline) {
  SizeRules rules{.min = 4, .max = 32, .layout = {.pipeline = 4, .interleave = 2}};
  rules.batches = {{24, 1}};
  EXPECT_EQ(permitted_sizes(rules), (std::vector<int>{4, 8, 12, 24}));
}

TEST_F(Elastic, GrowsToExactlyItsAccountsLimit) {
  join_and_keep(node_with("a", 8));
  turn(ChangeAccount{"nlp", {}, {}, {{"cpu", 6}}});
  const JobId other = submit(request_for(5));
  const JobId id = submit(of_account(elastic({2, 4, 6, 8}), "nlp"));
  settle();
  ASSERT_EQ(size_of(id), 2);
  finish(other);
  run(12);
  EXPECT_EQ(size_of(id), 6);
}

TEST_F(Elastic, ALimitLoweredWhileItGrowsKeepsItFromItsNewSize) {
  join_and_keep(node_with("a", 8));
  turn(ChangeAccount{"nlp", {}, {}, {{"cpu", 8}}});
  const JobId other = submit(request_for(4));
  const JobId id = submit(of_account(elastic({4, 8}), "nlp"));
  settle();
  run(11);
  finish(other);
  ASSERT_EQ(stop_of(id), StopCause::resized);
  turn(ChangeAccount{"nlp", {}, {}, {{"cpu", 4}}});
  settle();
  run(1);
  EXPECT_EQ(size_of(id), 4);
}

TEST_F(Elastic, ShrinksToASizeThatItsLoweredLimitLetsItComeBackWith) {
  join_and_keep(node_with("a", 8));
  turn(ChangeAccount{"nlp", {}, {}, {}});
  const JobId id = submit(of_account(elastic({2, 4, 6, 8}), "nlp"));
  settle();
  turn(ChangeAccount{"nlp", {}, {}, {{"cpu", 5}}});
  run(11);
  const JobId next = submit(request_for(2));
  ASSERT_EQ(stop_of(id), StopCause::resized);
  EXPECT_EQ(job(id).resize->to, 4) << "6 would be too many";
  settle();
  EXPECT_EQ(size_of(id), 4);
  EXPECT_EQ(state_of(next), JobState::starting);
}

// While the one that grows is away its account holds the devices that are left, and is given none twice.
TEST_F(Elastic, AJobThatGrowsGivesUpNothing) {
  const JobId id = job_on_its_way_to_grow();
  ASSERT_EQ(stop_of(id), StopCause::resized);
  EXPECT_EQ(surplus_devices(job(id)), 0);
  report(nodes_[0], {{task(id, 0), {}}});
  EXPECT_EQ(job(id).allocated_devices(), 3);
  EXPECT_EQ(surplus_devices(job(id)), 0);
}

}  // namespace
}  // namespace podium
