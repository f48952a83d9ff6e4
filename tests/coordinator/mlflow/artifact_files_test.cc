// Against a real folder, with a child that is killed.
#include "coordinator/mlflow/artifact_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "common/base/file.h"
#include "tests/temp_folder.h"

namespace podium::mlflow {
namespace {

namespace fs = std::filesystem;
using Parts = ArtifactFiles::Parts;
using testing::HasSubstr;

constexpr JobId kRun{7};

class ArtifactFilesTest : public testing::Test {
 protected:
  static std::optional<Error> put(ArtifactFiles& files, const Parts& path, std::string_view bytes,
                                  JobId run = kRun) {
    ArtifactUpload upload(files.new_upload());
    upload.write(bytes);
    return files.place(upload, run, path);
  }

  static std::optional<std::string> content(const ArtifactFiles& files, const Parts& path, JobId run = kRun) {
    const std::optional<TreeFile> file = files.open(run, path);
    if (!file) return std::nullopt;
    std::string text(static_cast<std::size_t>(file->bytes) + 1, '\0');
    text.resize(static_cast<std::size_t>(::read(file->fd.get(), text.data(), text.size())));
    return text;
  }

  fs::path folder() const { return home_ / "artifacts"; }
  fs::path run_folder() const { return folder() / "runs" / "7"; }
  bool nothing_unfinished() const { return fs::is_empty(folder() / "uploads"); }

  TempFolder temp_;
  fs::path home_ = temp_.path();
};

TEST_F(ArtifactFilesTest, KeepsAFileUnderItsPath) {
  ArtifactFiles files(folder());
  EXPECT_EQ(put(files, {"a", "b", "c.txt"}, "one"), std::nullopt);
  EXPECT_EQ(put(files, {"d"}, ""), std::nullopt);
  EXPECT_EQ(content(files, {"a", "b", "c.txt"}), "one");
  EXPECT_EQ(content(files, {"d"}), "");
  EXPECT_EQ(content(files, {"a", "b", "c.txt"}, JobId{8}), std::nullopt);
  EXPECT_EQ(read_file(run_folder() / "a/b/c.txt"), "one");
  EXPECT_TRUE(nothing_unfinished());
}

TEST_F(ArtifactFilesTest, IsForItsOwnerAlone) {
  ArtifactFiles files(folder());
  put(files, {"a", "b"}, "one");
  for (const fs::path& path :
       {folder(), folder() / "runs", run_folder(), run_folder() / "a", run_folder() / "a/b"})
    EXPECT_EQ(fs::status(path).permissions() & (fs::perms::group_all | fs::perms::others_all),
              fs::perms::none)
        << path;
}

TEST_F(ArtifactFilesTest, ReplacesAFileWhole) {
  ArtifactFiles files(folder());
  put(files, {"a"}, "one");
  const TreeFile before = *files.open(kRun, {"a"});
  put(files, {"a"}, "other");
  EXPECT_EQ(content(files, {"a"}), "other");
  EXPECT_EQ(before.bytes, 3);
  char byte = 0;
  EXPECT_EQ(::pread(before.fd.get(), &byte, 1, 2), 1) << "who reads the old file reads it to its end";
  EXPECT_EQ(byte, 'e');
  EXPECT_NE(before.version, files.open(kRun, {"a"})->version);
}

TEST_F(ArtifactFilesTest, AnUploadThatIsNotPlacedLeavesNothing) {
  ArtifactFiles files(folder());
  {
    ArtifactUpload upload(files.new_upload());
    upload.write("half");
    EXPECT_FALSE(nothing_unfinished());
  }
  EXPECT_TRUE(nothing_unfinished());
  EXPECT_TRUE(files.list(kRun, {}).empty());
}

TEST_F(ArtifactFilesTest, AFileAndAFolderDoNotTakeEachOthersPlace) {
  ArtifactFiles files(folder());
  put(files, {"file"}, "one");
  put(files, {"folder", "x"}, "two");
  EXPECT_THAT(put(files, {"file", "x"}, "no")->message, HasSubstr("\"file/x\" cannot be kept: a part"));
  EXPECT_THAT(put(files, {"file", "x", "y"}, "no")->message, HasSubstr("a part of its path is a file"));
  EXPECT_THAT(put(files, {"folder"}, "no")->message, HasSubstr("there is a folder"));
  EXPECT_THAT(put(files, {}, "no")->message, HasSubstr("the run's folder"));
  EXPECT_EQ(content(files, {"file"}), "one");
  EXPECT_EQ(content(files, {"folder", "x"}), "two");
  EXPECT_TRUE(nothing_unfinished());
}

TEST_F(ArtifactFilesTest, ARunHasARoom) {
  ArtifactFiles files(folder(), {.bytes = 10, .files = 3});
  EXPECT_EQ(put(files, {"a"}, "1234"), std::nullopt);
  EXPECT_EQ(put(files, {"b", "c"}, "123456"), std::nullopt);
  EXPECT_THAT(put(files, {"d"}, "1")->message,
              HasSubstr("\"d\" cannot be kept: the artifacts of a run have 10 bytes"));
  EXPECT_EQ(put(files, {"d"}, ""), std::nullopt);
  EXPECT_THAT(put(files, {"e"}, "")->message, HasSubstr("a run has 3 artifacts"));
  EXPECT_EQ(put(files, {"a"}, "4321"), std::nullopt) << "the one before goes";
  EXPECT_THAT(put(files, {"a"}, "54321")->message, HasSubstr("bytes"));
  EXPECT_EQ(content(files, {"a"}), "4321");
  EXPECT_EQ(put(files, {"a"}, "1"), std::nullopt);
  EXPECT_EQ(put(files, {"a"}, "4321"), std::nullopt);
  EXPECT_EQ(put(files, {"x"}, "1234567890", JobId{8}), std::nullopt) << "each run";
  files.remove(kRun, {"b"});
  EXPECT_EQ(put(files, {"e"}, "123456"), std::nullopt);
  ArtifactFiles later(folder(), {.bytes = 10, .files = 3});
  EXPECT_NE(put(later, {"f"}, ""), std::nullopt) << "what is there counts after a restart";
  EXPECT_NE(put(later, {"d"}, "1"), std::nullopt);
  EXPECT_TRUE(nothing_unfinished());
}

TEST_F(ArtifactFilesTest, ListsAFolderByName) {
  ArtifactFiles files(folder());
  put(files, {"b.txt"}, "four");
  put(files, {"a", "deep"}, "x");
  put(files, {".hidden"}, "");
  const std::vector<TreeEntry> all{{".hidden", false, 0}, {"a", true, 0}, {"b.txt", false, 4}};
  EXPECT_EQ(files.list(kRun, {}), all);
  EXPECT_EQ(files.list(kRun, {"a"}), (std::vector<TreeEntry>{{"deep", false, 1}}));
  for (const Parts& none : {Parts{"b.txt"}, Parts{"c"}, Parts{"a", "deep", "er"}})
    EXPECT_TRUE(files.list(kRun, none).empty());
  EXPECT_TRUE(files.list(JobId{8}, {}).empty());
}

TEST_F(ArtifactFilesTest, RemovesFilesAndFolders) {
  ArtifactFiles files(folder());
  for (const Parts& path : {Parts{"a", "b", "c"}, Parts{"a", "d"}, Parts{"e"}}) put(files, path, "x");
  put(files, {"e"}, "x", JobId{8});
  EXPECT_FALSE(files.remove(kRun, {"f"}));
  EXPECT_FALSE(files.remove(kRun, {"e", "f"}));
  EXPECT_TRUE(files.remove(kRun, {"e"}));
  EXPECT_FALSE(files.remove(kRun, {"e"}));
  EXPECT_TRUE(files.remove(kRun, {"a", "b"}));
  EXPECT_EQ(files.list(kRun, {"a"}), (std::vector<TreeEntry>{{"d", false, 1}}));
  EXPECT_TRUE(files.remove(kRun, {}));
  EXPECT_FALSE(files.remove(kRun, {}));
  EXPECT_TRUE(files.list(kRun, {}).empty());
  EXPECT_EQ(content(files, {"e"}, JobId{8}), "x");
  EXPECT_TRUE(nothing_unfinished());
}

// Links can be made by whoever has the folder; none leads a client elsewhere.
TEST_F(ArtifactFilesTest, FollowsNoLinks) {
  ArtifactFiles files(folder());
  put(files, {"real"}, "one");
  fs::create_directory(home_ / "outside");
  write_file_atomic(home_ / "outside/secret", "secret");
  fs::create_symlink(home_ / "outside", run_folder() / "folder");
  fs::create_symlink(home_ / "outside/secret", run_folder() / "link");
  fs::create_symlink(home_ / "outside", folder() / "runs/9");
  EXPECT_FALSE(files.open(kRun, {"link"}).has_value());
  EXPECT_EQ(content(files, {"folder", "secret"}), std::nullopt);
  EXPECT_TRUE(files.list(kRun, {"folder"}).empty());
  EXPECT_EQ(files.list(kRun, {}), (std::vector<TreeEntry>{{"real", false, 3}}));
  EXPECT_TRUE(files.list(JobId{9}, {}).empty());
  EXPECT_NE(put(files, {"folder", "new"}, "x"), std::nullopt);
  EXPECT_NE(put(files, {"new"}, "x", JobId{9}), std::nullopt);
  EXPECT_FALSE(files.remove(kRun, {"folder", "secret"}));
  EXPECT_EQ(put(files, {"link"}, "x"), std::nullopt) << "the link itself is replaced";
  EXPECT_EQ(content(files, {"link"}), "x");
  EXPECT_TRUE(files.remove(kRun, {"folder"})) << "and removed";
  EXPECT_EQ(read_file(home_ / "outside/secret"), "secret");
}

TEST_F(ArtifactFilesTest, ReadsAndListsFilesAndFoldersAlone) {
  ArtifactFiles files(folder());
  put(files, {"a"}, "one");
  ASSERT_EQ(::mkfifo((run_folder() / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(content(files, {"pipe"}), std::nullopt);
  EXPECT_EQ(files.list(kRun, {}).size(), 1u);
  EXPECT_EQ(content(files, {}), std::nullopt);
  put(files, {"b", "c"}, "x");
  EXPECT_EQ(content(files, {"b"}), std::nullopt);
}

TEST_F(ArtifactFilesTest, OfManyUploadsOfOnePathOneIsThereWhole) {
  ArtifactFiles files(folder());
  const auto pattern = [](int i) { return std::string(100'000, static_cast<char>('a' + i)); };
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&, i] {
      for (int round = 0; round < 10; ++round) {
        EXPECT_EQ(put(files, {"deep", "er", "file"}, pattern(i)), std::nullopt);
        if (i == 0) files.remove(kRun, {"deep"});
      }
    });
  for (std::thread& thread : threads) thread.join();
  put(files, {"deep", "er", "file"}, pattern(3));
  EXPECT_EQ(content(files, {"deep", "er", "file"}), pattern(3));
  EXPECT_TRUE(nothing_unfinished());
}

TEST_F(ArtifactFilesTest, AKilledProcessLeavesNoHalfFileAndTheNextOneSweeps) {
  const std::string whole(1'000'000, 'x');
  for (const int after : {0, 3, 10}) {
    fs::remove_all(folder());
    const pid_t child = ::fork();
    if (child == 0) {
      ArtifactFiles files(folder());
      for (;;) put(files, {"file"}, whole);
    }
    while (!fs::exists(run_folder() / "file")) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::this_thread::sleep_for(std::chrono::milliseconds(after));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    ArtifactFiles files(folder());
    EXPECT_TRUE(nothing_unfinished());
    EXPECT_EQ(content(files, {"file"}), whole);
  }
}

TEST_F(ArtifactFilesTest, SweepsUnfinishedUploadsAndKeepsTheRest) {
  {
    ArtifactFiles files(folder());
    put(files, {"a"}, "one");
  }
  fs::create_directories(folder() / "uploads/5/deep");
  write_file_atomic(folder() / "uploads/6", "half");
  ArtifactFiles files(folder());
  EXPECT_TRUE(nothing_unfinished());
  EXPECT_EQ(content(files, {"a"}), "one");
}

}  // namespace
}  // namespace podium::mlflow
