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
  const Fd fd = open_file(path, O_RDWR);
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) == 0) return false;
  if (errno == EWOULDBLOCK) return true;
  throw std::system_error(errno, std::generic_category(), "cannot lock " + path.string());
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
  // Still locked after the pidfd was opened: the pid was the shim's when it was.
  adopted.state = adopted.pidfd && is_locked(lock) ? ShimState::alive : ShimState::gone;
  return adopted;
}

}  // namespace podium
