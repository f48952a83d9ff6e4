// The open chunks of jobs that ended are closed, and those alone.
#include "coordinator/store/chunk_closer.h"

#include "tests/coordinator/store/store_fixture.h"

namespace podium {
namespace {

class ChunkCloserTest : public testing::Test {
 protected:
  ChunkCloserTest() {
    Store store(home_.path(), at_once());
    start_job(store);
    std::int64_t offset = 0;
    for (int step = 1; step <= 40; ++step) {
      const std::string text = metrics_line(step, step % 7);
      EXPECT_TRUE(ingest_now(store, chunk(1, offset, text)).ok());
      offset += std::ssize(text);
    }
  }

  void end_job() {
    Store store(home_.path(), at_once());
    commit_now(
        store,
        {{{at_second(100), JobStateChanged{{1}, JobState::running, JobState::succeeded, ""}}}, {}, {}, {}});
  }

  void close() {
    Database database(home_.path() / "podium.db", Access::write, 1000);
    ChunkCloser closer(database);
    int pieces = 0;
    while (closer.walk_on() && ++pieces < 1000) {
    }
    EXPECT_LT(pieces, 1000) << "it comes to an end";
  }

  std::int64_t count(const std::string& sql) {
    Database database(home_.path() / "podium.db", Access::read, 1000);
    Statement rows(database, sql);
    rows.start().next();
    return rows.integer(0);
  }

  Series curve() { return Reader(home_.path()).series({1}, "train/loss", 1000).points; }

  TempFolder home_;
};

TEST_F(ChunkCloserTest, LeavesARunningJobAlone) {
  const std::int64_t open = count("SELECT count(*) FROM open_points");
  EXPECT_GT(open, 1);
  close();
  EXPECT_EQ(count("SELECT count(*) FROM open_points"), open);
}

TEST_F(ChunkCloserTest, ClosesWhatAnEndedJobLeftOpen) {
  const Series before = curve();
  ASSERT_EQ(before.size(), 40u);
  end_job();
  close();
  EXPECT_EQ(count("SELECT count(*) FROM open_points"), 0);
  EXPECT_EQ(count("SELECT sum(points) FROM chunks WHERE series = (SELECT id FROM series)"), 40);
  EXPECT_EQ(curve(), before);
}

TEST_F(ChunkCloserTest, WhatComesAfterwardsIsClosedToo) {
  end_job();
  close();
  {
    Store store(home_.path(), at_once());
    std::int64_t offset = 0;
    for (int step = 1; step <= 40; ++step) offset += std::ssize(metrics_line(step, step % 7));
    ASSERT_TRUE(ingest_now(store, chunk(1, offset, metrics_line(41, 3))).ok());
  }
  EXPECT_EQ(curve().size(), 41u);
  close();
  EXPECT_EQ(count("SELECT count(*) FROM open_points"), 0);
  EXPECT_EQ(count("SELECT count(*) FROM chunks"), 1) << "one chunk has all";
  EXPECT_EQ(curve().size(), 41u);
}

TEST_F(ChunkCloserTest, SomeSeriesAfterTheOther) {
  {
    Store store(home_.path(), at_once());
    std::int64_t offset = 0;
    for (int step = 1; step <= 40; ++step) offset += std::ssize(metrics_line(step, step % 7));
    std::string line = R"({"type":"metrics","t":1700000000000,"step":41,"values":{"k0":0)";
    for (int i = 1; i < 100; ++i) line += ",\"k" + std::to_string(i) + "\":" + std::to_string(i);
    ASSERT_TRUE(ingest_now(store, chunk(1, offset, line + "}}\n")).ok());
  }
  end_job();
  Database database(home_.path() / "podium.db", Access::write, 1000);
  ChunkCloser closer(database);
  EXPECT_TRUE(closer.walk_on());
  EXPECT_GT(count("SELECT count(*) FROM open_points"), 0) << "a turn may be waiting";
  while (closer.walk_on()) {
  }
  EXPECT_EQ(count("SELECT count(*) FROM open_points"), 0);
  EXPECT_EQ(count("SELECT count(*) FROM chunks"), 101);
}

// Pure housekeeping must not take from a curve what its row still tells.
TEST_F(ChunkCloserTest, ADamagedChunkBeforeStaysWhereItIs) {
  end_job();
  close();
  {
    Store store(home_.path(), at_once());
    std::int64_t offset = 0;
    for (int step = 1; step <= 40; ++step) offset += std::ssize(metrics_line(step, step % 7));
    ASSERT_TRUE(ingest_now(store, chunk(1, offset, metrics_line(41, 3))).ok());
  }
  {
    Database database(home_.path() / "podium.db", Access::write, 1000);
    database.run("UPDATE chunk_data SET points = x'00'");
  }
  close();
  EXPECT_EQ(count("SELECT count(*) FROM chunks"), 2);
  EXPECT_EQ(count("SELECT count(*) FROM damaged_chunks"), 0);
  const SeriesView seen = Reader(home_.path()).series({1}, "train/loss", 1000);
  EXPECT_EQ(seen.points.front().step, 1);
  EXPECT_EQ(seen.points.back().step, 41);
  EXPECT_EQ(seen.lost + std::ssize(seen.points), 41);
}

}  // namespace
}  // namespace podium
