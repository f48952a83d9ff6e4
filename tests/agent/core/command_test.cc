#include "agent/core/command.h"

#include <gmock/gmock.h>

#include "common/model/program.h"
#include "tests/agent/core/orders.h"

namespace podium {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
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

StartTask start_of(const std::string& kind) {
  StartTask start;
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
  StartTask start = start_of("cpu");
  EXPECT_THAT(make_command(start, kPaths, {})->arguments,
              ElementsAre("/bin/podium-worker", "run", "/home/jobs/12/3/1/launch.json"));
  start.launch.spec.command = {"torchrun", "a b", "$HOME"};
  EXPECT_THAT(make_command(start, kPaths, {})->arguments, ElementsAre("torchrun", "a b", "$HOME"));
}

TEST(MakeCommand, ACommandFindsTheAgentsWorkerBehindAllElseInPath) {
  StartTask start = start_of("cpu");
  TaskPaths paths = kPaths;
  paths.worker = "/opt/podium/bin/podium-worker";
  EXPECT_THAT(make_command(start, paths, {"PATH=/bin"})->environment, Contains("PATH=/bin"))
      << "the worker itself is started by its path";
  start.launch.spec.command = {"podium-worker", "evaluate"};
  const auto path_of = [&](const std::vector<std::string>& inherited) {
    std::vector<std::string> found;
    const auto command = make_command(start, paths, inherited);
    for (const std::string& variable : command->environment)
      if (variable.starts_with("PATH=")) found.push_back(variable);
    return found;
  };
  EXPECT_THAT(path_of({"PATH=/bin:/opt/podium"}), ElementsAre("PATH=/bin:/opt/podium:/opt/podium/bin"));
  EXPECT_THAT(path_of({"PATH=/opt/podium/bin:/bin"}), ElementsAre("PATH=/opt/podium/bin:/bin"));
  EXPECT_THAT(path_of({}), ElementsAre("PATH=/bin:/usr/bin:/opt/podium/bin"));
  start.launch.spec.env = {{"PATH", "/own"}};
  EXPECT_THAT(path_of({"PATH=/bin"}), ElementsAre("PATH=/own")) << "env has the last word";
}

TEST(MakeCommand, ACommandMayLogIntoItsRun) {
  StartTask start = start_of("cpu");
  start.launch.spec.command = {"python3", "train.py"};
  const TrackingServer server{"https://head:7070", "/etc/podium/ca.pem"};
  const auto tracking_of = [&](const TrackingServer& at) {
    std::vector<std::string> found;
    const auto command = make_command(start, kPaths, {"MLFLOW_TRACKING_TOKEN=agent's"}, {}, at);
    for (const std::string& variable : command->environment)
      if (variable.starts_with("MLFLOW_")) found.push_back(variable);
    return found;
  };
  EXPECT_THAT(tracking_of(server), ElementsAre()) << "an older coordinator sends no token";
  start.launch.run_id = "0123456789abcdef000000000000000c";
  start.launch.run_token = "podium-run-12-abc";
  EXPECT_THAT(tracking_of(server), ElementsAre("MLFLOW_RUN_ID=0123456789abcdef000000000000000c",
                                               "MLFLOW_TRACKING_SERVER_CERT_PATH=/etc/podium/ca.pem",
                                               "MLFLOW_TRACKING_TOKEN=podium-run-12-abc",
                                               "MLFLOW_TRACKING_URI=https://head:7070"));
  EXPECT_THAT(tracking_of({"http://head:7070", ""}), Not(Contains(HasSubstr("CERT_PATH"))));
  start.launch.spec.env = {{"MLFLOW_RUN_ID", "own"}};
  EXPECT_THAT(tracking_of(server), Contains("MLFLOW_RUN_ID=own"));
  start.launch.spec.env = {{"MLFLOW_TRACKING_URI", "http://elsewhere"}};
  EXPECT_THAT(tracking_of(server), ElementsAre("MLFLOW_TRACKING_URI=http://elsewhere"))
      << "another server gets no token of ours";
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
  const StartTask start = start_of("gpu");
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

TEST(MakeCommand, GivesTheSpecsEnvironmentParametersAndPlaceholders) {
  StartTask start = start_of("cpu");
  JobSpec& spec = start.launch.spec;
  spec.command = {"train", "--lr={lr}", "{rank}/{world_size}/{node_devices}",
                  "{print $1} ${x} {{lr}} {other}"};
  spec.parameters = {{"lr", 0.001}, {"model", "small"}, {"fast", true}};
  spec.env = {{"MODEL", "{model} at {data}"}, {"PATH", "/opt/bin"}, {"OMP_NUM_THREADS", "2"}};
  const auto command = make_command(start, kPaths, {"PATH=/bin", "HOME=/root"});
  EXPECT_THAT(command->arguments,
              ElementsAre("train", "--lr=0.001", "1/4/2", "{print $1} ${x} {lr} {other}"));
  EXPECT_THAT(command->environment,
              IsSupersetOf({"MODEL=small at /data", "PATH=/opt/bin", "HOME=/root", "OMP_NUM_THREADS=2",
                            "PODIUM_PARAM_LR=0.001", "PODIUM_PARAM_MODEL=small", "PODIUM_PARAM_FAST=true",
                            R"(PODIUM_PARAMETERS={"fast":true,"lr":0.001,"model":"small"})"}));
  EXPECT_THAT(command->environment, Not(Contains("PATH=/bin"))) << "a variable is there once";
}

TEST(MakeCommand, LetsNoSpecSayWhatPodiumSays) {
  StartTask start = start_of("gpu");
  start.launch.spec.command = {"train"};
  start.launch.spec.env = {{"RANK", "7"}, {"PODIUM_JOB", "7"}};
  const auto environment = make_command(start, kPaths, {})->environment;
  EXPECT_THAT(environment, IsSupersetOf({"RANK=1", "PODIUM_JOB=12"}));
  EXPECT_THAT(environment, Not(Contains("RANK=7")));
}

// common/spec refuses what the agent would overwrite, and only that.
TEST(MakeCommand, SetsOnlyVariablesThatSpecsMayNotOrMayOverride) {
  StartTask start = start_of("gpu");
  start.launch.spec.command = {"torchrun"};
  start.launch.spec.processes = Processes::node;
  start.launch.spec.parameters = {{"lr", 1}};
  const auto command = make_command(start, kPaths, {});
  for (const std::string& variable : command->environment) {
    const std::string name = variable.substr(0, variable.find('='));
    const bool may_be_overridden = name == "OMP_NUM_THREADS" || name.starts_with("TORCH_");
    EXPECT_NE(is_reserved_variable(name), may_be_overridden) << name;
  }
}

TEST(MakeCommand, TellsTorchrunWhereItIsWhereItRunsOncePerNode) {
  StartTask start = start_of("cpu");
  start.launch.spec.command = {"torchrun", "train.py"};
  EXPECT_THAT(make_command(start, kPaths, {})->environment, Not(Contains(StartsWith("PET_"))));
  start.launch.spec.processes = Processes::node;
  EXPECT_THAT(make_command(start, kPaths, {})->environment,
              IsSupersetOf({"PET_NNODES=2", "PET_NODE_RANK=0", "PET_NPROC_PER_NODE=2",
                            "PET_MASTER_ADDR=10.0.0.1", "PET_MASTER_PORT=29503", "PODIUM_NODE_DEVICES=2",
                            "PET_RDZV_ID=12.3", "PET_MAX_RESTARTS=0"}));
  EXPECT_THAT(make_command(start, kPaths, {})->environment, Not(Contains(StartsWith("PET_RDZV_BACKEND"))));
}

TEST(MakeCommand, StartsTorchrunItselfWhereItIsTheLauncher) {
  StartTask start = start_of("cpu");
  start.launch.spec.command = {"--tee=1", "train.py", "--out={task_folder}"};
  start.launch.spec.launcher = Launcher::torchrun;
  start.launch.spec.processes = Processes::node;
  const auto command = make_command(start, kPaths, {});
  EXPECT_THAT(command->arguments, ElementsAre("/bin/sh", "-c", HasSubstr("exec torchrun \"$@\""), "torchrun",
                                              "--tee=1", "train.py", "--out=/home/jobs/12/3/1"));
  EXPECT_THAT(
      command->environment,
      IsSupersetOf({"PET_NNODES=2", "PET_NODE_RANK=0", "PET_NPROC_PER_NODE=2", "PET_RDZV_ID=12.3",
                    "PET_RDZV_BACKEND=c10d", "PET_RDZV_ENDPOINT=10.0.0.1:29503", "PET_RDZV_CONF=is_host=true",
                    "PET_MAX_RESTARTS=0", "PET_LOG_DIR=/home/jobs/12/3/1/torchrun", "PYTHONUNBUFFERED=1"}));
  EXPECT_THAT(command->environment, Not(Contains(StartsWith("PET_LOCAL_ADDR="))));
  TaskPaths paths = kPaths;
  paths.address = "10.0.0.2";
  start.launch.node_rank = 1;
  EXPECT_THAT(make_command(start, paths, {})->environment,
              IsSupersetOf({"PET_RDZV_CONF=is_host=false", "PET_LOCAL_ADDR=10.0.0.2"}));
}

TEST(MakeCommand, LinesThatAreReadForMetricsComeAsTheyArePrinted) {
  StartTask start = start_of("cpu");
  start.launch.spec.command = {"python3", "train.py"};
  EXPECT_THAT(make_command(start, kPaths, {})->environment, Not(Contains(StartsWith("PYTHONUNBUFFERED="))));
  start.launch.spec.metrics.parsers = {"megatron"};
  EXPECT_THAT(make_command(start, kPaths, {})->environment, Contains("PYTHONUNBUFFERED=1"));
  start.launch.spec.env = {{"PYTHONUNBUFFERED", ""}};
  EXPECT_THAT(make_command(start, kPaths, {})->environment, Contains("PYTHONUNBUFFERED="));
}

TEST(MakeCommand, StartsInTheWorkdirWhichIsWithinTheCodeWhereThereIsSome) {
  StartTask start = start_of("cpu");
  start.launch.spec.command = {"./train.sh"};
  start.launch.spec.parameters = {{"model", "small"}, {"up", "../.."}};
  const auto workdir = [&](const std::string& written, const std::string& code) {
    TaskPaths paths = kPaths;
    paths.code = code;
    start.launch.spec.workdir = written;
    const auto command = make_command(start, paths, {});
    if (!command) return command.errors().at(0).where;
    for (const std::string& variable : command->environment)
      if (variable.starts_with("PODIUM_WORKDIR=")) return variable.substr(15);
    return std::string("none");
  };
  EXPECT_EQ(workdir("", ""), "/home/jobs/12/3/1");
  EXPECT_EQ(workdir("/opt/{model}", ""), "/opt/small");
  EXPECT_EQ(workdir("{data}/x", ""), "/data/x");
  EXPECT_EQ(workdir("x", ""), "/workdir") << "refused";
  EXPECT_EQ(workdir("", "/code"), "/code");
  EXPECT_EQ(workdir("src/{model}", "/code"), "/code/src/small");
  EXPECT_EQ(workdir("{up}", "/code"), "/workdir") << "refused";
}

TEST(MakeCommand, RefusesWhatNoProcessCanBeGiven) {
  StartTask start = start_of("cpu");
  start.launch.spec.command = {"sh", std::string("a\0b", 3)};
  EXPECT_EQ(make_command(start, kPaths, {}).errors().at(0).where, "/command");
  start.launch.spec.command = {""};
  EXPECT_EQ(make_command(start, kPaths, {}).errors().at(0).where, "/command/0");
  start.launch.spec.command.clear();
  start.launch.name = std::string("\0", 1);
  EXPECT_EQ(make_command(start, kPaths, {}).errors().at(0).where, "/name");
}

TEST(MakeCommand, RefusesWhatIsTooLongOnceItIsFilledIn) {
  StartTask start = start_of("cpu");
  start.launch.spec.parameters["long"] = std::string(4'000, 'x');
  start.launch.spec.command = {"sh", "{long}"};
  EXPECT_TRUE(make_command(start, kPaths, {}).ok());
  std::string many;
  for (int i = 0; i < 40; ++i) many += "{long}";
  start.launch.spec.command = {"sh", many};
  EXPECT_THAT(describe(make_command(start, kPaths, {}).errors()), HasSubstr("has 160000 bytes"));
  start.launch.spec.command.assign(300, "{long}");
  EXPECT_THAT(describe(make_command(start, kPaths, {}).errors()), HasSubstr("1048576 is the most"));
}

// The refusal goes into the node's report: half a character would make every report of the node unreadable.
TEST(MakeCommand, RefusesTextThatIsTooLongInWholeCharacters) {
  StartTask start = start_of("cpu");
  std::string long_text;
  for (int i = 0; i < 2'000; ++i) long_text += "é";
  start.launch.spec.parameters["p"] = long_text;
  for (const std::string before : {"", "x"}) {
    std::string many = before;
    for (int i = 0; i < 40; ++i) many += "{p}";
    start.launch.spec.command = {"sh", many};
    const Errors errors = make_command(start, kPaths, {}).errors();
    ASSERT_EQ(errors.size(), 1u);
    EXPECT_NO_THROW(nlohmann::json(errors[0].message).dump()) << errors[0].message;
  }
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

TEST(CompleteLaunch, TellsWhereTheCheckpointsAreWhoseWeightsItTakes) {
  TaskPaths paths = kPaths;
  EXPECT_EQ(complete_launch(launch_of(task_id(12, 3, 1)), paths).init_folder, "");
  paths.init = "/shared/jobs/7/checkpoints";
  EXPECT_EQ(complete_launch(launch_of(task_id(12, 3, 1)), paths).init_folder, "/shared/jobs/7/checkpoints");
}

TEST(CompleteLaunch, FillsInTheAgentsPart) {
  const Launch launch = complete_launch(launch_of(task_id(12, 3, 1)), kPaths);
  EXPECT_EQ(launch.data_folder, "/data");
  EXPECT_EQ(launch.checkpoint_folder, "/shared/jobs/12/checkpoints");
  EXPECT_EQ(launch.events_path, "/home/jobs/12/3/1/events.jsonl");
}

}  // namespace
}  // namespace podium
