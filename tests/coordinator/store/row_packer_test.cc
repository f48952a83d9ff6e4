// A database whose points are rows, as coordinators kept them before chunks, becomes one of chunks: all of
// it, also when it is killed on the way.
#include "coordinator/store/row_packer.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <csignal>

#include "coordinator/store/migrations.h"
#include "tests/coordinator/store/store_fixture.h"

namespace podium {
namespace {

constexpr int kLastWithRows = 14;
constexpr std::int64_t kLong = 150'000;

// Three series: a long one, one of five points of two attempts with what is no number, and an empty one.
void make_old(const std::filesystem::path& home) {
  Database old(home / "podium.db", Access::write, 1000);
  migrate(old, kLastWithRows);
  old.run(R"sql(
    INSERT INTO experiments (id, name, created_ms) VALUES (1, 'x', 0);
    INSERT INTO jobs (id, experiment, name, state, kind, devices, per_node, walltime_ms, priority, max_restarts,
                      command, submitted_ms, attempt)
      VALUES (1, 1, 'x', 'running', 'cpu', 1, 0, 1, 1, 1, 1, 0, 1);
    INSERT INTO attempts (job, number, created_ms, started_ms) VALUES (1, 1, 0, 0);
    INSERT INTO tasks (job, attempt, rank, node, device, phase) VALUES (1, 1, 0, 'node-1', 0, 'running');
    INSERT INTO series (id, job, key, attempt, last_step, last_ms, last_value, min_value, max_value, points,
                        first_step, top_step)
      VALUES (1, 1, 'train/loss', 1, 150000, 1, 2.5, -7, 9, 150000, 1, 150000),
             (2, 1, 'eval/loss', 2, 50, 1, 3, 1, 9e999, 5, 10, 50), (3, 1, 'none', 1, 0, 0, NULL, NULL, NULL, 0, 0, 0);
    INSERT INTO points WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 150000)
      SELECT 1, i, 1, 1000 + i * 60 + i % 7, iif(i = 77777, -7, 2 + (i * 7919 % 1000) / 1e3) FROM n;
    INSERT INTO points VALUES (2, 10, 1, 5, 1.5), (2, 20, 1, 6, NULL), (2, 30, 2, 7, 9e999), (2, 40, 2, 8, -9e999),
                              (2, 50, 2, 9, 3);
  )sql");
}

void expect_packed(const std::filesystem::path& home) {
  Reader reader(home);
  const Series loss = reader.series({1}, "train/loss", 1'000'000).points;
  ASSERT_EQ(std::ssize(loss), kLong);
  for (std::int64_t i = 1; i <= kLong; ++i) {
    const double value = i == 77777 ? -7 : 2 + static_cast<double>(i * 7919 % 1000) / 1e3;
    ASSERT_EQ(loss[static_cast<std::size_t>(i - 1)],
              (SeriesPoint{i, from_millis(1000 + i * 60 + i % 7), value}));
  }
  const Series eval = reader.series({1}, "eval/loss", 1000).points;
  ASSERT_EQ(eval.size(), 5u);
  EXPECT_EQ(eval[0], (SeriesPoint{10, from_millis(5), 1.5}));
  EXPECT_TRUE(std::isnan(eval[1].value));
  EXPECT_EQ(eval[2].value, INFINITY);
  EXPECT_EQ(eval[3].value, -INFINITY);
  EXPECT_TRUE(reader.series({1}, "none", 1000).points.empty());
  Database database(home / "podium.db", Access::read, 100);
  Statement rows(database, "SELECT count(*) FROM sqlite_master WHERE name IN ('points', 'row_points')");
  rows.start().next();
  EXPECT_EQ(rows.integer(0), 0);
}

TEST(RowPacker, PacksEveryPointOfBefore) {
  TempFolder home;
  make_old(home.path());
  const Store store(home.path(), at_once());
  expect_packed(home.path());
  EXPECT_EQ(Reader(home.path()).metrics({1}).size(), 2u);
}

// What was told before replaces and is replaced as ever.
TEST(RowPacker, AttemptsGoOnWhereTheyWere) {
  TempFolder home;
  make_old(home.path());
  Store store(home.path(), at_once());
  std::string line = metrics_line(30, 4.5) + metrics_line(20, 4.25);
  for (std::size_t at = line.find("train/loss"); at != std::string::npos; at = line.find("train/loss"))
    line.replace(at, 10, "eval/loss");
  ASSERT_TRUE(ingest_now(store, chunk(1, 0, line)).ok());
  const Series eval = Reader(home.path()).series({1}, "eval/loss", 1000).points;
  ASSERT_EQ(eval.size(), 5u);
  EXPECT_EQ(eval[1].value, 4.25);
  EXPECT_EQ(eval[2].value, INFINITY) << "of the later attempt";
}

int kill_at_commit(void* left) {
  if (--*static_cast<int*>(left) < 0) ::kill(::getpid(), SIGKILL);
  return 0;
}

TEST(RowPacker, GoesOnWhereItWasKilled) {
  for (const int commits : {0, 1, 2, 3, 4, 5}) {
    TempFolder home;
    make_old(home.path());
    const pid_t child = ::fork();
    if (child == 0) {
      Database database(home.path() / "podium.db", Access::write, 1000);
      int left = commits;
      sqlite3_commit_hook(database.handle(), kill_at_commit, &left);
      migrate(database);
      ::_exit(0);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << commits;
    const Store store(home.path(), at_once());
    expect_packed(home.path());
  }
}

}  // namespace
}  // namespace podium
