// Writes this rank's part of each checkpoint on a thread of its own. On rank 0 the same thread completes a
// checkpoint when the parts of all ranks are there. The writer uses no communicator: ranks meet in the
// checkpoint's temporary folder, where a part counts when its record lies beside it.
//
//   begin ─► file, fsync ─► record │ rank 0: all records? ─► manifest, fsync ─► rename ─► told ─► prune
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "worker/checkpoint/live_bytes.h"
#include "worker/checkpoint/manifest.h"
#include "worker/checkpoint/tensors.h"

namespace podium {

struct FinishedSave {
  std::int64_t step = 0;
  std::string name;  // "step-00000200"
  std::int64_t bytes = 0;
  double seconds = 0;        // from begin_save until it was whole and on disk
  BestCheckpoint best = {};  // of this one and those before it
};

class CheckpointWriter {
 public:
  struct Options {
    std::filesystem::path folder;
    std::string token;  // of this attempt: in the names of its temporary folders
    int keep = 1;
    int rank = 0;
  };
  explicit CheckpointWriter(Options options);
  // Abandons what is not finished. Its temporary folder stays, because other ranks may still write there; the
  // next attempt removes it.
  ~CheckpointWriter();

  // One thread calls these functions. They throw what failed on the writer's thread, as Failure(disk_full).
  // Those that wait return after `time` at the latest, and return whether what they wait for has come.
  //
  // begin() requires that this rank's part of an earlier save is written.
  void begin(CheckpointState state, const CheckpointTensors& tensors, const std::vector<HeldPiece>& pieces);
  // A function to call with all bytes of the tensors that are about to change. It is empty if nothing is
  // being written, and valid until the next begin().
  BeforeChange before_change();
  bool wait_for_room(std::chrono::milliseconds time);     // whoever changes the tensors will not have to wait
  bool wait_for_parts(std::chrono::milliseconds time);    // this rank's are written
  bool wait_until_whole(std::chrono::milliseconds time);  // on rank 0; needs the other ranks' parts
  std::vector<FinishedSave> take_finished();
  // What went wrong without harm to a save; each warning is returned once.
  std::vector<std::string> take_warnings();

 private:
  struct Part {
    CheckpointState state;
    std::chrono::steady_clock::time_point begin;
    std::vector<Piece> pieces;
    std::string header;
    std::shared_ptr<LiveBytes> bytes;  // and of who is about to change the tensors
  };
  // A checkpoint whose own part is written.
  struct Pending {
    CheckpointState state;
    std::chrono::steady_clock::time_point begin;
  };

  MemorySpace memory_for_reading(const MemorySpace& memory);
  void run();
  void work(std::unique_lock<std::mutex>& lock);
  void write(Part& part);
  template <class Condition>
  bool wait_for(std::chrono::milliseconds time, const Condition& condition);
  void finish_save(std::unique_lock<std::mutex>& lock);
  bool all_parts_written(const Pending& pending) const;
  FinishedSave make_whole(const Pending& pending, std::vector<std::string>& warnings);
  CheckpointManifest collect(const Pending& pending) const;
  void rethrow() const;
  std::filesystem::path temporary(std::int64_t step) const;

  const Options options_;
  std::atomic<bool> closing_{false};
  std::unique_ptr<DeviceStream> copies_;  // out of a device's memory; used through Part::bytes

  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::unique_ptr<Part> part_;   // to be written, or being written
  std::deque<Pending> pending_;  // rank 0
  std::vector<FinishedSave> finished_;
  std::vector<std::string> warnings_;
  std::set<std::string> warned_of_;  // so far
  std::exception_ptr error_;

  std::thread thread_;
};

}  // namespace podium
