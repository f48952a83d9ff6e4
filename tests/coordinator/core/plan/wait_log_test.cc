// What the log of waits tells, and when: clusters small enough to know the answer by hand.
#include "coordinator/core/plan/wait_log.h"

#include "tests/coordinator/core/cluster_fixture.h"

namespace podium {
namespace {

using std::chrono::seconds;

class WaitLogs : public ClusterTest {
 protected:
  // A turn as the loop takes it: it plans only where that may decide something new.
  std::vector<std::string> take(const Command& command) {
    auto decided = handle(state_, command, now_);
    EXPECT_TRUE(decided.ok());
    Events events = std::move(decided).value();
    apply_all(state_, events);
    const bool plans = plan_.stale(state_, now_);
    if (plans) {
      plan_ = make_plan(state_, now_);
      const Events enacted = enact(state_, plan_, now_);
      apply_all(state_, enacted);
      plan_.carried_out(state_);
      events.insert(events.end(), enacted.begin(), enacted.end());
    }
    return told(log_.look(state_, plan_, plans, events, now_));
  }
  std::vector<std::string> told(const std::vector<WaitMark>& marks) {
    std::vector<std::string> texts;
    for (const WaitMark& mark : marks)
      texts.push_back(to_string(mark.job) + " " + mark.code + " " +
                      std::to_string((mark.since - begin_).count() / 1000));
    return texts;
  }
  std::vector<std::string> submit(const JobRequest& request) {
    return take(SubmitExperiment{"test", {request}});
  }
  std::vector<std::string> pass(int time) {
    now_ += seconds(time);
    return take(Tick{});
  }
  using Told = std::vector<std::string>;

  const Time begin_ = now_;
  WaitLog log_;
};

TEST_F(WaitLogs, TellWhatAJobWaitsForAtOnceAndOnlyOnce) {
  join(node_with("a", 2));
  EXPECT_EQ(submit(request_for(2)), Told{}) << "it starts";
  EXPECT_EQ(submit(request_for(2)), Told{"2 devices 0"});
  EXPECT_EQ(pass(100), Told{});
  EXPECT_EQ(pass(100), Told{});
}

TEST_F(WaitLogs, TellWhatPeopleDoAtOnce) {
  join(node_with("a", 2));
  submit(request_for(2));
  submit(request_for(2));
  now_ += seconds(3);
  EXPECT_EQ(take(HoldJob{{2}}), Told{"2 held 3"});
  now_ += seconds(1);
  EXPECT_EQ(take(ReleaseJob{{2}}), Told{"2 devices 4"});
  JobRequest after = request_for(1);
  after.after = {{{2}, When::any}};
  EXPECT_EQ(submit(after), Told{"3 follows 4"});
  now_ += seconds(1);
  EXPECT_EQ(take(CancelJob{{2}}), Told{"3 devices 5"});
}

TEST_F(WaitLogs, TellWhatPlansFindOnceItHasStood) {
  join(node_with("a", 2));
  submit(request_for(2));
  submit(request_for(2));
  now_ += seconds(100);
  EXPECT_EQ(take(DrainNode{{"a"}, "fans", now_ + seconds(5000), now_ + seconds(6000)}), Told{});
  plan_.blocked[{2}].code = BlockerCode::maintenance;
  const auto found = [&] { return told(log_.look(state_, plan_, true, {}, now_)); };
  EXPECT_EQ(found(), Told{});
  now_ += seconds(9);
  plan_.blocked[{2}].code = BlockerCode::devices;
  EXPECT_EQ(found(), Told{}) << "it was another for less than ten seconds";
  now_ += seconds(5);
  plan_.blocked[{2}].code = BlockerCode::quota;
  EXPECT_EQ(found(), Told{});
  now_ += seconds(10);
  EXPECT_EQ(found(), (Told{"2 quota 114"})) << "from when it began";
  now_ += seconds(5);
  plan_.blocked.erase({2});
  EXPECT_EQ(found(), Told{});
  now_ += seconds(20);
  EXPECT_EQ(found(), (Told{"2 queue 129"})) << "no plan comes to it any more";
}

TEST_F(WaitLogs, TellTheLessOftenTheLongerAJobWaits) {
  join(node_with("a", 2));
  submit(request_for(2));
  submit(request_for(2));
  int marks = 0;
  constexpr int kMonth = 30 * 24 * 3600;
  for (int second = 0; second < kMonth; second += 5) {
    now_ += seconds(5);
    plan_.blocked[{2}].code =
        marks % 2 == 0 ? BlockerCode::quota : BlockerCode::limit;  // as soon as one is told
    marks += static_cast<int>(log_.look(state_, plan_, true, {}, now_).size());
  }
  EXPECT_GT(marks, 1000);
  EXPECT_LT(marks, 2500) << "a 200th of the wait each";
}

TEST_F(WaitLogs, TellTheBeginAndTheEndOfABackOff) {
  join(node_with("a", 2));
  submit(request_for(2));
  Job& job = state_.jobs.at({1});
  const TaskId task{job.attempt_id(), 0};
  Events events{{now_, TaskExited{task, {0, 9, ""}}},
                {now_, TaskExited{{job.attempt_id(), 1}, {0, 9, ""}}},
                {now_, AttemptStopping{job.attempt_id(), StopCause::task_failed, ""}},
                {now_, JobStateChanged{{1}, JobState::starting, JobState::stopping, ""}},
                {now_, AttemptEnded{job.attempt_id(), AttemptEnd::failed, ""}},
                {now_, RetryPlanned{{1}, {}, now_ + seconds(8), {}}},
                {now_, JobStateChanged{{1}, JobState::stopping, JobState::queued, ""}}};
  apply_all(state_, events);
  submit(request_for(2));
  EXPECT_EQ(told(log_.look(state_, plan_, false, events, now_)), Told{"1 back_off 0"});
  EXPECT_EQ(pass(5), Told{});
  EXPECT_EQ(pass(5), Told{"1 devices 10"}) << "which job 2 has";
}

TEST_F(WaitLogs, GoOnAfterARestartWithWhatWasTold) {
  join(node_with("a", 2));
  submit(request_for(2));
  submit(request_for(2));
  submit(request_for(1));
  log_ = WaitLog({{{2}, "devices"}, {{3}, "limit"}});
  const auto found = [&] { return told(log_.look(state_, plan_, true, {}, now_)); };
  EXPECT_EQ(found(), Told{});
  now_ += seconds(10);
  EXPECT_EQ(found(),
            (Told{std::string("3 ") +
                  std::string(to_string(waits_for(state_, plan_, state_.jobs.at({3}), now_))) + " 0"}))
      << "what changed while nobody looked is told from now";
}

// What `podium why` says first is what the ledger counts.
TEST_F(WaitLogs, NameTheFirstBlocker) {
  join(node_with("a", 4));
  for (const int devices : {4, 4, 2, 1, 3}) submit(request_for(devices));
  take(HoldJob{{4}});
  for (const auto& [id, job] : state_.jobs) {
    if (job.state != JobState::queued) continue;
    EXPECT_EQ(waits_for(state_, plan_, job, now_), blockers_of(state_, plan_, id, now_).front().code)
        << to_string(id);
  }
}

TEST_F(WaitLogs, ATurnDoesNotLookAtAllWhoWait) {
  join(node_with("a", 2));
  submit(request_for(2));
  SubmitExperiment many{"many", std::vector<JobRequest>(5000, request_for(2))};
  EXPECT_EQ(take(many).size(), 5000u);
  EXPECT_LT(plan_.blocked.size(), 100u) << "what a look goes through";
  EXPECT_EQ(pass(60), Told{});
}

}  // namespace
}  // namespace podium
