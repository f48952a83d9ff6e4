// What is kept of ended jobs for a time only, and what stays.
#include "coordinator/store/pruner.h"

#include "coordinator/store/sqlite.h"
#include "tests/coordinator/store/store_fixture.h"

namespace podium {
namespace {

class PrunerTest : public testing::Test {
 protected:
  PrunerTest() {
    Store store(home_.path(), at_once());
    start_job(store);
    std::string text;
    for (int step = 1; step <= 25'000; ++step) text += metrics_line(step, step == 12'345 ? -7 : step % 100);
    ingest_now(store, chunk(1, 0, text));
  }

  void end_job() {
    Store store(home_.path(), at_once());
    commit_now(
        store,
        {{{at_second(100), JobStateChanged{{1}, JobState::running, JobState::succeeded, ""}}}, {}, {}, {}});
  }

  void prune(Time now) {
    Database database(home_.path() / "podium.db", Access::write, 1000);
    Pruner pruner(database, {{std::chrono::hours(1), std::chrono::hours(10), kForever, kForever}});
    int pieces = 0;
    while (pruner.prune(now) && ++pieces < 1000) {
    }
    EXPECT_LT(pieces, 1000) << "it comes to an end";
  }

  Series curve() { return Reader(home_.path()).series({1}, "train/loss", 1'000'000); }
  std::size_t history() { return Reader(home_.path()).history({1}, 0, 1000).size(); }

  TempFolder home_;
};

TEST_F(PrunerTest, LeavesJobsAloneThatHaveNotEnded) {
  prune(at_second(1'000'000));
  EXPECT_EQ(curve().size(), 25'000u);
  EXPECT_GT(history(), 0u);
}

TEST_F(PrunerTest, ThinsCurvesAndKeepsTheirSummary) {
  end_job();
  const MetricSummary before = Reader(home_.path()).metrics({1}).at(0);
  prune(at_second(100 + 3600));
  const Series kept = curve();
  EXPECT_LE(kept.size(), 2100u);
  EXPECT_GE(kept.size(), 1000u);
  EXPECT_EQ(kept.front().step, 1);
  EXPECT_EQ(kept.back().step, 25'000);
  EXPECT_TRUE(std::ranges::any_of(kept, [](const SeriesPoint& p) {
    return p.step == 12'345 && p.value == -7;
  })) << "extremes stay";
  const MetricSummary after = Reader(home_.path()).metrics({1}).at(0);
  EXPECT_EQ(after.count, before.count);
  EXPECT_EQ(after.min, before.min);
  EXPECT_EQ(after.last_step, before.last_step);
  EXPECT_GT(history(), 0u) << "for which it is too early";
}

TEST_F(PrunerTest, ForgetsHistoryLater) {
  end_job();
  prune(at_second(100 + 10 * 3600));
  EXPECT_EQ(history(), 0u);
  EXPECT_TRUE(Reader(home_.path()).job({1})) << "the job stays";
}

}  // namespace
}  // namespace podium
