// A run that begins, in one process, and checkpoints of another one whose weights it may take.
#pragma once

#include <gmock/gmock.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "common/base/file.h"
#include "tests/temp_folder.h"
#include "tests/worker/nn/small_models.h"
#include "worker/checkpoint/store.h"
#include "worker/data/failure.h"
#include "worker/formats/hugging_face.h"
#include "worker/input/bad_data.h"
#include "worker/train/first_weights.h"

namespace podium {

namespace fs = std::filesystem;

inline constexpr char kWord[] = "bert.embeddings.word_embeddings.weight";

using Weights = std::map<std::string, std::vector<float>>;

class FirstWeightsOf : public testing::Test {
 protected:
  FirstWeightsOf() {
    launch_.spec.name = "squad";
    launch_.spec.model = trained_;
    launch_.spec.training.seed = 5;
    launch_.data_folder = folder_.path();
    begin_another_run();
  }

  // A run of its own; begin() makes further attempts of it.
  void begin_another_run() {
    launch_.checkpoint_folder = folder_.path() / ("own-" + std::to_string(++runs_));
    fs::create_directories(launch_.checkpoint_folder);
  }
  fs::path pinned() const { return fs::path(launch_.checkpoint_folder) / "origin.json"; }

  // A checkpoint of a single rank; its weights, which no other step has.
  Weights save(std::int64_t step, const BestCheckpoint& best = {}, std::uint64_t seed = 0) {
    test::LoneModel lone(trained_, {});
    ParameterStore& parameters = lone.model->parameters();
    test::randomise(parameters, seed + static_cast<std::uint64_t>(step));
    CheckpointStore store(CheckpointFolder(run_, true), 100, lone.world, {});
    CheckpointState state;
    state.step = step;
    state.best = best;
    state.spec.model = trained_;
    state.spec.model.vocab = 0;  // left to the tokenizer
    state.spec.data.tokenizer.wordpiece = "theirs.txt";
    state.vocabulary = their_tokens_;
    store.begin_save(state, {parameters, {}, {{0, parameters.end()}}});
    store.finish();
    Weights weights;
    for (const Parameter& p : parameters.list()) {
      const auto values = parameters.weights(p);
      weights[p.name] = {values.begin(), values.end()};
    }
    return weights;
  }
  void write_as_hugging_face(ParameterStore& parameters, const fs::path& folder) const {
    std::vector<FullTensor> full;
    for (const Parameter& p : parameters.list()) {
      const auto values = parameters.weights(p);
      const Shape shape = p.full_shape();
      FullTensor tensor{p.name, {}, {values.begin(), values.end()}};
      for (int axis = 0; axis < shape.rank(); ++axis) tensor.shape.push_back(shape[axis]);
      full.push_back(std::move(tensor));
    }
    write_hugging_face(folder, trained_, source_of(full), std::int64_t{1} << 30);
  }
  void break_step(std::int64_t step) { fs::remove(run_ / checkpoint_name(step) / part_name(0)); }

  // What a single rank begins with.
  Weights begin(const ModelOptions& options = {}) {
    test::LoneModel lone(launch_.spec.model, options);
    ParameterStore& parameters = lone.model->parameters();
    begun_ = fill_first_weights(launch_, launch_.spec.model, tasks_, parameters, lone.world, 1);
    Weights weights;
    for (const Parameter& p : parameters.list()) {
      const auto values = parameters.weights(p);
      weights[p.name] = {values.begin(), values.end()};
    }
    return weights;
  }
  Weights begin_with(CheckpointChoice choice, std::int64_t step = 0) {
    begin_another_run();
    launch_.init_folder = run_;
    launch_.spec.model.init_job = JobCheckpoint{{12}, choice, step};
    return begin();
  }
  std::string refusal(WorkerExit code, CheckpointChoice choice = CheckpointChoice::best_or_newest,
                      std::int64_t step = 0) {
    try {
      begin_with(choice, step);
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.exit, code) << failure.what();
      return failure.what();
    }
    return "";
  }
  std::string bad_path(const std::string& path) {
    launch_.spec.model.init = path;
    return refused();
  }
  // Why the run that is there may not begin.
  std::string refused() {
    try {
      begin();
    } catch (const BadData& error) {
      return error.what();
    } catch (const Failure& failure) {
      return "exit " + std::to_string(static_cast<int>(failure.exit)) + ": " + failure.what();
    }
    return "";
  }

  const ModelSpec trained_ = test::small_spec(ModelFamily::bert);
  TempFolder folder_;
  fs::path run_ = folder_.path() / "run";
  Launch launch_;
  FirstWeights begun_;
  TaskSource tasks_;
  VocabularyIdentity their_tokens_;  // in checkpoints of from here on
  int runs_ = 0;
};

}  // namespace podium
