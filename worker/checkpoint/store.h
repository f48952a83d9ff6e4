// The checkpoints of one run, written while training goes on and read back on any layout.
//
//   begin_save ─► forward, backward ─► update, which tells what it changes     training thread, every rank
//        └─► this rank's file, straight from the live tensors ─► record        writer thread, every rank
//                      all records there ─► manifest ─► rename ─► prune         writer thread, rank 0
//
// From begin_save() on, only an update that calls before_update() may change the tensors. When one rank waits
// for its disk, all ranks wait with it and meet every second, because a disk may take longer than a
// collective may. The next call of any function here throws what failed in the writer thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "worker/checkpoint/folder.h"
#include "worker/checkpoint/manifest.h"
#include "worker/checkpoint/tensors.h"
#include "worker/checkpoint/writer.h"
#include "worker/comm/parallel.h"

namespace podium {

class CheckpointStore {
 public:
  // Collective over `world`, which must outlive the store. The folder is one for all ranks.
  CheckpointStore(CheckpointFolder folder, int keep, Communicator& world, const ParallelLayout& layout);
  // Abandons a save under way: call finish() first to keep it.
  ~CheckpointStore();

  // Reads the newest whole checkpoint into `tensors`, whatever layout wrote it. Returns nothing if the folder
  // is empty, or if no checkpoint is whole and the spec says to begin anew. Appends to `problems` what was
  // wrong with newer checkpoints, the same on every rank. Collective; `text` is the same on all ranks. Throws
  // Failure: bad_data if no checkpoint is whole or the newest was trained on other text, bad_spec if it
  // belongs to another run, disk_full if the disk cannot read one at present, which does not make it broken.
  std::optional<CheckpointState> load_newest(const JobSpec& spec, const TextIdentity& text,
                                             const CheckpointTensors& tensors,
                                             std::vector<std::string>& problems);
  // The same from the folder of another job, which may have trained for another number of steps. The folder
  // is only read. Throws Failure as above, and bad_spec if the folder has no checkpoint.
  CheckpointState load_newest_of(const std::filesystem::path& folder, const JobSpec& spec,
                                 const TextIdentity& text, const CheckpointTensors& tensors,
                                 std::vector<std::string>& problems);

  // What load_newest() has read, and the best before it, as saves of which nobody may have told: the attempt
  // that made them whole may have died at once. Their `seconds` are not known.
  const std::vector<FinishedSave>& found() const { return found_; }

  // Starts to save what `tensors` hold and returns; they must outlive the save. Waits only where a rank's
  // part of an earlier save is still being written. Collective. `state.layout` is filled in.
  void begin_save(CheckpointState state, const CheckpointTensors& tensors);
  // Each update asks for this function once and calls it, from any thread, with the bytes that it is about to
  // change. The function first copies those that the writer has not read. Copies hold at most a quarter of
  // what this rank saves, or 64 MiB if that is more; before_update() waits until they suffice. The function
  // is empty if nothing is being saved. Collective.
  [[nodiscard]] BeforeChange before_update();
  // Whether the next before_update() may wait; the same on all ranks.
  bool may_wait() const { return update_may_wait_; }
  // On rank 0: the checkpoints that became whole since the last call; empty elsewhere. Never waits.
  std::vector<FinishedSave> poll();
  // Waits until every save is whole, and tells as poll() does. Collective.
  std::vector<FinishedSave> finish();
  // Warnings about the folder since the last call. Never waits.
  std::vector<std::string> take_warnings();

 private:
  using CheckSame = std::function<void(const std::string& path, const CheckpointState& then)>;

  std::optional<CheckpointManifest> load_from(const std::filesystem::path& folder,
                                              const CheckSame& check_same, const CheckpointTensors& tensors,
                                              std::vector<std::string>& problems);
  void look_for_best(CheckpointState& state, std::vector<std::string>& problems);
  void wait_together(const std::function<bool(std::chrono::milliseconds)>& wait) const;

  const CheckpointFolder folder_;
  Communicator& world_;
  const ParallelLayout layout_;
  const ParallelPlace place_;
  std::unique_ptr<CheckpointWriter> writer_;
  std::vector<FinishedSave> found_;
  bool update_may_wait_ = false;  // a save has begun since the last one; the same on all ranks
  bool folder_told_ = false;      // its warnings
};

}  // namespace podium
