// The store of staged inputs: whole entries, room, holds, and what a killed agent leaves.
#include "agent/staging/input_store.h"

#include <gmock/gmock.h>

#include <fstream>
#include <thread>

#include "agent/staging/stage.h"
#include "common/net/sha256.h"
#include "tests/agent/staging/file_server.h"
#include "tests/small_disk.h"
#include "tests/temp_folder.h"

namespace podium {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

class StagedInputs : public testing::Test {
 protected:
  StagedInputs() { fs::create_directories(data()); }

  fs::path data() const { return folder_.path() / "data"; }
  fs::path at() const { return folder_.path() / "inputs"; }

  InputStore& store() {
    if (!store_) store_.emplace(at(), limits_, holds_);
    return *store_;
  }
  void restart() {
    store_.reset();
    store();
  }

  void write(const std::string& name, const std::string& text) { write_file_atomic(data() / name, text); }

  std::vector<StagedInput> stage(const std::vector<InputSpec>& inputs, const std::string& holder = "test") {
    return stage_inputs(inputs, data(), holder, store(), DownloadRules{.tries = 1}, progress_,
                        stop_.get_token());
  }
  std::string failure(const std::vector<InputSpec>& inputs) {
    try {
      stage(inputs, "failing");
      return "";
    } catch (const StagingFailure& failed) {
      cause_ = failed.cause();
      return failed.what();
    }
  }
  // Stages and lets go.
  fs::path staged(const std::string& name) {
    const fs::path path = stage({{name, name, ""}}, "passing")[0].data;
    store().release("passing");
    return path;
  }

  std::size_t entries() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(at() / "entries"), fs::directory_iterator()));
  }
  static bool is_empty(const fs::path& folder) { return fs::is_empty(folder); }

  TempFolder folder_;
  StoreLimits limits_;
  InputStore::Holds holds_;  // that the store begins with
  std::optional<InputStore> store_;
  StagingProgress progress_;
  std::stop_source stop_;
  ExitCause cause_ = ExitCause::program;
};

TEST_F(StagedInputs, AreCopiedOnceAndFoundFromThenOn) {
  write("corpus", "words");
  const fs::path first = staged("corpus");
  EXPECT_EQ(read_file(first), "words");
  EXPECT_EQ(progress_.staged, 1);
  EXPECT_EQ(staged("corpus"), first);
  restart();
  EXPECT_EQ(staged("corpus"), first);
  EXPECT_EQ(progress_.staged, 1);
  EXPECT_TRUE(is_empty(at() / "incoming"));
}

TEST_F(StagedInputs, OfAChangedPathAreStagedAnew) {
  write("corpus", "words");
  const fs::path first = staged("corpus");
  write("corpus", "other words");
  EXPECT_EQ(read_file(staged("corpus")), "other words");
  EXPECT_EQ(read_file(first), "words") << "who uses the former keeps it";
}

TEST_F(StagedInputs, OfOneHashAreOneWhereverTheyComeFrom) {
  write("a", "words");
  write("b", "words");
  const std::string hash = sha256_of("words");
  const fs::path first = stage({{"a", "a", hash}})[0].data;
  EXPECT_EQ(stage({{"b", "b", hash}})[0].data, first);
  fs::remove(data() / "a");
  EXPECT_EQ(stage({{"a", "a", hash}})[0].data, first) << "the source is not needed any more";
  EXPECT_EQ(progress_.staged, 1);
}

TEST_F(StagedInputs, OfAnotherHashAreRefusedAndLeaveNothing) {
  write("a", "words");
  EXPECT_THAT(failure({{"a", "a", sha256_of("others")}}),
              HasSubstr("the input a (a): it has the sha256 " + sha256_of("words")));
  EXPECT_EQ(cause_, ExitCause::refused);
  EXPECT_EQ(entries(), 0u);
  EXPECT_TRUE(is_empty(at() / "incoming"));
  fs::create_directory(data() / "folder");
  EXPECT_THAT(failure({{"folder", "f", sha256_of("")}}), HasSubstr("sha256 is a file's"));
  EXPECT_THAT(failure({{"a", "a", "sha"}}), HasSubstr("\"sha\" is no sha256"));
  EXPECT_THAT(failure({{"http://127.0.0.1:1/a", "a", ""}}), HasSubstr("needs sha256"));
}

TEST_F(StagedInputs, ThatAProgramHasChangedAreStagedAnew) {
  write("corpus", "words");
  const fs::path path = staged("corpus");
  fs::permissions(path, fs::perms::owner_all);
  write_file_atomic(path, "WORDS");
  EXPECT_EQ(read_file(staged("corpus")), "words");
  EXPECT_EQ(progress_.staged, 2);
}

TEST_F(StagedInputs, ThatAProgramHasChangedUnderAnotherAreLeftToIt) {
  write("corpus", "words");
  const fs::path path = stage({{"corpus", "corpus", ""}}, "running")[0].data;
  fs::permissions(path, fs::perms::owner_all);
  write_file_atomic(path, "WORDS");
  EXPECT_THAT(failure({{"corpus", "corpus", ""}}), HasSubstr("inputs are to be read only"));
  EXPECT_EQ(cause_, ExitCause::not_started);
  EXPECT_TRUE(fs::exists(path));
}

TEST_F(StagedInputs, MakeRoomAndKeepWhatTasksHold) {
  limits_.bytes = 25;
  for (const char* name : {"a", "b", "c", "d"}) write(name, std::string(10, name[0]));
  const StagedInput a = stage({{"a", "a", ""}}, "group")[0];
  store().hold("task", {a.key});
  store().release("group");
  const fs::path b = staged("b");
  const fs::path c = staged("c");
  EXPECT_TRUE(fs::exists(a.data)) << "the oldest, but held";
  EXPECT_FALSE(fs::exists(b));
  EXPECT_TRUE(fs::exists(c));
  EXPECT_TRUE(is_empty(at() / "dropped"));
  holds_["task"] = {a.key};
  restart();
  const fs::path d = staged("d");
  EXPECT_TRUE(fs::exists(a.data)) << "a hold outlives the agent";
  EXPECT_FALSE(fs::exists(c));
  store().release("task");
  staged("b");
  EXPECT_FALSE(fs::exists(d)) << "the other was used until now";
  EXPECT_TRUE(fs::exists(a.data));
  staged("c");
  EXPECT_FALSE(fs::exists(a.data)) << "nobody holds it any more";
}

TEST_F(StagedInputs, LargerThanTheStoreAreForAnotherNode) {
  limits_.bytes = 9;
  write("a", std::string(10, 'a'));
  EXPECT_THAT(failure({{"a", "a", ""}}), HasSubstr("it has 10 B, and this node keeps 9 B of inputs"));
  EXPECT_EQ(cause_, ExitCause::cannot_run);
}

TEST_F(StagedInputs, WaitWhereOthersHoldTheRoom) {
  limits_.bytes = 15;
  write("a", std::string(10, 'a'));
  write("b", std::string(10, 'b'));
  stage({{"a", "a", ""}}, "running");
  EXPECT_THAT(failure({{"b", "b", ""}}), HasSubstr("there is no room for its 10 B"));
  EXPECT_EQ(cause_, ExitCause::not_started);
}

TEST_F(StagedInputs, OfAKilledAgentAreWholeOrGone) {
  fs::create_directories(at() / "entries/path-half");
  write_file_atomic(at() / "entries/path-half/entry.json", "{\"version\":");
  fs::create_directories(at() / "entries/path-bare/data");
  fs::create_directories(at() / "incoming/path-tree/data/deep");
  fs::create_directories(at() / "incoming/sha256-part");
  write_file_atomic(at() / "incoming/sha256-part/data", "wor");
  fs::create_directories(at() / "dropped/3/data");
  store();
  EXPECT_EQ(entries(), 0u);
  EXPECT_FALSE(fs::exists(at() / "incoming/path-tree"));
  EXPECT_TRUE(fs::exists(at() / "incoming/sha256-part/data")) << "a download is gone on with";
  EXPECT_TRUE(is_empty(at() / "dropped"));
}

TEST_F(StagedInputs, ThatWereBrokenOffGoForRoom) {
  limits_.bytes = 10;
  fs::create_directories(at() / "incoming/sha256-part");
  write_file_atomic(at() / "incoming/sha256-part/data", "wor");
  write("a", std::string(8, 'a'));
  staged("a");
  EXPECT_FALSE(fs::exists(at() / "incoming/sha256-part"));
}

TEST_F(StagedInputs, AreOneAgentsAlone) {
  store();
  try {
    InputStore another(at(), limits_);
    FAIL();
  } catch (const std::system_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("give one of the two another folder with --inputs"));
  }
}

TEST_F(StagedInputs, WantedByManyAtOnceAreStagedOnce) {
  write("a", std::string(1 << 20, 'a'));
  store();
  std::vector<fs::path> paths(8);
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < paths.size(); ++i)
      threads.emplace_back([&, i] {
        StagingProgress own;
        paths[i] = stage_inputs({{"a", "a", ""}}, data(), "holder " + std::to_string(i), store(), {}, own,
                                stop_.get_token())[0]
                       .data;
        progress_.staged += own.staged;
      });
  }
  EXPECT_THAT(paths, testing::Each(paths[0]));
  EXPECT_EQ(progress_.staged, 1);
  EXPECT_EQ(fs::file_size(paths[0]), std::size_t{1} << 20);
}

TEST_F(StagedInputs, HaveNamesBelowTheirFolderAndApart) {
  write("a", "a");
  for (const std::string to : {"", ".", "..", "../x", "/x", "a/../../x", "a/.."}) {
    EXPECT_THAT(failure({{"a", to, ""}}), HasSubstr("is no path below PODIUM_INPUTS")) << to;
    EXPECT_EQ(cause_, ExitCause::refused);
  }
  EXPECT_THAT(failure({{"a", "x", ""}, {"a", "x/y", ""}}), HasSubstr("lie in one another"));
  EXPECT_THAT(failure({{"a", "x/y", ""}, {"a", "x", ""}}), HasSubstr("lie in one another"));
  EXPECT_THAT(failure({{"a", "x", ""}, {"a", "./x/", ""}}), HasSubstr("lie in one another"));
  EXPECT_EQ(failure({{"a", "x/y", ""}, {"a", "xy", ""}}), "");
  EXPECT_THAT(failure({{"../data/a", "x", ""}}), HasSubstr("leads out of the data folder"));
}

TEST_F(StagedInputs, OfASmallDiskTakeThePlaceOfOthersAndLeaveRoom) {
  const test::SmallDisk disk(at(), "10m");
  if (!disk.is_mounted()) GTEST_SKIP() << "needs the right to mount";
  write("a", std::string(4 << 20, 'a'));
  write("b", std::string(6 << 20, 'b'));
  const fs::path a = staged("a");
  EXPECT_EQ(fs::file_size(staged("b")), std::size_t{6} << 20);
  EXPECT_FALSE(fs::exists(a));
  write("c", std::string(9 << 20, 'c'));
  EXPECT_THAT(failure({{"c", "c", ""}}), HasSubstr("there is no room for its 9.0 MiB in " + at().string()));
  EXPECT_EQ(cause_, ExitCause::not_started);
  EXPECT_EQ(entries(), 1u) << "what would not help stays";
  EXPECT_TRUE(is_empty(at() / "incoming"));
  store_.reset();
}

// The download was deleted and begun again, for ever.
TEST_F(StagedInputs, ThatFillADiskBeforeTheirEndGiveUp) {
  const test::SmallDisk disk(at(), "10m");
  if (!disk.is_mounted()) GTEST_SKIP() << "needs the right to mount";
  const fs::path served = folder_.path() / "served";
  fs::create_directories(served);
  const std::string content(7 << 20, 'x');
  write_file_atomic(served / "x", content);
  const test::FileServer server(served);
  std::jthread filler([&] {  // another takes the room that was there
    while (progress_.bytes == 0) std::this_thread::sleep_for(1ms);
    for (int i = 0; i < 8; ++i)
      std::ofstream(at() / ("other" + std::to_string(i))) << std::string(1 << 20, 'o');
  });
  EXPECT_THROW(stage({{server.url("/slow/4000000/x"), "x", sha256_of(content)}}), std::exception);
  EXPECT_TRUE(is_empty(at() / "incoming")) << "a full disk gets its room back";
  store_.reset();
}

// A part of a folder, of which programs write nothing.
TEST_F(StagedInputs, CanBeReadAndNotWritten) {
  fs::create_directories(data() / "folder/deep");
  write("folder/deep/a", "words");
  const fs::path path = staged("folder");
  EXPECT_EQ(fs::status(path).permissions(), fs::perms(0555));
  EXPECT_EQ(fs::status(path / "deep").permissions(), fs::perms(0555));
  EXPECT_TRUE(store().drop_one());
  EXPECT_FALSE(fs::exists(path));
  EXPECT_TRUE(is_empty(at() / "dropped"));
}

}  // namespace
}  // namespace podium
