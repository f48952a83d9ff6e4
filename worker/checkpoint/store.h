// The checkpoints of one run, written while training goes on and read back on any layout.
//
//   begin_save ─► forward, backward ─► update, which lets go chunk by chunk …    training thread of every
//   rank
//        └─► this rank's file, straight from the live tensors ─► record     writer thread of every rank
//                      all records there ─► manifest ─► rename ─► prune      writer thread of rank 0
//
// Where a rank has to wait for its disk all wait with it, and meet every second: it may take longer than a
// collective.
// From begin_save on the tensors must not change but as before_update() says. What goes wrong in the writer
// thread is thrown by the next call of any function here.
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

  // The newest whole checkpoint goes into `tensors`, whatever layout wrote it; nothing where the folder has
  // none, or none is whole and the spec says to begin anew then. What was wrong with newer ones is appended
  // to `problems`, the same on every rank. Collective; `text` is the same on all ranks. Throws Failure:
  // bad_data where none is whole or it was trained on other text, bad_spec where the newest whole one is of
  // another run, disk_full where one cannot be read at present, which says nothing about it.
  std::optional<CheckpointState> load_newest(const JobSpec& spec, const TextIdentity& text,
                                             const CheckpointTensors& tensors,
                                             std::vector<std::string>& problems);
  // The same from the folder of another job, which is only read and may have trained for another number of
  // steps. Throws Failure as above, and bad_spec where the folder has no checkpoint.
  CheckpointState load_newest_of(const std::filesystem::path& folder, const JobSpec& spec,
                                 const TextIdentity& text, const CheckpointTensors& tensors,
                                 std::vector<std::string>& problems);

  // Starts to save what `tensors` hold and returns; they must outlive the save. Waits only where a rank's
  // part of an earlier save is still being written. Collective. `state.layout` is filled in.
  void begin_save(CheckpointState state, const CheckpointTensors& tensors);
  // What an update calls with whatever of the tensors it changes, before it does, from any of its threads:
  // bytes that the writer has not read are copied first, at most a quarter of what this rank saves at a time,
  // or 64 MiB. What would not fit into that is waited for here. Empty where nothing is being saved.
  // Collective, to be asked for at each update.
  [[nodiscard]] BeforeChange before_update();
  // Whether the next before_update() may wait; the same on all ranks.
  bool may_wait() const { return update_may_wait_; }
  // On rank 0: the checkpoints that became whole since the last call; empty elsewhere. Never waits.
  std::vector<FinishedSave> poll();
  // Waits until every save is whole, and tells as poll() does. Collective.
  std::vector<FinishedSave> finish();
  // What people should know of the folder, since the last call. Never waits.
  std::vector<std::string> take_warnings();

 private:
  // What a rank found when it looked at a checkpoint; of all ranks' the last of these counts.
  enum class Found : char { whole, broken, of_other_version, unreadable };
  struct Finding {
    Found found = Found::whole;
    std::string why;
  };
  using CheckSame = std::function<void(const std::string& path, const CheckpointState& then)>;

  std::optional<CheckpointState> load_from(const std::filesystem::path& folder, const CheckSame& check_same,
                                           const CheckpointTensors& tensors,
                                           std::vector<std::string>& problems);
  Finding look_at(const std::filesystem::path& checkpoint, CheckpointManifest& manifest) const;
  Finding worst_of_all_ranks(const Finding& own) const;
  CheckpointManifest verify(const std::filesystem::path& checkpoint) const;
  void wait_together(const std::function<bool(std::chrono::milliseconds)>& wait) const;

  const CheckpointFolder folder_;
  Communicator& world_;
  const ParallelLayout layout_;
  const ParallelPlace place_;
  std::unique_ptr<CheckpointWriter> writer_;
  bool update_may_wait_ = false;  // a save has begun since the last one; the same on all ranks
  bool folder_told_ = false;      // its warnings
};

}  // namespace podium
