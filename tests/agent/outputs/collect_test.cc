// Outputs of ended tasks: all that the globs name, whole, without following a link.
#include "agent/outputs/collect.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "agent/outputs/output_collector.h"
#include "common/base/file.h"
#include "tests/small_disk.h"
#include "tests/temp_folder.h"

namespace podium {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Outputs : public testing::Test {
 protected:
  Outputs() { fs::create_directories(work()); }

  fs::path work() const { return folder_.path() / "work"; }
  fs::path to() const { return folder_.path() / "shared/jobs/7/outputs"; }

  void write(const std::string& path, const std::string& text, int mode = 0644) {
    fs::create_directories((work() / path).parent_path());
    write_file_atomic(work() / path, text, mode);
  }

  Collection collection(std::vector<std::string> globs, int attempt = 1) {
    Collection collection;
    collection.task = {{{7}, attempt}, 0};
    collection.folder = work();
    collection.globs = std::move(globs);
    collection.to = to();
    collection.limits = limits_;
    return collection;
  }
  Collected collect(std::vector<std::string> globs, int attempt = 1) {
    return collect_outputs(collection(std::move(globs), attempt), stop_.get_token());
  }
  std::string refusal(std::vector<std::string> globs) {
    try {
      collect(std::move(globs));
      return "";
    } catch (const OutputsRefused& refused) {
      return refused.what();
    }
  }

  // Below the place of attempt 1.
  std::vector<std::string> there(int attempt = 1) const {
    std::vector<std::string> paths;
    const fs::path place = to() / std::to_string(attempt) / "0";
    for (const auto& entry : fs::recursive_directory_iterator(place))
      if (!entry.is_directory()) paths.push_back(fs::relative(entry.path(), place));
    std::ranges::sort(paths);
    return paths;
  }
  std::vector<std::string> in(const fs::path& folder) const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename());
    std::ranges::sort(names);
    return names;
  }

  TempFolder folder_;
  OutputLimits limits_;
  std::stop_source stop_;
};

TEST_F(Outputs, ThatAreNamedAreCollected) {
  write("results/a/b.txt", "b");
  write("results/run.sh", "#!/bin/sh", 0755);
  write("model.pt", "weights");
  write("train.py", "code");
  const Collected collected = collect({"results/**", "*.pt", "none/**"});
  EXPECT_EQ(collected.files, 3);
  EXPECT_EQ(collected.bytes, 17);
  EXPECT_THAT(there(), ElementsAre("model.pt", "results/a/b.txt", "results/run.sh"));
  EXPECT_EQ(read_file(to() / "1/0/results/a/b.txt"), "b");
  EXPECT_EQ(fs::status(to() / "1/0/results/run.sh").permissions() & fs::perms::owner_exec,
            fs::perms::owner_exec);
  EXPECT_THAT(in(to()), ElementsAre("1")) << "no draft is left";
  EXPECT_EQ(describe_outputs(collection({}), collected),
            "3 output(s), 17 B, are in " + (to() / "1/0").string());
}

TEST_F(Outputs, AreCollectedAgainWhereAnAgentWasKilled) {
  write("model.pt", "weights");
  fs::create_directories(to() / ".1-0/half");
  collect({"*.pt"});
  EXPECT_THAT(in(to() / "1/0"), ElementsAre("model.pt"));
  EXPECT_THAT(in(to()), ElementsAre("1"));
  write("more.pt", "more");
  EXPECT_EQ(collect({"*.pt"}).bytes, 7) << "they are there, and whole";
  EXPECT_THAT(there(), ElementsAre("model.pt"));
}

TEST_F(Outputs, ThatAreLinksAreLeftOutWhateverTheyLeadTo) {
  write_file_atomic(folder_.path() / "secret", "secret");
  fs::create_directories(folder_.path() / "elsewhere");
  write_file_atomic(folder_.path() / "elsewhere/file", "secret");
  write("results/real", "real");
  fs::create_symlink(folder_.path() / "secret", work() / "results/secret");
  fs::create_symlink("real", work() / "results/own");
  fs::create_directory_symlink(folder_.path() / "elsewhere", work() / "results/folder");
  fs::create_directory_symlink(folder_.path() / "elsewhere", work() / "links");
  ASSERT_EQ(::mkfifo((work() / "results/pipe").c_str(), 0600), 0);
  const Collected collected = collect({"results/**", "links/**", "links/file"});
  EXPECT_THAT(there(), ElementsAre("results/real"));
  EXPECT_EQ(collected.left_out, 4);
  EXPECT_THAT(describe_outputs(collection({}), collected), HasSubstr("4 links and the like are left out"));
}

TEST_F(Outputs, OfTheTasksFolderAreWithoutWhatIsTheAgents) {
  write("launch.json", "secret");
  write("launch.json.tmp.1", "secret");
  write("launch.jsonl", "the program's");
  write("deep/launch.json", "the program's");
  Collection all = collection({"**"});
  all.task_folder = work();
  all.left_out = {"launch.json"};
  collect_outputs(all, stop_.get_token());
  EXPECT_THAT(there(), ElementsAre("deep/launch.json", "launch.jsonl"));
}

TEST_F(Outputs, OfAFolderAroundTheTasksAreWithoutItToo) {
  write("task/launch.json", "secret");
  write("task/model", "m");
  Collection all = collection({"**"});
  all.folder = work() / "task" / "..";
  all.task_folder = work() / "task";
  all.left_out = {"launch.json"};
  collect_outputs(all, stop_.get_token());
  EXPECT_THAT(there(), ElementsAre("task/model"));
}

TEST_F(Outputs, WithNamesThatAreNoTextAreLeftOut) {
  write("epoch#3 100%\\.png", "p");
  write("b\xff" "d", "no");
  const Collected collected = collect({"*"});
  EXPECT_THAT(there(), ElementsAre("epoch#3 100%\\.png"));
  EXPECT_EQ(collected.left_out, 1);
}

TEST_F(Outputs, OfAProcessThatCollectsNoneAreAnEmptyFolder) {
  write("a", "x");
  Collection none = collection({"*"});
  none.folder.clear();
  EXPECT_EQ(collect_outputs(none, stop_.get_token()).files, 0);
  EXPECT_THAT(there(), IsEmpty());
}

TEST_F(Outputs, OfNothingAreAnEmptyFolder) {
  EXPECT_EQ(collect({"*.pt"}).files, 0);
  EXPECT_THAT(there(), IsEmpty());
  EXPECT_EQ(describe_outputs(collection({}), {}), "no file is what its outputs name");
}

TEST_F(Outputs, BeyondTheLimitsAreNotCollectedAtAll) {
  write("a", "12345");
  write("b", "12345");
  limits_.bytes = 9;
  EXPECT_THAT(refusal({"*"}), HasSubstr("they have more than 9 B"));
  limits_ = {.bytes = 10, .files = 1};
  EXPECT_THAT(refusal({"*"}), HasSubstr("more than 1 files are named"));
  limits_ = {.bytes = 10, .files = 2, .looked_at = 1};
  EXPECT_THAT(refusal({"*"}), HasSubstr("holds more than 1 files"));
  EXPECT_FALSE(fs::exists(to() / "1"));
  limits_ = {.bytes = 10, .files = 2, .looked_at = 2};
  EXPECT_EQ(refusal({"*"}), "");
}

TEST_F(Outputs, OfAFolderThatIsGoneAreRefused) {
  fs::remove_all(work());
  EXPECT_THAT(refusal({"*"}), HasSubstr("its working folder " + work().string() + " is gone"));
}

TEST_F(Outputs, TenThousandAreCollected) {
  fs::create_directories(work() / "results");
  for (int i = 0; i < 10'000; ++i) {
    const Fd file = open_file(work() / "results" / std::to_string(i), O_CREAT | O_WRONLY);
    write_all(file.get(), std::to_string(i), "");
  }
  EXPECT_EQ(collect({"results"}).files, 10'000);
  EXPECT_EQ(read_file(to() / "1/0/results/9999"), "9999");
  EXPECT_EQ(there().size(), 10'000u);
}

TEST_F(Outputs, OfTheNewestAttemptsStayAndEmptyOnesTakeNobodysPlace) {
  write("a", "x");
  for (int attempt = 7; attempt <= 9; ++attempt) collect({"a"}, attempt);
  for (int attempt = 10; attempt <= 14; ++attempt) collect({"none"}, attempt);
  EXPECT_THAT(in(to()), ElementsAre("10", "11", "12", "13", "14", "7", "8", "9"));
  collect({"a"}, 15);
  EXPECT_THAT(in(to()), ElementsAre("10", "11", "12", "13", "14", "15", "8", "9"));
}

TEST_F(Outputs, OnAFullDiskLeaveNothingHalf) {
  const test::SmallDisk disk(folder_.path() / "shared", "2m");
  if (!disk.is_mounted()) GTEST_SKIP() << "needs the right to mount";
  write("small", std::string(1000, 'x'));
  write("zlarge", std::string(3 << 20, 'x'));
  EXPECT_THROW(collect({"*"}), std::system_error);
  EXPECT_THAT(in(to()), IsEmpty());
  EXPECT_EQ(collect({"small"}).files, 1);
}

TEST_F(Outputs, AreTriedAgainUntilTheSharedFolderTakesThem) {
  write("a", "x");
  fs::create_directories(folder_.path() / "shared/jobs");
  write_file_atomic(folder_.path() / "shared/jobs/7", "in the way");
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<OutputsTold> told;
  const auto wait = [&] {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return told.has_value(); });
    return *std::exchange(told, std::nullopt);
  };
  OutputCollector collector(
      [&](TaskId, OutputsTold said) {
        const std::lock_guard lock(mutex);
        told = std::move(said);
        changed.notify_all();
      },
      {.pause = 1ms, .tries = 3});
  collector.collect(collection({"a"}));
  const OutputsTold failed = wait();
  EXPECT_EQ(failed.level, "error");
  EXPECT_THAT(failed.message, HasSubstr("its outputs are not collected: "));
  fs::remove(folder_.path() / "shared/jobs/7");
  collector.collect(collection({"a"}));
  EXPECT_EQ(wait().message, "1 output(s), 1 B, are in " + (to() / "1/0").string());
  limits_.files = 0;
  collector.collect(collection({"a"}, 2));
  EXPECT_THAT(wait().message, HasSubstr("more than 0 files are named"));
}

}  // namespace
}  // namespace podium
