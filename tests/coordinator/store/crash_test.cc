// kill -9 in the middle of writing: everything acknowledged is there, and the rest is there whole or not at
// all.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <csignal>
#include <functional>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "coordinator/loop/command_loop.h"
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
    offset = (*answer)->positions.at(0).next;
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
    const auto points = std::ssize(reader->series({1}, "train/loss", 100000).points);
    EXPECT_GE(points, acknowledged - 1);
    EXPECT_LE(points, acknowledged);
    Database database(home.path() / "podium.db", Access::read, 100);
    Statement check(database, "PRAGMA integrity_check");
    check.start().next();
    EXPECT_EQ(check.text(0), "ok");
  }
}

// Rows and offset of a checkpoint are on disk; the process ends at that moment, before it can do another
// thing.
[[noreturn]] void die_once_a_checkpoint_is_written(const std::filesystem::path& home) {
  boost::asio::io_context io;
  const auto post = [&](std::function<void()> work) {
    Database database(home / "podium.db", Access::read, 100);
    Statement rows(database, "SELECT count(*) FROM checkpoints");
    rows.start().next();
    if (rows.integer(0) > 0) ::kill(::getpid(), SIGKILL);
    boost::asio::post(io, std::move(work));
  };
  Store store(home, post);
  const SystemClock clock;
  CommandLoop loop(io.get_executor(), store, clock, store.load({}));
  loop.start({0});
  const auto work = [&]() -> boost::asio::awaitable<void> {
    const auto streams = read_streams({"node-1"}, chunk(1, 0, checkpoint_line(50)));
    const auto saved = checkpoints_in(**streams, [](TaskId) { return true; });
    (*streams)->for_core.assign(saved.begin(), saved.end());
    co_await loop.ingest(*streams);
  };
  boost::asio::co_spawn(io, work(), boost::asio::detached);
  io.run_for(std::chrono::seconds(60));
  ::_exit(1);
}

TEST(Crash, TheCoreKnowsEveryCheckpointWhoseOffsetIsOnDisk) {
  TempFolder home;
  {
    Store store(home.path(), at_once());
    start_job(store);
  }
  const pid_t child = ::fork();
  if (child == 0) die_once_a_checkpoint_is_written(home.path());
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status)) << "the checkpoint was never written";
  Store store(home.path(), at_once());
  EXPECT_EQ(store.load({}).state.jobs.at({1}).checkpoint, 50);
}

std::function<void()> at_next_statement;  // once, on the thread that runs it

int note_statement(unsigned, void*, void*, void*) {
  if (const auto happens = std::exchange(at_next_statement, nullptr)) happens();
  return 0;
}

int watch_statements(sqlite3* database, char**, const sqlite3_api_routines*) {
  return sqlite3_trace_v2(database, SQLITE_TRACE_STMT, note_statement, nullptr);
}

// A turn and the batch that it is of come while the writer has begun a transaction of batches.
TEST(Crash, NoBatchIsAnsweredBeforeATurnThatCameBeforeIt) {
  TempFolder home;
  const auto hook = reinterpret_cast<void (*)()>(watch_statements);
  sqlite3_auto_extension(hook);
  std::vector<std::string> answered;
  {
    Store store(home.path(), at_once());
    sqlite3_cancel_auto_extension(hook);
    start_job(store);
    std::promise<void> all;
    const auto note = [&](const std::string& name) {
      answered.push_back(name);
      if (answered.size() == 3) all.set_value();
    };
    const auto ingest = [&](const std::string& name, std::string body) {
      store.ingest(*read_streams({"node-1"}, std::move(body)),
                   [&note, name](const std::optional<Error>&) { note(name); });
    };
    const std::string line = metrics_line(1, 1);
    at_next_statement = [&] {
      store.commit({queued_job(2), ExperimentText{{2}, "x", "", "", "key-2", {"{}"}}, {}, {}},
                   [&] { note("turn"); });
      ingest("its batch", chunk(1, std::ssize(line), checkpoint_line(50)));
    };
    ingest("a batch before", chunk(1, 0, line));
    all.get_future().wait();
  }
  EXPECT_LT(std::ranges::find(answered, "turn"), std::ranges::find(answered, "its batch"));
}

// Of a connection: kills the process at the commit of the transaction that closed the chunk of this number.
struct KillAtCommit {
  int chunks_left;
  bool closed = false;
};

void note_insert(void* state, int operation, const char*, const char* table, sqlite3_int64) {
  auto& kill = *static_cast<KillAtCommit*>(state);
  if (operation == SQLITE_INSERT && std::string_view(table) == "chunk_data" && --kill.chunks_left == 0)
    kill.closed = true;
}

int kill_if_closed(void* state) {
  if (static_cast<KillAtCommit*>(state)->closed) ::kill(::getpid(), SIGKILL);
  return 0;
}

KillAtCommit kill_at_commit{0};

int watch(sqlite3* database, char**, const sqlite3_api_routines*) {
  sqlite3_update_hook(database, note_insert, &kill_at_commit);
  sqlite3_commit_hook(database, kill_if_closed, &kill_at_commit);
  return SQLITE_OK;
}

// Points one a transaction, as a training tells them; tells the pipe each step that was acknowledged.
[[noreturn]] void write_until_a_chunk_is_closed(const std::filesystem::path& home, int pipe, int chunks) {
  kill_at_commit.chunks_left = chunks;
  sqlite3_auto_extension(reinterpret_cast<void (*)()>(watch));
  Store store(home, at_once());
  std::int64_t offset = 0;
  for (std::int64_t step = 1;; ++step) {
    const auto answer = ingest_now(store, chunk(1, offset, metrics_line(step, static_cast<double>(step))));
    offset = (*answer)->positions.at(0).next;
    if (::write(pipe, &step, sizeof step) != sizeof step) ::_exit(1);
  }
}

TEST(Crash, BetweenClosingAChunkAndItsCommitNothingIsLost) {
  for (const int chunks : {1, 2, 5}) {
    TempFolder home;
    {
      Store store(home.path(), at_once());
      start_job(store);
    }
    int pipe[2];
    ASSERT_EQ(::pipe(pipe), 0);
    const pid_t child = ::fork();
    if (child == 0) write_until_a_chunk_is_closed(home.path(), pipe[1], chunks);
    ::close(pipe[1]);
    std::int64_t acknowledged = 0;
    while (::read(pipe[0], &acknowledged, sizeof acknowledged) == sizeof acknowledged) {
    }
    ::close(pipe[0]);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "no chunk was closed";
    Store store(home.path(), at_once());
    const Series kept = store.open_reader()->series({1}, "train/loss", 100'000).points;
    ASSERT_EQ(std::ssize(kept), acknowledged) << "what was not committed is not there, all else is";
    for (std::int64_t i = 0; i < acknowledged; ++i) {
      EXPECT_EQ(kept[static_cast<std::size_t>(i)].step, i + 1);
      EXPECT_EQ(kept[static_cast<std::size_t>(i)].value, static_cast<double>(i + 1));
    }
  }
}

}  // namespace
}  // namespace podium
