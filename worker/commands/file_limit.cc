#include "worker/commands/file_limit.h"

#include <sys/resource.h>

namespace podium {

void raise_file_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);  // where it fails the old limit holds, and what lacks a file says so
}

}  // namespace podium
