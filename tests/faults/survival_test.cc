// What Podium promises when something is killed in the middle of a real training run.
#include <gtest/gtest.h>

#include <csignal>
#include <map>
#include <sstream>

#include "common/base/file.h"
#include "common/model/worker_event.h"
#include "tests/cluster.h"
#include "tests/faults/training_job.h"

namespace podium {
namespace {

using nlohmann::json;

constexpr int kSteps = 400;

class Survival : public ::testing::Test {
 protected:
  Survival() { write_training_data(cluster_.data()); }

  static bool passed_step(const json& job, int step) {
    return job.at("progress").is_object() && job.at("progress").at("step").get<int>() >= step;
  }

  json wait_for_step(JobId job, int step) const {
    return cluster_.wait_for(job, [&](const json& seen) { return passed_step(seen, step); });
  }

  // pid of each rank in the newest attempt.
  static std::map<int, pid_t> workers(const json& job) {
    std::map<int, pid_t> pids;
    for (const json& task : job.at("attempts").back().at("tasks"))
      pids[task.at("rank").get<int>()] = task.at("pid").get<pid_t>();
    return pids;
  }

  // Every file of the newest checkpoint, by name.
  std::map<std::string, std::string> final_checkpoint(JobId job) const {
    const std::string step = std::to_string(kSteps);
    const auto folder = cluster_.checkpoints(job) / ("step-" + std::string(8 - step.size(), '0') + step);
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      files[entry.path().filename()] = read_file(entry.path());
    return files;
  }

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

  std::map<int, double> recorded(JobId job, const std::string& key) const {
    const json reply = cluster_.get("/jobs/" + to_string(job) + "/series?points=20000&key=" + key);
    std::map<int, double> values;
    for (const json& point : reply.at("series").at(0).at("points")) {
      const bool first = values.emplace(point.at(0).get<int>(), point.at(2).get<double>()).second;
      EXPECT_TRUE(first) << "step " << point.at(0) << " is recorded twice";
    }
    return values;
  }

  Cluster cluster_{2};
};

TEST_F(Survival, AKilledWorkerEndsWithTheWeightsOfAnUnbrokenRun) {
  const JobId unbroken = cluster_.submit(training_spec("unbroken", kSteps));
  cluster_.wait_for_state(unbroken, "succeeded");

  const JobId broken = cluster_.submit(training_spec("broken", kSteps));
  const json running = wait_for_step(broken, 50);
  ASSERT_EQ(::kill(workers(running).at(1), SIGKILL), 0);
  const json ended = cluster_.wait_for_state(broken, "succeeded");

  ASSERT_EQ(ended.at("attempts").size(), 2u) << ended.dump(1);
  EXPECT_EQ(ended.at("attempts")[0].at("end"), "failed");
  EXPECT_GT(ended.at("attempts")[1].at("first_step"), 0) << "the second attempt began from nothing";
  const auto expected = final_checkpoint(unbroken);
  const auto actual = final_checkpoint(broken);
  bool compared_weights = false;
  for (const auto& [name, bytes] : expected) {
    if (!name.ends_with(".safetensors")) continue;
    ASSERT_TRUE(actual.contains(name));
    EXPECT_EQ(actual.at(name), bytes) << name << " differs";
    compared_weights = true;
  }
  EXPECT_TRUE(compared_weights);
  EXPECT_EQ(recorded(broken, "train/loss"), recorded(unbroken, "train/loss"));
}

TEST_F(Survival, AKilledCoordinatorLosesNothing) {
  const JobId job = cluster_.submit(training_spec("job", kSteps));
  const auto before = workers(wait_for_step(job, 40));
  cluster_.coordinator().signal(SIGKILL);
  cluster_.coordinator().wait();
  for (const auto& [rank, pid] : before) EXPECT_EQ(::kill(pid, 0), 0) << "rank " << rank << " died with it";
  cluster_.start_coordinator();

  const json ended = cluster_.wait_for_state(job, "succeeded");
  EXPECT_EQ(ended.at("attempts").size(), 1u) << ended.dump(1);
  EXPECT_EQ(workers(ended), before);
  const auto points = recorded(job, "train/loss");
  EXPECT_EQ(points.size(), static_cast<std::size_t>(kSteps));
  EXPECT_EQ(points, written({{job, 1}, 0}, "train/loss"));
}

TEST_F(Survival, AKilledAgentAdoptsItsWorkerAgain) {
  const JobId job = cluster_.submit(training_spec("job", kSteps));
  const auto before = workers(wait_for_step(job, 40));
  cluster_.agent(1).signal(SIGKILL);
  cluster_.agent(1).wait();
  for (const auto& [rank, pid] : before) EXPECT_EQ(::kill(pid, 0), 0) << "rank " << rank << " died with it";
  cluster_.start_agent(1);

  const json ended = cluster_.wait_for_state(job, "succeeded");
  EXPECT_EQ(ended.at("attempts").size(), 1u) << ended.dump(1);
  EXPECT_EQ(workers(ended), before);
  EXPECT_EQ(recorded(job, "train/loss").size(), static_cast<std::size_t>(kSteps));
}

TEST_F(Survival, CancellingStopsEveryProcessOfTheGang) {
  const JobId job = cluster_.submit(training_spec("job", 100'000));
  const auto pids = workers(wait_for_step(job, 5));
  cluster_.cancel(job);
  cluster_.wait_for_state(job, "cancelled");
  for (const auto& [rank, pid] : pids) EXPECT_NE(::kill(pid, 0), 0) << "rank " << rank << " still runs";
}

}  // namespace
}  // namespace podium
