#include "worker/train/checkpoint.h"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <nlohmann/json.hpp>

#include "tests/temp_folder.h"
#include "worker/train/failure.h"

namespace podium {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A model of two parameters with an optimizer that has run `steps` steps.
struct Model {
  explicit Model(int steps) {
    parameters.add("weight", {50, 30}, Initializer::normal, true);
    parameters.add("bias", {7}, Initializer::ones, false);
    parameters.allocate();
    parameters.initialise(1, 0.02);
    optimizer = make_optimizer({}, parameters, 1);
    for (int step = 1; step <= steps; ++step) {
      std::fill(parameters.gradients().begin(), parameters.gradients().end(),
                0.1F * static_cast<float>(step));
      optimizer->update(parameters, step, 0.01, 1);
    }
  }

  std::vector<float> everything() {
    std::vector<float> all(parameters.weights().begin(), parameters.weights().end());
    all.insert(all.end(), optimizer->first_moment().begin(), optimizer->first_moment().end());
    all.insert(all.end(), optimizer->second_moment().begin(), optimizer->second_moment().end());
    return all;
  }

  ParameterStore parameters;
  std::unique_ptr<Optimizer> optimizer;
};

TrainingState state_at(std::int64_t step) { return {step, "spec", 2, false}; }

class Checkpoint : public testing::Test {
 protected:
  void save(std::int64_t step) { saved_.save(state_at(step), trained_.parameters, *trained_.optimizer); }

  // Loads into a fresh model; the step that was found, 0 for none.
  std::int64_t load() {
    Model fresh(0);
    problems_.clear();
    const auto state =
        CheckpointFolder(path_, 3).load_newest("spec", fresh.parameters, *fresh.optimizer, problems_);
    if (!state) return 0;
    EXPECT_EQ(fresh.everything(), trained_.everything());
    return state->step;
  }

  fs::path file(const std::string& checkpoint, const std::string& name) const {
    return path_ / checkpoint / name;
  }

  TempFolder folder_;
  fs::path path_ = folder_.path() / "checkpoints";
  CheckpointFolder saved_{path_, 3};
  Model trained_{5};
  std::vector<std::string> problems_;
};

TEST_F(Checkpoint, WhatIsSavedIsLoadedToTheBit) {
  EXPECT_EQ(load(), 0);
  save(200);
  EXPECT_EQ(load(), 200);
  EXPECT_THAT(problems_, IsEmpty());
}

TEST_F(Checkpoint, TheManifestIsTheFormats) {
  save(200);
  const auto manifest = nlohmann::json::parse(read_file(file("step-00000200", "manifest.json")));
  const auto digest = [&](const char* name) -> nlohmann::json {
    const FileDigest found = digest_of(file("step-00000200", name));
    return {{"bytes", found.bytes}, {"xxh3", found.xxh3}};
  };
  const nlohmann::json expected{{"version", 1},
                                {"step", 200},
                                {"fingerprint", "spec"},
                                {"world_size", 2},
                                {"target_reached", false},
                                {"files",
                                 {{"weights.safetensors", digest("weights.safetensors")},
                                  {"optimizer.safetensors", digest("optimizer.safetensors")}}}};
  EXPECT_EQ(manifest, expected);
}

TEST_F(Checkpoint, OnlyTheNewestStay) {
  for (const std::int64_t step : {100, 200, 300, 400, 500}) save(step);
  EXPECT_THAT(list_checkpoints(path_), ElementsAre("step-00000500", "step-00000400", "step-00000300"));
}

TEST_F(Checkpoint, StepsOfMoreThanEightDigitsStayInOrder) {
  save(99'999'999);
  save(100'000'000);
  EXPECT_THAT(list_checkpoints(path_), ElementsAre("step-100000000", "step-99999999"));
  EXPECT_EQ(load(), 100'000'000);
}

class BrokenCheckpoint : public Checkpoint, public testing::WithParamInterface<const char*> {};

// Every way in which one file of the newest checkpoint can be wrong.
TEST_P(BrokenCheckpoint, IsPassedOverForTheNewestWholeOne) {
  const std::string name = GetParam();
  save(100);
  const auto breakages = std::vector<std::function<void(const fs::path&)>>{
      [](const fs::path& path) { fs::remove(path); },
      [](const fs::path& path) { fs::resize_file(path, fs::file_size(path) / 2); },
      [](const fs::path& path) { fs::resize_file(path, 0); },
      [](const fs::path& path) {
        std::string bytes = read_file(path);
        bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 4);
        write_file_atomic(path, bytes);
      },
  };
  for (const auto& breakage : breakages) {
    save(200);
    breakage(file("step-00000200", name));
    EXPECT_EQ(load(), 100);
    EXPECT_THAT(problems_, ElementsAre(HasSubstr("step-00000200")));
  }
  save(200);
  EXPECT_EQ(load(), 200) << "a broken checkpoint can be written again";
}

INSTANTIATE_TEST_SUITE_P(Files, BrokenCheckpoint,
                         testing::Values("weights.safetensors", "optimizer.safetensors"));

TEST_F(Checkpoint, WithoutItsManifestItIsAbsent) {
  save(100);
  save(200);
  fs::remove(file("step-00000200", "manifest.json"));
  EXPECT_EQ(load(), 100);
  save(200);
  fs::resize_file(file("step-00000200", "manifest.json"), 10);
  EXPECT_EQ(load(), 100);
}

TEST_F(Checkpoint, WhenAllAreBrokenTrainingBeginsAnew) {
  save(100);
  fs::remove(file("step-00000100", "weights.safetensors"));
  EXPECT_EQ(load(), 0);
  EXPECT_EQ(problems_.size(), 1u);
}

TEST_F(Checkpoint, AnInterruptedSaveIsCleanedUp) {
  const fs::path half = path_ / ".saving-step-00000300";
  fs::create_directories(half);
  write_file_atomic(half / "weights.safetensors", "half");
  EXPECT_EQ(load(), 0);
  EXPECT_FALSE(fs::exists(half));
}

TEST_F(Checkpoint, AnotherSpecIsRefused) {
  save(100);
  Model fresh(0);
  try {
    saved_.load_newest("another spec", fresh.parameters, *fresh.optimizer, problems_);
    FAIL() << "loaded";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.exit, WorkerExit::bad_spec);
    EXPECT_THAT(failure.what(), HasSubstr("step-00000100"));
  }
}

TEST_F(Checkpoint, AFolderThatCannotBeMadeIsNamed) {
  write_file_atomic(folder_.path() / "file", "");
  try {
    CheckpointFolder(folder_.path() / "file" / "checkpoints", 3);
    FAIL() << "made";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.exit, WorkerExit::disk_full);
    EXPECT_THAT(failure.what(), HasSubstr((folder_.path() / "file").string()));
  }
}

// The limit on file sizes stands for a full disk: write(2) fails in the middle of a file.
TEST_F(Checkpoint, AFullDiskNamesTheFileAndKeepsTheOldCheckpoint) {
  save(100);
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit small{4096, 4096};
    ::setrlimit(RLIMIT_FSIZE, &small);
    try {
      save(200);
    } catch (const Failure& failure) {
      const std::string what = failure.what();
      std::_Exit(
          failure.exit == WorkerExit::disk_full && what.find("weights.safetensors") != std::string::npos ? 7
                                                                                                         : 1);
    }
    std::_Exit(2);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 7);
  EXPECT_EQ(load(), 100);
  EXPECT_THAT(list_checkpoints(path_), ElementsAre("step-00000100"));
  EXPECT_EQ(std::distance(fs::directory_iterator(path_), fs::directory_iterator()), 1)
      << "nothing half written stays";
}

}  // namespace
}  // namespace podium
