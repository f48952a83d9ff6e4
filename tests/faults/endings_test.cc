// What is told of a job that something other than its program or its coordinator ended: it goes on, at no
// cost, and never counts as succeeded.
#include <gmock/gmock.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "common/base/file.h"
#include "tests/cluster.h"
#include "tests/faults/observed_job.h"
#include "tests/faults/training_job.h"

namespace podium {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr int kEndless = 500'000;

std::string command_spec(const std::string& name, const std::string& script) {
  return "version: 1\nname: " + name + "\ncommand: [sh, -c, " + json(script).dump() +
         "]\nresources: {devices: 1, kind: cpu, walltime: 10m}\nrestarts: {max: 0}\n";
}

pid_t parent_of(pid_t pid) {
  const std::string status = read_file("/proc/" + std::to_string(pid) + "/status");
  return std::stoi(status.substr(status.find("PPid:") + 5));
}

// Whoever inherits it may take a moment to collect it.
bool ends(pid_t pid) {
  for (int i = 0; i < 3000 && ::kill(pid, 0) == 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return ::kill(pid, 0) != 0;
}

class Endings : public ::testing::Test {
 protected:
  Endings() { write_training_data(cluster_.data()); }

  // Once the job runs for the second time.
  json wait_for_second_attempt(JobId job) const {
    return cluster_.wait_for(job, [](const json& seen) {
      return seen.at("attempts").size() == 2 && seen.at("state") == "running";
    });
  }

  // Its first attempt was taken from it: it runs on, and nothing was charged or counted as done.
  void expect_taken(const json& job, const std::string& reason) const {
    EXPECT_EQ(job.at("attempts")[0].at("end"), "preempted") << job.dump(1);
    EXPECT_THAT(job.at("attempts")[0].at("reason").get<std::string>(), HasSubstr(reason));
    EXPECT_TRUE(job.at("time_to_train_seconds").is_null());
  }

  // Once the file in the cluster's folder holds the text.
  void says(const std::string& log, const std::string& text) const {
    for (int i = 0; i < 6000 && read_file(cluster_.folder() / log).find(text) == std::string::npos; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_THAT(read_file(cluster_.folder() / log), HasSubstr(text));
  }

  static pid_t program_of(const json& job, int rank = 0) { return workers(job).at(rank); }

  Cluster cluster_{2};
};

TEST_F(Endings, ASigtermToOneRankOfTwoIsNoSuccess) {
  const JobId job = cluster_.submit(training_spec("job", kEndless));
  const json running = wait_for_step(cluster_, job, 5);
  ASSERT_EQ(::kill(program_of(running, 1), SIGTERM), 0);
  const json again = wait_for_second_attempt(job);
  expect_taken(again, "saved and left when told to");
  for (const json& task : again.at("attempts")[0].at("tasks")) EXPECT_EQ(task.at("exit").at("code"), 79);
  const json trained = cluster_.wait_for(
      job, [](const json& seen) { return !seen.at("attempts")[1].at("first_step").is_null(); });
  EXPECT_GT(trained.at("attempts")[1].at("first_step"), 0) << "it saved";
}

TEST_F(Endings, ASigtermToAShimIsNoSuccess) {
  const JobId job = cluster_.submit(command_spec("job", "trap 'exit 0' TERM; while :; do sleep 0.05; done"));
  const json running = cluster_.wait_for_state(job, "running");
  ASSERT_EQ(::kill(parent_of(program_of(running)), SIGTERM), 0);
  expect_taken(wait_for_second_attempt(job), "stopped by a SIGTERM that Podium did not send");
}

// What ./deploy/quickstart --stop and a node's shutdown do.
TEST_F(Endings, AnAgentThatTakesItsTasksAlongEndsNoJob) {
  const JobId job = cluster_.submit(training_spec("job", kEndless));
  wait_for_step(cluster_, job, 5);
  cluster_.agent(1).signal(SIGKILL);
  cluster_.agent(1).wait();
  cluster_.start_agent(1, {"--stop-tasks-on-exit"});
  says("node-1.log", "still runs");
  cluster_.agent(1).signal(SIGTERM);
  cluster_.agent(1).wait();
  cluster_.start_agent(1);
  expect_taken(wait_for_second_attempt(job), "stopped because its agent was stopped");
}

// Two machines made from one image, or a forgotten agent: both ran the task.
TEST_F(Endings, ASecondAgentOfANameGetsNoTask) {
  const JobId job = cluster_.submit(training_spec("job", 300));
  wait_for_step(cluster_, job, 5);
  const Child second(cluster_.agent_command(1, cluster_.folder() / "second-home"),
                     cluster_.folder() / "second.log");
  const json ended = cluster_.wait_for_state(job, "succeeded");
  EXPECT_EQ(ended.at("attempts").size(), 1u) << ended.dump(1);
  EXPECT_EQ(recorded(cluster_, job, "train/loss").size(), 300u);
  EXPECT_THAT(read_file(cluster_.folder() / "second.log"), HasSubstr("node node-1 belongs to another agent"));
  EXPECT_FALSE(std::filesystem::exists(cluster_.folder() / "second-home" / "jobs" / to_string(job)));
}

// Its agent had the original's key and cgroups: it killed the task before it had asked anybody, and started
// it a second time while the original did as well.
TEST_F(Endings, AnAgentOnACopyOfAHomeLeavesTheOriginalsTaskAlone) {
  const JobId job =
      cluster_.submit(command_spec("job", "until [ -e \"$PODIUM_DATA/go\" ]; do sleep 0.05; done"));
  const json running = cluster_.wait_for_state(job, "running");
  const std::string name = running.at("attempts")[0].at("tasks")[0].at("node");
  const auto copy_home = [&](const std::string& to) {
    std::filesystem::copy(cluster_.folder() / name, cluster_.folder() / to,
                          std::filesystem::copy_options::recursive);
    return cluster_.folder() / to;
  };
  const Child same_name(cluster_.agent_command(name == "node-1" ? 1 : 2, copy_home("copy")),
                        cluster_.folder() / "same-name.log");
  says("same-name.log", "answered 409: /node/key: node " + name + " belongs to another agent");
  const Child other_name(cluster_.agent_command(3, copy_home("other-copy")),
                         cluster_.folder() / "other-name.log");
  says("other-name.log", "task " + to_string(job) + ".1.0: forgotten");
  EXPECT_EQ(::kill(program_of(running), 0), 0);
  write_file_atomic(cluster_.data() / "go", "");
  const json ended = cluster_.wait_for_state(job, "succeeded");
  EXPECT_EQ(ended.at("attempts").size(), 1u) << ended.dump(1);
}

TEST_F(Endings, AnAttemptWhoseFolderIsGoneIsNotStartedBesideItself) {
  const JobId job = cluster_.submit(training_spec("job", kEndless));
  const json running = wait_for_step(cluster_, job, 5);
  const pid_t first = program_of(running);
  const std::string name = running.at("attempts")[0].at("tasks")[0].at("node");
  const int node = name == "node-1" ? 1 : 2;
  cluster_.agent(node).signal(SIGKILL);
  cluster_.agent(node).wait();
  std::filesystem::remove_all(cluster_.folder() / name / "jobs");
  cluster_.start_agent(node);
  const json again = wait_for_second_attempt(job);
  EXPECT_TRUE(ends(first));
  EXPECT_EQ(again.at("attempts")[0].at("end"), "node_lost") << again.dump(1);
  EXPECT_EQ(again.at("attempts")[0].at("tasks")[0].at("pid"), first) << "no second process ran as attempt 1";
}

TEST_F(Endings, AProgramDoesNotOutliveAgentAndShim) {
  const JobId job = cluster_.submit(training_spec("job", kEndless));
  const pid_t program = program_of(wait_for_step(cluster_, job, 5));
  const pid_t shim = parent_of(program);
  for (int node = 1; node <= 2; ++node) {
    cluster_.agent(node).signal(SIGKILL);
    cluster_.agent(node).wait();
  }
  ASSERT_EQ(::kill(shim, SIGKILL), 0);
  EXPECT_TRUE(ends(program));
}

// Its fence knows it by when it was submitted, and a requeued job is submitted anew.
TEST(Requeue, AJobIsTheSameToItsFence) {
  const Cluster cluster(1, 1, {"--lease", "20s"});  // after which its second attempt starts
  const JobId job = cluster.submit(command_spec("job", "test -e \"$PODIUM_DATA/mended\""));
  cluster.wait_for_state(job, "failed");
  write_file_atomic(cluster.data() / "mended", "");
  cluster.requeue(job);
  const json ended = cluster.wait_for_state(job, "succeeded");
  EXPECT_EQ(ended.at("attempts").size(), 2u) << ended.dump(1);
}

// A node that could start nothing failed one job after the other for good, and drew the next.
TEST_F(Endings, ANodeThatCannotStartTasksFailsNoJobAndGetsNoMore) {
  std::filesystem::remove_all(cluster_.folder() / "node-1" / "jobs");
  write_file_atomic(cluster_.folder() / "node-1" / "jobs", "a file where a folder belongs");
  std::vector<JobId> jobs;
  for (int i = 0; i < 6; ++i)
    jobs.push_back(cluster_.submit(command_spec("job-" + std::to_string(i), "sleep 0.2")));
  for (const JobId job : jobs) cluster_.wait_for_state(job, "succeeded");
  const json node = cluster_.get("/nodes/node-1");
  EXPECT_THAT(node.at("devices")[0].at("health").get<std::string>(), HasSubstr("cannot start tasks"));
}

}  // namespace
}  // namespace podium
