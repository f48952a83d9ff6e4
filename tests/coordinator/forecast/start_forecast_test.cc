// When jobs start and what would start them sooner: clusters small enough to know the answer by hand, and the
// core itself to say whether a changed request starts.
#include "coordinator/forecast/start_forecast.h"

#include <random>

#include "tests/coordinator/core/cluster_fixture.h"

namespace podium {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

class StartForecasts : public ClusterTest {
 protected:
  static JobRequest asking(int devices, Duration walltime, int per_node = 0) {
    JobRequest request = request_for(devices, per_node);
    request.walltime = walltime;
    return request;
  }
  StartRange range(JobId id, const ForecastBounds& bounds = {}) {
    return forecast_range(state_, now_, id, {}, bounds);
  }
  std::vector<Sooner> sooner(
      JobId id, const MayAsk& may_ask = [](const JobRequest&) { return true; }) {
    return starts_sooner(state_, now_, id, range(id), {}, may_ask);
  }
  const Sooner* find(const std::vector<Sooner>& all, const std::string& change) {
    const auto found = std::ranges::find(all, change, &Sooner::change);
    return found == all.end() ? nullptr : &*found;
  }
};

TEST_F(StartForecasts, TheLatestStartIsTheReservation) {
  join(node_with("a", 3));
  submit(asking(2, hours(10)));
  const JobId gang = submit(asking(3, hours(1)));
  const StartRange found = range(gang);
  ASSERT_EQ(plan_.reservations.size(), 1u);
  EXPECT_EQ(found.latest, plan_.reservations[0].at);
  EXPECT_EQ(found.latest, now_ + hours(10));
  EXPECT_EQ(found.expected, now_ + hours(6)) << "six tenths of the walltime";
  EXPECT_EQ(found.earliest, now_ + hours(2));
  EXPECT_EQ(found.note, "");
}

TEST_F(StartForecasts, AddUpOverTheQueue) {
  join(node_with("a", 1));
  submit(asking(1, hours(10)));
  submit(asking(1, hours(20)));
  const JobId last = submit(asking(1, hours(21)));
  EXPECT_EQ(range(last).latest, now_ + hours(30));
  EXPECT_EQ(range(last).expected, now_ + hours(18));
}

TEST_F(StartForecasts, GoByThePaceOfAJobWhereItIsKnown) {
  join(node_with("a", 1));
  const JobId running = submit(asking(1, hours(10)));
  const JobId waiting = submit(asking(1, hours(1)));
  Estimates estimates;
  estimates.by_pace[running] = minutes(90);
  EXPECT_EQ(forecast_start(state_, now_, waiting, estimates, Outlook::expected).at, now_ + minutes(90));
  EXPECT_EQ(forecast_start(state_, now_, waiting, estimates, Outlook::latest).at, now_ + hours(10));
}

TEST_F(StartForecasts, SayWhereTheyFindNone) {
  join(node_with("a", 1));
  submit(asking(1, hours(24 * 60)));
  const JobId waiting = submit(asking(1, hours(1)));
  const StartRange found = range(waiting);
  EXPECT_TRUE(found.earliest && !found.expected && !found.latest);
  EXPECT_EQ(found.note, "if jobs take what is to be expected, it does not start within 30d");
  turn(CancelJob{JobId{1}});
  EXPECT_EQ(range(waiting, {.moments = 0}).note.substr(0, 34), "does not start within the 0 events");
}

TEST_F(StartForecasts, SayThatNodesAreMissing) {
  join(node_with("a", 1));
  NodeDescription b = node_with("b", 1);
  join(b);
  b.devices[0].health = "too hot";
  report(b);
  const JobId wide = submit(asking(2, hours(1)));
  EXPECT_EQ(range(wide).latest, std::nullopt);
  EXPECT_EQ(range(wide).note, "does not start on the present nodes, whichever jobs end");
}

TEST_F(StartForecasts, DoNotSayNowWhereWhatNobodyOrderedHoldsTheNode) {
  const NodeDescription a = node_with("a", 1);
  join(a);
  turn(NodeReported{{a, {{{{{40}, 1}, 0}, TaskState::running, 9, {}}}, 0}});
  const JobId waiting = submit(asking(1, hours(1)));
  ASSERT_EQ(state_of(waiting), JobState::queued);
  EXPECT_EQ(range(waiting).earliest, std::nullopt);
  EXPECT_EQ(range(waiting).note,
            "does not start on the present nodes, whichever jobs end, before tasks of no job here have ended "
            "on a");
  join(a);
  EXPECT_EQ(state_of(waiting), JobState::starting);
}

TEST_F(StartForecasts, CountOnOtherNodesWhereWhatNobodyOrderedHoldsOne) {
  const NodeDescription a = node_with("a", 1);
  join(a);
  const JobId running = submit(asking(1, hours(10)));
  report(a);
  join(node_with("b", 1));
  submit(asking(1, hours(20)));
  const JobId waiting = submit(asking(1, hours(1)));
  NodeReport with_stray{a, {{task(running, 0), TaskState::running, 1, {}}}, 0};
  with_stray.tasks.push_back({{{{40}, 1}, 0}, TaskState::running, 9, {}});
  turn(NodeReported{with_stray});
  ASSERT_EQ(state_.nodes.at(a.id).strays, 1);
  EXPECT_EQ(range(waiting).latest, now_ + hours(20)) << "on b, though the job on a ends sooner";
}

TEST_F(StartForecasts, OfAHeldJobWaitForItsRelease) {
  join(node_with("a", 1));
  submit(asking(1, hours(1)));
  const JobId held = submit(asking(1, hours(1)));
  ASSERT_TRUE(turn(HoldJob{held}).ok());
  EXPECT_EQ(range(held).expected, std::nullopt);
  EXPECT_EQ(range(held).note, "does not start before it is released");
  const auto all = sooner(held);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].change, "hold");
  EXPECT_EQ(all[0].sentence, "once it is released: in about 36m");
}

TEST_F(StartForecasts, OfAJobThatFollowsAnotherComeAfterIt) {
  join(node_with("a", 2));
  const JobId first = submit(asking(1, hours(2)));
  JobRequest request = asking(1, hours(1));
  request.after.push_back({.job = first});
  const JobId second = submit(request);
  EXPECT_EQ(state_of(second), JobState::queued);
  EXPECT_EQ(range(second).latest, now_ + hours(2));
  const auto all = sooner(second);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].sentence, "submitted again without waiting for job 1: at once");
  EXPECT_TRUE(all[0].request.after.empty());
}

// Nodes a and b of rack r1 hang under one switch, c and d of r2 under another, both under one spine.
class SelectedStarts : public StartForecasts {
 protected:
  SelectedStarts() {
    for (const char* name : {"a", "b", "c", "d"}) {
      NodeDescription node = node_with(name, 2);
      const bool first = *name < 'c';
      node.labels = {{"rack", first ? "r1" : "r2"}, {"switch", first ? "s1" : "s2"}, {"spine", "p"}};
      join(node);
    }
  }
  JobId fill(const std::string& rack, int devices, Duration walltime) {
    JobRequest request = asking(devices, walltime);
    request.nodes = {{"rack", rack}};
    return submit(request);
  }
};

TEST_F(SelectedStarts, WithoutALabelItStartsNow) {
  fill("r1", 4, hours(10));
  JobRequest request = asking(2, hours(1));
  request.nodes = {{"rack", "r1"}, {"spine", "p"}};
  const JobId id = submit(request);
  ASSERT_EQ(state_of(id), JobState::queued);
  const auto all = sooner(id);
  const Sooner* fewer = find(all, "nodes");
  ASSERT_NE(fewer, nullptr);
  EXPECT_EQ(fewer->sentence, "submitted again without resources.nodes {rack: r1}: at once");
  EXPECT_EQ(fewer->request.nodes, (std::map<std::string, std::string>{{"spine", "p"}}));
  EXPECT_EQ(state_of(submit(fewer->request)), JobState::starting) << "the core agrees";
}

TEST_F(SelectedStarts, UnderASpineInsteadOfASwitchItStartsSooner) {
  fill("r1", 2, hours(10));
  fill("r2", 2, hours(5));
  JobRequest request = asking(4, hours(1));
  request.within = Within::leaf_switch;
  const JobId id = submit(request);
  EXPECT_EQ(range(id).latest, now_ + hours(5));
  const auto all = sooner(id);
  const Sooner* wider = find(all, "within");
  ASSERT_NE(wider, nullptr);
  EXPECT_EQ(wider->request.within, Within::spine);
  EXPECT_EQ(wider->sentence, "submitted again within a spine instead of a switch: at once");
  EXPECT_EQ(state_of(submit(wider->request)), JobState::starting) << "the core agrees";
}

// Another kind of device is another job.
TEST_F(SelectedStarts, OnAnotherKindOfDevicesAreNoRemedy) {
  join(node_with("g", 8, "gpu"));
  fill("r1", 4, hours(10));
  fill("r2", 4, hours(10));
  for (const Sooner& each : sooner(submit(asking(2, hours(1))))) EXPECT_EQ(each.request.kind, "cpu");
}

// A copy of the state that drops a demand must not lose the count of who else asks for the same nodes.
TEST_F(SelectedStarts, OthersThatAskForTheSameNodesAreLeftAlone) {
  fill("r1", 4, hours(10));
  const JobId first = fill("r1", 4, hours(10));
  fill("r1", 4, hours(10));
  const ClusterState before = state_;
  EXPECT_NE(find(sooner(first), "nodes"), nullptr);
  EXPECT_EQ(state_, before);
}

// The node that failed a job is left out of its forecast as well, while another could hold it.
TEST_F(StartForecasts, GoAroundTheNodeThatFailedTheJob) {
  join(node_with("b", 1));
  const JobId holder = submit(asking(1, hours(10)));
  const JobId id = submit(asking(1, hours(1)));
  state_.jobs.at(id).avoid = {{"a"}};
  state_.jobs.at(id).avoid_until = now_ + hours(20);
  join(node_with("a", 1));
  ASSERT_EQ(state_of(id), JobState::queued) << "a is free, but it failed there";
  EXPECT_EQ(range(id).latest, now_ + hours(10));
  const auto found = blockers_of(state_, plan_, id, now_);
  const auto running = std::ranges::find(found, BlockerCode::running, &Blocker::code);
  ASSERT_NE(running, found.end());
  EXPECT_EQ(running->job, holder) << "what it waits for is on b";
}

// Far ahead the forecast leaps: it must come to about what living through every moment gives.
TEST_F(StartForecasts, LeapsComeToAboutTheSame) {
  std::mt19937 random(11);
  for (int i = 0; i < 8; ++i) join(node_with("n" + std::to_string(i), 8));
  JobId last{};
  for (int i = 0; i < 1500; ++i)
    last = submit(asking(1 + static_cast<int>(random() % 8), minutes(30 + random() % 600)));
  const ForecastBounds every{.moments = 100'000, .exact = 100'000};
  const auto exact = forecast_start(state_, now_, last, {}, Outlook::expected, every).at;
  const auto leaping =
      forecast_start(state_, now_, last, {}, Outlook::expected, {.moments = 100'000, .exact = 50}).at;
  ASSERT_TRUE(exact && leaping);
  const double ratio = std::chrono::duration<double>(*leaping - now_) / (*exact - now_);
  EXPECT_NEAR(ratio, 1, 0.05);
}

TEST_F(StartForecasts, GiveUpWhenTold) {
  join(node_with("a", 1));
  for (int i = 0; i < 20; ++i) submit(asking(1, hours(10)));
  ForecastBounds bounds;
  bounds.give_up = [](int moments) { return moments == 5; };
  const StartRange found = range(JobId{20}, bounds);
  EXPECT_FALSE(found.earliest || found.expected || found.latest);
  EXPECT_EQ(found.not_before, now_ + hours(30)) << "five jobs of 6 h are expected to end before";
  EXPECT_EQ(found.note.substr(0, 44), "does not start within the 5 events that were");
}

// It was expected in 18 days, and "does not start within 30d".
TEST_F(StartForecasts, SayInWhichFutureThereIsNoStart) {
  join(node_with("a", 1));
  for (int i = 0; i < 7; ++i) submit(asking(1, hours(5 * 24)));
  const StartRange found = range(submit(asking(1, hours(5 * 24))));
  EXPECT_EQ(found.expected, now_ + hours(21 * 24));
  EXPECT_FALSE(found.latest);
  EXPECT_EQ(found.note, "if every job takes all of its walltime, it does not start within 30d");
}

// Of a job that starts in 30 h at the earliest it was told what would start it "sooner", in 36 h.
TEST_F(StartForecasts, NameNothingThatMayBeLaterThanTheJobAsItIs) {
  join(node_with("a", 2));
  for (int i = 0; i < 40; ++i) submit(asking(2, hours(10)));
  const JobId last = submit(asking(2, hours(10)));
  ForecastBounds bounds;
  bounds.moments = 5;
  const StartRange seen = range(last, bounds);
  ASSERT_TRUE(seen.not_before);
  bounds.moments = 1000;
  for (const Sooner& one : starts_sooner(
           state_, now_, last, seen, {}, [](const JobRequest&) { return true; }, bounds))
    EXPECT_LT(one.at, *seen.not_before) << one.sentence;
}

TEST_F(StartForecasts, TheLongestWalltimeThatBackfillsIsRightAtTheBoundary) {
  join(node_with("a", 3));
  submit(asking(2, hours(4)));
  submit(asking(3, hours(1)));
  const JobId small = submit(asking(1, hours(5)));
  ASSERT_EQ(state_of(small), JobState::queued);
  const auto all = sooner(small);
  const Sooner* shorter = find(all, "walltime");
  ASSERT_NE(shorter, nullptr);
  EXPECT_EQ(shorter->request.walltime, hours(4));
  EXPECT_EQ(shorter->at, now_);
  EXPECT_TRUE(shorter->backfill);
  EXPECT_EQ(shorter->sentence, "submitted again with a walltime of 4h or less: at once, by backfill");
  // The core agrees, and with a second more it does not start.
  EXPECT_EQ(state_of(submit(asking(1, shorter->request.walltime + seconds(1)))), JobState::queued);
  EXPECT_EQ(state_of(submit(shorter->request)), JobState::starting);
}

TEST_F(StartForecasts, TheLargestSmallerGangThatStartsNow) {
  join(node_with("a", 8));
  submit(asking(3, hours(4)));
  const JobId gang = submit(asking(8, hours(1)));
  auto all = sooner(gang);
  ASSERT_NE(find(all, "devices"), nullptr);
  EXPECT_EQ(find(all, "devices")->request.devices, 5);
  EXPECT_EQ(find(all, "devices")->sentence, "submitted again with 5 devices: at once");
  all = sooner(gang, [](const JobRequest& r) { return 8 % r.devices == 0; });  // the batch comes out even
  EXPECT_EQ(find(all, "devices")->request.devices, 4);
  EXPECT_EQ(find(sooner(gang, [](const JobRequest&) { return false; }), "devices"), nullptr);
}

TEST_F(StartForecasts, FewerWholeNodesOfAGang) {
  for (const char* name : {"a", "b", "c"}) join(node_with(name, 2));
  submit(asking(1, hours(4)));
  const JobId gang = submit(asking(6, hours(1), 2));
  const auto all = sooner(gang);
  ASSERT_NE(find(all, "devices"), nullptr);
  EXPECT_EQ(find(all, "devices")->request, (asking(4, hours(1), 2)));
}

TEST_F(StartForecasts, OverSeveralNodesItStartsNow) {
  join(node_with("a", 2));
  submit(asking(1, hours(4)));
  join(node_with("b", 1));
  ASSERT_EQ(state_.indexes.pools.at({"cpu", {}}).free.most(), 1);
  const JobId pair = submit(asking(2, hours(1), 2));
  const auto all = sooner(pair);
  ASSERT_NE(find(all, "per_node"), nullptr);
  EXPECT_EQ(find(all, "per_node")->request, asking(2, hours(1)));
  EXPECT_EQ(find(all, "per_node")->at, now_);
  EXPECT_EQ(state_of(submit(asking(2, hours(1)))), JobState::starting) << "the core agrees";
}

TEST_F(StartForecasts, TheLeastPriorityThatMakesItNext) {
  join(node_with("a", 1));
  submit(asking(1, hours(10)));
  submit(asking(1, hours(10)));
  const JobId last = submit(asking(1, hours(10)));
  const auto all = sooner(last);
  ASSERT_NE(find(all, "priority"), nullptr);
  EXPECT_EQ(find(all, "priority")->request.priority, 51);
  EXPECT_EQ(find(all, "priority")->at, now_ + hours(6));
  EXPECT_EQ(find(all, "priority")->sentence, "with priority 51: in about 6h");
}

// Only the priority of a job that waits can be changed; what needs another submission begins to wait anew.
TEST_F(StartForecasts, OfAnotherSubmissionStandBehindThoseThatHaveWaitedLonger) {
  join(node_with("a", 2));
  submit(asking(1, hours(50)));
  submit(asking(1, hours(100)));
  const JobId pair = submit(asking(2, hours(90)));
  now_ += hours(20);
  const auto alone = sooner(pair);
  ASSERT_NE(find(alone, "devices"), nullptr) << "nobody else waits for the device that is free in 10h";
  EXPECT_TRUE(find(alone, "devices")->anew);
  EXPECT_EQ(find(alone, "devices")->sentence, "submitted again with 1 device: in about 10h");

  const JobId single = submit(asking(1, hours(90)));
  ASSERT_EQ(state_of(single), JobState::queued);
  now_ += hours(1);
  EXPECT_EQ(find(sooner(pair), "devices"), nullptr) << "the other has waited for an hour then";
  const auto first = sooner(single);
  ASSERT_NE(find(first, "priority"), nullptr);
  EXPECT_FALSE(find(first, "priority")->anew);
}

TEST_F(StartForecasts, WhatDoesNotHelpIsNotNamed) {
  join(node_with("a", 1));
  submit(asking(1, hours(10)));
  EXPECT_TRUE(sooner(submit(asking(1, hours(1)))).empty());
}

TEST(Estimates, LearnFromEnoughJobs) {
  const auto took = [](int tenths) { return EndedRun{minutes(6 * tenths), hours(1), true}; };
  EXPECT_EQ(learn_fractions({took(1), took(2)}).jobs, 0);
  std::vector<EndedRun> runs;
  for (int i = 11; i > 0; --i) runs.push_back(took(i));
  const WalltimeFractions learnt = learn_fractions(runs);
  EXPECT_EQ(learnt.jobs, 11);
  EXPECT_DOUBLE_EQ(learnt.expected, 0.6);
  EXPECT_DOUBLE_EQ(learnt.earliest, 0.2);
  runs.pop_back();  // ten are left, of 0.2 to 1.1
  EXPECT_DOUBLE_EQ(learn_fractions(runs).expected, 0.6);
  EXPECT_DOUBLE_EQ(learn_fractions(runs).earliest, 0.2);
}

// Ten specs with a mistake let every job seem to end at once.
TEST(Estimates, LearnNothingFromJobsThatFailedOrNeverRan) {
  std::vector<EndedRun> runs(20, EndedRun{seconds(2), hours(10), false});
  runs.resize(40, EndedRun{Duration{}, hours(10), true});
  EXPECT_EQ(learn_fractions(runs).jobs, 0);
  EXPECT_DOUBLE_EQ(learn_fractions(runs).expected, WalltimeFractions{}.expected);
  for (int i = 0; i < 10; ++i) runs.push_back({hours(10), hours(10), false});
  EXPECT_EQ(learn_fractions(runs).jobs, 10) << "their walltime was too short for them";
  EXPECT_DOUBLE_EQ(learn_fractions(runs).expected, 1);
}

TEST(Estimates, FollowThePaceOfTheAttempt) {
  const Time start = from_millis(1'000'000);
  Job job;
  EXPECT_EQ(left_at_pace(job, {50, 100, start}, start), std::nullopt);
  job.attempt.emplace();
  job.attempt->started = start;
  job.attempt->first_checkpoint = 40;  // so the attempt made 10 steps in 10 minutes
  EXPECT_EQ(left_at_pace(job, {50, 100, start + minutes(10)}, start + minutes(12)), minutes(48));
  EXPECT_EQ(left_at_pace(job, {40, 100, start + minutes(10)}, start), std::nullopt) << "no pace yet";
  EXPECT_EQ(left_at_pace(job, {50, 0, start + minutes(10)}, start), std::nullopt) << "steps are unknown";
  EXPECT_EQ(left_at_pace(job, {50, 100, start}, start), std::nullopt) << "steps that took no time";
}

TEST(Estimates, AJobBeyondItsUsualTimeTakesItsUsualPartOfTheRest) {
  const Time start = from_millis(1'000'000);
  Job job;
  job.request.walltime = hours(10);
  EXPECT_EQ(Estimates().left(job, Outlook::expected, start), hours(6));
  job.attempt.emplace();
  job.attempt->created = start;
  EXPECT_EQ(Estimates().left(job, Outlook::expected, start + hours(2)), hours(4));
  EXPECT_EQ(Estimates().left(job, Outlook::expected, start + hours(9)), minutes(36));
  EXPECT_EQ(Estimates().left(job, Outlook::latest, start + hours(9)), hours(1));
  EXPECT_EQ(Estimates().left(job, Outlook::latest, start + hours(11)), Duration{});
}

Job started_at(Time start, Duration walltime) {
  Job job;
  job.id = JobId{7};
  job.request.walltime = walltime;
  job.attempt.emplace();
  job.attempt->created = start;
  job.attempt->started = start;
  return job;
}

// "Expected now" was said of the job behind one that ran for ten times what jobs usually take, for all of
// that time.
TEST(Estimates, AJobThatIsOverdueIsExpectedToBeForAsLongAgain) {
  const Time start = from_millis(1'000'000);
  const Job job = started_at(start, hours(24 * 30));
  Estimates estimates;
  estimates.fractions = {1.0 / (24 * 30), 0.5 / (24 * 30), 20};  // an hour and half an hour
  EXPECT_EQ(estimates.left(job, Outlook::expected, start + minutes(20)), minutes(40));
  EXPECT_EQ(estimates.left(job, Outlook::expected, start + hours(11)), hours(10));
  EXPECT_EQ(estimates.left(job, Outlook::earliest, start + hours(18) + minutes(30)), hours(2));
  EXPECT_EQ(estimates.left(job, Outlook::expected, start + hours(24 * 30 - 10)), hours(6));
}

// Its last step is done, or no step has come for long: at its pace it should have ended before now.
TEST(Estimates, AJobThatIsOverdueByItsPaceIsSoForAsLongAgain) {
  const Time start = from_millis(1'000'000);
  const Job job = started_at(start, hours(2));
  const Time now = start + minutes(25);
  const auto left = left_at_pace(job, {100, 100, start + minutes(10)}, now);
  EXPECT_EQ(left, -minutes(15));
  Estimates estimates;
  estimates.by_pace[job.id] = *left;
  EXPECT_EQ(estimates.left(job, Outlook::expected, now), minutes(15));
  EXPECT_EQ(estimates.left(job, Outlook::earliest, now), seconds(100));
  estimates.by_pace[job.id] = -hours(4);
  EXPECT_EQ(estimates.left(job, Outlook::expected, start + hours(1)), hours(1)) << "its walltime ends it";
}

TEST(Estimates, AreInTheOrderOfTheirOutlooks) {
  const Time start = from_millis(1'000'000);
  const Job job = started_at(start, hours(10));
  Estimates learnt, paced;
  learnt.fractions = {0.01, 0.005, 20};
  for (int minute = 0; minute < 620; ++minute) {
    const Time now = start + minutes(minute);
    paced.by_pace[job.id] = minutes(300 - minute);
    for (const Estimates& estimates : {Estimates(), learnt, paced}) {
      const auto left = [&](Outlook outlook) { return estimates.left(job, outlook, now); };
      EXPECT_LE(left(Outlook::earliest), left(Outlook::expected)) << minute;
      EXPECT_LE(left(Outlook::expected), left(Outlook::latest)) << minute;
    }
  }
}

}  // namespace
}  // namespace podium
