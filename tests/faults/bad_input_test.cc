// A job that cannot work says why, in words that name the file, and takes nothing else down.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "common/base/file.h"
#include "tests/cluster.h"
#include "tests/faults/training_job.h"

namespace podium {
namespace {

using nlohmann::json;
using ::testing::Test;

class BadInput : public Test {
 protected:
  BadInput() { write_training_data(cluster_.data()); }

  std::string reason_of_failure(const std::string& spec) const {
    const json job = cluster_.wait_for_state(cluster_.submit(spec), "failed");
    EXPECT_EQ(job.at("attempts").size(), 1u) << "it was tried again: " << job.dump(1);
    return job.at("reason");
  }

  Cluster cluster_{2};
};

TEST_F(BadInput, UnreadableDataNamesTheFile) {
  std::filesystem::remove(cluster_.data() / "corpus.txt");
  EXPECT_NE(reason_of_failure(training_spec("no-corpus", 100)).find("corpus.txt"), std::string::npos);
}

TEST_F(BadInput, AVocabularyWithoutItsSpecialTokensNamesTheFile) {
  write_file_atomic(cluster_.data() / "vocab.txt", "river\nstone\n");
  EXPECT_NE(reason_of_failure(training_spec("no-mask", 100)).find("vocab.txt"), std::string::npos);
}

// No job's fault: it says the folder at once, waits for somebody to look at it, and runs then.
TEST_F(BadInput, ACheckpointFolderThatCannotBeWrittenIsNamed) {
  const auto jobs = cluster_.checkpoints({1}).parent_path().parent_path();
  std::filesystem::create_directories(jobs.parent_path());
  write_file_atomic(jobs, "a file where a folder should be");
  const JobId job = cluster_.submit(training_spec("no-shared", 20));
  const json waiting = cluster_.wait_for(job, [&](const json& seen) {
    return seen.at("state") == "queued" && !seen.at("attempts").empty() &&
           seen.at("reason").get<std::string>().find(jobs.string()) != std::string::npos;
  });
  EXPECT_NE(waiting.at("reason").get<std::string>().find("at no cost"), std::string::npos) << waiting.dump(1);
  const auto health = [&] {
    return cluster_.get("/nodes/node-1").at("devices").at(0).at("health").get<std::string>();
  };
  for (int i = 0; i < 3000 && health().find(jobs.string()) == std::string::npos; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_NE(health().find("cannot start tasks: "), std::string::npos) << health();
  EXPECT_NE(health().find(jobs.string()), std::string::npos) << health();
  std::filesystem::remove(jobs);
  cluster_.wait_for_state(job, "succeeded");
}

// A database that was restored gives numbers again. The first attempt was refused, the second took over the
// folder, and the checkpoints in it, of the job that had the number before. Then each was refused, for ever.
TEST_F(BadInput, AFolderOfAnotherJobIsTakenOverByNoAttempt) {
  const auto command = [](const std::string& name) {
    return "version: 1\nname: " + name +
           "\ncommand: [sleep, \"1000\"]\nresources: {devices: 2, per_node: 1, kind: cpu, walltime: 10m}\n";
  };
  const JobId first = cluster_.submit(command("first"));
  cluster_.wait_for_state(first, "running");
  const JobId job = cluster_.submit(command("second"));
  const auto folder = cluster_.checkpoints(job).parent_path();
  const std::string cluster = cluster_.get("/health").at("cluster");
  const std::string fence = "0000000001 001700000000000 " + cluster + "\n";
  std::filesystem::create_directories(folder);
  write_file_atomic(folder / "epoch", fence);
  cluster_.cancel(first);
  const json seen = cluster_.wait_for_state(job, "failed");
  EXPECT_EQ(seen.at("attempts").size(), 1u) << seen.dump(1);
  const std::string reason = seen.at("reason");
  EXPECT_NE(reason.find("belongs to another job of this number"), std::string::npos) << reason;
  EXPECT_EQ(read_file(folder / "epoch"), fence);
  EXPECT_FALSE(std::filesystem::exists(folder / "checkpoints"));
}

TEST_F(BadInput, AFailedJobLeavesTheClusterUsable) {
  const JobId bad = cluster_.submit(
      "version: 1\nname: bad\ncommand: [\"/nonexistent/program\"]\n"
      "resources: {devices: 1, kind: cpu}\nrestarts: {max: 0}\n");
  const json ended = cluster_.wait_for_state(bad, "failed");
  EXPECT_NE(ended.at("reason").get<std::string>().find("/nonexistent/program"), std::string::npos)
      << ended.dump(1);
  const JobId good = cluster_.submit(
      "version: 1\nname: good\ncommand: [\"/bin/true\"]\n"
      "resources: {devices: 2, kind: cpu}\n");
  cluster_.wait_for_state(good, "succeeded");
}

}  // namespace
}  // namespace podium
