// Accounts: limits, quotas and what is borrowed beyond them, usage and its decay, fair share.
#include <cmath>
#include <nlohmann/json.hpp>

#include "coordinator/core/accounts/fair_share_tree.h"
#include "tests/coordinator/core/cluster_fixture.h"

namespace podium {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

class Accounts : public ClusterTest {
 protected:
  static JobRequest request_of(const std::string& account, int devices) {
    JobRequest request = request_for(devices);
    request.account = account;
    return request;
  }

  JobId submit_to(const std::string& account, int devices = 1) {
    return submit(request_of(account, devices));
  }

  void make(const std::string& account) { apply_all(state_, missing_accounts(state_, account, now_)); }
  void quota(const std::string& account, int devices) {
    make(account);
    turn(ChangeAccount{account, {}, {{"cpu", devices}}, {}});
  }
  void limit(const std::string& account, int devices) {
    make(account);
    turn(ChangeAccount{account, {}, {}, {{"cpu", devices}}});
  }

  // Every process the node was told to stop has left.
  void let_leave(const NodeDescription& node) {
    std::vector<Told> left;
    for (const TaskOrder& order : node_orders(state_, node.id).tasks)
      if (order.action == TaskAction::stop) left.push_back({order.launch.task, {}});
    report(node, left);
  }

  int held(const std::string& account) { return AccountLedger(state_, "cpu").allocated(account); }
};

TEST_F(Accounts, NamesArePaths) {
  EXPECT_EQ(lineage("a/b/c"), (std::vector<std::string>{"a", "a/b", "a/b/c"}));
  EXPECT_TRUE(is_at_or_below("nlp/bert", "nlp"));
  EXPECT_FALSE(is_at_or_below("nlp2", "nlp"));
  for (const char* bad : {"", "/", "a/", "/a", "a//b", "a b", "ä"})
    EXPECT_TRUE(bad_account_name(bad).has_value()) << bad;
  for (const char* bad : {"a`", "a{", "a@", "a[", "a:", "a+"})  // beside the letters and digits in ASCII
    EXPECT_TRUE(bad_account_name(bad).has_value()) << bad;
  for (const char* good : {"nlp", "nlp/bert", "A.b_c-1", "azAZ09"})
    EXPECT_FALSE(bad_account_name(good).has_value()) << good;
}

TEST_F(Accounts, ThereAreTenThousandAtMost) {
  for (int i = 0; i < 10'000; ++i) state_.accounts["a" + std::to_string(i)];
  const auto refused = turn(ChangeAccount{"one-more", {}, {}, {}});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.errors()[0].message,
            "there are 10000 accounts already; delete some: podium accounts delete NAME");
  EXPECT_TRUE(turn(ChangeAccount{"a7", 2, {}, {}}).ok()) << "those that exist can still be changed";
  state_.accounts.erase("a8");
  EXPECT_TRUE(turn(ChangeAccount{"one-more", {}, {}, {}}).ok());
}

TEST_F(Accounts, ALimitHoldsForTheWholeSubtree) {
  join(node_with("a", 8));
  limit("nlp", 4);
  submit_to("nlp/bert", 3);
  const JobId over = submit_to("nlp/gpt", 2);
  EXPECT_EQ(reason(over), "account nlp would hold 5 cpu devices, and may hold 4 at most");
  EXPECT_EQ(state_of(submit_to("vision", 5)), JobState::starting) << "it delays nobody";
  limit("nlp", 5);
  EXPECT_EQ(state_of(over), JobState::queued) << "no device is free";
  EXPECT_EQ(turn(SubmitExperiment{"x", {request_of("nlp/gpt", 6)}}).errors().at(0).message,
            "job \"job\" asks for 6 cpu devices; account nlp may hold at most 5");
  EXPECT_FALSE(turn(SubmitExperiment{"x", {request_of("a//b", 1)}}).ok());
}

// An account limited to 1 was refused, and one that nobody had heard of ran on 2.
TEST_F(Accounts, AnInventedAccountEvadesNoLimit) {
  join(node_with("a", 8));
  limit("team", 1);
  const auto refusal = [&](const std::string& account) {
    const auto answer = turn(SubmitExperiment{"x", {request_of(account, 2)}});
    return answer ? "" : answer.errors().at(0).message;
  };
  for (const char* invented : {"team2", "team/mine", "Team", "default/mine"})
    EXPECT_EQ(refusal(invented), "there is no account " + std::string(invented) +
                                     "; an operator makes it: podium accounts set " + invented);
  EXPECT_NE(refusal("team"), "");
  EXPECT_EQ(refusal("default"), "");
  turn(ChangeAccount{"team2", {}, {}, {}});
  EXPECT_EQ(refusal("team2"), "");
}

TEST_F(Accounts, WhatIsAboveAnAccountIsMadeBeforeIt) {
  EXPECT_EQ(turn(ChangeAccount{"nlp/bert", {}, {}, {}}).errors().at(0).message,
            "account nlp, which is above it, does not exist; make it first: podium accounts set nlp");
  EXPECT_FALSE(account_exists(state_, "nlp/bert"));
  EXPECT_EQ(turn(ChangeAccount{"nlp", {}, {}, {}})->size(), 1u) << "with nothing but what is usual";
  EXPECT_EQ(turn(ChangeAccount{"nlp", {}, {}, {}})->size(), 0u);
  EXPECT_TRUE(turn(ChangeAccount{"nlp/bert", {}, {}, {}}).ok());
}

// Coordinators before this one let accounts make themselves.
TEST_F(Accounts, ThoseThatHeldDevicesBeforeAccountsWereMadeGoOn) {
  const NodeDescription node = node_with("a", 1);
  join(node);
  JobRequest request = request_of("nlp/bert", 1);
  apply_all(state_, {{now_, ExperimentCreated{state_.next_experiment, "old"}},
                     {now_, JobQueued{state_.next_job, {1}, request}}});
  turn(Tick{});
  EXPECT_EQ(held("nlp/bert"), 1) << "what was accepted runs";
  EXPECT_TRUE(turn(SubmitExperiment{"x", {request}}).ok());
  EXPECT_FALSE(turn(SubmitExperiment{"x", {request_of("nlp/gpt", 1)}}).ok());
}

TEST_F(Accounts, AreDeletedOnceNothingNeedsThem) {
  const NodeDescription node = node_with("a", 1);
  join(node);
  make("nlp/bert");
  const JobId id = submit_to("nlp/bert");
  const auto refusal = [&](const std::string& account) {
    const auto answer = turn(DeleteAccount{account});
    return answer ? "" : answer.errors().at(0).message;
  };
  EXPECT_EQ(refusal("nlp/bert"),
            "account nlp/bert cannot be deleted: job 1 of it has not ended; wait for its jobs or "
            "cancel them");
  EXPECT_NE(refusal("nlp"), "");
  report(node, {{task(id, 0), {}}});
  EXPECT_EQ(refusal("nlp"), "account nlp cannot be deleted: account nlp/bert is below it; delete that first");
  turn(ReserveNode{node.id, "nlp/bert", "", {}, {}});
  EXPECT_EQ(refusal("nlp/bert"),
            "account nlp/bert cannot be deleted: node a is reserved for it; podium nodes unreserve a");
  turn(UnreserveNode{node.id});
  EXPECT_EQ(refusal("nlp/bert"), "");
  EXPECT_EQ(refusal("nlp"), "");
  EXPECT_EQ(refusal("nlp"), "there is no account nlp");
  EXPECT_NE(refusal("default"), "");
  EXPECT_TRUE(state_.accounts.empty());
}

TEST_F(Accounts, APromiseThatALimitCutsOffIsRefused) {
  limit("nlp", 4);
  make("nlp/bert");
  const auto refusal = [&](const ChangeAccount& change) {
    const auto answer = turn(change);
    return answer ? "" : answer.errors().at(0).message;
  };
  EXPECT_EQ(refusal({"nlp/bert", {}, {{"cpu", 5}}, {}}),
            "a quota of 5 cpu devices is beyond the limit of 4 of account nlp; raise that first, or "
            "guarantee less");
  EXPECT_EQ(
      refusal({"nlp/bert", {}, {{"cpu", 3}}, {{"cpu", 2}}}),
      "a quota of 3 cpu devices is beyond the limit of 2 of account nlp/bert; raise that first, or guarantee "
      "less");
  EXPECT_EQ(refusal({"nlp", {}, {{"gpus", 3}}, {}}), "there is no kind of device \"gpus\"; it is cpu or gpu");
  EXPECT_EQ(refusal({"nlp", {}, {{"gpus", std::nullopt}}, {}}), "");
  EXPECT_EQ(refusal({"nlp/bert", {}, {{"cpu", 4}}, {}}), "");
}

TEST_F(Accounts, WarnsOfAPromiseThatTheClusterCannotKeep) {
  join(node_with("a", 2));
  quota("nlp", 2);
  EXPECT_TRUE(account_warnings(state_, "nlp").empty());
  quota("nlp/bert", 3);
  EXPECT_EQ(
      account_warnings(state_, "nlp/bert"),
      (std::vector<std::string>{"account nlp/bert is guaranteed 3 cpu devices, and the cluster has 2"}));
  limit("nlp", 2);
  EXPECT_EQ(account_warnings(state_, "nlp"),
            (std::vector<std::string>{
                "account nlp/bert is guaranteed 3 cpu devices, and account nlp may hold at most 2"}));
  quota("nlp/bert", 1);
  limit("nlp/bert", 2);
  EXPECT_TRUE(account_warnings(state_, "nlp/bert").empty());
  limit("nlp/bert", 64);
  EXPECT_EQ(account_warnings(state_, "nlp/bert"),
            (std::vector<std::string>{
                "account nlp/bert may hold 64 cpu devices, but account nlp, which is above it, at most 2"}));
}

TEST_F(Accounts, BorrowsWhatIsFreeAndGivesItBack) {
  const NodeDescription node = node_with("a", 4);
  join(node);
  quota("nlp", 2);
  const JobId first = submit_to("vision");
  now_ += minutes(1);
  for (int i = 0; i < 3; ++i) submit_to("vision");
  report(node);
  EXPECT_EQ(held("vision"), 4) << "all of it borrowed";

  turn(CheckpointSaved{job(first).attempt_id(), 10});
  now_ += minutes(1);
  turn(CheckpointSaved{job(first).attempt_id(), 20});  // loses least
  const JobId guaranteed = submit_to("nlp/bert");
  EXPECT_EQ(state_of(first), JobState::stopping);
  EXPECT_EQ(state_.indexes.leaving.size(), 1u) << "no more than it takes";
  turn(Tick{});
  EXPECT_EQ(state_.indexes.leaving.size(), 1u) << "what leaves is enough";
  let_leave(node);
  EXPECT_EQ(state_of(guaranteed), JobState::starting);
  EXPECT_EQ(state_of(first), JobState::queued);

  submit_to("nlp/bert");
  let_leave(node);
  const JobId beyond = submit_to("nlp/bert");
  EXPECT_TRUE(state_.indexes.leaving.empty()) << "its quota is used up: it waits like everybody";
  EXPECT_EQ(state_of(beyond), JobState::queued);
}

TEST_F(Accounts, NothingIsTakenFromAnAccountWithinItsQuota) {
  join(node_with("a", 4));
  state_.scheduling.preempt = true;
  quota("nlp", 2);
  quota("vision", 4);
  submit_to("vision", 2);
  submit_to("vision", 2);
  JobRequest urgent = request_of("nlp", 2);
  urgent.priority = 100;
  submit(urgent);
  urgent.account = "other";
  submit(urgent);
  EXPECT_TRUE(state_.indexes.leaving.empty()) << "quotas that promise more than there is are served in turn";
}

// One plan stopped it twice, for two jobs, and no attempt may be.
TEST_F(Accounts, AJobThatMakesRoomForOneIsNotReclaimedForAnother) {
  state_.scheduling.preempt = true;
  join(node_with("a", 4));
  quota("nlp", 5);
  quota("vision", 1);
  quota("speech", 1);
  const auto submit_low = [&](const std::string& account, int devices) {
    JobRequest request = request_of(account, devices);
    request.priority = 0;
    return submit(request);
  };
  const JobId borrower = submit_low("cv", 1);
  const JobId other = submit_low("nlp", 2);
  JobRequest high = request_of("speech", 1);
  high.priority = 100;
  submit(high);
  report(node_with("a", 4));
  JobRequest first = request_of("nlp", 3);
  first.priority = 100;
  turn(SubmitExperiment{"both", {first, request_of("vision", 1)}});
  EXPECT_EQ(job(borrower).attempt->stop, StopCause::preempted);
  EXPECT_EQ(job(other).attempt->stop, StopCause::preempted);
}

// Its quota would let it start again before the job it was stopped for.
TEST_F(Accounts, WithinAnAccountPriorityDoesNotStopWhatOnlyTheQuotaCovers) {
  state_.scheduling.preempt = true;
  join(node_with("a", 4));
  quota("nlp", 3);
  JobRequest low = request_of("nlp", 2), high = request_of("nlp/bert", 4);
  low.priority = 0;
  const JobId running = submit(low);
  turn(CancelJob{submit(high)});
  EXPECT_EQ(job(running).attempt->stop, StopCause::none);
  high.devices = 3;
  submit(high);
  EXPECT_EQ(job(running).attempt->stop, StopCause::preempted) << "the quota covers either";
}

TEST_F(Accounts, LeavesAloneWhatIsAlmostDone) {
  join(node_with("a", 1));
  quota("nlp", 1);
  submit_to("vision");  // of 24 hours
  now_ += hours(23);
  submit_to("nlp");
  EXPECT_TRUE(state_.indexes.leaving.empty()) << "5 % of its walltime is left";
}

TEST_F(Accounts, UsageDecaysAndReplaysExactly) {
  const NodeDescription node = node_with("a", 2);
  join(node);
  const JobId id = submit_to("nlp/bert", 2);
  now_ += hours(24 * 7);
  EXPECT_NEAR(used(state_.accounts.at("nlp").usage.at("cpu"), hours(24 * 7), now_),
              2 * 7 * 86400 / std::log(2.0) * 0.5, 1)
      << "the integral of 2 · 2^(−t/7d) over seven days";
  report(node, {{task(id, 0), {}}, {task(id, 1), {}}});
  const Usage& usage = state_.accounts.at("nlp").usage.at("cpu");
  EXPECT_EQ(usage.devices, 0);
  EXPECT_NEAR(used(usage, hours(24 * 7), now_ + hours(24 * 7)), usage.device_seconds / 2, 1e-6);
  const auto snapshot = nlohmann::json::parse(to_json(state_).dump());
  EXPECT_EQ(cluster_state_from_json(snapshot, ClusterState{}).accounts, state_.accounts) << "to the last bit";
}

TEST_F(Accounts, FairShareFillsAFreeClusterByShare) {
  state_.scheduling.policy = PolicyKind::fair_share;
  turn(ChangeAccount{"nlp", 3, {}, {}});
  for (int i = 0; i < 16; ++i) submit_to("vision");
  for (int i = 0; i < 16; ++i) submit_to(i % 2 == 0 ? "nlp/bert" : "nlp/gpt");
  join(node_with("a", 16));
  EXPECT_EQ(held("nlp"), 12);
  EXPECT_EQ(held("vision"), 4);
  EXPECT_EQ(held("nlp/bert"), 6) << "its children share alike";
}

TEST_F(Accounts, FairShareLetsWhoUsedLessGoFirst) {
  state_.scheduling.policy = PolicyKind::fair_share;
  const NodeDescription node = node_with("a", 1);
  join(node);
  const JobId used_much = submit_to("nlp");
  JobRequest urgent = request_of("nlp", 1);
  urgent.priority = 100;
  const JobId waits = submit(urgent);
  const JobId other = submit_to("vision");
  now_ += hours(2);
  report(node, {{task(used_much, 0), {}}});
  EXPECT_EQ(state_of(other), JobState::starting) << "priority counts within an account only";
  EXPECT_EQ(state_of(waits), JobState::queued);
}

TEST_F(Accounts, ChangesAreChecked) {
  EXPECT_EQ(turn(ChangeAccount{"a b", 0, {{"cpu", -1}}, {{"", 3}}}).errors().size(), 4u);
  turn(ChangeAccount{"nlp", 3, {{"gpu", 8}}, {{"gpu", 16}}});
  turn(ChangeAccount{"nlp", {}, {{"gpu", std::nullopt}}, {{"cpu", 4}}});
  EXPECT_EQ(rules_of(state_, "nlp"), (AccountRules{3, {}, {{"cpu", 4}, {"gpu", 16}}}));
}

}  // namespace
}  // namespace podium
