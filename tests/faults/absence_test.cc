// A coordinator that is away is not a lost node; and a lost node's work starts again only behind the fence.
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "common/base/file.h"
#include "common/model/lease.h"
#include "tests/cluster.h"
#include "tests/faults/observed_job.h"
#include "tests/faults/training_job.h"

namespace podium {
namespace {

using nlohmann::json;
using namespace std::chrono_literals;

constexpr Duration kLease = lease::kLeast;

class Absence : public ::testing::Test {
 protected:
  Absence() { write_training_data(cluster_.data()); }

  // Where this job runs and trains on, in its first attempt and as the same processes as before.
  void expect_undisturbed(JobId job, const std::map<int, pid_t>& before) {
    const json now = cluster_.get("/jobs/" + to_string(job));
    const int step = now.at("progress").at("step");
    const json later = wait_for_step(cluster_, job, step + 5);
    EXPECT_EQ(later.at("state"), "running") << later.dump(1);
    EXPECT_EQ(later.at("attempts").size(), 1u) << later.dump(1);
    EXPECT_EQ(workers(later), before);
  }

  Cluster cluster_{2, 1, {"--lease", "10s"}};
};

TEST_F(Absence, ACoordinatorThatIsStoppedForLongerThanTheLeaseEndsNoTraining) {
  const JobId job = cluster_.submit(training_spec("job", 1'000'000));
  const auto before = workers(wait_for_step(cluster_, job, 5));
  cluster_.coordinator().signal(SIGSTOP);
  std::this_thread::sleep_for(3 * kLease);
  cluster_.coordinator().signal(SIGCONT);
  expect_undisturbed(job, before);
}

TEST_F(Absence, ACoordinatorThatIsDeadForLongerThanTheLeaseEndsNoTraining) {
  const JobId job = cluster_.submit(training_spec("job", 1'000'000));
  const auto before = workers(wait_for_step(cluster_, job, 5));
  cluster_.coordinator().signal(SIGKILL);
  cluster_.coordinator().wait();
  std::this_thread::sleep_for(3 * kLease);
  for (const auto& [rank, pid] : before) EXPECT_EQ(::kill(pid, 0), 0) << "rank " << rank << " was ended";
  cluster_.start_coordinator();
  expect_undisturbed(job, before);
}

TEST_F(Absence, AnAgentThatIsKilledMeanwhileGoesOnWithWhatIsLeftOfItsRight) {
  const JobId job = cluster_.submit(training_spec("job", 1'000'000));
  const auto before = workers(wait_for_step(cluster_, job, 5));
  cluster_.coordinator().signal(SIGKILL);
  cluster_.coordinator().wait();
  std::this_thread::sleep_for(kLease);
  cluster_.agent(1).signal(SIGKILL);
  cluster_.agent(1).wait();
  cluster_.start_agent(1);
  std::this_thread::sleep_for(2 * kLease);
  cluster_.start_coordinator();
  expect_undisturbed(job, before);
}

TEST_F(Absence, APulledPlugIsRecoveredElsewhereBehindTheFence) {
  const JobId job = cluster_.submit(
      "version: 1\nname: job\ncommand: [sh, -c, \"cat $PODIUM_CHECKPOINTS/../epoch > epoch; sleep 1000\"]\n"
      "resources: {devices: 1, kind: cpu, walltime: 1h}\n");
  const json running = cluster_.wait_for_state(job, "running");
  const std::string node = running.at("attempts")[0].at("tasks")[0].at("node");
  // The agent first, so that it tells of no exit; then shim and program.
  for (const pid_t pid : processes_with((cluster_.folder() / node).string())) ::kill(pid, SIGKILL);
  ::kill(running.at("attempts")[0].at("tasks")[0].at("pid"), SIGKILL);

  const json again = cluster_.wait_for(
      job, [](const json& seen) { return seen.at("attempt") == 2 && seen.at("state") == "running"; });
  EXPECT_EQ(again.at("attempts")[0].at("end"), "node_lost");
  const std::string other = again.at("attempts")[1].at("tasks")[0].at("node");
  EXPECT_NE(other, node);
  const auto seen = cluster_.task_folder(other == "node-1" ? 1 : 2, {{job, 2}, 0}) / "epoch";
  while (!std::filesystem::exists(seen) || read_file(seen).empty()) std::this_thread::sleep_for(10ms);
  EXPECT_EQ(std::stoi(read_file(seen)), 2) << "the fence stood before the task";
}

}  // namespace
}  // namespace podium
