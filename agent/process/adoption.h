// Finds the tasks again after a restart of the agent. The lock on shim.lock, which the kernel releases with
// the process, says whether a task's shim lives; a pid alone may belong to another process by now. The file
// that the process holds open says whose shim it is, because the folder may be a copy that contains the
// original's pid.
#pragma once

#include <sys/types.h>

#include <filesystem>

#include "common/base/file.h"

namespace podium {

enum class ShimState {
  unborn,    // none lives, and none has run the program
  starting,  // one lives and is about to write its pid: ask again shortly
  alive,
  gone,  // one has run the program, and lives no more
};

struct AdoptedShim {
  ShimState state = ShimState::unborn;
  pid_t program = -1;  // when alive
  Fd pidfd;            // likewise
};

AdoptedShim adopt_shim(const std::filesystem::path& folder);

// Whether the process is a shim of a task of `folder` whose home has been moved elsewhere since: another
// folder has its place now.
bool has_moved_away(pid_t pid, const std::filesystem::path& folder);

}  // namespace podium
