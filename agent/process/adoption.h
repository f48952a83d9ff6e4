// After its own restart the agent finds its tasks again. Whether a task's shim lives is decided by the lock
// on shim.lock, which the kernel drops with the process: a pid alone could by now belong to anybody. And
// whose shim it is by the file that it holds open: the folder may be a copy, with the original's pid in it.
#pragma once

#include <sys/types.h>

#include <filesystem>

#include "common/base/file.h"

namespace podium {

enum class ShimState {
  unborn,    // none lives, and none has got as far as running the program
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

// Whether the process is a shim of a task of `folder` that was moved elsewhere since, as with its whole home:
// what has its place now is another.
bool has_moved_away(pid_t pid, const std::filesystem::path& folder);

}  // namespace podium
