// Every class of failure has its exit code, an error note that names the cause, and a `failed` line.
#include <gmock/gmock.h>
#include <sys/resource.h>

#include <csignal>
#include <fstream>
#include <thread>

#include "common/base/file.h"
#include "tests/paths.h"
#include "tests/worker/train/worker_job.h"
#include "worker/checkpoint/manifest.h"
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

// It was read without an end.
TEST(WorkerExitCode, ADeviceIsNoText) {
  JobSpec spec = tiny_job(5);
  spec.data.train = {"/dev/zero"};
  WorkerJob job(spec);
  expect_failure(job, WorkerExit::bad_data, "/dev/zero: it is a device");
}

TEST(WorkerExitCode, DataMayNotLeadOutOfTheDataFolder) {
  JobSpec spec = tiny_job(5);
  spec.data.train = {"../../../../../../etc/passwd"};
  WorkerJob job(spec);
  expect_failure(job, WorkerExit::bad_spec, "leads out of the data folder");
}

TEST(WorkerExitCode, AVocabularyWithoutMaskIsBadData) {
  WorkerJob job(tiny_job(5));
  write_file_atomic(job.data() / "vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\nriver\n");
  expect_failure(job, WorkerExit::bad_data, "vocab.txt");
}

TEST(WorkerExitCode, WhatThisBuildCannotTrainIsABadSpec) {
  JobSpec spec = tiny_job(5);
  spec.training.task = TrainingTask::lm;
  WorkerJob language(spec);
  expect_failure(language, WorkerExit::bad_spec, "lm");
}

TEST(WorkerExitCode, ALayoutThatDoesNotComeOutEvenIsABadSpec) {
  JobSpec spec = tiny_job(5);
  spec.parallel.tensor = 2;
  WorkerJob odd(spec);
  expect_failure(odd, WorkerExit::bad_spec, "multiple of parallel.tensor");
  spec = tiny_job(5);
  spec.training.batch = {12, 4};  // three micro-batches
  WorkerJob interleaved(spec);
  EXPECT_THAT(interleaved.run(layout_of_name("pipeline2_interleaved2")), Each(64));
  EXPECT_THAT(interleaved.errors(), HasSubstr("training.batch.micro"));
  spec = tiny_job(5);
  spec.parallel.interleave = 2;
  WorkerJob without_pipeline(spec);
  expect_failure(without_pipeline, WorkerExit::bad_spec, "interleave 1 where there is one stage");
  spec = tiny_job(5);
  spec.model.heads = 1;
  WorkerJob heads(spec);
  EXPECT_THAT(heads.run(layout_of_name("tensor2")), Each(64));
  EXPECT_THAT(heads.errors(), HasSubstr("heads"));
}

// The spec check refused such a batch always; a worker of before trained on it, the last micro-batch short.
TEST(WorkerExitCode, AMicroBatchThatIsNotFullIsABadSpec) {
  JobSpec spec = tiny_job(5);
  spec.training.batch = {8, 3};
  WorkerJob short_one(spec);
  expect_failure(short_one, WorkerExit::bad_spec, "multiple of training.batch.micro 3 x 1 data-parallel");
  spec.training.batch = {8, 4};
  spec.training.phases = {{.schedule = spec.training.schedule, .batch = {8, 8}, .sequence_length = 32}};
  WorkerJob more_ranks(spec);
  EXPECT_THAT(more_ranks.run(2), Each(64));
  EXPECT_THAT(more_ranks.errors(), HasSubstr("multiple of training.batch.micro 8 x 2 data-parallel"));
}

// As the message above says that it may.
TEST(WorkerExitCode, ARunOfMicroBatchesThatWereNotFullGoesOnWithOthers) {
  WorkerJob job(tiny_job(10));
  ASSERT_THAT(job.run(1), ElementsAre(0)) << job.errors();
  const std::string unbroken = job.tensors(10);
  std::filesystem::remove_all(job.checkpoints() / checkpoint_name(10));
  const auto fifth = job.checkpoints() / checkpoint_name(5);
  CheckpointManifest manifest = read_manifest(fifth);
  manifest.state.spec.training.batch = {8, 3};
  write_file_atomic(fifth / kManifestName, manifest_text(manifest));
  job.launch.spec.training.batch = {8, 3};
  expect_failure(job, WorkerExit::bad_spec, "may change training.batch.micro");
  job.launch.spec.training.batch = {8, 2};
  EXPECT_THAT(job.run(1), ElementsAre(0)) << job.errors();
  EXPECT_TRUE(job.tensors(10) == unbroken);
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

TEST(WorkerExitCode, OtherTextThanTheCheckpointsIsBadDataAndTheSameElsewhereIsNot) {
  WorkerJob job(tiny_job(5));
  ASSERT_THAT(job.run(1), ElementsAre(0));
  std::filesystem::rename(job.data() / "corpus.txt", job.data() / "moved.txt");
  job.launch.spec.data.train = {"moved.txt"};
  ASSERT_THAT(job.run(1), ElementsAre(0)) << job.errors();
  std::ofstream(job.data() / "moved.txt", std::ios::app) << "river stone .\n";
  expect_failure(job, WorkerExit::bad_data, "other text");
}

TEST(WorkerExitCode, CheckpointsOfWhichNoneIsWholeAreBadData) {
  WorkerJob job(tiny_job(5));
  ASSERT_THAT(job.run(1), ElementsAre(0));
  std::filesystem::remove(job.checkpoints() / "step-00000005" / "rank-00000.safetensors");
  expect_failure(job, WorkerExit::bad_data, "begin_anew");
  job.launch.spec.checkpoint.begin_anew = true;
  ASSERT_THAT(job.run(1), ElementsAre(0)) << job.errors();
  EXPECT_EQ(job.last_status(), "succeeded");
}

// It was found out after all text had been read, which may take hours.
TEST(WorkerExitCode, ATakenFolderOfCheckpointsIsFoundOutBeforeTheTextIsRead) {
  WorkerJob job(tiny_job(100'000));
  job.start(1);
  ASSERT_TRUE(job.wait_for_step(2)) << job.errors();
  WorkerJob second(tiny_job(5));
  second.launch.checkpoint_folder = job.checkpoints();
  expect_failure(second, WorkerExit::address_in_use, job.checkpoints());
  std::filesystem::remove(second.data() / "corpus.txt");
  expect_failure(second, WorkerExit::address_in_use, job.checkpoints());
  EXPECT_THAT(second.run(2), ElementsAre(static_cast<int>(WorkerExit::address_in_use),
                                         static_cast<int>(WorkerExit::peer_lost)));
  job.rank(0).signal(SIGKILL);
}

// The note could not be written, and the job ended with 1.
TEST(WorkerExitCode, AFileWhoseNameIsNoUtf8IsStillNamed) {
  JobSpec spec = tiny_job(5);
  spec.data.train = {"caf*.txt"};
  WorkerJob job(spec);
  std::ofstream(job.data() / "caf\xe9.txt") << "river stone\nwa\xFFter\n";
  expect_failure(job, WorkerExit::bad_data, "caf\xef\xbf\xbd.txt:2");
}

TEST(WorkerExitCode, AGpuThatIsNotThereSaysWhatIsMissing) {
  if (std::filesystem::exists("/dev/nvidia0")) GTEST_SKIP() << "skipped: waits for a machine without a GPU";
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
  EXPECT_EQ(exit_of(job.rank(0)), static_cast<int>(WorkerExit::saved));
  EXPECT_EQ(job.last_status(), "preempted");
}

// Every rank read all its text before it met the others, deaf to SIGTERM.
TEST(WorkerExitCode, SigtermWhileReadingLeavesOnAllRanksAndHasToldTheProgress) {
  JobSpec spec = tiny_job(5);
  spec.data.train = {"corpus*.txt"};
  WorkerJob job(spec);
  const std::string text = read_file(job.data() / "corpus.txt");
  std::ofstream corpus(job.data() / "corpus.txt");
  for (std::size_t bytes = 0; bytes < std::size_t{100} << 20; bytes += text.size()) corpus << text;
  corpus.close();
  for (int copy = 0; copy < 50; ++copy)  // more than any machine reads before the first note
    std::filesystem::create_hard_link(job.data() / "corpus.txt",
                                      job.data() / ("corpus-" + std::to_string(copy) + ".txt"));
  job.start(2);
  const auto is_reading = [&] {
    for (const WorkerEvent& event : job.events())
      if (const auto* note = std::get_if<NoteEvent>(&event.body);
          note && note->message.starts_with("reading the text: "))
        return true;
    return false;
  };
  while (!is_reading() && job.rank(0).running()) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  job.rank(1).signal(SIGTERM);
  EXPECT_THAT(job.wait(), Each(static_cast<int>(WorkerExit::saved)));
  for (const int rank : {0, 1}) {
    EXPECT_EQ(job.last_status(rank), "preempted");
    for (const WorkerEvent& event : job.events(rank))
      EXPECT_EQ(std::get_if<StartedEvent>(&event.body), nullptr) << "it had read all of it by then";
  }
}

TEST(WorkerExitCode, ALostPeerIsNeverTheRootCause) {
  WorkerJob job(tiny_job(100'000));
  job.start(2);
  ASSERT_TRUE(job.wait_for_step(2)) << job.errors();
  job.rank(1).signal(SIGKILL);
  EXPECT_THAT(job.wait(), ElementsAre(static_cast<int>(WorkerExit::peer_lost), -SIGKILL));
  EXPECT_THAT(job.errors(), HasSubstr("lost rank 1"));
  EXPECT_EQ(job.last_status(), "failed");
}

// It was not told what the others were at.
TEST(WorkerExitCode, ARankThatHangsIsToldByTheOneThatWaitsWithWhatItIsAt) {
  WorkerJob job(tiny_job(100'000));
  job.start(2);
  ASSERT_TRUE(job.wait_for_step(2)) << job.errors();
  job.rank(1).signal(SIGSTOP);
  std::string told;
  while (told.empty() && job.rank(0).running()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    for (const WorkerEvent& event : job.events())
      if (const auto* note = std::get_if<NoteEvent>(&event.body); note && note->level == "warning")
        told = note->message;
  }
  EXPECT_THAT(told, testing::ContainsRegex("^waiting for rank 1 since 3[0-9] s .*, while [a-z]+ "));
  for (const int rank : {0, 1}) job.rank(rank).signal(SIGKILL);
}

// A shell's limit is too low for some hundreds of ranks.
TEST(WorkerExitCode, TheLimitOfOpenFilesIsRaised) {
  WorkerJob job(tiny_job(100'000));
  job.start(1, "ulimit -S -n 64;");
  ASSERT_TRUE(job.wait_for_step(1)) << job.errors();
  rlimit limit{};
  ASSERT_EQ(::prlimit(job.rank(0).pid(), RLIMIT_NOFILE, nullptr, &limit), 0);
  EXPECT_EQ(limit.rlim_cur, limit.rlim_max);
  EXPECT_GT(limit.rlim_max, 64u);
  job.rank(0).signal(SIGKILL);
}

TEST(WorkerExitCode, AMalformedLaunchFileIsABadSpec) {
  const TempFolder folder;
  write_file_atomic(folder.path() / "launch.json", "{");
  Child worker({test::program_path("podium-worker"), "run", folder.path() / "launch.json"},
               folder.path() / "log");
  EXPECT_EQ(exit_of(worker), static_cast<int>(WorkerExit::bad_spec));
  EXPECT_THAT(read_file(folder.path() / "log"), HasSubstr("launch.json"));
}

}  // namespace
}  // namespace podium
