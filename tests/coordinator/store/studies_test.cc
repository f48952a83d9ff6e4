// Experiments of several jobs, and what else ran on their nodes.
#include <gtest/gtest.h>

#include "tests/coordinator/store/store_fixture.h"

namespace podium {
namespace {

class Studies : public testing::Test {
 protected:
  Studies() : store_(home_.path(), at_once()) {}

  // Jobs get the numbers after those before.
  void submit(std::int64_t experiment, int jobs, const std::string& spec = "{}") {
    Commit turn;
    turn.events.push_back({at_second(0), ExperimentCreated{{experiment}, "x"}});
    ExperimentText text{{experiment}, "name: x", "x.yaml", "", "", {}};
    for (int i = 0; i < jobs; ++i) {
      JobRequest request;
      request.name = "x";
      turn.events.push_back({at_second(0), JobQueued{{++last_job_}, {experiment}, request}});
      text.job_specs.push_back(spec);
    }
    turn.experiment = std::move(text);
    commit_now(store_, std::move(turn));
  }

  void run(std::int64_t job, const std::string& node, int begin, std::optional<int> end) {
    Allocation allocation;
    allocation.ranks.push_back({{node}, 0, 0, 1, 0, 1});
    allocation.nodes = 1;
    const AttemptId attempt{{job}, 1};
    Commit turn;
    turn.events = {{at_second(begin), AttemptCreated{attempt, allocation}},
                   {at_second(begin), JobStateChanged{{job}, JobState::queued, JobState::starting, ""}}};
    turn.secrets.push_back({attempt, "secret"});
    if (end) {
      turn.events.push_back({at_second(*end), TaskExited{{attempt, 0}, {0, 0, ""}}});
      turn.events.push_back({at_second(*end), AttemptEnded{attempt, AttemptEnd::succeeded, ""}});
      turn.events.push_back(
          {at_second(*end), JobStateChanged{{job}, JobState::starting, JobState::succeeded, ""}});
    }
    commit_now(store_, std::move(turn));
  }

  TempFolder home_;
  Store store_;
  std::int64_t last_job_ = 0;
};

TEST_F(Studies, AreTheExperimentsOfSeveralJobs) {
  submit(1, 2);
  submit(2, 1);
  submit(3, 3);
  run(1, "node-1", 1, 5);
  const auto reader = store_.open_reader();
  const std::vector<StudyView> all = reader->studies(10, {});
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].experiment.id, ExperimentId{3});
  EXPECT_EQ(all[0].experiment.spec, "name: x");
  EXPECT_EQ(all[0].states, (std::map<JobState, int>{{JobState::queued, 3}}));
  EXPECT_EQ(all[1].states, (std::map<JobState, int>{{JobState::queued, 1}, {JobState::succeeded, 1}}));
  EXPECT_EQ(reader->studies(1, {}).size(), 1u);
  EXPECT_EQ(reader->studies(10, ExperimentId{3}).size(), 1u);
  EXPECT_FALSE(reader->study({2}).has_value());
  EXPECT_FALSE(reader->study({9}).has_value());
}

TEST_F(Studies, TheReplicasOfAServiceAreNone) {
  submit(1, 3, R"({"task": "serve"})");
  EXPECT_TRUE(store_.open_reader()->studies(10, {}).empty());
  EXPECT_FALSE(store_.open_reader()->study({1}).has_value());
}

TEST_F(Studies, KnowWhoHeldDevicesOfTheirNodesMeanwhile) {
  submit(1, 3);
  submit(2, 3);
  run(1, "node-1", 10, 20);
  run(2, "node-2", 15, 30);
  run(3, "node-1", 20, 25);  // right after the first
  run(4, "node-1", 5, 11);
  run(5, "node-2", 29, {});
  run(6, "node-1", 1, 10);  // right before the first
  const auto reader = store_.open_reader();
  EXPECT_EQ(reader->shared_nodes({1}),
            (std::vector<SharedNode>{{{1}, {"node-1"}, {4}}, {{2}, {"node-2"}, {5}}}));
  EXPECT_EQ(reader->shared_nodes({2}).size(), 4u) << "from the other side, and jobs 4 and 6";
  submit(3, 2);
  EXPECT_TRUE(reader->shared_nodes({3}).empty());
}

}  // namespace
}  // namespace podium
