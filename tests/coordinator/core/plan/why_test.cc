// What a waiting job is told: clusters small enough to know the answer by hand.
#include "coordinator/core/plan/why.h"

#include "tests/coordinator/core/cluster_fixture.h"

namespace podium {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

class Why : public ClusterTest {
 protected:
  JobId submit_for(int devices, Duration walltime, int per_node = 0) {
    JobRequest request = request_for(devices, per_node);
    request.walltime = walltime;
    return submit(request);
  }
  std::vector<Blocker> blockers(JobId id) { return blockers_of(state_, plan_, id, now_); }
  std::vector<BlockerCode> codes(JobId id) {
    std::vector<BlockerCode> codes;
    for (const Blocker& blocker : blockers(id)) codes.push_back(blocker.code);
    return codes;
  }
};

TEST_F(Why, CountsNodesForAJobThatWantsSoManyDevicesOnEach) {
  join(node_with("a", 2));
  join(node_with("b", 2));
  const JobId one = submit_for(1, hours(3));
  const JobId gang = submit_for(4, hours(1), 2);
  const std::vector<Blocker> found = blockers(gang);
  ASSERT_EQ(codes(gang), (std::vector{BlockerCode::devices, BlockerCode::running}));
  EXPECT_EQ(found[0].sentence, "needs 2 nodes that are up with 2 free cpu devices each; 1 node has as many");
  EXPECT_EQ(std::tuple(found[0].needs, found[0].has, found[0].per_node), std::tuple(2, 1, 2));
  EXPECT_EQ(found[1].job, one);
  EXPECT_EQ(found[1].nodes, (std::vector<NodeId>{{"a"}}));
  EXPECT_EQ(found[1].until, now_ + hours(3));
  EXPECT_EQ(found[1].sentence, "job 1 on a holds 1 cpu device and ends within 3h");
}

TEST_F(Why, NamesTheFirstJobsToEndWhoseRoomItNeedsAndNoOthers) {
  join(node_with("a", 2));
  join(node_with("b", 2));
  submit_for(1, hours(1));  // on a; its room is of no use
  const JobId second = submit_for(1, hours(5));
  const JobId soon = submit_for(2, hours(2));
  const JobId gang = submit_for(2, hours(1), 2);
  const std::vector<Blocker> found = blockers(gang);
  ASSERT_GE(found.size(), 2u);
  EXPECT_EQ(found[1].job, soon);
  EXPECT_TRUE(std::ranges::none_of(found, [&](const Blocker& b) { return b.job == second; }));
}

TEST_F(Why, TellsWhomAJobWouldDelay) {
  join(node_with("a", 3));
  submit_for(2, hours(4));
  const JobId gang = submit_for(3, hours(1));
  const JobId small = submit_for(1, hours(5));
  const std::vector<Blocker> found = blockers(small);
  ASSERT_EQ(codes(small), (std::vector{BlockerCode::reserved, BlockerCode::queue}));
  EXPECT_EQ(found[0].job, gang);
  EXPECT_EQ(found[0].until, now_ + hours(4));
  EXPECT_EQ(reason(small), found[0].sentence);
  EXPECT_EQ(found[1].has, 1);
  EXPECT_EQ(found[1].sentence, "1 job goes before it: job 2");
}

TEST_F(Why, CountsTheNodesThatGetNoWork) {
  join(node_with("a", 2));
  join(node_with("b", 2));
  const JobId wide = submit_for(4, hours(1));
  const JobId next = submit_for(3, hours(1));
  EXPECT_EQ(state_of(wide), JobState::starting);
  wait(30);  // in silence
  const std::vector<Blocker> found = blockers(next);
  const auto away = std::ranges::find(found, BlockerCode::unavailable, &Blocker::code);
  ASSERT_NE(away, found.end());
  EXPECT_EQ(away->has, 4);
  EXPECT_EQ(away->sentence, "4 cpu devices cannot be used: a, b are not up");
}

// A node whose home could not be written had no devices to give, and nothing said so.
TEST_F(Why, TellsWhyDevicesAreUnhealthy) {
  const auto sick = [](const std::string& id, int devices, const std::string& why) {
    NodeDescription node = node_with(id, devices);
    for (int i = 1; i < devices; ++i) node.devices[i].health = why;
    return node;
  };
  join(sick("a", 3, "cannot start tasks: cannot write /home/jobs: No space left on device"));
  const JobId job = submit_for(2, hours(1));
  const auto told = [&] {
    const std::vector<Blocker> found = blockers(job);
    const auto unhealthy = std::ranges::find(found, BlockerCode::unavailable, &Blocker::code);
    return unhealthy == found.end() ? Blocker{} : *unhealthy;
  };
  EXPECT_EQ(told().sentence,
            "2 cpu devices on a are unhealthy: cannot start tasks: cannot write /home/jobs: No space left on "
            "device");
  EXPECT_EQ(std::tuple(told().has, told().nodes), std::tuple(2, std::vector<NodeId>{{"a"}}));
  join(sick("b", 2, "another reason"));
  EXPECT_EQ(state_of(job), JobState::starting) << "the healthy one of each";
}

TEST_F(Why, NamesOneOfTheNodesWithUnhealthyDevices) {
  NodeDescription a = node_with("a", 1), b = node_with("b", 1);
  a.devices[0].health = "row remapping failed";
  b.devices[0].health = "fell off the bus";
  join(a);
  join(b);
  const JobId job = submit_for(1, hours(1));
  ASSERT_EQ(codes(job).back(), BlockerCode::unavailable);
  EXPECT_EQ(blockers(job).back().sentence,
            "2 cpu devices on a, b are unhealthy, 1 of them on a: row remapping failed");
}

TEST_F(Why, AJobInTheQueueOfAnotherKindIsNotAhead) {
  join(node_with("a", 1));
  join(node_with("b", 1, "gpu"));
  submit_for(1, hours(1));
  submit_for(1, hours(1));
  submit(request_for(1, 0, "gpu"));
  const JobId waiting = submit(request_for(1, 0, "gpu"));
  EXPECT_EQ(codes(waiting), (std::vector{BlockerCode::devices, BlockerCode::running}));
}

TEST_F(Why, AJobThatRunsHasNothingInItsWay) {
  join(node_with("a", 1));
  EXPECT_TRUE(blockers(submit(request_for(1))).empty());
  EXPECT_TRUE(blockers(JobId{99}).empty());
}

TEST_F(Why, CountsTheJobsAheadByAccount) {
  join(node_with("a", 1));
  submit_for(1, hours(1));
  for (const char* account : {"nlp", "cv", "nlp"}) {
    JobRequest request = request_for(1);
    request.account = account;
    submit(request);
  }
  const JobId last = submit_for(1, hours(24));
  Blocker queue = blockers(last).back();
  EXPECT_EQ(queue.code, BlockerCode::queue);
  EXPECT_EQ(queue.sentence, "3 jobs go before it: 2 of account nlp and 1 of cv, job 2 first");
  EXPECT_EQ(queue.accounts, (std::map<std::string, std::int64_t>{{"cv", 1}, {"nlp", 2}}));
  for (int i = 0; i < 3; ++i)
    for (const char* account : {"speech", "robots"}) {
      JobRequest request = request_for(1);
      request.account = account;
      request.priority = 90;
      submit(request);
    }
  queue = blockers(last).back();
  EXPECT_EQ(
      queue.sentence,
      "9 jobs go before it: 3 of account robots, 3 of speech, 2 of nlp and 1 of other accounts, job 6 first");
}

TEST_F(Why, SaysThatAnAccountIsBeyondItsQuota) {
  join(node_with("a", 4));
  turn(ChangeAccount{"nlp", {}, {{"cpu", 3}}, {}});
  JobRequest request = request_for(2);
  request.account = "nlp/bert";
  submit(request);
  submit(request);
  request.devices = 1;
  const auto found = blockers(submit(request));
  const auto quota = std::ranges::find(found, BlockerCode::quota, &Blocker::code);
  ASSERT_NE(quota, found.end());
  EXPECT_EQ(quota->sentence,
            "account nlp would hold 5 cpu devices and is guaranteed 3, so that the job can only borrow what "
            "others leave");
  EXPECT_EQ(quota->needs, 5);
  EXPECT_EQ(quota->has, 3);
}

// It was said to wait behind a job that its account's limit keeps from starting.
TEST_F(Why, NobodyWaitsBehindAJobThatItsLimitBlocks) {
  join(node_with("a", 4));
  turn(ChangeAccount{"nlp", {}, {}, {{"cpu", 1}}});
  JobRequest request = request_for(1);
  request.account = "nlp";
  submit(request);
  request.priority = 90;
  const JobId blocked = submit(request);
  ASSERT_EQ(plan_.blocked.at(blocked).code, BlockerCode::limit);
  const Foremost foremost(state_, plan_, now_);
  JobRequest other = request_for(1);
  other.priority = 10;
  submit_for(3, hours(1));
  EXPECT_EQ(foremost.ahead_of(state_, job(submit(other))), nullptr);
}

TEST_F(Why, UnderFairShareSaysWhoseTurnItIsAndWhatMadeIt) {
  state_.scheduling.policy = PolicyKind::fair_share;
  join(node_with("a", 2));
  turn(ChangeAccount{"nlp", 2, {}, {}});
  JobRequest request = request_for(2);
  request.account = "nlp/bert";
  submit(request);
  now_ += hours(2);
  const JobId first = submit(request);
  submit(request);
  request.account = "cv";
  const JobId other = submit(request);
  const auto found = blockers(first);
  const auto share = std::ranges::find(found, BlockerCode::share, &Blocker::code);
  ASSERT_NE(share, found.end());
  // Two devices for two hours and held for one more, by a share of two; a week's half-life takes 0.4 %.
  EXPECT_EQ(share->sentence,
            "account cv goes before account nlp: by their shares they have used 0.0 and 3.0 device hours");
  EXPECT_TRUE(std::ranges::none_of(blockers(other), [](const Blocker& b) {
    return b.code == BlockerCode::share || b.code == BlockerCode::queue;
  }));
}

TEST_F(Why, RoundsDurationsUp) {
  EXPECT_EQ(about(seconds(61) + std::chrono::milliseconds(1)), "1m2s");
  EXPECT_EQ(about(hours(2) + seconds(1)), "2h1m");
  EXPECT_EQ(about(minutes(-1)), "0s");
}

}  // namespace
}  // namespace podium
