// The virtual clock against hand-made timetables, and against a plain loop that lives through every second.
#include "coordinator/forecast/virtual_cluster.h"

#include <gtest/gtest.h>

#include <random>

#include "coordinator/core/placement/placement.h"
#include "coordinator/core/policies/policy.h"
#include "tests/coordinator/core/cluster_fixture.h"

namespace podium {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

const Time kStart = from_millis(1'700'000'000'000);

ClusterState cluster_of(const std::vector<int>& devices, PolicyKind policy, bool preempt = false) {
  ClusterState state;
  state.scheduling.policy = policy;
  state.scheduling.preempt = preempt;
  int nth = 0;
  for (const int count : devices)
    apply(state, {kStart, NodeJoined{node_with("n" + std::to_string(++nth), count)}});
  return state;
}

JobRequest job_of(int devices, Duration walltime, int priority = 50) {
  JobRequest request = request_for(devices);
  request.walltime = walltime;
  request.priority = priority;
  return request;
}

// When each job ran, in seconds since kStart: "3-7" or "3-7 10-20 failed".
class Timetable {
 public:
  void note(const Event& event) {
    const auto* changed = std::get_if<JobStateChanged>(&event.body);
    if (!changed) return;
    std::string& line = lines[changed->job.value];
    const std::string at = std::to_string((event.at - kStart) / seconds(1));
    if (changed->to == JobState::running) line += (line.empty() ? "" : " ") + at + "-";
    if (changed->to == JobState::queued || is_terminal(changed->to)) line += at;
    if (is_terminal(changed->to) && changed->to != JobState::succeeded)
      line += " " + std::string(to_string(changed->to));
  }

  std::map<std::int64_t, std::string> lines;
};

struct Planned {
  int at = 0;
  JobRequest request;
  int work = 0;
};

Timetable simulate(ClusterState state, const std::vector<Planned>& jobs, const RunModel& model = {}) {
  Timetable table;
  VirtualCluster cluster(
      std::move(state), kStart, [](const Job&) { return Duration{}; }, model);
  cluster.observe([&](const Event& event) { table.note(event); });
  for (const Planned& job : jobs)
    cluster.submit(kStart + seconds(job.at), {"test", {job.request}}, {seconds(job.work)});
  while (cluster.step()) {
  }
  return table;
}

TEST(VirtualCluster, FifoLetsNobodyPass) {
  const auto table = simulate(
      cluster_of({4}, PolicyKind::fifo),
      {{0, job_of(3, seconds(100)), 100}, {1, job_of(4, seconds(100)), 10}, {2, job_of(1, seconds(5)), 5}});
  EXPECT_EQ(table.lines.at(1), "0-100");
  EXPECT_EQ(table.lines.at(2), "100-110");
  EXPECT_EQ(table.lines.at(3), "110-115");
}

// The textbook's example: the short job fills the gap before the wide one, the long job would delay it.
TEST(VirtualCluster, BackfillFillsGapsWithoutDelay) {
  const auto table =
      simulate(cluster_of({4}, PolicyKind::priority_backfill), {{0, job_of(3, seconds(100)), 100},
                                                                {1, job_of(4, seconds(100)), 10},
                                                                {2, job_of(1, seconds(200)), 200},
                                                                {3, job_of(1, seconds(97)), 97}});
  EXPECT_EQ(table.lines.at(1), "0-100");
  EXPECT_EQ(table.lines.at(4), "3-100");
  EXPECT_EQ(table.lines.at(2), "100-110");
  EXPECT_EQ(table.lines.at(3), "110-310");
}

TEST(VirtualCluster, ShortestFirst) {
  const auto table =
      simulate(cluster_of({1}, PolicyKind::shortest_remaining_time), {{0, job_of(1, seconds(10)), 10},
                                                                      {1, job_of(1, seconds(30)), 30},
                                                                      {2, job_of(1, seconds(20)), 20},
                                                                      {3, job_of(1, seconds(8)), 8}});
  EXPECT_EQ(table.lines.at(1), "0-10");
  EXPECT_EQ(table.lines.at(4), "10-18");
  EXPECT_EQ(table.lines.at(3), "18-38");
  EXPECT_EQ(table.lines.at(2), "38-68");
}

// 1,000 s of work on two devices: it grows at 100 s and loses nothing, shrinks at 300 s and loses 73 s.
TEST(VirtualCluster, AnElasticJobIsAsMuchFasterAsItIsLarger) {
  ClusterState state = cluster_of({4}, PolicyKind::priority_backfill);
  state.scheduling.resize_after = seconds(100);
  JobRequest elastic = job_of(2, hours(10));
  elastic.sizes = {2, 4};
  const auto table =
      simulate(state, {{0, job_of(2, hours(1)), 50}, {0, elastic, 1000}, {300, job_of(2, hours(1)), 20}},
               {seconds(120), seconds(7)});
  EXPECT_EQ(table.lines.at(1), "0-50");
  EXPECT_EQ(table.lines.at(2), "0-107 107-307 307-414 414-694");
  EXPECT_EQ(table.lines.at(3), "307-327");
}

TEST(VirtualCluster, APreemptedJobLosesTheWorkSinceItsCheckpoint) {
  const std::vector<Planned> jobs = {{0, job_of(1, hours(10), 10), 3600},
                                     {1000, job_of(1, hours(1), 90), 600}};
  const auto state = cluster_of({1}, PolicyKind::priority_backfill, true);
  const RunModel every_five{minutes(5), seconds(30)};
  auto table = simulate(state, jobs, every_five);
  EXPECT_EQ(table.lines.at(2), "1030-1630");
  EXPECT_EQ(table.lines.at(1), "0-1030 1630-4330") << "900 s of 3600 s were saved";
  table = simulate(state, jobs, {Duration{}, seconds(30)});
  EXPECT_EQ(table.lines.at(1), "0-1030 1630-4230") << "all 1000 s were";
}

TEST(VirtualCluster, TheWalltimeEndsAJob) {
  const auto table = simulate(cluster_of({1}, PolicyKind::fifo), {{0, job_of(1, seconds(60)), 100}});
  EXPECT_EQ(table.lines.at(1), "0-90 failed") << "60 s and 30 s to leave";
}

TEST(VirtualCluster, RefusalsAreAnswered) {
  VirtualCluster cluster(cluster_of({1}, PolicyKind::fifo), kStart, [](const Job&) { return Duration{}; });
  std::string answer;
  cluster.submit(kStart, {"test", {job_of(2, seconds(1))}}, {seconds(1)},
                 [&](const Result<Events>& said) { answer = describe(said.errors()); });
  EXPECT_TRUE(cluster.step());
  EXPECT_NE(answer.find("asks for 2 cpu devices; the cluster has 1 on 1 node"), std::string::npos) << answer;
  EXPECT_FALSE(cluster.step());
}

TEST(VirtualCluster, GoesOnFromALivingState) {
  ClusterState state = cluster_of({2}, PolicyKind::priority_backfill);
  apply_all(state,
            *handle(state, SubmitExperiment{"test", {job_of(2, hours(2)), job_of(1, hours(3))}}, kStart));
  apply_all(state, enact(state, make_plan(state, kStart), kStart));
  Timetable table;
  VirtualCluster cluster(state, kStart + minutes(1),
                         [](const Job& job) { return seconds(100 * job.id.value); });
  EXPECT_EQ(cluster.state().jobs.at({1}).state, JobState::running) << "what was starting has started";
  cluster.observe([&](const Event& event) { table.note(event); });
  while (cluster.step()) {
  }
  EXPECT_EQ(table.lines.at(1), "160");
  EXPECT_EQ(table.lines.at(2), "160-360");
  EXPECT_TRUE(cluster.state().jobs.empty());
}

// The same without jumping: every node reports every second.
class EverySecond {
 public:
  EverySecond(ClusterState state, const std::vector<Planned>& jobs, const RunModel& model)
      : state_(std::move(state)), jobs_(jobs), model_(model) {}

  Timetable run() {
    for (now_ = kStart; submitted_ < jobs_.size() || !state_.jobs.empty(); now_ += seconds(1)) {
      report_all();
      for (; submitted_ < jobs_.size() && jobs_[submitted_].at == (now_ - kStart) / seconds(1); ++submitted_)
        take(SubmitExperiment{"test", {jobs_[submitted_].request}});
      take(Tick{});
      while (plan_.stale(state_, now_)) {
        plan_ = make_plan(state_, now_);
        absorb(enact(state_, plan_, now_));
        plan_.carried_out(state_);
        report_all();
      }
    }
    return table_;
  }

 private:
  void take(const Command& command) { absorb(*handle(state_, command, now_)); }

  void absorb(const Events& events) {
    for (const Event& event : events) {
      table_.note(event);
      apply(state_, event);
    }
  }

  bool left(const Job& job) {
    auto& ran = ran_[job.id];
    const auto work = seconds(jobs_[static_cast<std::size_t>(job.id.value - 1)].work);
    if (job.attempt->stop == StopCause::none)
      return job.attempt->started && ran + (now_ - *job.attempt->started) >= work;
    auto& stopped = stopped_[job.attempt_id()];
    if (!stopped) {
      stopped = now_;
      if (job.attempt->started)
        ran += (now_ - *job.attempt->started) / model_.checkpoint_every * model_.checkpoint_every;
    }
    return now_ >= *stopped + model_.stop_takes;
  }

  void report_all() {
    std::vector<NodeId> nodes = state_.indexes.node_ids;
    for (const NodeId& id : nodes) {
      NodeReport report{state_.nodes.at(id).description, {}, state_.nodes.at(id).orders_version};
      for (const TaskOrder& order : node_orders(state_, id).tasks) {
        const bool over = left(state_.jobs.at(order.launch.task.attempt.job));
        report.tasks.push_back({order.launch.task, over ? TaskState::exited : TaskState::running, 1,
                                over ? std::optional(TaskExit{}) : std::nullopt});
      }
      take(NodeReported{report});
    }
  }

  ClusterState state_;
  const std::vector<Planned>& jobs_;
  RunModel model_;
  Plan plan_;
  Time now_;
  std::size_t submitted_ = 0;
  std::map<JobId, Duration> ran_;
  std::map<AttemptId, std::optional<Time>> stopped_;
  Timetable table_;
};

TEST(VirtualCluster, JumpingGivesTheTimesOfAClockThatTicks) {
  for (int seed = 1; seed <= 24; ++seed) {
    std::mt19937 random(static_cast<unsigned>(seed));
    const auto between = [&](int low, int high) {
      return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
    };
    const std::vector<std::string> names = policy_names();
    const auto policy = *policy_named(names[static_cast<std::size_t>(seed) % names.size()]);
    const ClusterState state = cluster_of({4, 3, 2}, policy, seed % 3 == 0);
    std::vector<Planned> jobs;
    for (int i = 0, at = 0; i < 25; ++i) {
      const int work = between(1, 900);
      JobRequest request = job_of(between(1, 6), seconds(work * between(80, 300) / 100), between(0, 3) * 25);
      request.per_node = between(0, 2);
      if (never_fits(state, request)) request.per_node = 0;
      jobs.push_back({at += between(0, 60), request, work});
    }
    const RunModel model{seconds(120), seconds(7)};
    EXPECT_EQ(simulate(state, jobs, model).lines, EverySecond(state, jobs, model).run().lines)
        << "seed " << seed << ", " << policy_of(policy).name();
  }
}

}  // namespace
}  // namespace podium
