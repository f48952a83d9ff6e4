#include "agent/process/adoption.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cstdio>
#include <system_error>

#include "agent/process/shim_protocol.h"
#include "agent/process/spawn.h"

namespace podium {
namespace {

bool is_locked(const std::filesystem::path& path) {
  if (!std::filesystem::exists(path)) return false;
  const Fd fd = open_file(path, O_RDWR);
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) == 0) return false;
  if (errno == EWOULDBLOCK) return true;
  throw std::system_error(errno, std::generic_category(), "cannot lock " + path.string());
}

}  // namespace

AdoptedShim adopt_shim(const std::filesystem::path& folder) {
  const std::filesystem::path lock = folder / shim::kLockFile;
  AdoptedShim adopted;
  if (!is_locked(lock)) return adopted;
  int shim = -1;
  if (std::sscanf(read_file(lock).c_str(), "%d %d\n", &shim, &adopted.program) != 2) {
    adopted.state = ShimState::starting;
    return adopted;
  }
  adopted.pidfd = open_pidfd(shim);
  // Still locked after the pidfd was opened: the pid was the shim's when it was.
  if (adopted.pidfd && is_locked(lock)) adopted.state = ShimState::alive;
  return adopted;
}

}  // namespace podium
