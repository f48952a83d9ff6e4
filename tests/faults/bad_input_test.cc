// A job that cannot work says why, in words that name the file, and takes nothing else down.
#include <gtest/gtest.h>

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

TEST_F(BadInput, ACheckpointFolderThatCannotBeWrittenIsNamed) {
  write_file_atomic(cluster_.folder() / "shared" / "jobs", "a file where a folder should be");
  EXPECT_NE(reason_of_failure(training_spec("no-shared", 100)).find("shared"), std::string::npos);
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
