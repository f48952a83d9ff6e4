// The artifacts of runs, as files `<folder>/runs/<job>/<path>`. A file is there whole or not at all: it is
// written as `<folder>/uploads/<n>` and renamed. Links are not followed, whoever made them. Thread-safe.
// Failures of the disk throw std::system_error naming the file.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.h"
#include "common/base/file.h"
#include "common/base/file_tree.h"
#include "common/base/id.h"

namespace podium::mlflow {

// An upload under way; its bytes go with it unless ArtifactFiles::place has it.
class ArtifactUpload {
 public:
  explicit ArtifactUpload(std::filesystem::path path);
  ArtifactUpload(ArtifactUpload&&) = delete;
  ~ArtifactUpload();

  void write(std::string_view bytes);

 private:
  friend class ArtifactFiles;

  std::filesystem::path path_;
  Fd fd_;
};

// Of all artifacts of one run.
struct ArtifactRoom {
  std::int64_t bytes = 1'000'000'000'000;
  std::int64_t files = 100'000;
};

class ArtifactFiles {
 public:
  // Of a path below the run's folder.
  using Parts = PathParts;

  // Removes what an earlier process has left unfinished.
  explicit ArtifactFiles(std::filesystem::path folder, ArtifactRoom room = {});

  std::filesystem::path new_upload();  // where the next is written
  // Makes the upload the file of that path, in place of the one before. An error where a file is in the place
  // of a folder or a folder in that of the file, and where the run has no room for it.
  std::optional<Error> place(ArtifactUpload& upload, JobId run, const Parts& path);

  // By name. Empty where there is no such folder.
  std::vector<TreeEntry> list(JobId run, const Parts& path) const;
  std::optional<TreeFile> open(JobId run, const Parts& path) const;
  // A file or a folder with all that is in it; false where there is neither.
  bool remove(JobId run, const Parts& path);

 private:
  ArtifactRoom& used_by(JobId run);

  std::filesystem::path folder_, runs_, uploads_;
  ArtifactRoom room_;
  std::atomic<std::uint64_t> next_{0};
  std::mutex mutex_;                    // held while folders are made or go
  std::map<JobId, ArtifactRoom> used_;  // of runs that were written to; guarded by mutex_
};

}  // namespace podium::mlflow
