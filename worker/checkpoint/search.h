// Finds whole checkpoints, together on all ranks: they read the files between them, and all find the same.
// Every function is collective. What a disk cannot read at present is no broken checkpoint: that throws
// Failure(disk_full), and a checkpoint of another version of the format Failure(bad_spec).
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "worker/checkpoint/manifest.h"
#include "worker/comm/communicator.h"

namespace podium {

struct WholeCheckpoint {
  std::filesystem::path path;
  CheckpointManifest manifest;
};

class CheckpointSearch {
 public:
  // `world` must outlive this.
  explicit CheckpointSearch(Communicator& world) : world_(world) {}

  // Rank 0's list, newest first: a folder may look different to each for a while. None of a folder that is
  // missing.
  std::vector<std::string> names_in(const std::filesystem::path& folder) const;
  // Appends to `problems` why those are not whole that it passes over, the same on every rank.
  std::optional<WholeCheckpoint> newest_in(const std::filesystem::path& folder,
                                           std::vector<std::string>& problems) const;
  // This one; nothing where it is not whole.
  std::optional<WholeCheckpoint> look_at(const std::filesystem::path& checkpoint,
                                         std::vector<std::string>& problems) const;

 private:
  // What a rank found when it looked at a checkpoint; of all ranks' the last of these counts.
  enum class Found : char { whole, broken, of_other_version, unreadable };
  struct Finding {
    Found found = Found::whole;
    std::string why;
  };

  Finding finding_of(const std::filesystem::path& checkpoint, CheckpointManifest& manifest) const;
  Finding worst_of_all_ranks(const Finding& own) const;
  CheckpointManifest verify(const std::filesystem::path& checkpoint) const;

  Communicator& world_;
};

// Of a checkpoint that was found whole and cannot be read now. Throws Failure(disk_full).
[[noreturn]] void refuse_unreadable(const std::filesystem::path& checkpoint, const std::string& why);

// `root`'s text, on all ranks.
std::string shared_text(Communicator& world, int root, std::string text);

// Every rank's, by rank, on all ranks.
std::vector<std::string> texts_of_all(Communicator& world, const std::string& text);

}  // namespace podium
