// Turns: what is committed is there after reopening, in the log, in the projections and in the state rebuilt
// from them.
#include <nlohmann/json.hpp>

#include "coordinator/store/sqlite.h"
#include "tests/coordinator/store/store_fixture.h"

namespace podium {
namespace {

using nlohmann::json;

TEST(Store, RebuildsTheStateFromTheLog) {
  TempFolder home;
  {
    Store store(home.path(), at_once());
    store.load({});
    start_job(store);
  }
  Store store(home.path(), at_once());
  const Loaded loaded = store.load({});
  ASSERT_TRUE(loaded.state.jobs.contains({1}));
  EXPECT_EQ(loaded.state.jobs.at({1}).state, JobState::running);
  EXPECT_EQ(loaded.state.nodes.at({"node-1"}).devices.at(0).holder, JobId{1});
  ASSERT_EQ(loaded.secrets.size(), 1u);
  EXPECT_EQ(loaded.secrets[0].secret, "secret-1");
}

TEST(Store, StartsFromASnapshotAndTheEventsAfterIt) {
  TempFolder home;
  json whole;
  {
    Store store(home.path(), at_once());
    ClusterState state = store.load({}).state;
    const Events first = queued_job(1), second = queued_job(2);
    apply_all(state, first);
    commit_now(store, {first, {}, {}, std::make_shared<const ClusterState>(state)});
    apply_all(state, second);
    commit_now(store, {second, {}, {}, {}});
    whole = to_json(state);
    Database database(home.path() / "podium.db", Access::write, 100);
    database.run("DELETE FROM events WHERE seq <= 2");  // a start must not need them
  }
  Store store(home.path(), at_once());
  EXPECT_EQ(to_json(store.load({}).state), whole);
}

TEST(Store, AByteThatIsNoUtf8FailsNothing) {
  TempFolder home;
  {
    Store store(home.path(), at_once());
    ClusterState state = store.load({}).state;
    const Events queued = queued_job(1), noted{{at_second(1), NodeJoined{one_slot_node()}},
                                               {at_second(2), NodeDrained{{"node-1"}, {"worn out \xff"}}}};
    apply_all(state, queued);
    apply_all(state, noted);
    commit_now(store, {queued, {}, {}, {}});
    commit_now(store, {noted, {}, {}, std::make_shared<const ClusterState>(state)});
  }
  Store store(home.path(), at_once());
  EXPECT_EQ(store.load({}).state.nodes.at({"node-1"}).drain->reason, "worn out \uFFFD");
}

TEST(Store, AsksForASnapshotAfterManyEvents) {
  TempFolder home;
  Store store(home.path(), at_once());
  EXPECT_FALSE(store.wants_snapshot());
  const Events many(5000, Event{at_second(0), SilenceForgiven{"test"}});
  commit_now(store, {many, {}, {}, {}});
  EXPECT_TRUE(store.wants_snapshot());
  commit_now(store, {{}, {}, {}, std::make_shared<const ClusterState>()});
  EXPECT_FALSE(store.wants_snapshot());
}

TEST(Store, AsksSeldomForALargeSnapshot) {
  TempFolder home;
  const Events many(5000, Event{at_second(0), SilenceForgiven{"test"}});
  {
    ClusterState large;
    large.accounts[std::string(990'000, 'a')];  // worth almost 10,000 events
    Store store(home.path(), at_once());
    commit_now(store, {{}, {}, {}, std::make_shared<const ClusterState>(large)});
  }
  Store store(home.path(), at_once());
  EXPECT_EQ(store.load({}).state.accounts.size(), 1u) << "a store that is closed has written it";
  commit_now(store, {many, {}, {}, {}});
  EXPECT_FALSE(store.wants_snapshot());
  commit_now(store, {many, {}, {}, {}});
  EXPECT_TRUE(store.wants_snapshot());
}

TEST(Store, WritesNothingThatIsNotDurable) {
  TempFolder home;
  Store store(home.path(), at_once());
  commit_now(store, {{{at_second(0), Ticked{}}}, {}, {}, {}});
  Database database(home.path() / "podium.db", Access::read, 100);
  Statement count(database, "SELECT count(*) FROM events");
  count.start().next();
  EXPECT_EQ(count.integer(0), 0);
}

TEST(Store, ProjectsJobsAndAttempts) {
  TempFolder home;
  Store store(home.path(), at_once());
  start_job(store);
  commit_now(store, {failed_attempt(1, 1, 60), {}, {}, {}});
  commit_now(store, {started_attempt(1, 2, 70), {}, {{{{1}, 2}, "secret-2"}}, {}});
  const auto reader = store.open_reader();

  const JobView job = reader->job({1}).value();
  EXPECT_EQ(job.request.name, "tiny");
  EXPECT_EQ(job.state, JobState::running);
  EXPECT_EQ(job.attempt, 2);
  EXPECT_EQ(job.restarts, 1);
  EXPECT_EQ(job.started, at_second(10));
  EXPECT_EQ(job.reason, "");
  EXPECT_EQ(json::parse(job.labels), (json{{"team", "nlp"}}));
  ASSERT_TRUE(job.target);
  EXPECT_EQ(job.target->at_most, 2.0);
  EXPECT_FALSE(job.time_to_train_seconds);

  const auto attempts = reader->attempts({1});
  ASSERT_EQ(attempts.size(), 2u);
  EXPECT_EQ(attempts[0].end, AttemptEnd::failed);
  EXPECT_EQ(attempts[0].ended, at_second(60));
  EXPECT_EQ(attempts[0].tasks.at(0).exit->signal, 9);
  EXPECT_FALSE(attempts[1].end);
  EXPECT_EQ(attempts[1].tasks.at(0).pid, 42);
  EXPECT_FALSE(reader->job({2}));
}

// A job that was preempted and resized was told to have used up its restarts; and of one that was requeued
// after its end some counts began anew and others did not.
TEST(Store, CountsRestartsByKindOverAllAttempts) {
  TempFolder home;
  Store store(home.path(), at_once());
  start_job(store);
  const auto end = [&](int number, AttemptEnd how, RestartCause cause, int failures) {
    const Time at = at_second(100 * number);
    commit_now(store, {{{at, AttemptEnded{{{1}, number}, how, "why", cause}},
                        {at, RetryPlanned{{1}, {.failures = failures}, {}, {}}}},
                       {},
                       {},
                       {}});
    commit_now(store, {started_attempt(1, number + 1, 100 * number + 10), {}, {}, {}});
  };
  end(1, AttemptEnd::failed, RestartCause::failure, 1);
  end(2, AttemptEnd::preempted, RestartCause::preemption, 1);
  end(3, AttemptEnd::resized, RestartCause::resize, 1);
  end(4, AttemptEnd::preempted, RestartCause::requeue, 1);
  end(5, AttemptEnd::failed, RestartCause::move, 1);
  end(6, AttemptEnd::node_lost, RestartCause::node_loss, 1);
  commit_now(store, {{{at_second(700), AttemptEnded{{{1}, 7}, AttemptEnd::failed, "bad data"}}}, {}, {}, {}});

  RestartCounts counts{
      .failures = 1, .requeues = 1, .moves = 1, .node_losses = 1, .preemptions = 1, .resizes = 1};
  const JobView ended = store.open_reader()->job({1}).value();
  EXPECT_EQ(ended.restarts, 6);
  EXPECT_EQ(ended.restart_counts, counts);
  EXPECT_EQ(ended.restarts_used, 1);

  commit_now(store, {{{at_second(900), JobRecalled{{1}, {1}, {}, JobState::failed, 7, {}, {}}}}, {}, {}, {}});
  ++counts.requeues;
  const JobView recalled = store.open_reader()->job({1}).value();
  EXPECT_EQ(recalled.restart_counts, counts);
  EXPECT_EQ(recalled.restarts_used, 0) << "it has all its restarts again";
}

// Elapsed went on while the job was queued.
TEST(Store, KnowsForHowLongAJobRan) {
  TempFolder home;
  Store store(home.path(), at_once());
  start_job(store);
  const auto reader = store.open_reader();
  EXPECT_EQ(reader->job({1})->running_since, at_second(10));
  commit_now(store, {failed_attempt(1, 1, 60), {}, {}, {}});
  EXPECT_EQ(reader->job({1})->ran, std::chrono::seconds(50));
  EXPECT_FALSE(reader->job({1})->running_since);
  commit_now(store, {started_attempt(1, 2, 90), {}, {}, {}});
  EXPECT_EQ(reader->job({1})->ran, std::chrono::seconds(50));
  EXPECT_EQ(reader->job({1})->running_since, at_second(90));
}

// It was told as the program's own doing.
TEST(Store, ATaskWhoseNodeIsLostDidNotEndByItself) {
  TempFolder home;
  Store store(home.path(), at_once());
  start_job(store);
  commit_now(store, {{{at_second(60), TaskLost{{{{1}, 1}, 0}, "no word from its agent"}}}, {}, {}, {}});
  const std::optional<TaskExit> exit = store.open_reader()->attempts({1}).at(0).tasks.at(0).exit;
  EXPECT_EQ(exit, (TaskExit{-1, 0, "no word from its agent", ExitCause::no_record}));
}

// A job that was requeued after it had ended was given a number again that a node had told of.
TEST(Store, KnowsTheAttemptsThatOnlyNodesKnowOf) {
  TempFolder home;
  Store store(home.path(), at_once());
  start_job(store);
  commit_now(store, {failed_attempt(1, 1, 60), {}, {}, {}});
  const auto reader = store.open_reader();
  EXPECT_EQ(reader->newest_attempt({1}), 1);
  EXPECT_EQ(reader->newest_attempt({2}), 0);
  commit_now(store, {{{at_second(61), JobHeld{{1}, "", 50}}, {at_second(62), JobHeld{{1}}}}, {}, {}, {}});
  EXPECT_EQ(reader->newest_attempt({1}), 50);
}

TEST(Store, KeepsTheSpecAndFindsItByItsKey) {
  TempFolder home;
  Store store(home.path(), at_once());
  start_job(store);
  const auto reader = store.open_reader();
  EXPECT_EQ(reader->experiment_by_key("key-1"), ExperimentId{1});
  EXPECT_EQ(reader->experiment_by_key("key-2"), std::nullopt);
  const auto experiment = reader->experiment({1});
  EXPECT_EQ(experiment->spec, "name: tiny");
  EXPECT_EQ(experiment->jobs, std::vector<JobId>{{1}});
  EXPECT_EQ(reader->job_spec({1}), target_spec());
}

TEST(Store, TellsTheHistoryOfAJobInOrder) {
  TempFolder home;
  Store store(home.path(), at_once());
  start_job(store);
  commit_now(store, {failed_attempt(1, 1, 60), {}, {}, {}});
  const auto history = store.open_reader()->history({1}, 0, 100);
  ASSERT_GE(history.size(), 6u);
  EXPECT_EQ(history.front().type, "job_queued");
  EXPECT_EQ(history.back().text, "stopping → queued: killed; queued again");
  const auto rest = store.open_reader()->history({1}, history[1].id, 1);
  ASSERT_EQ(rest.size(), 1u);
  EXPECT_EQ(rest[0].id, history[2].id);
}

}  // namespace
}  // namespace podium
