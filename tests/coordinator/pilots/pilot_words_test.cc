// What `podium why` says of nodes on demand.
#include "coordinator/pilots/pilot_words.h"

#include <gtest/gtest.h>

namespace podium {
namespace {

using namespace std::chrono_literals;

class PilotWords : public testing::Test {
 protected:
  PilotWords() {
    options_.partition = "gpu";
    options_.nodes = 4;
    options_.walltime = 24h;
    view_.stand.wishes = {{{1}, 1, 2, 16, 1h}};
  }
  std::string said() {
    const auto blocker = why_no_nodes(options_, view_, memory_, {1}, now_);
    return blocker ? blocker->sentence : "";
  }

  SlurmOptions options_;
  PilotView view_;
  PilotMemory memory_;
  Time now_ = from_millis(1'700'000'000'000);
};

TEST_F(PilotWords, SlurmsReason) {
  view_.jobs = {{17, "PENDING", 2, {1}, 1, "Priority"}};
  memory_.awaited = {17};
  EXPECT_EQ(said(), "waits for 2 nodes of Slurm: job 17 of Slurm (partition gpu) is pending: Priority");
  view_.jobs.front().state = "RUNNING";
  EXPECT_EQ(
      said(),
      "waits for 2 nodes of Slurm: job 17 of Slurm (partition gpu) runs, and its agents are about to join");
}

TEST_F(PilotWords, ARefusal) {
  pause_asking(memory_, {1}, "sbatch: error: invalid partition specified: gpu", now_ - 10s);
  EXPECT_EQ(said(),
            "gets no 2 nodes of Slurm: sbatch: error: invalid partition specified: gpu; asked again in 20s");
  now_ += 20s;
  EXPECT_EQ(said(),
            "gets no 2 nodes of Slurm: sbatch: error: invalid partition specified: gpu; asked again now");
}

TEST_F(PilotWords, ASlurmThatDoesNotAnswer) {
  view_.silent = "squeue did not end within 30s";
  EXPECT_EQ(said(), "waits for 2 nodes of Slurm, which does not answer: squeue did not end within 30s");
}

TEST_F(PilotWords, TheMostNodes) {
  EXPECT_EQ(said(),
            "waits for 2 nodes of Slurm: they are asked for once fewer than 4 are in use (--slurm-nodes), or "
            "others "
            "come that hold it");
}

TEST_F(PilotWords, AWalltimeThatIsTooLong) {
  view_.stand.wishes.clear();
  view_.stand.too_long = {{1}};
  EXPECT_EQ(said(),
            "gets no nodes of Slurm: its walltime is longer than the 23h47m that a job may take there "
            "(--slurm-walltime); submit it with a shorter one");
}

TEST_F(PilotWords, NothingOfJobsThatWantNone) {
  view_.stand.wishes.clear();
  EXPECT_EQ(said(), "");
}

}  // namespace
}  // namespace podium
