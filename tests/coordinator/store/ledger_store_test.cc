// The ledger on disk: its marks come with the turns and the streams that told of them, once, and totals that
// are stored are those that would be worked out.
#include <map>
#include <numeric>

#include "coordinator/store/ledger_marks.h"
#include "coordinator/store/ledger_rows.h"
#include "coordinator/store/migrations.h"
#include "tests/coordinator/store/store_fixture.h"

namespace podium {
namespace {

std::string phase_line(int second, const std::string& phase, std::int64_t step) {
  return R"({"type":"phase","t":)" + std::to_string(to_millis(at_second(second))) + R"(,"phase":")" + phase +
         R"(","step":)" + std::to_string(step) + "}\n";
}

std::string started_line(int second, std::int64_t step) {
  return R"({"type":"started","t":)" + std::to_string(to_millis(at_second(second))) + R"(,"step":)" +
         std::to_string(step) + R"(,"steps":100})" + "\n";
}

std::string finished_line(int second, std::int64_t step) {
  return R"({"type":"finished","t":)" + std::to_string(to_millis(at_second(second))) + R"(,"step":)" +
         std::to_string(step) + R"(,"status":"succeeded"})" + "\n";
}

Events succeeded(std::int64_t job, int attempt, int second) {
  const AttemptId id{{job}, attempt};
  return {{at_second(second), TaskExited{{id, 0}, {0, 0, ""}}},
          {at_second(second), AttemptEnded{id, AttemptEnd::succeeded, ""}},
          {at_second(second), JobStateChanged{{job}, JobState::running, JobState::succeeded, ""}}};
}

class LedgerStore : public testing::Test {
 protected:
  LedgerStore() { open(); }
  void open() {
    store_ = std::make_unique<Store>(home_.path(), at_once());
    reader_ = store_->open_reader();
  }
  void close() {
    reader_.reset();
    store_.reset();
  }

  void commit(Events events, std::vector<WaitMark> waits = {}) {
    Commit turn;
    turn.events = std::move(events);
    turn.waits = std::move(waits);
    commit_now(*store_, std::move(turn));
  }
  // Where job 1 was, with seconds: "waiting:queue 0; stepping 20 [5]"
  std::string ledger(int now) {
    std::string text;
    for (const LedgerPiece& piece : make_ledger(reader_->ledger({1}), at_second(now))) {
      text += (text.empty() ? "" : "; ") + std::string(to_string(piece.kind));
      if (!piece.detail.empty()) text += ":" + piece.detail;
      text += " " + std::to_string((piece.from - at_second(0)).count() / 1000);
      if (piece.first_step) text += " [" + std::to_string(*piece.first_step) + "]";
    }
    return text;
  }

  TempFolder home_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<Reader> reader_;
};

TEST_F(LedgerStore, MarksComeWithTheTurnsThatTell) {
  commit(queued_job(1), {{{1}, at_second(0), "devices"}});
  EXPECT_EQ(ledger(5), "waiting:devices 0");
  commit({}, {{{1}, at_second(6), "queue"}});
  EXPECT_EQ(ledger(9), "waiting:devices 0; waiting:queue 6") << "a turn without events";
  Events events{{at_second(10), NodeJoined{one_slot_node()}}};
  const Events started = started_attempt(1, 1, 10);
  events.insert(events.end(), started.begin(), started.end());
  commit(events);
  EXPECT_EQ(ledger(15), "waiting:devices 0; waiting:queue 6; rendezvous 10");
  commit(failed_attempt(1, 1, 20), {{{1}, at_second(20), "back_off"}});
  EXPECT_EQ(ledger(25), "waiting:devices 0; waiting:queue 6; unknown 10; backing_off 20");
}

TEST_F(LedgerStore, PhasesComeWithTheStreamAndOnceOnly) {
  start_job(*store_);
  const std::string one = phase_line(11, "loading", 0) + started_line(12, 0);
  const std::string two = phase_line(20, "checkpointing", 5) + phase_line(21, "stepping", 5);
  ASSERT_TRUE(ingest_now(*store_, chunk(1, 0, one + two)).ok());
  ASSERT_TRUE(ingest_now(*store_, chunk(1, 0, one + two)).ok());
  ASSERT_TRUE(ingest_now(*store_, chunk(1, std::ssize(one), two + finished_line(30, 9))).ok());
  const std::string told =
      "waiting 0; rendezvous 10; loading 11 [0]; stepping 12 [0]; checkpointing 20 [5]; stepping 21 [5]; "
      "stopping 30 [9]";
  EXPECT_EQ(ledger(40), told);
  close();
  open();
  EXPECT_EQ(ledger(40), told) << "after a restart";
}

TEST_F(LedgerStore, OnlyRankZeroTellsPhasesAndOnlyWhatIsOne) {
  start_job(*store_);
  ASSERT_TRUE(
      ingest_now(*store_, chunk(1, 0, phase_line(12, "sleeping", 0) + phase_line(13, "lost", 0))).ok());
  EXPECT_EQ(ledger(20), "waiting 0; rendezvous 10");
  EXPECT_NE(reader_->history({1}, 0, 100).back().text.find("malformed"), std::string::npos);
}

TEST_F(LedgerStore, TimesOfANodeWhoseClockIsOffAreCorrected) {
  start_job(*store_);
  const auto hour = std::chrono::hours(1);
  const std::string line = phase_line(3620, "loading", 0);
  ASSERT_TRUE(ingest_now(*store_, chunk(1, 0, line), "node-1", {at_second(30), hour}).ok());
  EXPECT_EQ(ledger(40), "waiting 0; rendezvous 10; loading 20 [0]");
}

TEST_F(LedgerStore, AnAttemptThatTellsTooMuchIsUnknownFromThen) {
  Database database(home_.path() / "many.db", Access::write, 1000);
  migrate(database);
  database.run("INSERT INTO experiments (id, name, created_ms) VALUES (1, 'x', 0)");
  database.run(
      "INSERT INTO jobs (id, experiment, name, state, kind, devices, per_node, walltime_ms, priority, "
      "max_restarts,"
      " command, submitted_ms) VALUES (1, 1, 'x', 'running', 'cpu', 1, 0, 1, 1, 1, 0, 0)");
  LedgerMarks marks(database);
  Transaction transaction(database);
  marks.take({at_second(0), AttemptCreated{{{1}, 1}, {}}});
  for (int i = 0; i < kMostPhaseMarks + 100; ++i)
    marks.take({1}, {1, at_second(i), i % 2 ? LedgerKind::evaluating : LedgerKind::stepping, i});
  transaction.commit();
  const LedgerRows rows = LedgerRowsReader(database).read({1});
  EXPECT_EQ(std::ssize(rows.phases), kMostPhaseMarks);
  EXPECT_EQ(rows.phases.back().phase, LedgerKind::unknown);
}

TEST_F(LedgerStore, WhatJobsWaitForIsLoadedAgain) {
  Commit turn{queued_job(1), {}, {}, {}};
  turn.waits = {{{1}, at_second(0), "limit"}};
  commit_now(*store_, std::move(turn));
  close();
  open();
  EXPECT_EQ(store_->load({}).waits, (std::map<JobId, std::string>{{{1}, "limit"}}));
}

std::int64_t all_of(const LedgerSums& sums) {
  return std::accumulate(sums.begin(), sums.end(), std::int64_t{0},
                         [](std::int64_t sum, const auto& entry) { return sum + entry.second; });
}

// Whatever the rows are of, they add up to the same, before the totals are stored and after.
TEST_F(LedgerStore, StoredTotalsAreThoseThatWouldBeWorkedOut) {
  start_job(*store_);
  const std::string lines = started_line(12, 0) + phase_line(20, "evaluating", 5) + finished_line(30, 9);
  ASSERT_TRUE(ingest_now(*store_, chunk(1, 0, lines)).ok());
  commit(succeeded(1, 1, 31));
  commit(queued_job(2, "next"), {{{2}, at_second(0), "queue"}});
  const LedgerFilter filter;
  const LedgerTable open = reader_->ledger_table(filter, at_second(100));
  Database database(home_.path() / "podium.db", Access::write, 1000);
  LedgerTotals totals(database);
  EXPECT_TRUE(totals.settle());
  EXPECT_FALSE(totals.settle()) << "job 2 has not ended";
  for (const LedgerBy by :
       {LedgerBy::job, LedgerBy::account, LedgerBy::experiment, LedgerBy::node, LedgerBy::day}) {
    const LedgerTable table = reader_->ledger_table({.by = by}, at_second(100));
    EXPECT_EQ(table.all.sums, open.all.sums) << static_cast<int>(by);
    LedgerSums sums;
    for (const LedgerRow& row : table.rows)
      for (const auto& [key, device_ms] : row.sums) sums[key] += device_ms;
    EXPECT_EQ(sums, open.all.sums) << static_cast<int>(by);
    EXPECT_EQ(table.all.name, "") << "it is of no single one";
  }
  EXPECT_EQ(all_of(open.all.sums), 131'000) << "31 s and 100 s on one device";
  const LedgerTable table = reader_->ledger_table(filter, at_second(100));
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.rows[0].sums, open.rows[0].sums);
  EXPECT_EQ(table.rows[0].name, "tiny");
  EXPECT_EQ(reader_->ledger_table({.by = LedgerBy::node}, at_second(100)).rows.at(1).key, "node-1");
}

TEST_F(LedgerStore, WhatATaskDeliversLateOpensTheTotalsAgain) {
  start_job(*store_);
  commit(succeeded(1, 1, 31));
  Database database(home_.path() / "podium.db", Access::write, 1000);
  LedgerTotals totals(database);
  EXPECT_TRUE(totals.settle());
  ASSERT_TRUE(ingest_now(*store_, chunk(1, 0, started_line(12, 0))).ok());
  const LedgerSums late = reader_->ledger_table({}, at_second(100)).all.sums;
  EXPECT_EQ(late.at({LedgerKind::stepping, ""}), 19'000);
  EXPECT_TRUE(totals.settle());
  EXPECT_EQ(reader_->ledger_table({}, at_second(100)).all.sums, late);
}

TEST_F(LedgerStore, RowsAreOfTheAccountsExperimentsAndDaysAskedFor) {
  for (const auto& [id, account] :
       std::map<std::int64_t, std::string>{{1, "nlp"}, {2, "nlp/bert"}, {3, "nlp2"}}) {
    Events events = queued_job(id);
    std::get<JobQueued>(events[1].body).request.account = account;
    commit(events);
  }
  const auto jobs = [&](const LedgerFilter& filter) {
    std::string keys;
    for (const LedgerRow& row : reader_->ledger_table(filter, at_second(200'000)).rows) keys += row.key + " ";
    return keys;
  };
  EXPECT_EQ(jobs({}), "1 2 3 ");
  EXPECT_EQ(jobs({.account = "nlp"}), "1 2 ");
  EXPECT_EQ(jobs({.experiment = ExperimentId{3}}), "3 ");
  const std::int64_t first = to_millis(at_second(0)) / kLedgerDay.count();
  std::string days;
  for (std::int64_t day = first; day <= first + 3; ++day) days += std::to_string(day) + " ";
  EXPECT_EQ(jobs({.by = LedgerBy::day}), days);
  EXPECT_EQ(jobs({.by = LedgerBy::day, .first_day = first + 1, .last_day = first + 1}),
            std::to_string(first + 1) + " ");
}

// A database of before knows when attempts began and ended, and not what they did.
TEST(LedgerMigration, TellsTheCoarsePartOfJobsOfBefore) {
  TempFolder folder;
  Database old(folder.path() / "old.db", Access::write, 100);
  migrate(old, 9);
  old.run(R"sql(
    INSERT INTO experiments (id, name, created_ms) VALUES (1, 'x', 0);
    INSERT INTO jobs (id, experiment, name, state, kind, devices, per_node, walltime_ms, priority, max_restarts,
                      command, submitted_ms, ended_ms)
      VALUES (1, 1, 'x', 'succeeded', 'cpu', 2, 0, 1, 1, 1, 0, 1000, 90000),
             (2, 1, 'x', 'running', 'cpu', 1, 0, 1, 1, 1, 1, 2000, NULL);
    INSERT INTO attempts (job, number, created_ms, started_ms, ended_ms)
      VALUES (1, 1, 10000, 12000, 40000), (1, 2, 50000, 55000, 90000), (2, 1, 3000, 4000, NULL);
    INSERT INTO tasks (job, attempt, rank, node, device, phase, more_devices)
      VALUES (1, 1, 0, 'a', 0, 'exited', '[1,2]'), (1, 2, 0, 'a', 0, 'exited', '[]'), (1, 2, 1, 'a', 1, 'exited', '[]'),
             (2, 1, 0, 'a', 3, 'running', '[]');
  )sql");
  migrate(old);
  const auto ledger_of = [&](JobId job) {
    std::string text;
    for (const LedgerPiece& piece : make_ledger(LedgerRowsReader(old).read(job), from_millis(100'000)))
      text += std::string(to_string(piece.kind)) + " " + std::to_string(to_millis(piece.from) / 1000) + "-" +
              std::to_string(to_millis(piece.to) / 1000) + " x" + std::to_string(piece.devices) + "; ";
    return text;
  };
  EXPECT_EQ(ledger_of({1}),
            "waiting 1-10 x2; launching 10-12 x3; unknown 12-40 x3; waiting 40-50 x2; launching 50-55 x2; "
            "unknown 55-90 x2; ");
  EXPECT_EQ(ledger_of({2}), "waiting 2-3 x1; launching 3-4 x1; running 4-100 x1; ");
}

}  // namespace
}  // namespace podium
