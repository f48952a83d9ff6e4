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
    written_ = std::ssize(text);
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

  Series curve() { return Reader(home_.path()).series({1}, "train/loss", 1'000'000).points; }
  std::size_t history() { return Reader(home_.path()).history({1}, 0, 1000).size(); }

  TempFolder home_;
  std::int64_t written_ = 0;  // bytes of events
};

TEST_F(PrunerTest, LeavesJobsAloneThatHaveNotEnded) {
  prune(at_second(1'000'000));
  EXPECT_EQ(curve().size(), 25'000u);
  EXPECT_GT(history(), 0u);
}

// Whoever corrects a rule at once keeps what has not gone yet, also of the job at hand.
TEST_F(PrunerTest, ARuleThatChangesHoldsForTheRestOfAJob) {
  {
    Store store(home_.path(), at_once());
    std::string text;
    for (int step = 1; step <= 25'000; ++step)
      text +=
          R"({"step":)" + std::to_string(step) + R"(,"t":1,"type":"metrics","values":{"b":1,"c":2}})" + "\n";
    ASSERT_TRUE(ingest_now(store, chunk(1, written_, text)).ok());
  }
  end_job();
  Database database(home_.path() / "podium.db", Access::write, 1000);
  Pruner pruner(database, {{std::chrono::hours(1), kForever, kForever, kForever}});
  const auto whole = [&] {
    std::vector<std::string> keys;
    for (const std::string key : {"train/loss", "b", "c"})
      if (Reader(home_.path()).series({1}, key, 1'000'000).points.size() == 25'000) keys.push_back(key);
    return keys;
  };
  while (whole().size() == 3) ASSERT_TRUE(pruner.prune(at_second(100 + 3600)));
  const auto left = whole();
  ASSERT_FALSE(left.empty());
  database.run("INSERT INTO retention_rules (experiment, points_ms) SELECT name, " +
               std::to_string(kForever.count()) + " FROM experiments");
  pruner.rules_changed();
  for (int piece = 0; piece < 1000 && pruner.prune(at_second(100 + 3600)); ++piece) {
  }
  EXPECT_EQ(whole(), left);
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

// Imported, it has ended long before Podium knew of it.
TEST_F(PrunerTest, KeepsARunThatEndedInThePastFromWhenItWasMade) {
  constexpr int kMade = 500'000;
  Database database(home_.path() / "podium.db", Access::write, 1000);
  Pruner pruner(database, {{std::chrono::hours(1), std::chrono::hours(10), kForever, kForever}});
  const auto prune_at = [&](int second) {
    for (int pieces = 0; pieces < 1000 && pruner.prune(at_second(second)); ++pieces) {
    }
    return Reader(home_.path()).history({7}, 0, 1000).size();
  };
  prune_at(kMade);
  database.run(
      "INSERT INTO jobs (id, experiment, name, state, kind, devices, per_node, walltime_ms, priority, "
      "max_restarts,"
      " command, submitted_ms, ended_ms, tracked) VALUES (7, 1, '', 'succeeded', '', 0, 0, 0, 0, 0, 0, " +
      std::to_string(to_millis(at_second(kMade))) +
      ", 1000, 1);"
      "INSERT INTO history (job, time_ms, type, text, level) VALUES (7, 1, 'note', '', 'info')");
  EXPECT_EQ(prune_at(kMade + 35'000), 1u);
  const DueQuery query{{std::chrono::hours(1), std::chrono::hours(10), kForever, kForever},
                       at_second(kMade + 35'000),
                       "",
                       {},
                       100};
  EXPECT_EQ(Reader(home_.path()).due(query).all.jobs, 0);
  EXPECT_EQ(prune_at(kMade + 36'001), 0u);
}

TEST_F(PrunerTest, ForgetsThePointsThatAreRepeatedOften) {
  const auto repeat = [&](const std::string& series, int times) {
    Database(home_.path() / "podium.db", Access::write, 1000)
        .run("INSERT INTO repeated_points SELECT " + series +
             ", 1, value, 0 FROM (WITH RECURSIVE n(value) AS "
             "(SELECT 1 UNION ALL SELECT value + 1 FROM n LIMIT " +
             std::to_string(times) + ") SELECT value FROM n)");
  };
  const auto count = [&](const std::string& series) {
    Database database(home_.path() / "podium.db", Access::write, 1000);
    Statement rows(database, "SELECT count(*) FROM repeated_points WHERE series = " + series);
    rows.start().next();
    return rows.integer(0);
  };
  Database(home_.path() / "podium.db", Access::write, 1000)
      .run(
          "INSERT INTO series (id, job, key, attempt, last_step, last_ms) VALUES (50, 1, 'few', 0, 0, 0), "
          "(51, 2, 'other', 0, 0, 0)");
  repeat("1", kThinnedFrom + 1500);
  repeat("50", kThinnedFrom);
  repeat("51", kThinnedFrom + 1);
  end_job();
  prune(at_second(100 + 3600));
  EXPECT_EQ(count("1"), 0);
  EXPECT_EQ(count("50"), kThinnedFrom) << "so few stay";
  EXPECT_EQ(count("51"), kThinnedFrom + 1) << "of another job";
}

TEST_F(PrunerTest, ForgetsHistoryLater) {
  end_job();
  prune(at_second(100 + 10 * 3600));
  EXPECT_EQ(history(), 0u);
  EXPECT_TRUE(Reader(home_.path()).job({1})) << "the job stays";
}

}  // namespace
}  // namespace podium
