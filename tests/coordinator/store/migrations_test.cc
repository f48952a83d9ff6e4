// From an empty file and from every schema ever published, the newest schema is reached and is the same.
#include "coordinator/store/migrations.h"

#include <gtest/gtest.h>

#include "tests/temp_folder.h"

namespace podium {
namespace {

std::string schema_of(Database& database) {
  Statement rows(database, "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY type, name");
  std::string all;
  for (rows.start(); rows.next();) all += rows.text(0) + "\n";
  return all;
}

TEST(Migrations, ReachTheNewestFromEveryVersion) {
  const int newest = static_cast<int>(migrations().size());
  ASSERT_GE(newest, 1);
  TempFolder folder;
  Database fresh(folder.path() / "fresh.db", Access::write, 100);
  migrate(fresh);
  for (int version = 0; version <= newest; ++version) {
    Database old(folder.path() / (std::to_string(version) + ".db"), Access::write, 100);
    migrate(old, version);
    EXPECT_EQ(schema_version(old), version);
    migrate(old);
    EXPECT_EQ(schema_version(old), newest);
    EXPECT_EQ(schema_of(old), schema_of(fresh));
  }
}

// What a database of before says of restarts, its log and its attempts tell.
TEST(Migrations, CountTheRestartsOfBefore) {
  TempFolder folder;
  Database old(folder.path() / "old.db", Access::write, 100);
  migrate(old, 7);
  old.run(R"sql(
    INSERT INTO experiments (id, name, created_ms) VALUES (1, 'x', 0);
    INSERT INTO jobs (id, experiment, name, state, kind, devices, per_node, walltime_ms, priority, max_restarts,
                      command, submitted_ms)
      VALUES (1, 1, 'x', 'running', 'cpu', 1, 0, 1, 1, 1, 1, 0), (2, 1, 'x', 'running', 'cpu', 1, 0, 1, 1, 1, 1, 0);
    INSERT INTO events VALUES
      (1, 0, 'retry_planned', '{"job":1,"retries":{"failures":1,"requeues":0,"moves":0,"losses":0}}'),
      (2, 0, 'retry_planned', '{"job":1,"retries":{"failures":2,"requeues":1,"moves":0,"losses":3}}'),
      (3, 0, 'ticked', '{}');
    INSERT INTO attempts (job, number, created_ms, end, reason)
      VALUES (1, 1, 0, 'preempted', 'made room for another job'), (1, 2, 0, 'preempted', 'was requeued'),
             (1, 3, 0, 'failed', 'exit code 1'), (1, 4, 0, 'node_lost', 'no word'), (1, 5, 0, 'failed', 'exit code 1');
    UPDATE jobs SET attempt = 5, state = 'failed' WHERE id = 1;
  )sql");
  migrate(old);
  Statement rows(old, "SELECT group_concat(failures, ' ') FROM (SELECT * FROM jobs ORDER BY id)");
  rows.start().next();
  EXPECT_EQ(rows.text(0), "2 0");
  Statement causes(old, "SELECT group_concat(restart, ' ') FROM (SELECT * FROM attempts ORDER BY number)");
  causes.start().next();
  EXPECT_EQ(causes.text(0), "preemption requeue failure node_loss ") << "after the last it was not";
}

// Of a process for all devices of a node the first device alone was kept; the log has all.
TEST(Migrations, FindTheDevicesOfOneProcessANode) {
  TempFolder folder;
  Database old(folder.path() / "old.db", Access::write, 100);
  migrate(old, 8);
  old.run(R"sql(
    INSERT INTO tasks (job, attempt, rank, node, device, phase) VALUES
      (1, 1, 0, 'a', 0, 'exited'), (1, 2, 0, 'a', 0, 'running'), (1, 2, 1, 'b', 4, 'running'), (2, 1, 0, 'c', 0, 'running');
    INSERT INTO events VALUES
      (1, 0, 'attempt_created', '{"job":1,"attempt":2,"allocation":{"ranks":[{"device":0,"more_devices":[1,2,3]},{"device":4}]}}'),
      (2, 0, 'attempt_created', '{"job":2,"attempt":1,"allocation":{"ranks":[{"device":0}]}}');
  )sql");
  migrate(old);
  Statement rows(
      old, "SELECT group_concat(more_devices, ' ') FROM (SELECT * FROM tasks ORDER BY job, attempt, rank)");
  rows.start().next();
  EXPECT_EQ(rows.text(0), "[] [1,2,3] [] []");
}

// The columns of a classification are of its benchmark, those that its spec of before did not say among them.
TEST(Migrations, TellTheBenchmarksOfClassificationApart) {
  TempFolder folder;
  Database old(folder.path() / "old.db", Access::write, 100);
  migrate(old, 24);
  old.run(R"sql(
    INSERT INTO experiments (id, name, created_ms) VALUES (1, 'x', 0);
    INSERT INTO jobs (id, experiment, name, state, kind, devices, per_node, walltime_ms, priority, max_restarts,
                      command, submitted_ms, spec)
      SELECT value, 1, 'x', 'succeeded', 'cpu', 1, 0, 1, 1, 1, 0, 0,
             json_object('training', json_patch(json_object('task', 'classify'), CASE value
               WHEN 1 THEN '{"task":"pretrain"}' WHEN 2 THEN '{}'
               WHEN 3 THEN '{"classify":{"header":true,"sentence":"sentence","label":"label","regression":false,
                                         "dropout":0.1,"class_weights":"balanced"}}'
               ELSE '{"classify":{"header":true,"sentence":"sentence","label":"other","regression":false,
                                  "labels":["0","1"],"pair":"second","dropout":0}}' END))
      FROM json_each('[1,2,3,4]');
    INSERT INTO board_runs (job, benchmark, started_ms, reached_ms, attempts, devices, nodes, models, versions, artificial)
      SELECT id, json_object('task', json_extract(spec, '$.training.task'), 'evaluate', NULL), 0, 1, 1, '', '', '', '', 0
      FROM jobs;
  )sql");
  migrate(old);
  Statement rows(old,
                 "SELECT group_concat(benchmark, char(10)) FROM (SELECT * FROM board_runs ORDER BY job)");
  rows.start().next();
  const std::string usual =
      R"({"task":"classify","evaluate":null,"classify":{"header":true,"sentence":"sentence",)"
      R"("label":"label","regression":false}})";
  EXPECT_EQ(rows.text(0),
            R"({"task":"pretrain","evaluate":null})"
            "\n" +
                usual + "\n" + usual +
                "\n"
                R"({"task":"classify","evaluate":null,"classify":{"header":true,)"
                R"("sentence":"sentence","label":"other","regression":false,"labels":["0","1"],)"
                R"("pair":"second"}})");
}

TEST(Migrations, RefuseADatabaseFromTheFuture) {
  TempFolder folder;
  Database database(folder.path() / "future.db", Access::write, 100);
  for (const int ahead : {1, 9999}) {
    database.run("PRAGMA user_version = " + std::to_string(std::ssize(migrations()) + ahead));
    EXPECT_THROW(migrate(database), SqliteError) << ahead;
  }
}

// The commit after `left` others is undone, as a power cut would.
int refuse_commit(void* left) { return --*static_cast<int*>(left) < 0; }

TEST(Migrations, AMigrationAndItsVersionAreOneTransaction) {
  for (int commits = 0; commits < static_cast<int>(migrations().size()); ++commits) {
    TempFolder folder;
    Database database(folder.path() / "x.db", Access::write, 100);
    int left = commits;
    sqlite3_commit_hook(database.handle(), refuse_commit, &left);
    EXPECT_THROW(migrate(database), SqliteError);
    sqlite3_commit_hook(database.handle(), nullptr, nullptr);
    EXPECT_EQ(schema_version(database), commits);
    EXPECT_NO_THROW(migrate(database)) << "a step was done whose version was not";
  }
}

TEST(Sqlite, NamesTheFileAndTheStatementThatFailed) {
  TempFolder folder;
  Database database(folder.path() / "x.db", Access::write, 100);
  try {
    Statement(database, "SELECT * FROM nowhere");
    FAIL() << "an unknown table is an error";
  } catch (const SqliteError& error) {
    EXPECT_NE(std::string(error.what()).find("x.db"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("nowhere"), std::string::npos);
  }
}

TEST(Sqlite, RollsBackWhatWasNotCommitted) {
  TempFolder folder;
  Database database(folder.path() / "x.db", Access::write, 100);
  database.run("CREATE TABLE t (x)");
  {
    Transaction transaction(database);
    database.run("INSERT INTO t VALUES (1)");
  }
  Statement count(database, "SELECT count(*) FROM t");
  count.start().next();
  EXPECT_EQ(count.integer(0), 0);
}

// Jobs of before are MLflow's runs, too: of experiments by their names, with what a submission writes now.
// By hand or by a fault of before: it has no params, and stops no start.
TEST(Migrations, LeaveOutASpecThatIsMalformed) {
  TempFolder folder;
  Database old(folder.path() / "old.db", Access::write, 100);
  migrate(old, 25);
  old.run(R"sql(
    INSERT INTO experiments (id, name, created_ms, source) VALUES (1, 'x', 0, '{"commit":'), (2, 'y', 0, '{"commit":"abc"}');
    INSERT INTO jobs (id, experiment, name, state, kind, devices, per_node, walltime_ms, priority, max_restarts,
                      command, submitted_ms, spec, labels)
      VALUES (1, 1, 'x', 'failed', 'cpu', 1, 0, 1, 1, 1, 1, 0, '{"a":', 'team'),
             (2, 2, 'y', 'failed', 'cpu', 1, 0, 1, 1, 1, 1, 0, '{"a":1}', '{"team":"nlp"}');
  )sql");
  ASSERT_NO_THROW(migrate(old));
  const auto pairs = [&](const std::string& table) {
    Statement rows(old, "SELECT group_concat(job || ' ' || key || '=' || value, ', ') FROM (SELECT * FROM " +
                            table + " ORDER BY job, key)");
    rows.start().next();
    return rows.text(0);
  };
  EXPECT_EQ(pairs("params"), "2 a=1");
  EXPECT_EQ(pairs("tags"),
            "1 mlflow.runName=x, 1 mlflow.user=default, 1 podium.job=1, 2 mlflow.runName=y, 2 "
            "mlflow.source.git.commit=abc, "
            "2 mlflow.user=default, 2 podium.job=2, 2 team=nlp");
}

TEST(Migrations, MakeRunsOfTheJobsOfBefore) {
  TempFolder folder;
  Database old(folder.path() / "old.db", Access::write, 100);
  migrate(old, 25);
  old.run(R"sql(
    INSERT INTO experiments (id, name, created_ms, source) VALUES (1, 'x', 10, ''), (2, 'y', 20, '{"commit":"abc"}'), (3, 'x', 30, '');
    INSERT INTO jobs (id, experiment, name, state, kind, devices, per_node, walltime_ms, priority, max_restarts,
                      command, submitted_ms, labels, spec)
      VALUES (1, 1, 'a', 'running', 'cpu', 1, 0, 1, 1, 1, 0, 0, '{}', '{"name":"a","labels":{"k":"v"},"training":{"optimizer":{"lr":1e-05}}}'),
             (2, 2, 'b', 'running', 'cpu', 1, 0, 1, 1, 1, 0, 0, '{"k":"v"}', '{}'),
             (3, 3, 'c', 'running', 'cpu', 1, 0, 1, 1, 1, 0, 0, '{}', '{}'),
             (4, 3, 'd', 'running', 'cpu', 1, 0, 1, 1, 1, 0, 0, '{}', '{}');
  )sql");
  migrate(old);
  const auto told = [&](const std::string& sql) {
    Statement rows(old, sql);
    rows.start().next();
    return rows.text(0);
  };
  EXPECT_EQ(told("SELECT group_concat(id || name || created_ms, ' ') FROM (SELECT * FROM run_groups WHERE id "
                 "> 0 ORDER BY id)"),
            "1x10 2y20");
  EXPECT_EQ(told("SELECT group_concat(run_group, ' ') FROM (SELECT * FROM jobs ORDER BY id)"), "1 2 1 1");
  EXPECT_EQ(told("SELECT group_concat(job || key || '=' || value, ' ') FROM params"),
            "1training.optimizer.lr=1e-05");
  EXPECT_EQ(told("SELECT group_concat(key || '=' || value, ' ') FROM (SELECT * FROM tags WHERE job = 2 ORDER "
                 "BY key)"),
            "k=v mlflow.runName=b mlflow.source.git.commit=abc mlflow.user=default podium.job=2");
  EXPECT_EQ(told("SELECT group_concat(job || ':' || value, ' ') FROM tags WHERE key = 'podium.study'"),
            "3:3 4:3");
}

}  // namespace
}  // namespace podium
