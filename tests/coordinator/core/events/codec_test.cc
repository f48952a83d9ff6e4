// The log's format, held by tests/golden/core-events.jsonl: one line of every event, as first published.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "coordinator/core/events/events.h"
#include "tests/paths.h"

namespace podium {
namespace {

using nlohmann::json;

Events one_of_each() {
  const Time at = from_millis(1'700'000'000'000);
  const AttemptId attempt{{7}, 2};
  const TaskId task{attempt, 1};
  const JobRequest request{"bert", 2, 1,    "cpu",      std::chrono::hours(1),
                           60,     3, true, "nlp/bert", {{{5}, When::any}}};
  Allocation allocation;
  allocation.ranks = {{{"node-1"}, 0, 0, 1, 0, 4}, {{"node-2"}, 3, 0, 1, 1, 4}};
  allocation.nodes = 2;
  allocation.master_address = "10.0.0.1";
  allocation.master_port = 20003;
  NodeDescription node{{"node-1"}, "10.0.0.1", "0.1.0", "abc", {{"rack", "r1"}}, {Device{}}};
  return {{at, ExperimentCreated{{3}, "bert"}},
          {at, JobQueued{{7}, {3}, request}},
          {at, AttemptCreated{attempt, allocation}},
          {at, TaskStarted{task, 4242}},
          {at, TaskExited{task, {65, 0, "no such file"}}},
          {at, TaskMissed{task}},
          {at, TaskFound{task}},
          {at, TaskLost{task, "no word"}},
          {at, AttemptStopping{attempt, StopCause::task_failed, "rank 1 failed"}},
          {at, AttemptEnded{attempt, AttemptEnd::node_lost, "rank 1 was lost"}},
          {at, RetryPlanned{{7}, {1, 2, 3, 4, 5, 6}, at, {{"node-2"}}, at + std::chrono::hours(1)}},
          {at, JobStateChanged{{7}, JobState::stopping, JobState::queued, "queued again"}},
          {at, CheckpointNoted{attempt, 200}},
          {at, NodeJoined{node}},
          {at, NodeChanged{node}},
          {at, NodeStateChanged{{"node-1"}, NodeState::up, NodeState::unknown, "silent"}},
          {at, NodeStraysCounted{{"node-1"}, 2}},
          {at, SilenceForgiven{"the coordinator started", true}},
          {at, NodeSeen{{"node-1"}}},
          {at, Ticked{}},
          {at, JobHeld{{7}, "attempt 3 of it was running on node-1", 3}},
          {at, JobReleased{{7}}},
          {at, JobPrioritised{{7}, 80}},
          {at, DependencyMet{{7}, {5}}},
          {at, NodeDrained{{"node-1"}, {"new fans", at, at + std::chrono::hours(2)}}},
          {at, NodeResumed{{"node-1"}, "its maintenance window is over"}},
          {at, NodeLabelled{{"node-1"}, {{"partition", "nlp"}}}},
          {at, AccountChanged{"nlp", {3, {{"gpu", 64}}, {{"gpu", 128}}}}},
          {at, ResizePlanned{attempt, {4, 2, {{{"node-1"}, 2}}, JobId{9}}}},
          {at, NodeReserved{{"node-1"}, {"nlp", "deadline", at, at + std::chrono::hours(2)}}},
          {at, NodeUnreserved{{"node-1"}, "its time is over"}},
          {at, TaskListed{task}},
          {at,
           JobRecalled{
               {7}, {3}, request, JobState::failed, 4, std::chrono::hours(2), std::chrono::hours(8), false}},
          {at, JobExtended{{7}, std::chrono::hours(96)}},
          {at, NodeAdopted{{"node-1"}, true}},
          {at, JobNumbersSkipped{{13}}},
          {at, AccountDeleted{"nlp/gpt"}},
          {at, SweepBegun{{3}, {"eval/loss", Goal::min, 100, 1600, 4}, {7}, 16}},
          {at, RungReached{{3}, {7}, 2, {400, 3.25}}},
          {at, TrialPaused{{7}, 2, "7th of 9 at rung 2"}},
          {at, TrialPromoted{{7}, 2, "1st of 9 at rung 2"}},
          {at, ReplicaPaused{{7}, "the first 2 serve until the load grows"}},
          {at, ReplicaPromoted{{7}, "requests wait 40ms"}},
          {at, RunTracked{{7}, {3}}},
          {at, NodeLeft{{"node-1"}, "its allocation has ended"}},
          {at, TaskStaging{task, true}}};
}

TEST(EventCodec, ReadsAndWritesTheGoldenFile) {
  const Events events = one_of_each();
  ASSERT_EQ(events.size(), std::variant_size_v<decltype(Event::body)>);
  const std::string path = test::source_path("tests/golden/core-events.jsonl");
  std::ifstream golden(path);
  ASSERT_TRUE(golden) << path;
  std::string line;
  for (const Event& event : events) {
    ASSERT_TRUE(std::getline(golden, line)) << path << " lacks a " << type_of(event);
    EXPECT_EQ(to_json(event).dump(), line);
    EXPECT_EQ(event_from_json(json::parse(line)), event) << line;
  }
  EXPECT_FALSE(std::getline(golden, line)) << "the golden file holds more than the code knows: " << line;
}

TEST(EventCodec, AWalltimeOfBeforeThereWasAMostIsCut) {
  nlohmann::json event = to_json(one_of_each()[1]);
  event["request"]["walltime_ms"] = 106'751'991'167 * 86'400'000 / 10;
  EXPECT_EQ(std::get<JobQueued>(event_from_json(event).body).request.walltime, kLongestWalltime);
}

TEST(EventCodec, KeepsWhatAJobAsksOfItsNodes) {
  JobRequest request;
  request.nodes = {{"partition", "nlp"}};
  request.within = Within::leaf_switch;
  request.tensor = 8;
  request.devices = 8;
  request.sizes = {8, 16};
  request.saves = true;
  request.resume = JobId{12};
  request.init = JobId{14};
  request.process_per_node = true;
  request.replica = {"answers", 2, 4, std::chrono::milliseconds(50)};
  const Event queued{from_millis(0), JobQueued{{1}, {1}, request}};
  EXPECT_EQ(event_from_json(to_json(queued)), queued);
}

TEST(EventCodec, KeepsTheDevicesOfOneProcessANode) {
  Allocation allocation;
  allocation.ranks = {{{"node-1"}, 2, 0, 1, 0, 4, {3, 5}}};
  const Event created{from_millis(0), AttemptCreated{{{7}, 1}, allocation}};
  EXPECT_EQ(event_from_json(to_json(created)), created);
  EXPECT_EQ(describe(created), "attempt 1 on node-1 devices 2-3,5");
}

TEST(EventCodec, RefusesWhatItDoesNotKnow) {
  json event = to_json(Event{from_millis(0), Ticked{}});
  event["v"] = 2;
  EXPECT_THROW(event_from_json(event), std::invalid_argument);
  event["v"] = 1;
  event["type"] = "job_exploded";
  EXPECT_THROW(event_from_json(event), std::invalid_argument);
}

// Requests and snapshots of logs from before jobs could be held or wait for others.
TEST(EventCodec, FillsInWhatOlderLogsLack) {
  json event = to_json(one_of_each()[1]);
  event["request"].erase("after");
  event["request"].erase("account");
  const Event read = event_from_json(event);
  EXPECT_TRUE(std::get<JobQueued>(read.body).request.after.empty());
  EXPECT_EQ(std::get<JobQueued>(read.body).request.account, "default");
}

TEST(EventCodec, AHoldOfBeforeThereWereReasonsWasAnOperatorsWish) {
  json event = to_json(one_of_each()[20]);
  event.erase("reason");
  event.erase("attempts");
  EXPECT_EQ(std::get<JobHeld>(event_from_json(event).body), (JobHeld{{7}}));
}

TEST(EventCodec, AnExitFromBeforeCausesWasTheProgramsOwn) {
  json event = to_json(one_of_each()[4]);
  event["exit"].erase("cause");
  EXPECT_EQ(std::get<TaskExited>(event_from_json(event).body).exit.cause, ExitCause::program);
}

TEST(EventCodec, ReadsARetryOfBeforeAvoidedNodesWereForgiven) {
  json event = to_json(one_of_each()[10]);
  event.erase("avoid_until_ms");
  const auto retry = std::get<RetryPlanned>(event_from_json(event).body);
  EXPECT_EQ(retry.avoid.size(), 1u);
  EXPECT_FALSE(retry.avoid_until);
}

TEST(EventText, TellsPeopleAboutEveryEvent) {
  for (const Event& event : one_of_each()) EXPECT_FALSE(describe(event).empty()) << type_of(event);
  EXPECT_EQ(describe(one_of_each()[2]), "attempt 2 on node-1 device 0; node-2 device 3");
  EXPECT_EQ(describe(one_of_each()[4]), "rank 1 ended with exit code 65: no such file");
  EXPECT_EQ(job_of(one_of_each()[4]), JobId{7});
  EXPECT_EQ(node_of(one_of_each()[15]), NodeId{"node-1"});
}

}  // namespace
}  // namespace podium
