// What a path holds that is staged: a file, or a folder with all that is in it. Links are followed, for the
// programs that read it would follow them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "agent/staging/progress.h"

namespace podium {

inline constexpr std::size_t kMostStagedFiles = 2'000'000;

struct SourceEntry {
  std::string path;  // below the source; "" for the source itself
  bool is_folder = false;
  bool executable = false;
  std::int64_t bytes = 0;
  std::int64_t modified = 0;  // nanoseconds since 1970
};

// In the order of the paths, folders before what is in them. Throws StagingFailure for what cannot be staged
// (nothing there, pipes and devices, links in a circle, too many files) and std::system_error.
std::vector<SourceEntry> scan_source(const std::filesystem::path& source, StagingProgress& progress,
                                     const std::stop_token& stop);

std::int64_t bytes_of(const std::vector<SourceEntry>& entries);

// Another wherever a name, a size or a time of change is another; `label` is part of it.
std::string digest_of(const std::vector<SourceEntry>& entries, const std::string& label);

// Makes `to` a copy, readable alone and on disk, and returns the sha256 of a file, "" of a folder.
std::string copy_source(const std::filesystem::path& source, const std::vector<SourceEntry>& entries,
                        const std::filesystem::path& to, StagingProgress& progress,
                        const std::stop_token& stop);

}  // namespace podium
