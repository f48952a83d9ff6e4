// What all ranks take for the speed of the training, from which they must draw the same conclusions.
#include "worker/train/throughput.h"

#include <gmock/gmock.h>

#include "tests/temp_folder.h"
#include "tests/worker/comm/world.h"
#include "worker/comm/single_communicator.h"
#include "worker/train/progress.h"

namespace podium {
namespace {

using std::chrono::milliseconds;

constexpr char kMetric[] = "train/sequences_per_second";

TEST(Throughput, IsSequencesOverBusyTimeSinceTheLastCall) {
  SingleCommunicator alone;
  Throughput throughput;
  throughput.add(milliseconds(1500), 32);
  throughput.add(milliseconds(500), 0);  // a batch that was passed over
  EXPECT_DOUBLE_EQ(throughput.take(alone), 16);
  throughput.add(milliseconds(100), 32);
  EXPECT_DOUBLE_EQ(throughput.take(alone), 320);
}

// A rank whose clock hardly moves would find the target reached, save and leave, while the other one trains
// on.
TEST(Throughput, ATargetIsJudgedAlikeByRanksWhoseClocksDiffer) {
  const TempFolder folder;
  const auto reached_on = [&](Communicator& world, double at_least) {
    const SystemClock clock;
    EventLog events(folder.path() / ("events-" + std::to_string(world.rank())), clock);
    Progress progress(events, TargetSpec{kMetric, at_least, std::nullopt}, 10, world.rank() == 0);
    Throughput throughput;
    throughput.add(world.rank() == 0 ? milliseconds(100) : std::chrono::nanoseconds(1), 8);
    const double rate = throughput.take(world);
    EXPECT_DOUBLE_EQ(rate, 80) << "rank " << world.rank();
    return progress.metrics(1, {{kMetric, rate}});
  };
  run_threads(2, [&](Communicator& world) {
    EXPECT_FALSE(reached_on(world, 1000)) << "rank " << world.rank();
    EXPECT_TRUE(reached_on(world, 50)) << "rank " << world.rank();
  });
}

}  // namespace
}  // namespace podium
