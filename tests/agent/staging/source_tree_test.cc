// What a path holds, and copies of it.
#include "agent/staging/source_tree.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <set>

#include "common/base/file.h"
#include "common/net/sha256.h"
#include "tests/temp_folder.h"

namespace podium {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class SourceTree : public testing::Test {
 protected:
  SourceTree() {
    fs::create_directories(source_ / "b/deep");
    write_file_atomic(source_ / "a.txt", "alpha");
    write_file_atomic(source_ / "b/deep/c.txt", "gamma");
    write_file_atomic(source_ / "run.sh", "#!/bin/sh\n", 0755);
  }

  std::vector<SourceEntry> scan(const fs::path& path) {
    return scan_source(path, progress_, stop_.get_token());
  }
  std::string copy(const fs::path& from, const fs::path& to) {
    return copy_source(from, scan(from), to, progress_, stop_.get_token());
  }
  std::string digest() { return digest_of(scan(source_), "label"); }

  // What scanning it says; the cause is left in cause_.
  std::string failure_of(const fs::path& path) {
    try {
      scan(path);
      return "";
    } catch (const StagingFailure& failure) {
      cause_ = failure.cause();
      return failure.what();
    }
  }

  TempFolder folder_;
  fs::path source_ = folder_.path() / "source";
  StagingProgress progress_;
  std::stop_source stop_;
  ExitCause cause_ = ExitCause::program;
};

TEST_F(SourceTree, IsCopiedWithItsFoldersAndWhatMayBeRun) {
  EXPECT_EQ(copy(source_, folder_.path() / "copy"), "") << "a folder has no hash";
  EXPECT_EQ(read_file(folder_.path() / "copy/a.txt"), "alpha");
  EXPECT_EQ(read_file(folder_.path() / "copy/b/deep/c.txt"), "gamma");
  EXPECT_EQ(fs::status(folder_.path() / "copy/run.sh").permissions(), fs::perms(0555));
  EXPECT_EQ(fs::status(folder_.path() / "copy/a.txt").permissions(), fs::perms(0444));
  EXPECT_EQ(progress_.bytes, 20);
  EXPECT_EQ(bytes_of(scan(source_)), 20);
}

TEST_F(SourceTree, OfAFileGivesItsHash) {
  EXPECT_EQ(copy(source_ / "a.txt", folder_.path() / "copy"),
            "8ed3f6ad685b959ead7022518e1af76cd816f8e8ec7ccdda1ed4018e8f2223f8");
  EXPECT_EQ(read_file(folder_.path() / "copy"), "alpha");
}

TEST_F(SourceTree, IsAnotherWhereANameASizeOrATimeIsAnother) {
  std::set<std::string> digests{digest()};
  EXPECT_EQ(digest(), *digests.begin());
  EXPECT_NE(digest_of(scan(source_), "another label"), *digests.begin());
  write_file_atomic(source_ / "a.txt", "alpha!");
  EXPECT_TRUE(digests.insert(digest()).second) << "a size";
  fs::last_write_time(source_ / "a.txt", fs::file_time_type::clock::now() - std::chrono::hours(1));
  EXPECT_TRUE(digests.insert(digest()).second) << "a time";
  fs::rename(source_ / "a.txt", source_ / "z.txt");
  EXPECT_TRUE(digests.insert(digest()).second) << "a name";
  fs::create_directory(source_ / "empty");
  EXPECT_TRUE(digests.insert(digest()).second) << "an empty folder";
}

TEST_F(SourceTree, FollowsLinks) {
  write_file_atomic(folder_.path() / "elsewhere", "far");
  fs::create_symlink(folder_.path() / "elsewhere", source_ / "far.txt");
  fs::create_directory_symlink(source_ / "b", source_ / "same");
  copy(source_, folder_.path() / "copy");
  EXPECT_FALSE(fs::is_symlink(folder_.path() / "copy/far.txt"));
  EXPECT_EQ(read_file(folder_.path() / "copy/far.txt"), "far");
  EXPECT_EQ(read_file(folder_.path() / "copy/same/deep/c.txt"), "gamma");
}

TEST_F(SourceTree, OfLinksInACircleIsRefused) {
  fs::create_directory_symlink(source_, source_ / "b/up");
  EXPECT_THAT(failure_of(source_), HasSubstr("b/up is a link to a folder that it lies in"));
  EXPECT_EQ(cause_, ExitCause::refused);
  fs::remove(source_ / "b/up");
  fs::create_symlink(source_ / "self", source_ / "self");
  EXPECT_THAT(failure_of(source_), HasSubstr("self is a link in a circle"));
}

TEST_F(SourceTree, OfALinkToNothingNamesIt) {
  fs::create_symlink(source_ / "gone", source_ / "dead");
  EXPECT_THAT(failure_of(source_), HasSubstr("dead leads to nothing"));
}

TEST_F(SourceTree, ThatIsNotThereMayBeOnAnotherNode) {
  EXPECT_THAT(failure_of(source_ / "none"), HasSubstr("there is no " + (source_ / "none").string()));
  EXPECT_EQ(cause_, ExitCause::cannot_run);
}

TEST_F(SourceTree, WithAPipeIsRefusedAndNotWaitedFor) {
  ASSERT_EQ(::mkfifo((source_ / "pipe").c_str(), 0600), 0);
  EXPECT_THAT(failure_of(source_), HasSubstr("pipe is neither a file nor a folder"));
  EXPECT_EQ(cause_, ExitCause::refused);
}

TEST_F(SourceTree, StopsWhenItIsToldTo) {
  stop_.request_stop();
  EXPECT_THROW(scan(source_), StagingStopped);
}

}  // namespace
}  // namespace podium
