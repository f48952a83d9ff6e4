#include "worker/formats/new_folder.h"

#include <system_error>

#include "common/base/file.h"
#include "worker/data/failure.h"
#include "worker/input/bad_data.h"

namespace podium {
namespace {

namespace fs = std::filesystem;

// "a/b/" is "a/b".
fs::path without_slash(const fs::path& folder) {
  const fs::path whole = fs::absolute(folder).lexically_normal();
  return whole.has_filename() ? whole : whole.parent_path();
}

}  // namespace

NewFolder::NewFolder(fs::path folder)
    : folder_(without_slash(folder)),
      unfinished_(folder_.parent_path() / ("." + folder_.filename().string() + ".unfinished")) {
  try {
    if (fs::exists(folder_) && !(fs::is_directory(folder_) && fs::is_empty(folder_)))
      throw BadData(folder.string() + " exists already; choose another folder");
    fs::remove_all(unfinished_);
    fs::create_directories(unfinished_);
  } catch (const std::system_error& error) {
    throw Failure(WorkerExit::disk_full,
                  "cannot make the folder " + folder.string() + ": " + error.code().message());
  }
}

NewFolder::~NewFolder() {
  std::error_code gone;
  fs::remove_all(unfinished_, gone);
}

void NewFolder::finish() {
  sync_folder(unfinished_);
  fs::rename(unfinished_, folder_);
  sync_folder(folder_.parent_path());
}

}  // namespace podium
