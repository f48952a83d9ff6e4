#include "agent/process/adoption.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cstdio>
#include <string>
#include <system_error>

#include "agent/process/shim_protocol.h"
#include "agent/process/spawn.h"

namespace podium {
namespace {

bool is_locked(const std::filesystem::path& path) {
  const Fd fd = open_file(path, O_RDWR);
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) == 0) return false;
  if (errno == EWOULDBLOCK) return true;
  throw std::system_error(errno, std::generic_category(), "cannot lock " + path.string());
}

struct File {
  dev_t device = 0;
  ino_t inode = 0;
  nlink_t names = 0;  // 0: deleted, or there is none

  bool is(const File& other) const { return names > 0 && device == other.device && inode == other.inode; }
};

File file_at(const std::filesystem::path& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return {};
  return {found.st_dev, found.st_ino, found.st_nlink};
}

std::filesystem::path lock_of(pid_t shim) {
  return "/proc/" + std::to_string(shim) + "/fd/" + std::to_string(shim::kLockFd);
}

}  // namespace

AdoptedShim adopt_shim(const std::filesystem::path& folder) {
  const std::filesystem::path lock = folder / shim::kLockFile;
  AdoptedShim adopted;
  if (!std::filesystem::exists(lock)) return adopted;
  const bool lives = is_locked(lock);
  int shim = -1;
  const bool has_run = std::sscanf(read_file(lock).c_str(), "%d %d\n", &shim, &adopted.program) == 2;
  adopted.state = lives ? ShimState::starting : has_run ? ShimState::gone : ShimState::unborn;
  if (!lives || !has_run) return adopted;
  adopted.pidfd = open_pidfd(shim);
  // Checked after the pidfd was opened: the pid was the shim's then.
  const bool is_its = adopted.pidfd && file_at(lock).is(file_at(lock_of(shim)));
  adopted.state = is_its && is_locked(lock) ? ShimState::alive : ShimState::gone;
  return adopted;
}

bool has_moved_away(pid_t pid, const std::filesystem::path& folder) {
  std::error_code cannot;
  const std::filesystem::path held = std::filesystem::read_symlink(lock_of(pid), cannot);
  if (cannot || held.filename() != shim::kLockFile) return false;
  const File lock = file_at(lock_of(pid));
  return lock.names > 0 && !lock.is(file_at(folder / shim::kLockFile));
}

}  // namespace podium
