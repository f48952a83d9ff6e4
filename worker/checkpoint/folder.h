// The folder of a run's checkpoints: whose it is, and what stays in it.
//
//   step-00000200            whole, or found broken when it is read
//   .saving-…                half written, or half removed: of no use to anybody once its run is gone
//   .set-aside-step-…        found broken; no run reads it again
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

// Taken for one run as long as this lives.
class CheckpointFolder {
 public:
  // Made where it is missing; for the `lead`, rank 0, locked and cleared of what dead attempts left behind.
  // Throws Failure: disk_full where it cannot be used, address_in_use where another run holds it, which is
  // then left as it is.
  CheckpointFolder(std::filesystem::path path, bool lead);

  const std::filesystem::path& path() const { return path_; }
  const std::vector<std::string>& warnings() const { return warnings_; }  // of what could not be cleared

 private:
  void take();

  std::filesystem::path path_;
  Fd lock_;  // the lead's
  std::vector<std::string> warnings_;
};

// What cannot be moved or removed stays; `warnings` get what people should know.
//
// Before a checkpoint of `step` takes its place: sets aside those of this step and later ones, which were
// found broken when the run began. Of all that lie aside the last to be moved stay.
void set_aside_from(const std::filesystem::path& folder, std::int64_t step,
                    std::vector<std::string>& warnings);
// Once `newest` is whole: removes older ones, so that `keep` stay.
void prune_checkpoints(const std::filesystem::path& folder, const std::string& newest, int keep,
                       std::vector<std::string>& warnings);

}  // namespace podium
