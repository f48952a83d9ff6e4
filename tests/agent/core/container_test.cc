// The command lines of container runtimes, held whole: enroot's, apptainer's and Docker's have been run by
// hand on no machine of ours, Podman's is run by tests/cli/containers_test.py where it is installed.
#include "agent/core/container.h"

#include <gmock/gmock.h>

#include "agent/core/command.h"
#include "tests/agent/core/orders.h"

namespace podium {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Not;
using testing::Pair;
using testing::StartsWith;
using testing::UnorderedElementsAre;

ContainedProgram program(const std::string& runtime = "") {
  ContainedProgram program;
  program.arguments = {"python3", "train.py", "a b", "$HOME"};
  program.variables = {{"RANK", "1"}, {"SECRET", "s3cret\nof two lines"}, {"PATH", "/opt/bin:/bin"}};
  program.workdir = "/home/jobs/12/3/1/code";
  program.container.image = "docker://nvcr.io/nvidia/pytorch:24.01-py3";
  program.container.mounts = {"/lustre/text:/text:ro", "/scratch:/scratch"};
  program.container.env = {{"LD_PRELOAD", "libx.so"}, {"RANK", "own"}};
  program.container.runtime = runtime;
  program.folders = {{"/home/jobs/12/3/1", "/home/jobs/12/3/1", false}, {"/shared/7", "/shared/7", true}};
  program.gpus = {"GPU-a", "GPU-b"};
  program.name = "podium-12-3-1-77";
  program.task_folder = "/home/jobs/12/3/1";
  program.data = "/data";
  return program;
}

ContainerHost host() {
  ContainerHost host;
  for (const char* name : kContainerRuntimes) host.runtimes[name] = std::string("/usr/bin/") + name;
  host.searched = "/usr/bin:/bin";
  host.user = "1000:100";
  host.limits = {"memlock=-1:-1", "nofile=1024:4096"};
  host.device_files = {"/dev/infiniband"};
  host.images = "/home/images";
  return host;
}

ContainerCommand command_of(const ContainedProgram& program) { return *contain(program, host()); }

TEST(Container, OfPodman) {
  const ContainerCommand command = command_of(program("podman"));
  EXPECT_THAT(command.arguments,
              ElementsAre("/usr/bin/podman", "run", "--rm", "--name", "podium-12-3-1-77", "--init",
                          "--network", "host", "--ipc", "host", "--log-driver", "none", "--security-opt",
                          "label=disable", "--entrypoint", "", "--cgroups", "disabled", "--user", "0:0",
                          "--ulimit", "memlock=-1:-1", "--ulimit", "nofile=1024:4096", "--env", "RANK",
                          "--env", "SECRET", "--env", "LD_PRELOAD=libx.so", "--env", "PATH=/opt/bin:/bin",
                          "--volume", "/lustre/text:/text:ro", "--volume", "/scratch:/scratch", "--volume",
                          "/home/jobs/12/3/1:/home/jobs/12/3/1", "--volume", "/shared/7:/shared/7:ro",
                          "--device", "/dev/infiniband", "--device", "nvidia.com/gpu=GPU-a", "--device",
                          "nvidia.com/gpu=GPU-b", "--workdir", "/home/jobs/12/3/1/code",
                          "nvcr.io/nvidia/pytorch:24.01-py3", "python3", "train.py", "a b", "$HOME"));
  EXPECT_THAT(command.variables,
              UnorderedElementsAre(Pair("RANK", "own"), Pair("SECRET", "s3cret\nof two lines")));
  EXPECT_EQ(command.at_end, "/usr/bin/podman\nrm\n--force\n--ignore\n--time\n0\npodium-12-3-1-77");
}

TEST(Container, OfDocker) {
  const ContainerCommand command = command_of(program("docker"));
  EXPECT_THAT(
      command.arguments,
      ElementsAre("/usr/bin/docker", "run", "--rm", "--name", "podium-12-3-1-77", "--init", "--network",
                  "host", "--ipc", "host", "--log-driver", "none", "--security-opt", "label=disable",
                  "--entrypoint", "", "--user", "1000:100", "--ulimit", "memlock=-1:-1", "--ulimit",
                  "nofile=1024:4096", "--env", "RANK", "--env", "SECRET", "--env", "LD_PRELOAD=libx.so",
                  "--env", "PATH=/opt/bin:/bin", "--volume", "/lustre/text:/text:ro", "--volume",
                  "/scratch:/scratch", "--volume", "/home/jobs/12/3/1:/home/jobs/12/3/1", "--volume",
                  "/shared/7:/shared/7:ro", "--device", "/dev/infiniband", "--gpus", "\"device=GPU-a,GPU-b\"",
                  "--workdir", "/home/jobs/12/3/1/code", "nvcr.io/nvidia/pytorch:24.01-py3", "python3",
                  "train.py", "a b", "$HOME"));
  EXPECT_THAT(command.variables,
              UnorderedElementsAre(Pair("RANK", "own"), Pair("SECRET", "s3cret\nof two lines")));
  EXPECT_EQ(command.at_end, "/usr/bin/docker\nrm\n--force\npodium-12-3-1-77");
}

TEST(Container, OfApptainer) {
  const ContainerCommand command = command_of(program("apptainer"));
  EXPECT_THAT(
      command.arguments,
      ElementsAre("/usr/bin/apptainer", "exec", "--cleanenv", "--no-mount", "home,cwd", "--writable-tmpfs",
                  "--nv", "--bind", "/lustre/text:/text:ro", "--bind", "/scratch:/scratch", "--bind",
                  "/home/jobs/12/3/1:/home/jobs/12/3/1", "--bind", "/shared/7:/shared/7:ro", "--pwd",
                  "/home/jobs/12/3/1/code", "docker://nvcr.io/nvidia/pytorch:24.01-py3", "python3",
                  "train.py", "a b", "$HOME"));
  EXPECT_THAT(command.variables, UnorderedElementsAre(Pair("APPTAINERENV_RANK", "own"),
                                                      Pair("APPTAINERENV_SECRET", "s3cret\nof two lines"),
                                                      Pair("APPTAINERENV_PATH", "/opt/bin:/bin"),
                                                      Pair("APPTAINERENV_LD_PRELOAD", "libx.so")));
  EXPECT_EQ(command.at_end, "");
}

TEST(Container, OfEnroot) {
  const ContainerCommand command = command_of(program("enroot"));
  ASSERT_GT(command.arguments.size(), 3u);
  const std::vector<std::string> script(command.arguments.begin(), command.arguments.begin() + 3);
  const std::vector<std::string> words(command.arguments.begin() + 3, command.arguments.end());
  EXPECT_THAT(script, ElementsAre("/bin/sh", "-c", HasSubstr("import -o")));
  EXPECT_THAT(words,
              ElementsAre("podium", "/usr/bin/enroot", "/home/jobs/12/3/1/enroot.rc",
                          "/home/images/nvcr.io+nvidia+pytorch:24.01-py3.sqsh",
                          "docker://nvcr.io#nvidia/pytorch:24.01-py3", "--env", "NVIDIA_DRIVER_CAPABILITIES",
                          "--env", "NVIDIA_VISIBLE_DEVICES", "--env", "PODIUM_WORKDIR", "--env", "RANK",
                          "--env", "SECRET", "--env", "LD_PRELOAD=libx.so", "--env", "PATH=/opt/bin:/bin",
                          "--mount", "/lustre/text:/text:none:x-create=auto,rbind,ro", "--mount",
                          "/scratch:/scratch:none:x-create=auto,rbind", "--mount",
                          "/home/jobs/12/3/1:/home/jobs/12/3/1:none:x-create=auto,rbind", "--mount",
                          "/shared/7:/shared/7:none:x-create=auto,rbind,ro",
                          "/home/images/nvcr.io+nvidia+pytorch:24.01-py3.sqsh", "python3", "train.py", "a b",
                          "$HOME"));
  EXPECT_THAT(command.variables, IsSupersetOf({Pair("NVIDIA_VISIBLE_DEVICES", "GPU-a,GPU-b"),
                                               Pair("PODIUM_WORKDIR", "/home/jobs/12/3/1/code")}));
  EXPECT_EQ(command.at_end, "");
}

TEST(Container, TheFirstRuntimeThatTheNodeHasAndTheImageCanRunWith) {
  ContainedProgram any = program();
  ContainerHost node = host();
  const auto runs_with = [&](const std::string& image) {
    any.container.image = image;
    const auto command = contain(any, node);
    if (!command) return describe(command.errors());
    const std::string first = command->arguments.front();
    return first == "/bin/sh" ? "enroot" : first.substr(first.rfind('/') + 1);
  };
  EXPECT_EQ(runs_with("docker://pytorch"), "enroot");
  EXPECT_EQ(runs_with("a.sif"), "apptainer");
  EXPECT_EQ(runs_with("a.sqsh"), "enroot");
  node.runtimes.erase("enroot");
  EXPECT_EQ(runs_with("docker://pytorch"), "apptainer");
  EXPECT_EQ(runs_with("a.sqsh"), "apptainer");
  node.runtimes.erase("apptainer");
  EXPECT_EQ(runs_with("docker://pytorch"), "podman");
  EXPECT_EQ(runs_with("a.sif"),
            "/container: this node has no apptainer to run the container a.sif with: none is in the folders "
            "of /usr/bin:/bin; "
            "install one there");
  node.runtimes.erase("podman");
  EXPECT_EQ(runs_with("docker://pytorch"), "docker");
  node.runtimes.clear();
  EXPECT_THAT(runs_with("docker://pytorch"), HasSubstr("no enroot/apptainer/podman/docker to run"));
}

TEST(Container, ARuntimeThatTheSpecNamesIsNeverReplaced) {
  ContainedProgram wanted = program("docker");
  ContainerHost node = host();
  node.runtimes.erase("docker");
  const auto missing = contain(wanted, node);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.errors().front().code, ErrorCode::not_found);
  EXPECT_THAT(missing.errors().front().message, HasSubstr("no docker to run"));
  wanted.container.image = "/images/a.sif";
  const auto unfit = contain(wanted, host());
  ASSERT_FALSE(unfit);
  EXPECT_EQ(unfit.errors().front().code, ErrorCode::invalid);
  EXPECT_THAT(unfit.errors().front().message, HasSubstr("docker cannot run /images/a.sif"));
}

TEST(Container, NamesOfImages) {
  const auto image_with = [](const std::string& runtime, const std::string& image) {
    ContainedProgram named = program(runtime);
    named.container.image = image;
    const std::vector<std::string> words = command_of(named).arguments;
    return runtime == "enroot" ? words.at(7) : words.at(words.size() - 5);
  };
  EXPECT_EQ(image_with("podman", "docker://pytorch/pytorch"), "docker.io/pytorch/pytorch");
  EXPECT_EQ(image_with("podman", "pytorch/pytorch"), "pytorch/pytorch") << "a name of its own";
  EXPECT_EQ(image_with("podman", "docker://localhost:5000/pytorch"), "localhost:5000/pytorch");
  EXPECT_EQ(image_with("docker", "docker://pytorch/pytorch"), "pytorch/pytorch");
  EXPECT_EQ(image_with("apptainer", "pytorch:2"), "docker://pytorch:2");
  EXPECT_EQ(image_with("apptainer", "images/a.sif"), "/data/images/a.sif");
  EXPECT_EQ(image_with("apptainer", "/images/a.sqsh"), "/images/a.sqsh");
  EXPECT_EQ(image_with("enroot", "pytorch/pytorch:2"), "docker://pytorch/pytorch:2");
  EXPECT_EQ(image_with("enroot", "docker://localhost/a"), "docker://localhost#a");
  EXPECT_EQ(image_with("enroot", "a.sqsh"), "") << "nothing to import";
}

TEST(Container, AnImageIsNeverReadAsAnOption) {
  for (const char* image : {"--privileged", "docker://-v/:/host", "docker://", ""}) {
    ContainedProgram named = program("podman");
    named.container.image = image;
    const auto command = contain(named, host());
    ASSERT_FALSE(command.ok()) << image;
    EXPECT_THAT(describe(command.errors()), HasSubstr("is no image"));
  }
}

TEST(Container, GpusThatAreKnownByIndexCountFromZeroWithin) {
  ContainedProgram by_index = program("podman");
  by_index.variables["CUDA_VISIBLE_DEVICES"] = "4,7";
  by_index.gpus = {"4", "7"};
  EXPECT_THAT(command_of(by_index).arguments, Contains("nvidia.com/gpu=4"));
  EXPECT_EQ(command_of(by_index).variables.at("CUDA_VISIBLE_DEVICES"), "0,1");
  by_index.container.runtime = "apptainer";
  EXPECT_EQ(command_of(by_index).variables.at("APPTAINERENV_CUDA_VISIBLE_DEVICES"), "4,7")
      << "it shows all of them";
  by_index.container.runtime = "docker";
  by_index.gpus.clear();
  by_index.variables["CUDA_VISIBLE_DEVICES"] = "";
  EXPECT_EQ(command_of(by_index).variables.at("CUDA_VISIBLE_DEVICES"), "");
  EXPECT_THAT(command_of(by_index).arguments, Not(Contains("--gpus")));
}

TEST(Container, AMountThatARuntimeWouldReadOtherwiseIsRefused) {
  const auto refusal = [](const std::string& mount, const std::string& folder = "/f") {
    ContainedProgram mounted = program();
    mounted.container.mounts = {mount};
    mounted.folders = {{folder, folder, false}};
    const auto command = contain(mounted, host());
    return command ? "" : describe(command.errors());
  };
  EXPECT_EQ(refusal("/a:/b"), "");
  EXPECT_EQ(refusal("/a:/b:ro"), "");
  for (const char* bad : {"/a", "/a:b", "a:/b", "/a:/b:rw", "/a,b:/c", "/a:/b,c", ""})
    EXPECT_THAT(refusal(bad), HasSubstr("is no mount")) << bad;
  EXPECT_THAT(refusal("/a:/b", "/home/a:b"), HasSubstr("/home/a:b cannot be mounted"));
}

TEST(Container, TheSpecsOwnMountStandsInForOneOfTheTask) {
  ContainedProgram mounted = program("podman");
  mounted.container.mounts = {"/fast:/shared/7"};
  EXPECT_THAT(command_of(mounted).arguments, Contains("/fast:/shared/7"));
  EXPECT_THAT(command_of(mounted).arguments, Not(Contains("/shared/7:/shared/7:ro")));
}

class ContainedTask : public testing::Test {
 protected:
  ContainedTask() {
    start_.launch = launch_of(task_id(12, 3, 1));
    start_.launch.name = "contained";
    start_.launch.spec.command = {"train", "{rank}"};
    start_.launch.spec.env = {{"PATH", "/in/the/image"}, {"MODEL", "small"}};
    start_.launch.spec.container =
        ContainerSpec{"docker://pytorch:{attempt}", {"{data}/x:/x"}, {{"WHO", "{job}"}}, "podman"};
    start_.launch.spec.resume = JobId{7};
    start_.launch.device_kind = "cpu";
  }

  Result<TaskCommand> made(const ContainerHost& host) const {
    return make_command(start_, paths_,
                        {"PATH=/usr/bin", "HOME=/root", "NCCL_DEBUG=INFO", "CONTAINERS_CONF=/c", "AWS_KEY=x"},
                        {}, {}, host);
  }

  StartTask start_;
  TaskPaths paths_{"/home/jobs/12/3/1",
                   "/home/jobs/12/3/1/launch.json",
                   "/home/jobs/12/3/1/events.jsonl",
                   "/data",
                   "/shared/jobs/12/checkpoints",
                   "/shared/jobs/7/checkpoints",
                   "/bin/podium-worker"};
};

TEST_F(ContainedTask, HasItsFoldersAndItsEnvironmentButNotTheNodes) {
  const auto command = made(host());
  ASSERT_TRUE(command.ok()) << describe(command.errors());
  EXPECT_TRUE(command->contained);
  EXPECT_THAT(command->at_end, HasSubstr("rm\n--force"));
  EXPECT_THAT(command->arguments,
              IsSupersetOf({"/data/x:/x", "/data:/data", "/home/jobs/12/3/1:/home/jobs/12/3/1",
                            "/shared/jobs/12/checkpoints:/shared/jobs/12/checkpoints",
                            "/shared/jobs/7/checkpoints:/shared/jobs/7/checkpoints:ro", "PATH=/in/the/image",
                            "WHO", "MODEL", "NCCL_DEBUG", "RANK", "PODIUM_EVENTS", "PODIUM_STOP_FILE",
                            "docker.io/pytorch:3", "train", "1"}));
  for (const char* outside : {"HOME", "CONTAINERS_CONF", "AWS_KEY", "PATH"})
    EXPECT_THAT(command->arguments, Not(Contains(outside)));
  EXPECT_THAT(command->environment,
              IsSupersetOf({"PATH=/usr/bin", "HOME=/root", "CONTAINERS_CONF=/c", "WHO=12", "MODEL=small",
                            "PODIUM_TASK_FOLDER=/home/jobs/12/3/1", "PODIUM_STOP_SIGNAL=TERM"}));
  EXPECT_THAT(command->environment, Not(Contains(StartsWith("AWS_"))));
}

TEST_F(ContainedTask, NoTwoTasksHaveContainersOfOneName) {
  const auto name = [&] { return made(host())->arguments.at(4); };
  const std::string here = name();
  EXPECT_THAT(here, StartsWith("podium-12-3-1-"));
  paths_.folder = "/other/jobs/12/3/1";
  EXPECT_NE(name(), here);
}

TEST_F(ContainedTask, ANodeWithoutARuntimeLacksIt) {
  const auto command = made({});
  ASSERT_FALSE(command.ok());
  EXPECT_EQ(command.errors().front().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace podium
