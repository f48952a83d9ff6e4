#include "agent/core/command.h"

#include <gmock/gmock.h>

#include "tests/agent/core/orders.h"

namespace podium {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsSupersetOf;
using testing::Not;
using testing::StartsWith;

const TaskPaths kPaths{"/home/jobs/12/3/1",
                       "/home/jobs/12/3/1/launch.json",
                       "/home/jobs/12/3/1/events.jsonl",
                       "/data",
                       "/shared/jobs/12/checkpoints",
                       "",
                       "/bin/podium-worker"};

Start start_of(const std::string& kind) {
  Start start;
  start.launch = launch_of(task_id(12, 3, 1));
  start.launch.name = "quickstart";
  start.launch.world_size = 4;
  start.launch.local_rank = 1;
  start.launch.local_world_size = 2;
  start.launch.node_rank = 0;
  start.launch.nodes = 2;
  start.launch.master_address = "10.0.0.1";
  start.launch.master_port = 29503;
  start.launch.device_kind = kind;
  start.launch.threads = 8;
  start.visible_devices = {4, 5};
  return start;
}

TEST(MakeCommand, RunsTheWorkerUnlessTheSpecHasACommand) {
  Start start = start_of("cpu");
  EXPECT_THAT(make_command(start, kPaths, {})->arguments,
              ElementsAre("/bin/podium-worker", "run", "/home/jobs/12/3/1/launch.json"));
  start.launch.spec.command = {"torchrun", "a b", "$HOME"};
  EXPECT_THAT(make_command(start, kPaths, {})->arguments, ElementsAre("torchrun", "a b", "$HOME"));
}

TEST(MakeCommand, TellsThePlaceInTheGang) {
  EXPECT_THAT(
      make_command(start_of("cpu"), kPaths, {})->environment,
      IsSupersetOf({"RANK=1", "WORLD_SIZE=4", "LOCAL_RANK=1", "LOCAL_WORLD_SIZE=2", "GROUP_RANK=0",
                    "ROLE_RANK=1", "ROLE_WORLD_SIZE=4", "MASTER_ADDR=10.0.0.1", "MASTER_PORT=29503",
                    "TORCHELASTIC_RESTART_COUNT=2", "TORCHELASTIC_MAX_RESTARTS=5", "TORCHELASTIC_RUN_ID=12.3",
                    "TORCHELASTIC_ERROR_FILE=/home/jobs/12/3/1/error.json", "OMP_NUM_THREADS=8",
                    "PODIUM_JOB=12", "PODIUM_JOB_NAME=quickstart",
                    "PODIUM_EVENTS=/home/jobs/12/3/1/events.jsonl", "PODIUM_DATA=/data",
                    "PODIUM_CHECKPOINTS=/shared/jobs/12/checkpoints"}));
}

TEST(MakeCommand, ShowsEachTaskItsNodesDevicesOfTheJobAndCpuJobsNone) {
  EXPECT_THAT(make_command(start_of("gpu"), kPaths, {})->environment,
              IsSupersetOf({"CUDA_VISIBLE_DEVICES=4,5", "CUDA_DEVICE_ORDER=PCI_BUS_ID"}));
  EXPECT_THAT(make_command(start_of("cpu"), kPaths, {})->environment, Contains("CUDA_VISIBLE_DEVICES="));
}

TEST(MakeCommand, NamesDevicesByUuidWhereAllAreKnown) {
  const Start start = start_of("gpu");
  EXPECT_THAT(make_command(start, kPaths, {}, {{4, "GPU-a"}, {5, "GPU-b"}, {6, "GPU-c"}})->environment,
              Contains("CUDA_VISIBLE_DEVICES=GPU-a,GPU-b"));
  EXPECT_THAT(make_command(start, kPaths, {}, {{4, "GPU-a"}})->environment,
              Contains("CUDA_VISIBLE_DEVICES=4,5"));
}

TEST(MakeCommand, PassesOnOnlyTheKeptVariables) {
  const auto command = make_command(start_of("cpu"), kPaths,
                                    {"PATH=/bin", "LC_ALL=C", "NCCL_SOCKET_IFNAME=eth1",
                                     "AWS_SECRET_ACCESS_KEY=x", "RANK=99", "PATHOLOGY=1"});
  EXPECT_THAT(command->environment, IsSupersetOf({"PATH=/bin", "LC_ALL=C", "NCCL_SOCKET_IFNAME=eth1"}));
  EXPECT_THAT(command->environment, Not(Contains(StartsWith("AWS_"))));
  EXPECT_THAT(command->environment, Not(Contains("RANK=99")));
  EXPECT_THAT(command->environment, Not(Contains("PATHOLOGY=1")));
}

TEST(MakeCommand, RefusesWhatNoProcessCanBeGiven) {
  Start start = start_of("cpu");
  start.launch.spec.command = {"sh", std::string("a\0b", 3)};
  EXPECT_EQ(make_command(start, kPaths, {}).errors().at(0).where, "/command");
  start.launch.spec.command = {""};
  EXPECT_EQ(make_command(start, kPaths, {}).errors().at(0).where, "/command/0");
  start.launch.spec.command.clear();
  start.launch.name = std::string("\0", 1);
  EXPECT_EQ(make_command(start, kPaths, {}).errors().at(0).where, "/name");
}

TEST(MakeCommand, TellsWhereTheCheckpointsAreThatItResumes) {
  TaskPaths paths = kPaths;
  EXPECT_THAT(make_command(start_of("cpu"), paths, {})->environment,
              Not(Contains(StartsWith("PODIUM_RESUME="))));
  paths.resume = "/shared/jobs/7/checkpoints";
  EXPECT_THAT(make_command(start_of("cpu"), paths, {})->environment,
              Contains("PODIUM_RESUME=/shared/jobs/7/checkpoints"));
  EXPECT_EQ(complete_launch(launch_of(task_id(12, 3, 1)), paths).resume_folder, "/shared/jobs/7/checkpoints");
}

TEST(CompleteLaunch, FillsInTheAgentsPart) {
  const Launch launch = complete_launch(launch_of(task_id(12, 3, 1)), kPaths);
  EXPECT_EQ(launch.data_folder, "/data");
  EXPECT_EQ(launch.checkpoint_folder, "/shared/jobs/12/checkpoints");
  EXPECT_EQ(launch.events_path, "/home/jobs/12/3/1/events.jsonl");
}

}  // namespace
}  // namespace podium
