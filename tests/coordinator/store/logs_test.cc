// Output of tasks: what stays of it on the coordinator's disk, and how what does not is told.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "common/base/file.h"
#include "coordinator/store/log_files.h"
#include "coordinator/store/sqlite.h"
#include "tests/coordinator/store/store_fixture.h"

namespace podium {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

const TaskId kTask{{{1}, 1}, 0};

// Numbered lines of 8 bytes: line n is at byte 8 n.
std::string lines(std::int64_t first, std::int64_t end) {
  std::string text;
  for (std::int64_t i = first; i < end; ++i) text += std::to_string(1'000'000 + i) + "\n";
  return text;
}

std::int64_t size_of_folder(const std::filesystem::path& folder) {
  std::int64_t size = 0;
  if (!std::filesystem::exists(folder)) return 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) size += static_cast<std::int64_t>(entry.file_size());
  return size;
}

class Logs : public testing::Test {
 protected:
  void open(const LogLimits& limits, Duration keep = kUsualRetention[Kept::logs]) {
    StoreOptions options;
    options.logs = limits;
    options.retention[Kept::logs] = keep;
    store_ = std::make_unique<Store>(home_.path(), at_once(), options);
    start_job(*store_);
    reader_ = store_->open_reader();
  }

  void write(std::int64_t first, std::int64_t end, std::int64_t at_once = 100'000) {
    for (; first < end; first += at_once) {
      const std::int64_t last = std::min(end, first + at_once);
      const auto answer = ingest_now(*store_, chunk(1, 8 * first, lines(first, last), StreamKind::out));
      ASSERT_TRUE(answer.ok()) << describe(answer.errors());
      ASSERT_EQ((*answer)->positions.at(0).next, 8 * last);
    }
  }

  // The log as one who follows it from its beginning reads it.
  std::string followed() {
    std::string text;
    for (std::int64_t at = 0;;) {
      const LogPart part = reader_->log(kTask, StreamKind::out, at, 1 << 20);
      if (part.text.empty() && part.next == at) return text;
      text += part.text;
      at = part.next;
    }
  }

  std::int64_t on_disk() { return size_of_folder(home_.path() / "logs"); }

  TempFolder home_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<Reader> reader_;
};

TEST_F(Logs, OneJobsOutputCannotFillTheDisk) {
  open({.one = 8 * kLogPiece});
  for (const std::int64_t at_once : {100'000, 900'000}) {  // pieces of 0.8 MB; one that is most of the limit
    const std::int64_t first = at_once == 100'000 ? 0 : 4'000'000;
    write(first, first + 4'000'000, at_once);
    EXPECT_LE(on_disk(), 8 * kLogPiece);
    EXPECT_GE(on_disk(), 6 * kLogPiece) << "most of what it may have";
  }
  const std::string text = followed();
  EXPECT_THAT(text, StartsWith(lines(0, 200'000))) << "its beginning stays";
  EXPECT_THAT(text, EndsWith(lines(7'400'000, 8'000'000))) << "and its end";
  const std::size_t told = text.find("[podium: ");
  ASSERT_NE(told, std::string::npos);
  EXPECT_EQ(text.find("[podium: ", told + 1), std::string::npos) << "told once";
  const std::int64_t left_out = std::stoll(text.substr(told + 9));
  const auto note = static_cast<std::int64_t>(text.find(']', told) + 2 - (told - 1));
  EXPECT_EQ(std::ssize(text) - note + left_out, 64'000'000) << "and exactly";
  EXPECT_EQ(reader_->log_tail(kTask, StreamKind::out, 16).text, lines(7'999'998, 8'000'000));
}

// Found by reading backwards, over the ends of pieces and over what is not kept.
TEST_F(Logs, LastLinesBeginWhereSoManyFollow) {
  open({.one = 4 * kLogPiece});
  write(0, 2'000'000);
  const auto start = [&](std::int64_t wanted) {
    std::int64_t budget = 1 << 30;
    return reader_->log_lines(kTask, StreamKind::out, wanted, budget);
  };
  for (const std::int64_t wanted : {0, 1, 7, 8'191, 8'192, 8'193, 200'000})
    EXPECT_EQ(start(wanted), 8 * (2'000'000 - wanted)) << wanted;
  EXPECT_EQ(start(10'000'000), 0) << "there are not so many";
  std::int64_t little = 1;
  EXPECT_EQ(reader_->log_lines(kTask, StreamKind::out, 100'000, little), std::nullopt);
  ASSERT_TRUE(ingest_now(*store_, chunk(1, 16'000'000, "no end", StreamKind::out)).ok());
  EXPECT_EQ(start(1), 16'000'000);
  EXPECT_EQ(start(2), 15'999'992);
}

TEST_F(Logs, WhatIsSentAgainChangesNothing) {
  open({.one = 4 * kLogPiece});
  write(0, 2'000'000);
  const std::string before = followed();
  const auto again =
      ingest_now(*store_, chunk(1, 8 * 1'000'000, lines(1'000'000, 1'100'000), StreamKind::out));
  EXPECT_EQ((*again)->positions.at(0).next, 16'000'000);
  EXPECT_EQ(followed(), before);
}

TEST_F(Logs, AGapThatTheNodeLeftIsTold) {
  open({});
  write(0, 1000);
  std::string body;
  append_chunk(body, {kTask, StreamKind::out, 8 * 1'000'000, lines(1'000'000, 1'500'000), false, true});
  const auto answer = ingest_now(*store_, body);
  EXPECT_EQ((*answer)->positions.at(0).next, 8 * 1'500'000);
  EXPECT_THAT(followed(), StartsWith(lines(0, 1000) + "\n[podium: "));
  EXPECT_THAT(followed(), EndsWith(lines(1'400'000, 1'500'000)));
  write(1'500'000, 1'600'000);
  EXPECT_THAT(followed(), EndsWith(lines(1'400'000, 1'600'000)));
}

// What was written up to the next multiple of a piece was lost.
TEST_F(Logs, ALogOfBeforeThereWerePiecesIsReadAndGoesOn) {
  open({});
  write(0, 10);
  write_file_atomic(log_path(home_.path(), kTask, StreamKind::out), lines(0, 500'000));
  Database(home_.path() / "podium.db", Access::write, 100).run("UPDATE stream_offsets SET next = 4000000");
  EXPECT_EQ(followed(), lines(0, 500'000));
  write(500'000, 1'000'000);
  EXPECT_TRUE(followed() == lines(0, 1'000'000)) << "something is missing at the seam";
}

TEST_F(Logs, TheOldestEndedJobsLogsGoFirstWhenAllAreTooMuch) {
  open({.all = 10'000'000}, kForever);
  for (std::int64_t id = 2; id <= 4; ++id) {
    commit_now(*store_, {queued_job(id), {}, {}, {}});
    commit_now(*store_, {started_attempt(id, 1, 20), {}, {}, {}});
    std::string body;
    append_chunk(body, {{{{id}, 1}, 0}, StreamKind::out, 0, lines(0, 300'000)});
    ASSERT_TRUE(ingest_now(*store_, body).ok());
    if (id < 4) {
      const int end = id == 2 ? 200 : 100;  // job 3 ends before job 2
      commit_now(*store_,
                 {{{at_second(end), JobStateChanged{{id}, JobState::running, JobState::succeeded, ""}}},
                  {},
                  {},
                  {}});
    }
  }
  write(0, 500'000);  // 11.2 MB in all
  EXPECT_TRUE(eventually([&] { return on_disk() <= 10'000'000; }));
  EXPECT_FALSE(std::filesystem::exists(home_.path() / "logs" / "3"));
  EXPECT_TRUE(std::filesystem::exists(home_.path() / "logs" / "2"));
  EXPECT_THAT(reader_->log({{{3}, 1}, 0}, StreamKind::out, 0, 1000).text, HasSubstr("2400000 bytes"));
}

TEST_F(Logs, AgeIsToldByTheClusterAndNotByAClockThatMayLeap) {
  open({});
  write(0, 1000);
  commit_now(*store_, {queued_job(2), {}, {}, {}});
  commit_now(*store_, {started_attempt(2, 1, 20), {}, {}, {}});
  const auto end = at_second(100);
  commit_now(*store_,
             {{{end, JobStateChanged{{1}, JobState::running, JobState::succeeded, ""}}}, {}, {}, {}});
  const auto reopen = [&] { store_.reset(), store_ = std::make_unique<Store>(home_.path(), at_once()); };
  reopen();  // old logs are looked for
  for (std::int64_t i = 0; i < 2; ++i) {
    std::string body;
    append_chunk(body, {{{{2}, 1}, 0}, StreamKind::out, 8 * i, lines(i, i + 1)});
    ASSERT_TRUE(ingest_now(*store_, body).ok());
  }
  EXPECT_EQ(followed(), lines(0, 1000)) << "by this machine's clock they are years old";
  commit_now(*store_, {{{end + std::chrono::hours(91 * 24), JobHeld{{2}}}}, {}, {}, {}});
  reopen();
  EXPECT_TRUE(eventually([&] { return !std::filesystem::exists(home_.path() / "logs" / "1"); }));
}

TEST_F(Logs, BeyondTheQuotaRunningJobsGoOnWithoutTheirOutput) {
  open({.one = 100 * kLogPiece, .all = 4'000'000});
  write(0, 600'000);
  EXPECT_TRUE(eventually([&] {
    const std::int64_t before = on_disk();
    const std::int64_t end = reader_->log_tail(kTask, StreamKind::out, 0).next / 8;
    write(end, end + 10'000);
    return on_disk() == before;
  })) << "nothing more is kept";
  EXPECT_LE(on_disk(), 10'000'000);
}

TEST_F(Logs, AFullDiskIsRefusedAndRecoveredFrom) {
  struct statvfs disk {};
  ASSERT_EQ(::statvfs(home_.path().c_str(), &disk), 0);
  const std::int64_t free =
      static_cast<std::int64_t>(disk.f_frsize) * static_cast<std::int64_t>(disk.f_bavail);
  constexpr std::int64_t kMargin = 2'000'000'000;
  if (free < 3 * kMargin) GTEST_SKIP() << "skipped: waits for 6 GB of room in " << home_.path();
  StoreOptions options;
  options.disk_reserve = free - kMargin;
  Store store(home_.path(), at_once(), options);
  EXPECT_FALSE(store.refusal());
  const auto ballast = home_.path() / "ballast";
  const Fd file = open_file(ballast, O_RDWR | O_CREAT);
  ASSERT_EQ(::posix_fallocate(file.get(), 0, 2 * kMargin), 0);
  ASSERT_TRUE(store.refusal());
  EXPECT_THAT(store.refusal()->message, HasSubstr("nearly full"));
  start_job(store);  // what cannot wait goes on
  ASSERT_EQ(::ftruncate(file.get(), 0), 0);
  EXPECT_TRUE(eventually([&] { return !store.refusal(); }));
}

TEST_F(Logs, AHomeThatIsGoneIsRefused) {
  Store store(home_.path(), at_once());
  EXPECT_FALSE(store.refusal());
  std::filesystem::rename(home_.path() / "podium.db", home_.path() / "moved.db");
  ASSERT_TRUE(store.refusal());
  EXPECT_THAT(store.refusal()->message, HasSubstr("is gone or has been replaced"));
  std::filesystem::rename(home_.path() / "moved.db", home_.path() / "podium.db");
  EXPECT_FALSE(store.refusal());
}

}  // namespace
}  // namespace podium
