// Checkpoints that are not gone on from: past every kind of damage, and of other runs.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <unistd.h>

#include <functional>

#include "tests/worker/checkpoint/fixture.h"
#include "tests/worker/comm/processes.h"

namespace podium {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class BrokenCheckpoint : public Checkpoint, public testing::WithParamInterface<const char*> {};

// Every way in which one file of the newest checkpoint can be wrong.
TEST_P(BrokenCheckpoint, IsPassedOverForTheNewestWholeOne) {
  save(100);
  const auto flip = [](const fs::path& path, std::size_t at) {
    std::string bytes = read_file(path);
    bytes[at % bytes.size()] = static_cast<char>(bytes[at % bytes.size()] ^ 4);
    write_file_atomic(path, bytes);
  };
  const auto breakages = std::vector<std::function<void(const fs::path&)>>{
      [](const fs::path& path) { fs::remove(path); },
      [](const fs::path& path) { fs::resize_file(path, fs::file_size(path) / 2); },
      [](const fs::path& path) { fs::resize_file(path, 0); },
      [](const fs::path& path) { fs::resize_file(path, fs::file_size(path) + 1); },
      [&](const fs::path& path) { flip(path, 3); },
      [&](const fs::path& path) { flip(path, fs::file_size(path) / 2); },
      [&](const fs::path& path) { flip(path, fs::file_size(path) - 1); },
      [](const fs::path& path) {
        fs::remove(path);
        fs::create_directory(path);
      },
  };
  for (const auto& breakage : breakages) {
    save(200);
    breakage(file("step-00000200", GetParam()));
    EXPECT_EQ(load(), 100);
    EXPECT_THAT(problems_, ElementsAre(HasSubstr("step-00000200")));
  }
  save(200);
  EXPECT_EQ(load(), 200) << "a broken checkpoint can be written again";
}

INSTANTIATE_TEST_SUITE_P(Files, BrokenCheckpoint, testing::Values("rank-00000.safetensors", "manifest.json"),
                         [](const auto& instance) {
                           const std::string name = instance.param;
                           return name.substr(0, name.find_first_of("-."));
                         });

TEST(CheckpointManifest, NoFlippedBitGoesUnnoticed) {
  const std::string good = manifest_text({state_at(200), {{part_name(0), {{12, "0123456789abcdef"}, {}}}}});
  EXPECT_NO_THROW(parse_manifest(good));
  for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_ANY_THROW(parse_manifest(bad)) << "bit " << bit;
  }
}

TEST_F(Checkpoint, WhenAllAreBrokenTheRunStopsAndSaysWhy) {
  save(100);
  save(200);
  break_checkpoint(100);
  break_checkpoint(200);
  const std::string why = failure_to_load(WorkerExit::bad_data);
  EXPECT_THAT(why, HasSubstr("none of the 2 checkpoints in " + path_.string()));
  EXPECT_THAT(why, HasSubstr(part_name(0)));
  EXPECT_THAT(why, HasSubstr("checkpoint.begin_anew: true"));
  EXPECT_THAT(checkpoints_in(path_), testing::SizeIs(2)) << "nothing was changed";
}

TEST_F(Checkpoint, WhenAllAreBrokenTrainingBeginsAnewWhereItIsAskedTo) {
  save(100);
  break_checkpoint(100);
  spec_.checkpoint.begin_anew = true;
  EXPECT_EQ(load(), 0);
  EXPECT_THAT(problems_, ElementsAre(HasSubstr(part_name(0))));
}

TEST_F(Checkpoint, AnOlderFormatIsRefusedAndLeftAlone) {
  fs::create_directories(path_ / "step-00000100");
  write_file_atomic(file("step-00000100", "manifest.json"), R"({"version": 1, "step": 100, "files": {}})");
  EXPECT_THAT(failure_to_load(WorkerExit::bad_spec), HasSubstr("format 1"));
  EXPECT_TRUE(fs::exists(file("step-00000100", "manifest.json")));
}

TEST_F(Checkpoint, AnotherRunIsRefusedAndTheDifferenceNamed) {
  save(100);
  EXPECT_EQ(failure_to_load(WorkerExit::bad_spec), "");
  spec_.training.seed = 7;
  const std::string why = failure_to_load(WorkerExit::bad_spec);
  EXPECT_THAT(why, HasSubstr("step-00000100"));
  EXPECT_THAT(why, HasSubstr("training.seed was 1 and is 7"));
}

TEST_F(Checkpoint, OtherTextIsRefusedAndMovedTextIsNot) {
  save(100);
  spec_.data.train = {"elsewhere/*.txt"};
  EXPECT_EQ(failure_to_load(WorkerExit::bad_data), "");
  const std::string why = failure_to_load(WorkerExit::bad_data, {1001, 50, "fedcba9876543210"});
  EXPECT_THAT(why, HasSubstr("step-00000100"));
  EXPECT_THAT(why, HasSubstr("1000 tokens in 50 sentences"));
  EXPECT_THAT(why, HasSubstr("1001 tokens"));
}

// What cannot be read for a while was passed over as broken: the run went on from an older one, or ended with
// 65 and was never tried again.
TEST_F(Checkpoint, ADiskThatFailsToReadDoesNotMakeACheckpointABrokenOne) {
  save(100);
  save(200);
  const fs::path part = file("step-00000200", part_name(0));
  fs::remove(part);
  fs::create_symlink("/proc/self/mem", part);  // whose first byte gives EIO
  const std::string why = failure_to_load(WorkerExit::disk_full);
  EXPECT_THAT(why, HasSubstr("step-00000200"));
  EXPECT_THAT(why, HasSubstr("Input/output error"));
  EXPECT_THAT(problems_, IsEmpty());
  EXPECT_THAT(refusal_to_resume(path_, spec_, WorkerExit::disk_full), HasSubstr("step-00000200"));
}

TEST_F(Checkpoint, AProcessWithTooManyOpenFilesTakesNoneForBroken) {
  save(100);
  ForkedProcesses child(1, [&](int) {
    const rlimit limit{static_cast<rlim_t>(::dup(0)), 4096};  // the next file is one too many
    RankTensors fresh(kAlone, 0);
    ::setrlimit(RLIMIT_NOFILE, &limit);
    try {
      store().load_newest(spec_, kText, fresh.tensors(), problems_);
    } catch (const Failure& failure) {
      const bool named = std::string(failure.what()).find(path_.string()) != std::string::npos;
      return failure.exit == WorkerExit::disk_full && named ? 7 : 8;
    }
    return 9;
  });
  EXPECT_EQ(child.wait(0), 7);
}

TEST_F(Checkpoint, AManifestThatCannotBeReadIsNoBrokenOne) {
  save(100);
  const fs::path manifest = file("step-00000100", kManifestName);
  fs::remove(manifest);
  fs::create_symlink("/proc/self/mem", manifest);
  EXPECT_THAT(failure_to_load(WorkerExit::disk_full), HasSubstr("move the checkpoint away"));
}

}  // namespace
}  // namespace podium
