// A folder of files that belong together, such as a model: all of them are there, or the folder is not.
#pragma once

#include <filesystem>

#include "common/base/file.h"

namespace podium {

// Files are written into a hidden folder beside, which takes the name when they are finished, and goes
// otherwise; what a killed program has left of one goes before the next is begun.
class NewFolder {
 public:
  // Throws BadData where `folder` is there and not empty, or a mount, or another program is making it, and
  // Failure(disk_full) where none can be made.
  explicit NewFolder(std::filesystem::path folder);
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;
  ~NewFolder();

  const std::filesystem::path& unfinished() const { return unfinished_; }
  void finish();  // throws std::system_error

 private:
  const std::filesystem::path folder_, unfinished_;
  Fd lock_;  // of `unfinished_`
};

}  // namespace podium
