#include "worker/formats/new_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <system_error>

#include "worker/data/failure.h"
#include "worker/input/bad_data.h"

namespace podium {
namespace {

namespace fs = std::filesystem;

// "a/b/" is "a/b", and a link what it leads to.
fs::path place_of(const fs::path& folder) {
  const fs::path whole = fs::weakly_canonical(fs::absolute(folder));
  return whole.has_filename() ? whole : whole.parent_path();
}

// Nothing can be renamed onto it.
bool is_mount(const fs::path& folder) {
  struct stat own {
  }, around{};
  if (::stat(folder.c_str(), &own) != 0 || ::stat((folder / "..").c_str(), &around) != 0) return false;
  return own.st_dev != around.st_dev || own.st_ino == around.st_ino;
}

void sync_files(const fs::path& folder) {
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    if (::fsync(open_file(entry.path(), O_RDONLY).get()) != 0)
      throw std::system_error(errno, std::generic_category(), "cannot sync " + entry.path().string());
}

}  // namespace

NewFolder::NewFolder(fs::path folder)
    : folder_(place_of(folder)),
      unfinished_(folder_.parent_path() / ("." + folder_.filename().string() + ".unfinished")) {
  try {
    if (fs::exists(folder_) && !(fs::is_directory(folder_) && fs::is_empty(folder_)))
      throw BadData(folder.string() + " exists already; choose another folder");
    if (is_mount(folder_))
      throw BadData(folder.string() +
                    " is the root of a file system, which a finished folder cannot take the " +
                    "place of; choose a folder within it");
    fs::create_directories(unfinished_);
    lock_ = open_file(unfinished_, O_RDONLY | O_DIRECTORY);
    if (::flock(lock_.get(), LOCK_EX | LOCK_NB) != 0)
      throw BadData(folder.string() + " is being made by another program");
    for (const fs::directory_entry& stale : fs::directory_iterator(unfinished_)) fs::remove_all(stale);
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
  sync_files(unfinished_);
  sync_folder(unfinished_);
  fs::rename(unfinished_, folder_);
  sync_folder(folder_.parent_path());
}

}  // namespace podium
