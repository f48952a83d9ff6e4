// podium-worker prepare: killed, stopped and on a full disk, and what it prints.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "common/base/file.h"
#include "tests/child.h"
#include "tests/paths.h"
#include "tests/small_disk.h"
#include "tests/temp_folder.h"
#include "tests/worker/data/corpus_fixture.h"

namespace podium {
namespace {

using testing::HasSubstr;

namespace fs = std::filesystem;

class PrepareCommand : public testing::Test {
 protected:
  PrepareCommand() {
    std::string vocabulary;
    const Vocabulary made_up = made_up_vocabulary();
    for (std::int32_t id = 0; id < made_up.size(); ++id) vocabulary += made_up.token(id) + "\n";
    write("vocab.txt", vocabulary);
  }

  void write(const std::string& name, const std::string& text) { write_file_atomic(path(name), text); }
  fs::path path(const std::string& name) const { return folder_.path() / name; }
  // As a shell runs it in the folder.
  std::vector<std::string> command(const std::string& arguments) const {
    return {"/bin/sh", "-c",
            "cd " + folder_.path().string() + " && exec \"$0\" prepare --tokenizer wordpiece:vocab.txt " +
                arguments + " > out 2> log",
            test::program_path("podium-worker")};
  }
  int prepare(const std::string& arguments) const {
    const int status = Child(command(arguments), path("shell")).wait();
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  std::string printed() const { return read_file(path("out")); }
  std::string said() const { return read_file(path("log")); }
  std::string written(const std::string& name) const {
    return read_file(path(name + ".bin")) + "|" + read_file(path(name + ".idx"));
  }
  // All files that begin with `name`, without the folder.
  std::vector<std::string> files_of(const std::string& name) const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_.path()))
      if (entry.path().filename().string().starts_with(name)) names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }

  TempFolder folder_;
};

TEST_F(PrepareCommand, TellsWhatItMadeAndWhatItLeftOut) {
  write("a.txt", "w1 w2\nw3\n\n\xFF\n\nw4\n");
  EXPECT_EQ(prepare("--out made a.txt"), 65);
  EXPECT_THAT(said(), HasSubstr("a.txt:4: the text is not UTF-8"));
  EXPECT_EQ(prepare("--out made --skip-bad a.txt"), 0) << said();
  EXPECT_THAT(
      printed(),
      HasSubstr("made: 2 documents, 3 sequences, 4 tokens in 8 bytes, from 16 bytes of text in 1 files"));
  EXPECT_THAT(printed(), HasSubstr("left out, not UTF-8: 1\n  a.txt:4: "));
  EXPECT_EQ(prepare("--out made --skip-bad --json a.txt"), 0) << said();
  const auto report = nlohmann::json::parse(printed());
  EXPECT_EQ(report.at("documents"), 2);
  EXPECT_EQ(report.at("skipped").at("not UTF-8").at("count"), 1);
  EXPECT_THAT(files_of("made"), testing::ElementsAre("made.bin", "made.idx", "made.json"));
}

TEST_F(PrepareCommand, RefusesWhatItCannotDo) {
  write("a.txt", "w1\n");
  EXPECT_EQ(prepare("--out made none.txt"), 65);
  EXPECT_THAT(said(), HasSubstr("none.txt"));
  EXPECT_EQ(prepare("--out made /dev/zero"), 65);
  EXPECT_THAT(said(), HasSubstr("/dev/zero is no regular file"));
  EXPECT_EQ(prepare("--out a.txt/made a.txt"), 64);
  EXPECT_THAT(said(), HasSubstr("choose an --out that can be written"));
  fs::create_symlink("loop", path("loop"));
  EXPECT_EQ(prepare("--out made loop"), 65);
  EXPECT_THAT(said(), HasSubstr("name files and folders that can be read"));
  EXPECT_EQ(prepare("--out made --append-eod a.txt"), 64);
  EXPECT_EQ(prepare("--out made --part 2/2 a.txt"), 64);
  EXPECT_EQ(prepare("--out made --documents pages a.txt"), 64);
  EXPECT_EQ(prepare("--out made --jsonl text --documents lines a.txt"), 64);
  EXPECT_EQ(files_of("made").size(), 0u);
  EXPECT_EQ(prepare("--out deep/er/made --part 0/2 a.txt"), 0) << said();
  EXPECT_EQ(prepare("--out deep/er/made --part 1/2 a.txt"), 0) << said();
  EXPECT_TRUE(fs::exists(path("deep/er/made-00000-of-00002.idx")));
}

TEST_F(PrepareCommand, TextWithoutADocumentIsRefusedAndLeavesNothing) {
  write("empty.txt", "");
  write("blank.txt", "\n \n");
  write("bad.txt", "\xFF\n\n\xFE\n");
  EXPECT_EQ(prepare("--out made empty.txt"), 65);
  EXPECT_THAT(said(), HasSubstr("empty.txt: there is no document to prepare"));
  EXPECT_EQ(prepare("--out made empty.txt blank.txt"), 65);
  EXPECT_THAT(said(), HasSubstr(" and 1 more: there is no document to prepare"));
  EXPECT_EQ(prepare("--out made --skip-bad bad.txt"), 65);
  EXPECT_THAT(said(),
              HasSubstr("no document to prepare; 2 left out such as bad.txt:1: the text is not UTF-8"));
  EXPECT_EQ(files_of("made").size(), 0u);
  write("a.txt", "w1\n");
  EXPECT_EQ(prepare("--out made a.txt"), 0) << said();
  EXPECT_EQ(prepare("--out made --restart empty.txt"), 65);
  EXPECT_EQ(files_of("made").size(), 3u) << "what an earlier run has finished stays";
}

TEST_F(PrepareCommand, KilledAnywhereItGoesOnToTheSameBytes) {
  for (int i = 0; i < 4; ++i)
    write("t" + std::to_string(i) + ".txt", made_up_text(8000, static_cast<std::uint64_t>(i)));
  const std::string arguments = " --threads 2 --save-every 300kB 't*.txt'";
  ASSERT_EQ(prepare("--out whole" + arguments), 0) << said();
  int killed = 0;
  for (int wait = 1; !fs::exists(path("made.json")); wait += 1 + wait / 8) {
    Child child(command("--out made" + arguments), path("shell"));
    std::this_thread::sleep_for(std::chrono::milliseconds(wait));
    child.signal(SIGKILL);
    const int status = child.wait();
    killed += WIFSIGNALED(status);
    ASSERT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0) << said();
  }
  EXPECT_GT(killed, 3);
  ASSERT_EQ(prepare("--out made" + arguments), 0)
      << "also where it was killed behind the last rename: " << said();
  EXPECT_TRUE(written("made") == written("whole"));
  EXPECT_EQ(read_file(path("made.json")), read_file(path("whole.json")));
  EXPECT_EQ(files_of("made").size(), 3u);
}

TEST_F(PrepareCommand, ItsOutputMayLieBesideItsInput) {
  fs::create_directory(path("data"));
  for (const char* name : {"a.txt", "b.txt"}) write("data/" + std::string(name), made_up_text(8000, 1));
  ASSERT_EQ(prepare("--out whole data/"), 0) << said();
  Child child(command("--out data/all --threads 1 --save-every 100kB data/"), path("shell"));
  while (!fs::exists(path("data/all.prepare.json")))
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  child.signal(SIGKILL);
  ASSERT_TRUE(WIFSIGNALED(child.wait()));
  ASSERT_EQ(prepare("--out data/all --save-every 100kB data/"), 0) << said();
  EXPECT_TRUE(written("data/all") == written("whole"));
  EXPECT_EQ(prepare("--out data/all 'data/*'"), 0) << said();
  EXPECT_THAT(printed(), HasSubstr("it was whole already"));
}

TEST_F(PrepareCommand, SigtermEndsItAndTheSameCommandGoesOn) {
  write("t.txt", made_up_text(150'000, 1));
  ASSERT_EQ(prepare("--out whole t.txt"), 0) << said();
  Child child(command("--out made --threads 1 t.txt"), path("shell"));
  while (!fs::exists(path("made.bin.part"))) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  child.signal(SIGTERM);
  const int status = child.wait();
  ASSERT_TRUE(WIFEXITED(status));
  ASSERT_EQ(WEXITSTATUS(status), 79) << said();
  EXPECT_FALSE(fs::exists(path("made.bin")));
  EXPECT_THAT(said(), HasSubstr("the same command goes on"));
  EXPECT_EQ(prepare("--out made t.txt"), 0) << said();
  EXPECT_TRUE(written("made") == written("whole"));
}

TEST_F(PrepareCommand, AFullDiskIsSaidAndLeavesNothingUnderAFinalName) {
  write("t.txt", made_up_text(20'000, 1));
  ASSERT_EQ(prepare("--out whole t.txt"), 0) << said();
  const test::SmallDisk disk(path("small"), "1m");
  if (!disk.is_mounted()) GTEST_SKIP() << "skipped: waits for the right to mount a file system";
  EXPECT_EQ(prepare("--out small/made --save-every 100kB t.txt"), 73);
  EXPECT_THAT(said(), HasSubstr("No space left on device"));
  EXPECT_THAT(said(), HasSubstr("the same command goes on where it was"));
  for (const char* name : {"small/made.bin", "small/made.idx", "small/made.json"})
    EXPECT_FALSE(fs::exists(path(name))) << name;
}

}  // namespace
}  // namespace podium
