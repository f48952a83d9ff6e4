// Every class of failure has its exit code, an error note that names the cause, and a `failed` line.
#include <gmock/gmock.h>

#include <csignal>
#include <fstream>

#include "common/base/file.h"
#include "tests/worker/train/worker_job.h"
#include "worker/comm/socket.h"

namespace podium {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

void expect_failure(WorkerJob& job, WorkerExit code, const std::string& cause,
                    const std::string& prefix = "") {
  EXPECT_THAT(job.run(1, prefix), ElementsAre(static_cast<int>(code)));
  EXPECT_THAT(job.errors(), HasSubstr(cause));
  EXPECT_EQ(job.last_status(), "failed");
}

TEST(WorkerExitCode, MissingTextIsBadData) {
  WorkerJob job(tiny_job(5));
  std::filesystem::remove(job.data() / "corpus.txt");
  expect_failure(job, WorkerExit::bad_data, "corpus.txt");
}

TEST(WorkerExitCode, TextThatIsNoUtf8IsBadDataWithItsLine) {
  WorkerJob job(tiny_job(5));
  std::ofstream(job.data() / "heldout.txt") << "river stone\nwa\xFFter\n";
  expect_failure(job, WorkerExit::bad_data, "heldout.txt:2");
}

TEST(WorkerExitCode, AVocabularyWithoutMaskIsBadData) {
  WorkerJob job(tiny_job(5));
  write_file_atomic(job.data() / "vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\nriver\n");
  expect_failure(job, WorkerExit::bad_data, "vocab.txt");
}

TEST(WorkerExitCode, WhatThisBuildCannotTrainIsABadSpec) {
  JobSpec spec = tiny_job(5);
  spec.training.task = TrainingTask::squad;
  WorkerJob squad(spec);
  expect_failure(squad, WorkerExit::bad_spec, "squad");
}

TEST(WorkerExitCode, ALayoutThatDoesNotComeOutEvenIsABadSpec) {
  JobSpec spec = tiny_job(5);
  spec.parallel.tensor = 2;
  WorkerJob odd(spec);
  expect_failure(odd, WorkerExit::bad_spec, "multiple of parallel.tensor");
  spec = tiny_job(5);
  spec.training.batch = {8, 3};  // three micro-batches
  WorkerJob interleaved(spec);
  EXPECT_THAT(interleaved.run(layout_of_name("pipeline2_interleaved2")), Each(64));
  EXPECT_THAT(interleaved.errors(), HasSubstr("training.batch.micro"));
  spec = tiny_job(5);
  spec.model.heads = 1;
  WorkerJob heads(spec);
  EXPECT_THAT(heads.run(layout_of_name("tensor2")), Each(64));
  EXPECT_THAT(heads.errors(), HasSubstr("heads"));
}

TEST(WorkerExitCode, AModelTooSmallForItsTokenizerIsABadSpec) {
  JobSpec spec = tiny_job(5);
  spec.model.vocab = 8;
  WorkerJob job(spec);
  expect_failure(job, WorkerExit::bad_spec, "model.vocab");
}

TEST(WorkerExitCode, AnotherSpecsCheckpointIsABadSpec) {
  WorkerJob job(tiny_job(5));
  ASSERT_THAT(job.run(1), ElementsAre(0));
  job.launch.spec.training.seed = 2;
  expect_failure(job, WorkerExit::bad_spec, "step-00000005");
}

TEST(WorkerExitCode, AGpuThatIsNotThereSaysWhatIsMissing) {
  if (std::filesystem::exists("/dev/nvidia0")) GTEST_SKIP() << "this machine has a GPU";
  WorkerJob job(tiny_job(5));
  job.launch.device_kind = "gpu";
  expect_failure(job, WorkerExit::no_device, "no gpu to compute on: ");
}

TEST(WorkerExitCode, ADivergedRunNamesTheStep) {
  JobSpec spec = tiny_job(50);
  spec.training.optimizer.lr = 1e30;
  spec.training.schedule.warmup = 0;
  WorkerJob job(spec);
  expect_failure(job, WorkerExit::diverged, "at step ");
}

TEST(WorkerExitCode, ACheckpointThatDoesNotFitNamesItsFile) {
  WorkerJob job(tiny_job(5));
  expect_failure(job, WorkerExit::disk_full, "rank-00000.safetensors",
                 "ulimit -f 16;");  // blocks of 512 bytes
}

TEST(WorkerExitCode, EventsThatCannotBeWrittenEndTheTask) {
  WorkerJob job(tiny_job(500));
  EXPECT_THAT(job.run(1, "ulimit -f 1;"), ElementsAre(static_cast<int>(WorkerExit::disk_full)));
}

TEST(WorkerExitCode, ATakenPortIsAddressInUse) {
  const Fd taken = listen_on("127.0.0.1", 0);
  WorkerJob job(tiny_job(5));
  job.launch.master_port = port_of(taken);
  job.start(2);
  EXPECT_EQ(exit_of(job.rank(0)), static_cast<int>(WorkerExit::address_in_use));
  EXPECT_THAT(job.errors(), HasSubstr(std::to_string(port_of(taken))));
  job.rank(1).signal(SIGKILL);
}

TEST(WorkerExitCode, SigtermWhileWaitingForTheOthersLeavesAtOnce) {
  WorkerJob job(tiny_job(5));
  const int port = port_of(listen_on("127.0.0.1", 0));
  job.launch.master_port = port;
  job.start(2);
  job.rank(1).signal(SIGKILL);
  connect_before("127.0.0.1", port,
                 std::chrono::steady_clock::now() + std::chrono::minutes(1));  // it waits by now
  job.rank(0).signal(SIGTERM);
  EXPECT_EQ(exit_of(job.rank(0)), 0);
  EXPECT_EQ(job.last_status(), "preempted");
}

TEST(WorkerExitCode, ALostPeerIsNeverTheRootCause) {
  WorkerJob job(tiny_job(100'000));
  job.start(2);
  ASSERT_TRUE(job.wait_for_step(2)) << job.errors();
  job.rank(1).signal(SIGKILL);
  EXPECT_THAT(job.wait(), ElementsAre(static_cast<int>(WorkerExit::peer_lost), -SIGKILL));
  EXPECT_THAT(job.errors(), HasSubstr("rank"));
  EXPECT_EQ(job.last_status(), "failed");
}

TEST(WorkerExitCode, AMalformedLaunchFileIsABadSpec) {
  const TempFolder folder;
  write_file_atomic(folder.path() / "launch.json", "{");
  Child worker({PODIUM_BIN_DIR "/podium-worker", "run", folder.path() / "launch.json"},
               folder.path() / "log");
  EXPECT_EQ(exit_of(worker), static_cast<int>(WorkerExit::bad_spec));
  EXPECT_THAT(read_file(folder.path() / "log"), HasSubstr("launch.json"));
}

}  // namespace
}  // namespace podium
