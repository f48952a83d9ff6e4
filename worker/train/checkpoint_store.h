// The checkpoints of one run, written while training goes on and read back on any layout.
//
//   begin_save ─► forward, backward ─► before_update ─► update …            training thread of every rank
//        └─► this rank's file, straight from the live tensors ─► record     writer thread of every rank
//                      all records there ─► manifest ─► rename ─► prune      writer thread of rank 0
//
// The tensors must not change between begin_save and before_update. What goes wrong in the writer thread is
// thrown by the next call of any function here.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "worker/comm/parallel.h"
#include "worker/train/checkpoint_format.h"
#include "worker/train/checkpoint_pieces.h"
#include "worker/train/checkpoint_writer.h"

namespace podium {

class CheckpointStore {
 public:
  // Collective over `world`, which must outlive the store. The folder is one for all ranks; it is made where
  // it is missing and cleared of what dead attempts left behind. Throws Failure(disk_full) where it cannot be
  // used.
  CheckpointStore(std::filesystem::path folder, int keep, Communicator& world, const ParallelLayout& layout);
  // Abandons a save under way: call finish() first to keep it.
  ~CheckpointStore();

  // The newest whole checkpoint goes into `tensors`, whatever layout wrote it; nothing
  // where there is none. What was wrong with newer ones is appended to `problems`, the same on every rank.
  // Collective. Throws Failure(bad_spec) where the newest whole one is of another run.
  std::optional<CheckpointState> load_newest(const std::string& fingerprint, const CheckpointTensors& tensors,
                                             std::vector<std::string>& problems);

  // Starts to save what `tensors` hold and returns; they must outlive the save. Waits only
  // where this rank's part of an earlier save is still being written. Every rank calls it at the same step.
  // `state.layout` is filled in.
  void begin_save(CheckpointState state, const CheckpointTensors& tensors);
  // Returns once the tensors may change: at once where the writer has read them, else after copying what it
  // has not. Cheap where nothing is being saved.
  void before_update();
  // On rank 0: the checkpoints that became whole since the last call; empty elsewhere. Never waits.
  std::vector<FinishedSave> poll();
  // Waits until every save is whole, and tells as poll() does. Collective.
  std::vector<FinishedSave> finish();

 private:
  void remove_strays();
  CheckpointManifest verify(const std::string& name) const;

  const std::filesystem::path folder_;
  Communicator& world_;
  const ParallelLayout layout_;
  const ParallelPlace place_;
  Fd lock_;  // held by rank 0 while the run lives, so that others leave its temporary folders alone
  std::unique_ptr<CheckpointWriter> writer_;
};

}  // namespace podium
