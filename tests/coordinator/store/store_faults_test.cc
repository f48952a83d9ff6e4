// Disks that refuse and rows that are damaged: nothing accepted is lost, and the message says what to do.
#include <gmock/gmock.h>
#include <sys/resource.h>

#include <atomic>
#include <cmath>
#include <csignal>
#include <nlohmann/json.hpp>
#include <thread>

#include "common/base/file.h"
#include "coordinator/store/chunk_writer.h"
#include "coordinator/store/sqlite.h"
#include "tests/coordinator/store/store_fixture.h"

namespace podium {
namespace {

using testing::HasSubstr;

// While it lives, no file of this process can be written beyond its first bytes, as on a full disk.
class FullDisk {
 public:
  FullDisk() : before_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &limit_);
    const rlimit none{100, limit_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &none);
  }
  ~FullDisk() {
    ::setrlimit(RLIMIT_FSIZE, &limit_);
    std::signal(SIGXFSZ, before_);
  }

 private:
  rlimit limit_{};
  void (*before_)(int);
};

void change(const TempFolder& home, const std::string& sql) {
  Database(home.path() / "podium.db", Access::write, 100).run(sql);
}

std::string why_it_does_not_load(const TempFolder& home) {
  Store store(home.path(), at_once());
  try {
    store.load({});
  } catch (const std::exception& error) {
    return error.what();
  }
  return "it loads";
}

// The page of the database in which these bytes lie is overwritten.
void damage_page_with(const std::filesystem::path& database, std::string_view bytes) {
  constexpr std::size_t kPage = 4096;
  std::string file = read_file(database);
  const std::size_t at = file.find(bytes);
  ASSERT_NE(at, std::string::npos);
  file.replace(at / kPage * kPage, kPage, std::string(kPage, '\xff'));
  write_file_atomic(database, file);
}

// A job of 9,000 points; pages of its first closed chunk are damaged.
class DamagedPages : public testing::Test {
 protected:
  DamagedPages() {
    for (int step = 1; step <= 9000; ++step) lines_ += metrics_line(step, std::sin(step));
    {
      Store store(home_.path(), at_once());
      start_job(store);
      EXPECT_TRUE(ingest_now(store, chunk(1, 0, lines_)).ok());
    }
    const std::filesystem::path path = home_.path() / "podium.db";
    std::string points;
    {
      Database database(path, Access::write, 100);
      database.run("PRAGMA wal_checkpoint(TRUNCATE)");
      Statement row(database, "SELECT points FROM chunk_data WHERE id = 1");
      EXPECT_TRUE(row.start().next());
      points = row.blob(0);
    }
    EXPECT_GT(points.size(), 10'000u);
    damage_page_with(path, std::string_view(points).substr(points.size() / 2, 40));
  }

  SeriesView curve() const { return Reader(home_.path()).series({1}, "train/loss", 100'000); }

  TempFolder home_;
  std::string lines_;
};

TEST_F(DamagedPages, OfTheChunkIsReadWhatItsRowTells) {
  const SeriesView seen = curve();
  EXPECT_GT(seen.lost, 3900);
  EXPECT_EQ(seen.lost + std::ssize(seen.points), 9000);
  EXPECT_EQ(seen.points.front().step, 1);
  EXPECT_EQ(seen.points.back().step, 9000);
}

// Every stream of every node was refused from then on.
TEST_F(DamagedPages, StreamsAreTakenWhereTheChunkHasToBeWrittenAnew) {
  Store store(home_.path(), at_once());
  const std::string more = chunk(1, std::ssize(lines_), metrics_line(7, 70) + metrics_line(9001, 50));
  EXPECT_FALSE(ingest_now(store, more).ok()) << "the agent sends them again";
  const auto answer = ingest_now(store, more);
  ASSERT_TRUE(answer.ok()) << describe(answer.errors());
  const Series points = curve().points;
  EXPECT_EQ(points.size(), 9000u - 4096 + 2);
  EXPECT_EQ(points.front().value, 70);
  EXPECT_EQ(points.back().value, 50);
  EXPECT_EQ(Reader(home_.path()).damage().chunks, 1);
}

TEST_F(DamagedPages, AThinnerGoesOnBeyondThem) {
  Database database(home_.path() / "podium.db", Access::write, 1000);
  Statement series(database, "SELECT id FROM series WHERE key = 'train/loss'");
  ASSERT_TRUE(series.start().next());
  const std::int64_t id = series.integer(0);
  series.start();
  ChunkWriter writer(database);
  const auto take = [&] {
    Transaction transaction(database);
    auto points = writer.take_chunk(id, 1);
    transaction.commit();
    return points;
  };
  EXPECT_THROW(take(), SqliteError);
  EXPECT_EQ(take().front().step, 4097);
}

TEST(StoreFaults, ADatabaseThatIsDamagedIsSaidToBeWithTheRemedy) {
  const TempFolder home;
  write_file_atomic(home.path() / "podium.db", std::string(8192, 'x'));
  try {
    Store store(home.path(), at_once());
    FAIL() << "it opens";
  } catch (const SqliteError& error) {
    EXPECT_TRUE(error.is_damage());
    EXPECT_THAT(error.what(), HasSubstr("podium.db"));
    EXPECT_THAT(error.what(), HasSubstr("restore a backup of its home"));
  }
}

TEST(StoreFaults, StreamsAreTakenWhereAChunkIsDamaged) {
  TempFolder home;
  std::string lines;
  for (int step = 1; step <= 5000; ++step) lines += metrics_line(step, 1.0 / step);
  Store store(home.path(), at_once());
  start_job(store);
  ASSERT_TRUE(ingest_now(store, chunk(1, 0, lines)).ok());
  change(home, "UPDATE chunk_data SET points = substr(points, 1, length(points) - 1) WHERE id = 1");
  const std::string again = metrics_line(7, 70), next = metrics_line(5001, 50);
  const auto answer = ingest_now(store, chunk(1, std::ssize(lines), again + next));
  ASSERT_TRUE(answer.ok()) << describe(answer.errors());
  const auto reader = store.open_reader();
  const Series kept = reader->series({1}, "train/loss", 1'000'000).points;
  EXPECT_EQ(kept.size(), 5001u - 4096 + 1) << "what was damaged is gone, with the step that is told anew";
  EXPECT_EQ(kept.front().value, 70);
  EXPECT_EQ(kept.back().value, 50);
  EXPECT_EQ(reader->metrics({1}).at(0).count, std::ssize(kept));
}

TEST(StoreFaults, ATurnThatTheDiskRefusesIsWrittenOnceItCan) {
  TempFolder home;
  {
    Store store(home.path(), at_once());
    start_job(store);
    std::atomic<bool> done = false;
    {
      const FullDisk full;
      store.commit({queued_job(2), {}, {}, {}}, [&] { done = true; });
      ASSERT_TRUE(eventually([&] { return store.failure().has_value(); }));
      EXPECT_THAT(store.failure()->message, HasSubstr("podium.db"));
      EXPECT_FALSE(done) << "nothing may leave before it is on disk";
    }
    EXPECT_TRUE(eventually([&] { return done.load(); }));
    EXPECT_TRUE(eventually([&] { return !store.failure(); }));
  }
  Store store(home.path(), at_once());
  EXPECT_EQ(store.load({}).state.jobs.size(), 2u);
  EXPECT_EQ(store.open_reader()->jobs({}).total, 2);
}

TEST(StoreFaults, AStoreThatCannotWriteStillCloses) {
  TempFolder home;
  {
    Store store(home.path(), at_once());
    start_job(store);
    const FullDisk full;
    store.commit({queued_job(2), {}, {}, {}}, [] { FAIL() << "it is not on disk"; });
    ASSERT_TRUE(eventually([&] { return store.failure().has_value(); }));
    // Closing comes before the disk is well again.
  }
  SUCCEED();
}

// Text that is not UTF-8 cannot be written as JSON.
TEST(StoreFaults, ASnapshotThatCannotBeMadeIsAskedForAgain) {
  TempFolder home;
  Store store(home.path(), at_once());
  ClusterState state;
  state.accounts["\xff"];
  commit_now(store, {{}, {}, {}, std::make_shared<const ClusterState>(state)});
  commit_now(store, {Events(5000, Event{at_second(0), SilenceForgiven{"test"}}), {}, {}, {}});
  EXPECT_TRUE(eventually([&] { return store.wants_snapshot(); }));
}  // and the store closes

TEST(StoreFaults, TheDatabaseIsItsOwnersAlone) {
  TempFolder home;
  const Store store(home.path(), at_once());
  EXPECT_EQ(std::filesystem::status(home.path() / "podium.db").permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

TEST(StoreFaults, ADamagedEventIsNamedWithAdvice) {
  TempFolder home;
  {
    Store store(home.path(), at_once());
    start_job(store);
  }
  change(home, "UPDATE events SET body = '{\"type\":' WHERE seq = 2");
  EXPECT_THAT(why_it_does_not_load(home), HasSubstr("event 2 cannot be read"));
  EXPECT_THAT(why_it_does_not_load(home), HasSubstr("restore a backup"));
}

TEST(StoreFaults, AMissingEventIsNamedWithAdvice) {
  TempFolder home;
  {
    Store store(home.path(), at_once());
    start_job(store);
  }
  change(home, "DELETE FROM events WHERE seq = 3");
  EXPECT_THAT(why_it_does_not_load(home), HasSubstr("event 3 is missing"));
}

class Snapshots : public testing::Test {
 protected:
  void SetUp() override {
    Store store(home_.path(), at_once());
    ClusterState state = store.load({}).state;
    for (int job = 1; job <= 3; ++job) {
      const Events events = queued_job(job);
      apply_all(state, events);
      commit_now(store, {events, {}, {}, std::make_shared<const ClusterState>(state)});
      ASSERT_TRUE(eventually([&] { return newest() == 2 * job; }));
    }
    whole_ = to_json(state);
    EXPECT_TRUE(eventually([&] { return one("SELECT min(seq) FROM events") == 4; }));
  }

  std::int64_t one(const std::string& sql) {
    Database database(home_.path() / "podium.db", Access::read, 100);
    Statement rows(database, sql);
    rows.start().next();
    return rows.integer(0);
  }
  std::int64_t newest() { return one("SELECT coalesce(max(seq), 0) FROM snapshots"); }

  TempFolder home_;
  nlohmann::json whole_;
};

TEST_F(Snapshots, EventsThatNothingReadsAreDeleted) {
  EXPECT_EQ(one("SELECT count(*) FROM snapshots"), 2);
  EXPECT_EQ(one("SELECT count(*) FROM events"), 3) << "of the older snapshot's event and those after it";
  Store store(home_.path(), at_once());
  EXPECT_EQ(to_json(store.load({}).state), whole_);
  EXPECT_EQ(store.open_reader()->history({1}, 0, 10).size(), 1u) << "what people read stays";
}

TEST_F(Snapshots, ADamagedOneIsPassedOverForTheOneBefore) {
  change(home_, "UPDATE snapshots SET state = substr(state, 1, 100) WHERE seq = 6");
  Store store(home_.path(), at_once());
  EXPECT_EQ(to_json(store.load({}).state), whole_);
}

TEST_F(Snapshots, WithoutAWholeOneTheStartSaysSo) {
  change(home_, "UPDATE snapshots SET state = ''");
  EXPECT_THAT(why_it_does_not_load(home_), HasSubstr("no snapshot is whole"));
}

}  // namespace
}  // namespace podium
