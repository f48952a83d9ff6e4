// Series written in any order, beside a map of steps that says what they should hold.
#include "coordinator/store/chunk_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "coordinator/store/chunk_reader.h"
#include "coordinator/store/migrations.h"
#include "tests/coordinator/store/chunks/random_points.h"
#include "tests/temp_folder.h"

namespace podium {
namespace {

using Model = std::map<std::int64_t, StoredPoint>;

class ChunkWriterTest : public testing::Test {
 protected:
  // As series_table.cc does; the writer forgets what is open now and then, as a start does.
  void write(std::vector<StoredPoint> points) {
    Transaction transaction(database_);
    if (model_.empty() || points.front().step > model_.rbegin()->first)
      writer_.append(kSeries, open_, points);
    else
      grown_ += writer_.merge(kSeries, open_, points) - std::ssize(points);
    grown_ += std::ssize(points);
    transaction.commit();
    for (const StoredPoint& point : points) {
      StoredPoint& there = model_.emplace(point.step, point).first->second;
      if (point.attempt >= there.attempt) there = point;
    }
    open_ = writer_.open_chunk(kSeries);
  }

  std::vector<StoredPoint> run(std::int64_t first, std::size_t count, int attempt = 1) {
    std::vector<StoredPoint> points;
    for (std::size_t i = 0; i < count; ++i)
      points.push_back(
          {first + static_cast<std::int64_t>(i), 0, static_cast<double>(random_() % 1000), attempt});
    return points;
  }

  std::vector<StoredPoint> stored(const StepRange& range = {}) {
    ChunkReader reader(database_, kSeries);
    std::vector<StoredPoint> all;
    for (const ChunkRow& chunk : reader.chunks(range)) {
      const auto points = reader.points(chunk, range);
      all.insert(all.end(), points.begin(), points.end());
    }
    const auto open = reader.open(range);
    all.insert(all.end(), open.begin(), open.end());
    return all;
  }

  void expect_model() {
    std::vector<StoredPoint> expected;
    for (const auto& [_, point] : model_) expected.push_back(point);
    EXPECT_TRUE(std::ranges::equal(stored(), expected, same));
    EXPECT_EQ(grown_, std::ssize(expected));
    expect_tables();
  }

  // What the rows say of their chunks is so, and no points lie about.
  void expect_tables() {
    ChunkReader reader(database_, kSeries);
    const auto chunks = reader.chunks({});
    EXPECT_EQ(count("SELECT count(*) FROM chunk_data"), std::ssize(chunks));
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      const auto points = reader.points(chunks[i], {});
      EXPECT_EQ(chunks[i].first.step, points.front().step);
      EXPECT_EQ(chunks[i].last.step, points.back().step);
      EXPECT_EQ(chunks[i].all.points, std::ssize(points));
      EXPECT_EQ(chunks[i].all.low->value, std::ranges::min(points, {}, &StoredPoint::value).value);
      if (i > 0) {
        EXPECT_GT(chunks[i].first.step, chunks[i - 1].last.step);
      }
      std::int64_t in_blocks = 0;
      for (const RollUp& block : reader.blocks(chunks[i])) in_blocks += block.points;
      EXPECT_EQ(in_blocks, std::ssize(points));
    }
  }

  std::int64_t count(const std::string& sql) {
    Statement rows(database_, sql);
    rows.start().next();
    return rows.integer(0);
  }

  static constexpr std::int64_t kSeries = 7;
  TempFolder folder_;
  Database database_ = [this] {
    Database made(folder_.path() / "x.db", Access::write, 1000);
    made.run("PRAGMA synchronous = OFF");
    migrate(made);
    return made;
  }();
  ChunkWriter writer_{database_};
  OpenChunk open_;
  Model model_;
  std::int64_t grown_ = 0;
  std::mt19937_64 random_{1};
};

TEST_F(ChunkWriterTest, PointsOneByOneFillChunksAndLeaveFewRowsOpen) {
  for (int step = 1; step <= 9000; ++step) {
    write(run(step, 1));
    ASSERT_LT(open_.rows, 64);
  }
  expect_model();
  EXPECT_EQ(count("SELECT count(*) FROM chunks WHERE points = 4096"), 2) << "all but the last are full";
}

TEST_F(ChunkWriterTest, ManyAtOnceAreChunksAtOnce) {
  write(run(1, 20'000));
  expect_model();
  EXPECT_EQ(open_.rows, 0);
  EXPECT_EQ(count("SELECT count(*) FROM chunks"), 5);
}

TEST_F(ChunkWriterTest, ALaterAttemptReplacesAndAnEarlierOneFillsHoles) {
  write(run(1, 6000, 2));
  write(run(3000, 4000, 3));
  write(run(2990, 20, 1));
  write(run(8000, 10, 1));
  expect_model();
  EXPECT_EQ(stored({2999, 3000}).at(0).attempt, 2);
  EXPECT_EQ(stored({2999, 3000}).at(1).attempt, 3);
}

TEST_F(ChunkWriterTest, StepsFromTheLastToTheFirst) {
  for (int step = 30'000; step > 0; step -= 100) write(run(step, 100));
  expect_model();
  EXPECT_LT(count("SELECT count(*) FROM chunks"), 20);
}

TEST_F(ChunkWriterTest, TheFarthestStepsThereAre) {
  write(run(INT64_MAX - 5, 6));
  write(run(INT64_MIN, 10));
  write(run(INT64_MAX - 1, 2, 2));
  expect_model();
}

TEST_F(ChunkWriterTest, AnyOrderHoldsWhatItShould) {
  for (unsigned seed = 1; seed <= 12; ++seed) {
    database_.run("DELETE FROM chunks; DELETE FROM chunk_data; DELETE FROM open_points");
    random_.seed(seed);
    model_.clear();
    open_ = {};
    grown_ = 0;
    for (int i = 0; i < 80; ++i) {
      const std::int64_t top = model_.empty() ? 0 : model_.rbegin()->first;
      const bool on = random_() % 2 == 0;
      const std::int64_t first = on ? top + 1 + static_cast<std::int64_t>(random_() % 3)
                                    : static_cast<std::int64_t>(random_() % 40'000) - 10'000;
      write(
          run(first, 1 + random_() % (random_() % 5 == 0 ? 6000 : 300), 1 + static_cast<int>(random_() % 3)));
    }
    expect_model();
    if (HasFailure()) FAIL() << "seed " << seed;
  }
}

TEST_F(ChunkWriterTest, ADamagedChunkIsNamedWithAdvice) {
  write(run(1, 5000));
  database_.run("UPDATE chunk_data SET points = substr(points, 1, 100) WHERE id = 1");
  try {
    stored();
    FAIL() << "it was read";
  } catch (const SqliteError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("metric series 7: packed points are damaged"));
    EXPECT_THAT(error.what(), testing::HasSubstr("restore a backup"));
  }
}

}  // namespace
}  // namespace podium
