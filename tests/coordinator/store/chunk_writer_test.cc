// Series written in any order, beside a map of steps that says what they should hold.
#include "coordinator/store/chunk_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <map>
#include <numeric>
#include <sstream>

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
    const bool follows = model_.empty() || points.front().step > model_.rbegin()->first;
    grown_ += follows ? writer_.append(kSeries, open_, points) : writer_.merge(kSeries, open_, points);
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
      const auto spans = reader.spans(chunks[i]);
      EXPECT_EQ(spans.size(), (points.size() + kPointsInSpan - 1) / kPointsInSpan);
      EXPECT_EQ(spans.front().low->value,
                std::ranges::min(std::span(points).first(std::min(kPointsInSpan, points.size())), {},
                                 &StoredPoint::value)
                    .value);
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

// Whoever thins old series closes chunks of which the writer of new points knows that they are open.
TEST_F(ChunkWriterTest, WhatAnotherClosedMeanwhileIsNotTakenForOpen) {
  write(run(0, 10));
  OpenChunk known = open_;
  {
    Transaction transaction(database_);
    ChunkWriter other(database_);
    other.close_open(kSeries);
    transaction.commit();
  }
  for (int i = 1; i < 200; ++i) {
    Transaction transaction(database_);
    grown_ += writer_.append(kSeries, known, run(10 * i, 10));
    transaction.commit();
  }
  EXPECT_EQ(grown_, 2000);
  EXPECT_EQ(std::ssize(stored()), 2000);
  EXPECT_EQ(known.points, writer_.open_chunk(kSeries).points);
}

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
  EXPECT_EQ(count("SELECT count(*) FROM chunks WHERE points = 4096"), 4);
  EXPECT_EQ(open_.rows, 1);
  EXPECT_EQ(open_.points, 20'000 - 4 * 4096);
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

TEST_F(ChunkWriterTest, StepsLoggedAgainOneByOneRewriteASmallPieceEach) {
  write(run(1, 10'000));
  for (int step = 3000; step < 5000; ++step) {
    const std::int64_t newest = count("SELECT max(id) FROM chunk_data");
    write(run(step, 1, 2));
    const std::int64_t rewritten =
        count("SELECT coalesce(sum(points), 0) FROM chunks WHERE data > " + std::to_string(newest));
    if (step % 128 != 1 && step != 3000) {  // where a piece is cut
      ASSERT_LE(rewritten, 512) << "step " << step;
    }
  }
  expect_model();
  EXPECT_LT(count("SELECT count(*) FROM chunks"), 3 + 2 * 2000 / 128);
}

TEST_F(ChunkWriterTest, ASeriesThatTellsItsLastStepTwiceStillFillsItsChunks) {
  for (int step = 1; step <= 9000; ++step) {
    write(run(step, 1));
    write(run(step, 1));
  }
  expect_model();
  EXPECT_LT(count("SELECT count(*) FROM chunks"), 6);
}

TEST_F(ChunkWriterTest, AStepOfTheOpenChunkLoggedAgainRewritesItsRowAlone) {
  for (int step = 1; step <= 30; ++step) write(run(100 * step, 100));
  EXPECT_EQ(open_.rows, 30);
  for (int i = 0; i < 20; ++i) write(run(1550, 1));
  EXPECT_EQ(open_.rows, 30);
  EXPECT_EQ(count("SELECT count(*) FROM chunks"), 0) << "nothing was closed for it";
  expect_model();
  write(run(3100, 900));
  for (int i = 0; i < 20; ++i) write(run(3500, 1));
  EXPECT_LE(count("SELECT count FROM open_points WHERE first_step <= 3500 ORDER BY first_step DESC LIMIT 1"),
            512);
  expect_model();
}

TEST_F(ChunkWriterTest, OneStepAgainAndAgainCostsAPieceHoweverLongTheSeriesIs) {
  write(run(0, 8000));
  for (int i = 0; i < 2; ++i) write(run(5, 1));  // closes the open chunk; cuts a piece out
  const std::int64_t chunks = count("SELECT count(*) FROM chunks");
  for (int i = 0; i < 300; ++i) write(run(5, 1));
  expect_model();
  EXPECT_EQ(count("SELECT count(*) FROM chunks"), chunks);
  EXPECT_LE(count("SELECT max(points) FROM chunks WHERE first_step <= 5 AND last_step >= 5"), 512);
}

// Twice in one chunk: the second must not join the piece of the first with others again.
TEST_F(ChunkWriterTest, APieceThatWasCutOutStaysSmall) {
  write(run(1, 3000));
  for (const int step : {1000, 2000}) write(run(step, 1));
  const std::int64_t newest = count("SELECT max(id) FROM chunk_data");
  write(run(1000, 1));
  EXPECT_LE(count("SELECT sum(points) FROM chunks WHERE data > " + std::to_string(newest)), 512);
  expect_model();
}

TEST_F(ChunkWriterTest, WhatLiesBehindAPieceLeavesAFullChunkAsItIs) {
  write(run(1, 6000));
  for (int i = 0; i < 2; ++i) write(run(6000, 1));
  EXPECT_EQ(count("SELECT points FROM chunks WHERE first_step = 1"), 4096);
  EXPECT_EQ(count("SELECT data FROM chunks WHERE first_step = 1"), 1) << "it was not written again";
  expect_model();
}

TEST_F(ChunkWriterTest, AChunkThatGrowsTooLargeBecomesEqualParts) {
  for (const std::int64_t more : {1000, 4096}) {
    const std::int64_t begin = 100'000 * more;
    std::vector<StoredPoint> even = run(begin, 8192), odd = run(begin, static_cast<std::size_t>(more));
    for (StoredPoint& point : even) point.step += point.step - begin;
    for (StoredPoint& point : odd) point.step += point.step - begin + 1;
    write(even);
    write(odd);
    const std::string here = "SELECT count(*) FROM chunks WHERE first_step >= " + std::to_string(begin);
    EXPECT_EQ(count(here), 3);
    EXPECT_EQ(count(here + " AND points = " + std::to_string((4096 + more) / 2)), more == 1000 ? 2 : 3);
  }
  expect_model();
}

TEST_F(ChunkWriterTest, OfAChunkItsFirstAndItsLastStepAreFoundAlone) {
  write(run(1, 9000));
  for (const std::int64_t step : {1, 4096, 4097, 8192, 8193, 9000}) {
    const auto found = stored({step, step});
    ASSERT_EQ(found.size(), 1u) << step;
    EXPECT_EQ(found.front().step, step);
  }
}

TEST_F(ChunkWriterTest, SomePointsFromAStepOnAreSoManyWhereverTheyLie) {
  write(run(1, 9000));
  ChunkReader reader(database_, kSeries);
  for (const std::int64_t from : {1, 4000, 4096, 4097, 8190, 8193}) {
    const auto some = reader.some(from, 300);
    ASSERT_EQ(some.size(), 300u) << from;
    for (std::size_t i = 0; i < some.size(); ++i)
      EXPECT_EQ(some[i].step, from + static_cast<std::int64_t>(i));
  }
  EXPECT_EQ(reader.some(4000, 97).back().step, 4096) << "up to the end of a chunk";
  EXPECT_EQ(reader.some(8991, 300).size(), 10u);
  EXPECT_TRUE(reader.some(9001, 300).empty());
}

// Logs what it says to a text while it lives.
class HeardLog {
 public:
  HeardLog() : before_(spdlog::default_logger()) {
    spdlog::set_default_logger(
        std::make_shared<spdlog::logger>("heard", std::make_shared<spdlog::sinks::ostream_sink_mt>(text_)));
  }
  ~HeardLog() { spdlog::set_default_logger(before_); }
  std::string text() const { return text_.str(); }

 private:
  std::ostringstream text_;
  std::shared_ptr<spdlog::logger> before_;
};

TEST_F(ChunkWriterTest, ADamagedChunkIsSetAsideAndNewPointsAreTaken) {
  write(run(1, 5000));
  database_.run(
      "INSERT INTO series (id, job, key, attempt, last_step, last_ms) VALUES (7, 3, 'loss', 1, 0, 0);"
      "UPDATE chunk_data SET points = substr(points, 1, 100) WHERE id = 1");
  for (std::int64_t step = 1; step <= 4096; ++step) model_.erase(step);
  const HeardLog log;
  write(run(100, 3));
  write(run(200, 3));
  expect_model();
  EXPECT_EQ(count("SELECT first_step FROM damaged_chunks"), 1);
  EXPECT_EQ(count("SELECT last_step FROM damaged_chunks"), 4096);
  EXPECT_EQ(count("SELECT count FROM damaged_chunks"), 4096);
  EXPECT_EQ(count("SELECT length(points) FROM damaged_chunks"), 100) << "its bytes are kept as they are";
  EXPECT_EQ(count("SELECT length(blocks) > 0 FROM damaged_chunks"), 1);
  EXPECT_THAT(log.text(),
              testing::HasSubstr("metric series 7 (loss of job 3): the chunk of steps 1 to 4096"));
  EXPECT_THAT(log.text(), testing::HasSubstr("restore a backup"));
  EXPECT_EQ(std::ranges::count(log.text(), '\n'), 1) << "it is said once";
}

TEST_F(ChunkWriterTest, DamageInAnOpenRowCostsThatRow) {
  write(run(1, 10));
  write(run(11, 10));
  write(run(21, 10));
  database_.run("UPDATE open_points SET points = x'00' WHERE first_step = 11");
  for (std::int64_t step = 11; step <= 20; ++step) model_.erase(step);
  const HeardLog log;
  write(run(15, 1));
  expect_model();
  EXPECT_EQ(count("SELECT first_step FROM damaged_chunks WHERE last_step IS NULL"), 11);
  EXPECT_THAT(log.text(), testing::HasSubstr("what came from step 11 on"));
}

TEST_F(ChunkWriterTest, AThinnerTakesTheChunkThatBeginsWhereItIs) {
  write(run(1, 10'000));
  EXPECT_EQ(writer_.take_chunk(kSeries, 4097).front().step, 4097);
  EXPECT_TRUE(writer_.take_chunk(kSeries, 4098).empty()) << "what is left of it is open";
}

TEST_F(ChunkWriterTest, AThinnerGoesOnBeyondADamagedChunk) {
  write(run(1, 10'000));
  database_.run("UPDATE chunk_data SET points = x'' WHERE id = 1");
  const HeardLog log;
  EXPECT_EQ(writer_.take_chunk(kSeries, 1).front().step, 4097);
}

// The first and the last, and of each block the lowest and the highest.
TEST_F(ChunkWriterTest, OfADamagedChunkIsReadWhatItsRollUpsTell) {
  write(run(1, 5000));
  const std::vector<StoredPoint> whole = stored();
  database_.run("UPDATE chunk_data SET points = substr(points, 1, 100) WHERE id = 1");
  ChunkReader reader(database_, kSeries);
  const ChunkRow chunk = reader.chunks({}).front();
  const std::vector<StoredPoint> left = reader.points(chunk, {});
  EXPECT_EQ(reader.lost(), 4096 - std::ssize(left));
  EXPECT_THAT(left.size(), testing::AllOf(testing::Ge(64u), testing::Le(130u))) << "two of each block";
  EXPECT_EQ(left.front().step, 1);
  EXPECT_EQ(left.back().step, 4096);
  for (const StoredPoint& point : left)
    EXPECT_EQ(point.value, whole[static_cast<std::size_t>(point.step - 1)].value);
  const auto chunk_of = std::span(whole).first(4096);
  EXPECT_EQ(std::ranges::min(left, {}, &StoredPoint::value).value,
            std::ranges::min(chunk_of, {}, &StoredPoint::value).value);
  EXPECT_EQ(std::ranges::max(left, {}, &StoredPoint::value).value,
            std::ranges::max(chunk_of, {}, &StoredPoint::value).value);
  EXPECT_EQ(reader.points(chunk, {2, 4095}).size(), left.size() - 2) << "the ends lie outside";
}

TEST_F(ChunkWriterTest, OfADamagedOpenRowThePointsAreCounted) {
  write(run(1, 10));
  write(run(11, 15));
  database_.run("UPDATE open_points SET points = x'00' WHERE first_step = 11");
  ChunkReader reader(database_, kSeries);
  EXPECT_EQ(reader.open({}).size(), 10u);
  EXPECT_EQ(reader.lost(), 15);
}

TEST_F(ChunkWriterTest, RollUpsThatAreDamagedOrNotThereAreMadeOfOthers) {
  write(run(1, 5000));
  const auto points_in = [](const std::vector<RollUp>& runs) {
    std::int64_t points = 0;
    for (const RollUp& run : runs) points += run.points;
    return std::pair(runs.size(), points);
  };
  ChunkReader reader(database_, kSeries);
  const auto chunk = [&reader] { return reader.chunks({}).front(); };
  const std::vector<RollUp> told = reader.spans(chunk());
  database_.run("UPDATE chunks SET spans = NULL");  // as from before there were any
  const std::vector<RollUp> made = reader.spans(chunk());
  ASSERT_EQ(points_in(made), std::pair(std::size_t{16}, std::int64_t{4096}));
  for (std::size_t i = 0; i < made.size(); ++i) {
    EXPECT_EQ(made[i].low->step, told[i].low->step);
    EXPECT_EQ(made[i].high->step, told[i].high->step);
    EXPECT_NEAR(made[i].sum, told[i].sum, 1e-6 * std::abs(told[i].sum));
  }
  database_.run("UPDATE chunk_data SET blocks = substr(blocks, 1, 20)");
  EXPECT_EQ(points_in(reader.blocks(chunk())), std::pair(std::size_t{1}, std::int64_t{4096}));
  EXPECT_EQ(points_in(reader.spans(chunk())), std::pair(std::size_t{1}, std::int64_t{4096}));
  EXPECT_EQ(reader.lost(), 0);
}

}  // namespace
}  // namespace podium
