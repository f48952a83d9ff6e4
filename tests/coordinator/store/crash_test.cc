// kill -9 in the middle of writing: everything acknowledged is there, and the rest is there whole or not at
// all.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <nlohmann/json.hpp>

#include "coordinator/store/sqlite.h"
#include "tests/coordinator/store/store_fixture.h"

namespace podium {
namespace {

// Submits jobs and streams one metrics line after each, telling the pipe each job's id once its commit is on
// disk.
[[noreturn]] void write_until_killed(const std::filesystem::path& home, int pipe) {
  Store store(home, at_once());
  start_job(store);
  std::int64_t offset = 0;
  for (std::int64_t id = 2;; ++id) {
    commit_now(
        store,
        {queued_job(id), ExperimentText{{id}, "x", "", "", "key-" + std::to_string(id), {"{}"}}, {}, {}});
    const auto answer = ingest_now(store, chunk(1, offset, metrics_line(id, 1)));
    offset = answer->positions.at(0).next;
    if (::write(pipe, &id, sizeof id) != sizeof id) ::_exit(1);
  }
}

std::int64_t run_and_kill(const std::filesystem::path& home, std::int64_t kill_after) {
  int pipe[2];
  EXPECT_EQ(::pipe(pipe), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(pipe[0]);
    write_until_killed(home, pipe[1]);
  }
  ::close(pipe[1]);
  std::int64_t acknowledged = 0;
  while (acknowledged < kill_after &&
         ::read(pipe[0], &acknowledged, sizeof acknowledged) == sizeof acknowledged) {
  }
  ::kill(child, SIGKILL);
  while (::read(pipe[0], &acknowledged, sizeof acknowledged) == sizeof acknowledged) {
  }
  ::close(pipe[0]);
  EXPECT_EQ(::waitpid(child, nullptr, 0), child);
  return acknowledged;
}

TEST(Crash, LosesNothingThatWasAcknowledged) {
  for (const std::int64_t kill_after : {2, 9, 30}) {
    TempFolder home;
    const std::int64_t acknowledged = run_and_kill(home.path(), kill_after);
    ASSERT_GE(acknowledged, kill_after);
    Store store(home.path(), at_once());
    const ClusterState state = store.load({}).state;
    const std::int64_t jobs = state.next_job.value - 1;
    EXPECT_GE(jobs, acknowledged);
    EXPECT_LE(jobs, acknowledged + 1) << "at most the turn in flight";
    const auto reader = store.open_reader();
    EXPECT_EQ(reader->jobs({}).total, jobs) << "log and projections are one transaction";
    EXPECT_EQ(reader->experiment_by_key("key-" + std::to_string(jobs)), ExperimentId{jobs});
    const auto points = std::ssize(reader->series({1}, "train/loss", 100000));
    EXPECT_GE(points, acknowledged - 1);
    EXPECT_LE(points, acknowledged);
    Database database(home.path() / "podium.db", Access::read, 100);
    Statement check(database, "PRAGMA integrity_check");
    check.start().next();
    EXPECT_EQ(check.text(0), "ok");
  }
}

}  // namespace
}  // namespace podium
