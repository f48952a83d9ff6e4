// Tasks from order to exit, as the coordinator sees them.
#include <gmock/gmock.h>

#include "common/base/boot_clock.h"
#include "common/model/launch.h"
#include "tests/agent/agent_fixture.h"

namespace podium {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

class Tasks : public AgentFixture {};

TEST_F(Tasks, TheNodeReportsItself) {
  start_agent(
      {"--label", "rack=r1", "--machine", "dgx-2", "--artificial-gpus", "2", "--threads-per-slot", "3"});
  ASSERT_TRUE(eventually([&] { return !coordinator_.report().node.boot.empty(); }));
  const NodeDescription node = coordinator_.report().node;
  EXPECT_EQ(node.id.value, "node-1");
  EXPECT_EQ(node.address, "127.0.0.1");
  EXPECT_EQ(node.labels.at("rack"), "r1");
  EXPECT_EQ(node.labels.at("kind"), "dgx-2");
  EXPECT_EQ(node.labels.at("rails"), "8");
  EXPECT_EQ(node.labels.at("rail_gbps"), "100");
  int artificial = 0;
  int slots = 0;
  for (const Device& device : node.devices) {
    artificial += device.artificial;
    EXPECT_EQ(device.island, device.kind == "gpu" ? 0 : -1);
    slots += device.kind == "cpu" && device.threads == 3;
  }
  EXPECT_EQ(artificial, 2);
  EXPECT_EQ(slots, 4);
}

TEST_F(Tasks, RunToTheirEndAndAreForgotten) {
  start_agent();
  const TaskId id = task(1);
  coordinator_.order({run(id, "echo out; echo err >&2; echo event >> $PODIUM_EVENTS; exit 3")});
  const TaskExit exit = wait_for_exit(id);
  EXPECT_EQ(exit.code, 3);
  EXPECT_EQ(exit.message, "err");
  EXPECT_EQ(coordinator_.stream(id, StreamKind::events), "event\n") << "events come before the exit";
  EXPECT_TRUE(eventually([&] { return coordinator_.stream(id, StreamKind::out) == "out\n"; }));
  EXPECT_TRUE(eventually([&] { return coordinator_.stream(id, StreamKind::err) == "err\n"; }));
  coordinator_.order({});
  EXPECT_TRUE(eventually([&] { return !reported(id); }));
  EXPECT_TRUE(task_folder(id).read_record().forgotten);
}

TEST_F(Tasks, FindTheirLaunchFilledIn) {
  start_agent();
  const TaskId id = task(1);
  coordinator_.order({run(id, "cat \"$PODIUM_LAUNCH\" > launched; test -d \"$PODIUM_CHECKPOINTS\" && pwd")});
  EXPECT_EQ(wait_for_exit(id), (TaskExit{0, 0, ""}));
  const Launch launch =
      launch_from_json(nlohmann::json::parse(read_file(task_folder(id).path() / "launched")));
  EXPECT_EQ(launch.data_folder, data());
  EXPECT_EQ(launch.checkpoint_folder, folder_.path() / "shared/jobs/1/checkpoints");
  EXPECT_EQ(launch.events_path, task_folder(id).stream_path(StreamKind::events));
}

// By which a run is measured over its attempts, whatever the clocks of its nodes show.
TEST_F(Tasks, OfAMeasuredRunKnowTheCoordinatorsClock) {
  const Time coordinators = from_millis(1'000'000'000'000);
  const BootClock boot;
  coordinator_.set_clock(coordinators);
  const Time before = boot.now();
  start_agent();
  TaskOrder order = run(task(1), "cat \"$PODIUM_LAUNCH\" > launched");
  order.launch.spec.mlperf.emplace();
  order.clock.steps = 4;
  coordinator_.order({order});
  EXPECT_EQ(wait_for_exit(task(1)), (TaskExit{0, 0, ""}));
  const LaunchClock clock =
      clock_in(nlohmann::json::parse(read_file(task_folder(task(1)).path() / "launched")));
  ASSERT_TRUE(clock.ahead);
  EXPECT_LE(*clock.ahead, coordinators - before);
  EXPECT_GE(*clock.ahead, coordinators - boot.now());
  EXPECT_EQ(clock.steps, 4);
}

TEST_F(Tasks, RunInTheirWorkdirWithTheirEnvironment) {
  start_agent();
  const TaskId id = task(1);
  TaskOrder order = run(id, "echo \"$GREETING\"; pwd; ls \"$PODIUM_TASK_FOLDER/launch.json\" >&2");
  order.launch.spec.workdir = "{data}";
  order.launch.spec.env = {{"GREETING", "{word} from {job}"}};
  order.launch.spec.parameters = {{"word", "hello"}};
  coordinator_.order({order});
  EXPECT_EQ(wait_for_exit(id), (TaskExit{0, 0, ""}));
  EXPECT_TRUE(eventually([&] {
    return coordinator_.stream(id, StreamKind::out) == "hello from 1\n" + data().string() + "\n";
  })) << coordinator_.stream(id, StreamKind::out);
}

TEST_F(Tasks, SayWhichWorkdirIsNotThere) {
  start_agent();
  TaskOrder order = run(task(1), "true");
  order.launch.spec.workdir = "/nowhere/at/all";
  coordinator_.order({order});
  const TaskExit exit = wait_for_exit(task(1));
  EXPECT_EQ(exit.cause, ExitCause::cannot_run);
  EXPECT_EQ(exit.message, "cannot enter the working folder /nowhere/at/all: No such file or directory");
}

TEST_F(Tasks, LeaveOnSigterm) {
  start_agent();
  const TaskOrder order = run(task(1), "trap 'echo saved; exit 0' TERM; while :; do sleep 0.01; done");
  coordinator_.order({order});
  wait_for(task(1), TaskState::running);
  std::this_thread::sleep_for(50ms);  // the trap takes a moment to be set
  coordinator_.order({stop(order)});
  EXPECT_EQ(wait_for_exit(task(1)), (TaskExit{0, 0, "", ExitCause::ordered})) << "which is no success";
}

TEST_F(Tasks, AreToldByTheirSignalAndTheirFile) {
  start_agent();
  TaskOrder order = run(task(1),
                        "trap 'echo told; [ -e $PODIUM_STOP_FILE ] && exit 79' USR1; touch ready; while :; "
                        "do sleep 0.01; done");
  order.launch.spec.stop.signal = "USR1";
  coordinator_.order({order});
  wait_for(task(1), TaskState::running);
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(task_folder(task(1)).path() / "ready"); }));
  coordinator_.order({stop(order)});
  const TaskExit exit = wait_for_exit(task(1));
  EXPECT_EQ(exit.code, 79);
  EXPECT_EQ(exit.cause, ExitCause::ordered);
}

TEST_F(Tasks, AreKilledWithTheirDescendantsAfterTheGracePeriod) {
  start_agent();
  const TaskOrder order =
      run(task(1),
          "trap '' TERM; setsid sleep 1000 & echo $! > child; touch ready; while :; do sleep 0.01; done");
  coordinator_.order({order});
  const auto folder = task_folder(task(1)).path();
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(folder / "ready"); }));
  const int child = std::stoi(read_file(folder / "child"));
  coordinator_.order({stop(order, 200ms)});
  EXPECT_EQ(wait_for_exit(task(1)).signal, SIGKILL);
  EXPECT_FALSE(lives(child));
  EXPECT_THAT(log(), HasSubstr("SIGKILL, because it did not leave within its grace period"));
}

TEST_F(Tasks, AreKilledWhenTheirOrderIsGone) {
  start_agent();
  coordinator_.order({run(task(1), "trap '' TERM; while :; do sleep 0.01; done")});
  const std::int64_t pid = wait_for(task(1), TaskState::running).pid;
  EXPECT_TRUE(lives(pid));
  coordinator_.order({});
  EXPECT_TRUE(eventually([&] { return !reported(task(1)); }));
  EXPECT_FALSE(lives(pid));
}

TEST_F(Tasks, AKilledProgramIsReportedSo) {
  start_agent();
  coordinator_.order({run(task(1), "kill -9 $$")});
  EXPECT_EQ(wait_for_exit(task(1)).signal, SIGKILL);
}

TEST_F(Tasks, TheLastErrorNoteSaysWhyATaskFailed) {
  start_agent();
  const std::string note = R"({"type":"note","t":1,"level":"error","message":"disk full: step-20"})";
  coordinator_.order({run(task(1), "echo '" + note + "' >> $PODIUM_EVENTS; echo noise >&2; exit 73")});
  const TaskExit exit = wait_for_exit(task(1));
  EXPECT_EQ(exit.code, 73);
  EXPECT_EQ(exit.message, "disk full: step-20");
}

TEST_F(Tasks, AMissingProgramIsNamed) {
  start_agent();
  TaskOrder order = run(task(1), "");
  order.launch.spec.command = {"no-such-program"};
  coordinator_.order({order});
  EXPECT_EQ(wait_for_exit(task(1)),
            (TaskExit{127, 0, "cannot run no-such-program: No such file or directory in the folders of PATH",
                      ExitCause::cannot_run}));
}

TEST_F(Tasks, AMissingWorkerIsNamed) {
  start_agent({"--worker", "/nowhere/podium-worker"});
  TaskOrder order = run(task(1), "");
  order.launch.spec.command.clear();
  coordinator_.order({order});
  EXPECT_THAT(wait_for_exit(task(1)).message, HasSubstr("cannot run /nowhere/podium-worker"));
}

TEST_F(Tasks, AFolderThatCannotBeWrittenIsNamed) {
  start_agent();
  wait_for_log("in touch");
  std::filesystem::remove(home() / "jobs");
  write_file_atomic(home() / "jobs", "a file where a folder belongs");
  coordinator_.order({run(task(1), "true")});
  const TaskExit exit = wait_for_exit(task(1));
  EXPECT_EQ(exit.cause, ExitCause::not_started) << "the job did nothing wrong";
  EXPECT_THAT(exit.message, HasSubstr((home() / "jobs").string()));
  for (const Device& device : coordinator_.report().node.devices)
    EXPECT_THAT(device.health, HasSubstr("cannot start tasks")) << "and gets no more jobs";
  std::filesystem::remove(home() / "jobs");
  EXPECT_TRUE(eventually([&] { return coordinator_.report().node.devices.at(0).health.empty(); }));
}

TEST_F(Tasks, ASharedFolderThatCannotBeWrittenTakesTheNodeOutUntilItCan) {
  start_agent();
  wait_for_log("in touch");
  const auto jobs = folder_.path() / "shared/jobs";
  std::filesystem::remove_all(jobs);
  write_file_atomic(jobs, "a file where a folder belongs");
  coordinator_.order({run(task(1), "true")});
  EXPECT_EQ(wait_for_exit(task(1)).cause, ExitCause::not_started);
  const auto health = [&] { return coordinator_.report().node.devices.at(0).health; };
  EXPECT_TRUE(eventually([&] { return health().find(jobs.string()) != std::string::npos; })) << health();
  std::filesystem::remove(jobs);
  EXPECT_TRUE(eventually([&] { return health().empty(); })) << health();
}

// No attempt could ever start, and new ones came for ever.
TEST_F(Tasks, AFolderOfAnotherJobRefusesTheTaskForGood) {
  start_agent();
  const auto job = folder_.path() / "shared/jobs/1";
  std::filesystem::create_directories(job);
  write_file_atomic(job / "epoch", "0000000001 001700000000000\n");
  TaskOrder order = run(task(1), "true");
  order.born = from_millis(1'800'000'000'000);
  coordinator_.order({order});
  const TaskExit exit = wait_for_exit(task(1));
  EXPECT_EQ(exit.cause, ExitCause::refused);
  EXPECT_THAT(exit.message, HasSubstr("submit this one again"));
  EXPECT_EQ(coordinator_.report().node.devices.at(0).health, "") << "which is not the node's fault";
}

TEST_F(Tasks, AProgramThatSaysItWasPreemptedHasNotSucceeded) {
  start_agent();
  const std::string event = R"({"type":"finished","t":1,"step":5,"status":"preempted"})";
  coordinator_.order({run(task(1), "echo '" + event + "' >> $PODIUM_EVENTS")});
  EXPECT_EQ(wait_for_exit(task(1)).cause, ExitCause::signalled);
}

// Its exit could not be written, and task.json was tried again every 5 s for ever.
TEST_F(Tasks, AProgramThatDeletesItsFolderEndsAsItDid) {
  start_agent();
  coordinator_.order({run(task(1), "rm -rf \"$PODIUM_TASK_FOLDER\"; exit 0")});
  EXPECT_EQ(wait_for_exit(task(1)), (TaskExit{0, 0, ""}));
  coordinator_.order({});
  EXPECT_TRUE(eventually([&] { return !reported(task(1)); })) << "it cannot be forgotten";
  EXPECT_THAT(log(), testing::Not(HasSubstr("will be tried again")));
}

TEST_F(Tasks, AProgramThatStopsItsShimEndsNevertheless) {
  start_agent();
  coordinator_.order({run(task(1), "kill -STOP $PPID; exit 3")});
  EXPECT_EQ(wait_for_exit(task(1)).code, 3);
}

// kill -STOP $PPID, again and again: no word reaches the shim.
TEST_F(Tasks, AProgramThatKeepsItsShimStoppedIsKilledWithIt) {
  start_agent();
  const TaskOrder order = run(task(1), "trap '' TERM; touch ready; while :; do kill -STOP $PPID; done");
  coordinator_.order({order});
  const auto folder = task_folder(task(1)).path();
  const std::int64_t pid = wait_for(task(1), TaskState::running).pid;
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(folder / "ready"); }));
  coordinator_.order({stop(order, 200ms)});
  const TaskExit exit = wait_for_exit(task(1));
  EXPECT_EQ(exit.signal, SIGKILL);
  EXPECT_EQ(exit.cause, ExitCause::ordered);
  EXPECT_TRUE(eventually([&] { return !lives(pid); }));
}

TEST_F(Tasks, OlderAttemptsAreRefused) {
  start_agent();
  const TaskOrder second = run(task(1, 2), "touch second; while :; do sleep 0.01; done");
  coordinator_.order({second});
  wait_for(task(1, 2), TaskState::running);
  coordinator_.order({second, run(task(1, 1), "touch first")});
  EXPECT_THAT(wait_for_exit(task(1, 1)).message, HasSubstr("this node has seen attempt 2"));
  EXPECT_EQ(reported(task(1, 2))->state, TaskState::running);
  EXPECT_FALSE(std::filesystem::exists(task_folder(task(1, 1)).path()));
}

TEST_F(Tasks, TheNextAttemptStartsWhenTheOldOneIsGone) {
  start_agent();
  coordinator_.order({run(task(1, 1), "trap '' TERM; while :; do sleep 0.01; done")});
  const std::int64_t old = wait_for(task(1, 1), TaskState::running).pid;
  coordinator_.order({run(task(1, 2), "kill -0 " + std::to_string(old) + " && exit 1; exit 0")});
  EXPECT_EQ(wait_for_exit(task(1, 2)).code, 0);
}

TEST_F(Tasks, ForgottenOnesNeverStartAgain) {
  start_agent();
  const TaskOrder order = run(task(1), "echo x >> \"$PODIUM_DATA/starts\"");
  coordinator_.order({order});
  wait_for_exit(task(1));
  coordinator_.order({});
  ASSERT_TRUE(eventually([&] { return !reported(task(1)); }));
  coordinator_.order({order});
  EXPECT_THAT(wait_for_exit(task(1)).message, HasSubstr("has run this attempt before"));
  EXPECT_EQ(coordinator_.report().ended, std::vector{task(1).attempt}) << "its database may be an older copy";
  EXPECT_EQ(read_file(data() / "starts"), "x\n");
}

TEST_F(Tasks, OrdersThatMakeNoSenseAreNotFollowed) {
  start_agent();
  TaskOrder order = run(task(1), "touch \"$PODIUM_DATA/ran\"");
  order.launch.node.value = "node-2";
  coordinator_.order({order});
  wait_for_log(
      "the coordinator's orders are invalid and are not followed: task 1.1.0: it is meant for node "
      "\"node-2\"");
  order.launch.node.value = "node-1";
  coordinator_.order({order});
  EXPECT_EQ(wait_for_exit(task(1)).code, 0);
}

TEST_F(Tasks, ThatPutAPipeInThePlaceOfTheirEventsHoldUpNobody) {
  start_agent();
  coordinator_.order({run(task(1), "/bin/rm -f $PODIUM_EVENTS; /usr/bin/mkfifo $PODIUM_EVENTS; exit 3")});
  EXPECT_EQ(wait_for_exit(task(1)).code, 3);
  coordinator_.order({run(task(2), "exit 4")});
  EXPECT_EQ(wait_for_exit(task(2)).code, 4);
  kill_agent();
  start_agent();
  coordinator_.order({run(task(3), "exit 5")});
  EXPECT_EQ(wait_for_exit(task(3)).code, 5);
}

}  // namespace
}  // namespace podium
