// Saving and loading as the trainer does it: behind its back, to the bit, also from another job's folder.
#include "worker/checkpoint/store.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/worker/checkpoint/fixture.h"
#include "worker/checkpoint/reader.h"
#include "worker/formats/hashed_file.h"
#include "worker/formats/safetensors.h"

namespace podium {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST_F(Checkpoint, WhatIsSavedIsLoadedToTheBit) {
  EXPECT_EQ(load(), 0);
  save(200, true);
  EXPECT_EQ(load(), 200);
  EXPECT_THAT(problems_, IsEmpty());
  EXPECT_EQ(loaded_->phase, 1);
  EXPECT_EQ(loaded_->samples, 12'800);
  EXPECT_EQ(loaded_->passed_over, 5);
  EXPECT_EQ(loaded_->text, kText);
  EXPECT_EQ(loaded_->loss_scaler, (LossScalerState{4096, 17, 3, 2, 1}));
  EXPECT_EQ(loaded_->layout.world(), 1);
  EXPECT_EQ(loaded_->spec.name, "job");
  EXPECT_TRUE(loaded_->target_reached);
}

TEST_F(Checkpoint, AFinishedSaveIsToldOnce) {
  EXPECT_THAT(store().poll(), IsEmpty());
  store().begin_save(state_at(100), trained_.tensors());
  const std::vector<FinishedSave> finished = store().finish();
  ASSERT_EQ(finished.size(), 1u);
  EXPECT_EQ(finished[0].step, 100);
  EXPECT_EQ(finished[0].name, "step-00000100");
  EXPECT_EQ(static_cast<std::uintmax_t>(finished[0].bytes),
            fs::file_size(file("step-00000100", part_name(0))));
  EXPECT_GT(finished[0].seconds, 0);
  EXPECT_THAT(store().poll(), IsEmpty());
  EXPECT_THAT(store().finish(), IsEmpty());
}

// Whoever made them whole may not have lived to tell.
TEST_F(Checkpoint, WhatARunGoesOnFromAndTheBestBeforeItMayBeToldOnceMore) {
  save(100);
  CheckpointState state = state_at(200);
  state.best = {"eval/f1", 100, 88};
  store().begin_save(state, trained_.tensors());
  ASSERT_THAT(store().finish(), testing::SizeIs(1));
  EXPECT_EQ(load(), 200);
  ASSERT_EQ(found_.size(), 2u);
  EXPECT_EQ(found_[0].name, "step-00000100");
  EXPECT_EQ(found_[1].name, "step-00000200");
  for (const FinishedSave& save : found_) {
    EXPECT_EQ(save.step, step_of(save.name));
    EXPECT_EQ(static_cast<std::uintmax_t>(save.bytes), fs::file_size(file(save.name, part_name(0))));
    EXPECT_EQ(save.best, state.best);
  }
}

TEST_F(Checkpoint, ABestThatIsNotWholeIsForgottenAndToldOf) {
  save(100);
  CheckpointState state = state_at(200);
  state.best = {"eval/f1", 100, 88};
  store().begin_save(state, trained_.tensors());
  store().finish();
  fs::resize_file(file("step-00000100", part_name(0)), 100);
  EXPECT_EQ(load(), 200);
  EXPECT_FALSE(loaded_->best.known());
  EXPECT_THAT(problems_, ElementsAre(HasSubstr("step-00000100 is not whole")));
  ASSERT_EQ(found_.size(), 1u);
  EXPECT_FALSE(found_[0].best.known());
}

// Training changes the tensors as soon as it may, again and again, while saves are under way.
TEST_F(Checkpoint, TensorsMayChangeOnceTheyAreLetGo) {
  for (int step = 1; step <= 20; ++step) {
    trained_.refill(static_cast<float>(step), store().before_update());
    store().begin_save(state_at(step), trained_.tensors());
  }
  trained_.refill(1000, store().before_update());
  store().finish();
  for (const std::int64_t step : {18, 19, 20}) {
    const fs::path checkpoint = path_ / checkpoint_name(step);
    RankTensors loaded(kAlone, 0);
    read_tensors(checkpoint, read_manifest(checkpoint), loaded.tensors());
    EXPECT_EQ(loaded.wrong_values(static_cast<float>(step)), 0) << step;
  }
}

TEST_F(Checkpoint, OtherReadersFindTheTensorsByName) {
  save(200);
  const SafetensorsFile part(file("step-00000200", part_name(0)));
  EXPECT_EQ(part.at("weights/embeddings").shape, (std::vector<std::int64_t>{48, 6}));
  EXPECT_EQ(part.read_floats("weights/head.weight").size(), 15u);
  EXPECT_EQ(part.at("second_moment/layer.3.contract.weight").shape, (std::vector<std::int64_t>{9, 40}));
}

TEST_F(Checkpoint, TheManifestIsTheFormats) {
  save(200);
  const auto manifest = nlohmann::json::parse(read_file(file("step-00000200", "manifest.json")));
  EXPECT_EQ(manifest.at("version"), 3);
  EXPECT_EQ(manifest.at("step"), 200);
  EXPECT_EQ(manifest.at("phase"), 1);
  EXPECT_EQ(manifest.at("samples"), 12'800);
  EXPECT_EQ(manifest.at("passed_over"), 5);
  EXPECT_EQ(manifest.at("text"),
            (nlohmann::json{{"tokens", 1000}, {"sentences", 50}, {"xxh3", "0123456789abcdef"}}));
  EXPECT_EQ(manifest.at("vocabulary"), (nlohmann::json{{"tokens", 30}, {"xxh3", "fedcba9876543210"}}));
  EXPECT_EQ(manifest.at("layout"), (nlohmann::json{{"tensor", 1}, {"pipeline", 1}, {"data", 1}}));
  EXPECT_EQ(manifest.at("loss_scaler"),
            (nlohmann::json{
                {"scale", 4096.0}, {"clean_steps", 17}, {"skipped", 3}, {"not_finite", 2}, {"in_a_row", 1}}));
  EXPECT_EQ(manifest.at("target_reached"), false);
  EXPECT_EQ(manifest.at("spec"), to_json(state_at(200).spec));
  const auto& part = manifest.at("files").at("rank-00000.safetensors");
  EXPECT_EQ(part.at("xxh3"), digest_of(file("step-00000200", "rank-00000.safetensors")).xxh3);
  EXPECT_EQ(part.at("pieces").at(0), (nlohmann::json{{"parameter", "embeddings"}, {"shape", {48, 6}}}));
  EXPECT_EQ(std::distance(fs::directory_iterator(path_ / "step-00000200"), fs::directory_iterator()), 2);
}

TEST_F(Checkpoint, StepsOfMoreThanEightDigitsStayInOrder) {
  save(99'999'999);
  save(100'000'000);
  EXPECT_THAT(checkpoints_in(path_), ElementsAre("step-100000000", "step-99999999"));
  EXPECT_EQ(load(), 100'000'000);
}

TEST_F(Checkpoint, ARunGoesOnFromAnotherJobsFolderAndOnlyReadsIt) {
  save(100);
  save(200);
  fs::remove(file("step-00000200", part_name(0)));  // not whole
  const auto files = [&] { return std::distance(fs::recursive_directory_iterator(path_), {}); };
  const auto before = files();
  CheckpointStore later({folder_.path() / "own", true}, 3, world_, kAlone.layout);
  RankTensors fresh(kAlone, 0);
  ASSERT_FALSE(later.load_newest(spec_, kText, fresh.tensors(), problems_));
  EXPECT_EQ(later.load_newest_of(path_, spec_, kText, fresh.tensors(), problems_).step, 100);
  EXPECT_EQ(fresh.wrong_values(), 0);
  EXPECT_THAT(problems_, ElementsAre(HasSubstr("step-00000200")));
  EXPECT_EQ(files(), before);
  JobSpec other = spec_;
  other.training.seed = 7;
  EXPECT_THAT(refusal_to_resume(path_, other, WorkerExit::bad_spec),
              HasSubstr("\"resume\" needs the model and training sections of the job it goes on from"));
}

// The advice to go on from another job's end with more steps was refused, for the steps were others.
TEST_F(Checkpoint, AResumedRunMayTrainForAnotherNumberOfSteps) {
  save(100);
  JobSpec longer = spec_;
  longer.training.schedule.steps += 1000;
  EXPECT_EQ(refusal_to_resume(path_, longer, WorkerExit::bad_spec), "");
  spec_ = longer;
  store_.reset();
  EXPECT_THAT(failure_to_load(WorkerExit::bad_spec), HasSubstr("training.schedule.steps"))
      << "a run's own checkpoint is of its own schedule";
}

// Why the folder gave nothing was lost, and damage was called a bad spec.
TEST_F(Checkpoint, AResumeThatFindsNoWholeCheckpointSaysWhy) {
  EXPECT_THAT(refusal_to_resume(folder_.path() / "nowhere", spec_, WorkerExit::bad_spec),
              HasSubstr("nowhere holds no checkpoint"));
  save(100);
  break_checkpoint(100);
  const std::string why = refusal_to_resume(path_, spec_, WorkerExit::bad_data);
  EXPECT_THAT(why, HasSubstr("none of the 1 checkpoints"));
  EXPECT_THAT(why, HasSubstr(part_name(0)));
}

}  // namespace
}  // namespace podium
