// What Podium promises when something is killed in the middle of a real training run.
#include <gtest/gtest.h>

#include <csignal>
#include <map>
#include <sstream>

#include "common/base/file.h"
#include "common/model/worker_event.h"
#include "tests/cluster.h"
#include "tests/faults/observed_job.h"
#include "tests/faults/training_job.h"

namespace podium {
namespace {

using nlohmann::json;

constexpr int kSteps = 400;

class Survival : public ::testing::Test {
 protected:
  Survival() { write_training_data(cluster_.data()); }

  // step -> value of one metric, as rank 0 wrote it to its own file in that attempt.
  std::map<int, double> written(TaskId task, const std::string& key) const {
    for (int node = 1; node <= 2; ++node) {
      const auto path = cluster_.task_folder(node, task) / "events.jsonl";
      if (!std::filesystem::exists(path)) continue;
      std::map<int, double> values;
      std::istringstream lines(read_file(path));
      for (std::string line; std::getline(lines, line);) {
        const WorkerEvent event = worker_event_from_json(json::parse(line));
        const auto* metrics = std::get_if<MetricsEvent>(&event.body);
        if (!metrics) continue;
        for (const auto& [name, value] : metrics->values)
          if (name == key) values[static_cast<int>(metrics->step)] = value;
      }
      return values;
    }
    throw std::runtime_error("no node has the events of task " + to_string(task));
  }

  Cluster cluster_{2};
};

TEST_F(Survival, AKilledWorkerEndsWithTheWeightsOfAnUnbrokenRun) {
  const JobId unbroken = cluster_.submit(training_spec("unbroken", kSteps));
  cluster_.wait_for_state(unbroken, "succeeded");

  const JobId broken = cluster_.submit(training_spec("broken", kSteps));
  const json running = wait_for_step(cluster_, broken, 50);
  ASSERT_EQ(::kill(workers(running).at(1), SIGKILL), 0);
  const json ended = cluster_.wait_for_state(broken, "succeeded");

  ASSERT_EQ(ended.at("attempts").size(), 2u) << ended.dump(1);
  EXPECT_EQ(ended.at("attempts")[0].at("end"), "failed");
  EXPECT_GT(ended.at("attempts")[1].at("first_step"), 0) << "the second attempt began from nothing";
  const auto weights = checkpoint_tensors(cluster_, broken, kSteps);
  EXPECT_EQ(weights.size(), 2u);
  EXPECT_TRUE(weights == checkpoint_tensors(cluster_, unbroken, kSteps)) << "the weights differ";
  EXPECT_EQ(recorded(cluster_, broken, "train/loss"), recorded(cluster_, unbroken, "train/loss"));
}

TEST_F(Survival, AKilledCoordinatorLosesNothing) {
  const JobId job = cluster_.submit(training_spec("job", kSteps));
  const auto before = workers(wait_for_step(cluster_, job, 40));
  cluster_.coordinator().signal(SIGKILL);
  cluster_.coordinator().wait();
  for (const auto& [rank, pid] : before) EXPECT_EQ(::kill(pid, 0), 0) << "rank " << rank << " died with it";
  cluster_.start_coordinator();

  const json ended = cluster_.wait_for_state(job, "succeeded");
  EXPECT_EQ(ended.at("attempts").size(), 1u) << ended.dump(1);
  EXPECT_EQ(workers(ended), before);
  const auto points = recorded(cluster_, job, "train/loss");
  EXPECT_EQ(points.size(), static_cast<std::size_t>(kSteps));
  EXPECT_EQ(points, written({{job, 1}, 0}, "train/loss"));
}

TEST_F(Survival, AKilledAgentAdoptsItsWorkerAgain) {
  const JobId job = cluster_.submit(training_spec("job", kSteps));
  const auto before = workers(wait_for_step(cluster_, job, 40));
  cluster_.agent(1).signal(SIGKILL);
  cluster_.agent(1).wait();
  for (const auto& [rank, pid] : before) EXPECT_EQ(::kill(pid, 0), 0) << "rank " << rank << " died with it";
  cluster_.start_agent(1);

  const json ended = cluster_.wait_for_state(job, "succeeded");
  EXPECT_EQ(ended.at("attempts").size(), 1u) << ended.dump(1);
  EXPECT_EQ(workers(ended), before);
  EXPECT_EQ(recorded(cluster_, job, "train/loss").size(), static_cast<std::size_t>(kSteps));
}

TEST_F(Survival, CancellingStopsEveryProcessOfTheGang) {
  const JobId job = cluster_.submit(training_spec("job", 100'000));
  const auto pids = workers(wait_for_step(cluster_, job, 5));
  cluster_.cancel(job);
  cluster_.wait_for_state(job, "cancelled");
  for (const auto& [rank, pid] : pids) EXPECT_NE(::kill(pid, 0), 0) << "rank " << rank << " still runs";
}

}  // namespace
}  // namespace podium
