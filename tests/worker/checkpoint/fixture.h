// Checkpoints of a small model as one rank saves and loads them.
#pragma once

#include <gmock/gmock.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/temp_folder.h"
#include "tests/worker/checkpoint/rank_tensors.h"
#include "worker/checkpoint/store.h"
#include "worker/comm/single_communicator.h"
#include "worker/data/failure.h"

namespace podium {

namespace fs = std::filesystem;

inline constexpr TestLayout kAlone{};
inline const TextIdentity kText{1000, 50, "0123456789abcdef"};

inline CheckpointState state_at(std::int64_t step) {
  CheckpointState state;
  state.step = step;
  state.phase = 1;
  state.samples = 64 * step;
  state.passed_over = 5;
  state.text = kText;
  state.vocabulary = {30, "fedcba9876543210"};
  state.loss_scaler = {4096, 17, 3, 2, 1};
  state.spec.name = "job";
  return state;
}

class Checkpoint : public testing::Test {
 protected:
  Checkpoint() { trained_.fill(); }

  void save(std::int64_t step, bool target_reached = false) {
    CheckpointState state = state_at(step);
    state.target_reached = target_reached;
    store().begin_save(state, trained_.tensors());
    ASSERT_THAT(store().finish(), testing::SizeIs(1));
  }
  CheckpointStore& store() {
    if (!store_) store_.emplace(CheckpointFolder(path_, true), 3, world_, kAlone.layout);
    return *store_;
  }

  // Loads into a fresh model as a later run does; the step that was found, 0 for none.
  std::int64_t load() {
    store_.reset();
    RankTensors fresh(kAlone, 0);
    problems_.clear();
    CheckpointStore later({path_, true}, 3, world_, kAlone.layout);
    loaded_ = later.load_newest(spec_, kText, fresh.tensors(), problems_);
    found_ = later.found();
    if (!loaded_) return 0;
    EXPECT_EQ(fresh.wrong_values(), 0);
    return loaded_->step;
  }
  // What loading from another job's folder into a run of an own folder says against it.
  std::string refusal_to_resume(const fs::path& folder, const JobSpec& spec, WorkerExit code) {
    CheckpointStore own({folder_.path() / "resuming", true}, 3, world_, kAlone.layout);
    RankTensors fresh(kAlone, 0);
    try {
      own.load_newest_of(folder, spec, kText, fresh.tensors(), problems_);
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.exit, code);
      return failure.what();
    }
    return "";
  }
  // What loading says against going on at all.
  std::string failure_to_load(WorkerExit code, const TextIdentity& text = kText) {
    RankTensors fresh(kAlone, 0);
    try {
      store().load_newest(spec_, text, fresh.tensors(), problems_);
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.exit, code);
      return failure.what();
    }
    return "";
  }
  // The names of those that were set aside.
  std::vector<std::string> aside() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(path_))
      if (const std::string name = entry.path().filename(); name.starts_with(kAsidePrefix))
        names.push_back(name.substr(std::string(kAsidePrefix).size()));
    return names;
  }
  void break_checkpoint(std::int64_t step) { fs::remove(file(checkpoint_name(step), part_name(0))); }

  fs::path file(const std::string& checkpoint, const std::string& name) const {
    return path_ / checkpoint / name;
  }

  TempFolder folder_;
  fs::path path_ = folder_.path() / "checkpoints";
  SingleCommunicator world_;
  RankTensors trained_{kAlone, 0};
  std::optional<CheckpointStore> store_;
  std::optional<CheckpointState> loaded_;
  std::vector<FinishedSave> found_;  // with that
  JobSpec spec_;                     // of the run that loads
  std::vector<std::string> problems_;
};

}  // namespace podium
