// The queue as people see it, against what plans then do, and the figures of accounts.
#include "coordinator/core/plan/start_order.h"

#include "coordinator/core/accounts/account_report.h"
#include "tests/coordinator/core/cluster_fixture.h"

namespace podium {
namespace {

using std::chrono::minutes;

class Queued : public ClusterTest {
 protected:
  JobId submit_to(const std::string& account, int devices = 1, int priority = 50) {
    JobRequest request = request_for(devices);
    request.account = account;
    request.priority = priority;
    now_ += minutes(1);
    return submit(request);
  }

  void quota(const std::string& account, int devices) {
    turn(ChangeAccount{account, {}, {{"cpu", devices}}, {}});
  }

  std::vector<QueuePlace> walk(const std::string& kind = "cpu") {
    std::vector<QueuePlace> places;
    StartOrder order(state_, kind, now_);
    for (auto place = order.next(); place; place = order.next()) places.push_back(*place);
    return places;
  }

  std::vector<JobId> order() {
    std::vector<JobId> jobs;
    for (const QueuePlace& place : walk()) jobs.push_back(place.job);
    return jobs;
  }

  AccountFigures figures(const std::string& account) {
    return report_accounts(state_, now_).at(account).at("cpu");
  }
};

TEST_F(Queued, IsInTheOrderOfPriorityAndAge) {
  const JobId old = submit_to("default");
  JobRequest request = request_for(1);
  request.per_node = 1;  // another shape, so another line
  request.priority = 90;
  const JobId urgent = submit(request);
  EXPECT_EQ(order(), (std::vector{urgent, old}));
  EXPECT_TRUE(walk("gpu").empty());
  EXPECT_EQ(queue_size(state_, "cpu"), 2);
  EXPECT_EQ(queue_size(state_, "gpu"), 0);
}

TEST_F(Queued, WhatAQuotaCoversGoesFirstAndOnlyThat) {
  const JobId other = submit_to("vision", 1, 90);
  quota("nlp", 2);
  const JobId covered = submit_to("nlp/bert", 2, 10);
  const JobId beyond = submit_to("nlp/gpt", 1, 10);
  const std::vector<QueuePlace> places = walk();
  EXPECT_EQ(order(), (std::vector{covered, other, beyond}));
  EXPECT_EQ(places[0].guaranteed_by, "nlp");
  EXPECT_EQ(places[1].guaranteed_by, std::nullopt);
  EXPECT_EQ(places[2].guaranteed_by, std::nullopt);
}

TEST_F(Queued, AccountsTakeTurnsUnderFairShare) {
  state_.scheduling.policy = PolicyKind::fair_share;
  turn(ChangeAccount{"nlp", 2, {}, {}});
  std::vector<JobId> nlp, vision;
  for (int i = 0; i < 6; ++i) nlp.push_back(submit_to("nlp"));
  for (int i = 0; i < 6; ++i) vision.push_back(submit_to("vision"));
  const std::vector<JobId> seen = order();
  const auto of_nlp = [&](std::size_t first) {
    return std::count_if(seen.begin(), seen.begin() + static_cast<std::ptrdiff_t>(first),
                         [&](JobId job) { return std::ranges::count(nlp, job) > 0; });
  };
  EXPECT_EQ(of_nlp(3), 2);
  EXPECT_EQ(of_nlp(9), 6) << "two of three while they last";
}

// One device after the other comes free: the jobs start in the order that was shown.
TEST_F(Queued, JobsStartInTheOrderShown) {
  for (const PolicyKind policy : {PolicyKind::fifo, PolicyKind::priority_backfill, PolicyKind::fair_share}) {
    state_ = ClusterState{};
    state_.scheduling.policy = policy;
    join(node_with("a", 1));
    submit_to("vision");  // takes the device
    for (int i = 0; i < 9; ++i)
      submit_to(i % 3 == 0 ? "vision" : i % 3 == 1 ? "nlp/bert" : "speech", 1, 40 + 7 * i % 20);
    const std::vector<JobId> shown = order();
    for (std::size_t i = 0; i < shown.size(); ++i) {
      EXPECT_EQ(state_of(shown[i]), JobState::queued);
      join(node_with("more-" + std::to_string(i), 1));
      EXPECT_EQ(state_of(shown[i]), JobState::starting) << i << " under policy " << static_cast<int>(policy);
    }
  }
}

TEST_F(Queued, FiguresOfAccounts) {
  join(node_with("a", 6));
  quota("nlp", 3);
  for (int i = 0; i < 2; ++i) submit_to("nlp/bert");
  for (int i = 0; i < 4; ++i) submit_to("vision");
  submit_to("vision", 3);
  submit_to("speech/asr", 2);
  EXPECT_EQ(figures("nlp").devices, 2);
  EXPECT_EQ(figures("nlp").borrowed, 0);
  EXPECT_EQ(figures("nlp/bert").borrowed, 0) << "what nlp is guaranteed covers it";
  EXPECT_EQ(figures("vision").devices, 4);
  EXPECT_EQ(figures("vision").borrowed, 4) << "it has no quota, and nlp may want its own";
  EXPECT_EQ(figures("vision").waiting_jobs, 1);
  EXPECT_EQ(figures("vision").waiting_devices, 3);
  EXPECT_EQ(figures("speech").waiting_devices, 2) << "though it has never held any";
  quota("nlp/bert", 1);
  quota("nlp", 0);
  EXPECT_EQ(figures("nlp").borrowed, 1) << "all but what its child keeps";
  EXPECT_EQ(figures("nlp/bert").borrowed, 1);
  turn(ChangeAccount{"nlp/bert", {}, {{"cpu", std::nullopt}}, {}});
  turn(ChangeAccount{"nlp", {}, {{"cpu", std::nullopt}}, {}});
  EXPECT_EQ(figures("vision").borrowed, 0) << "nobody lends";
}

}  // namespace
}  // namespace podium
