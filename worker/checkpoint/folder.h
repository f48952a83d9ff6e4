// The folder of a run's checkpoints: whose it is, and what stays in it.
//
//   step-00000200            whole, or found broken when it is read
//   .saving-…                half written, or half removed: of no use to anybody once its run is gone
//   .set-aside-step-…        found broken; no run reads it again
//   origin.json              of the weights that the run began with (train/pinned_origin.h)
//   .lock                    held by rank 0 of the run that may write here
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/base/file.h"

namespace podium {

inline constexpr char kTemporaryPrefix[] = ".saving-";
inline constexpr char kAsidePrefix[] = ".set-aside-";
inline constexpr std::size_t kMostAside = 3;  // broken ones that stay, besides those moved at the same time

// Belongs to one run while this object lives.
class CheckpointFolder {
 public:
  // Makes the folder if it is missing. For the `lead`, rank 0, it also locks the folder and removes what dead
  // attempts left behind. Throws Failure: disk_full if the folder cannot be used, address_in_use if another
  // run holds it; that run's files stay untouched.
  CheckpointFolder(std::filesystem::path path, bool lead);

  const std::filesystem::path& path() const { return path_; }
  const std::vector<std::string>& warnings() const { return warnings_; }  // of what could not be cleared

 private:
  void take();

  std::filesystem::path path_;
  Fd lock_;  // the lead's
  std::vector<std::string> warnings_;
};

// These append a warning for each checkpoint that cannot be moved or removed, and leave it in place.
//
// Called before a checkpoint of `step` takes its place: sets aside the checkpoints of this and later steps,
// which were found broken when the run began. Of all that lie aside, those of this call and the
// kMostAside that were moved last stay.
void set_aside_from(const std::filesystem::path& folder, std::int64_t step,
                    std::vector<std::string>& warnings);
// Called when `newest` is whole: removes older checkpoints, so that `keep` stay and `best`, "" for none.
void prune_checkpoints(const std::filesystem::path& folder, const std::string& newest, int keep,
                       const std::string& best, std::vector<std::string>& warnings);

}  // namespace podium
