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

}  // namespace
}  // namespace podium
