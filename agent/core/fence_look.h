// The result of looks at the shared fence of a job (agent/process/shared_fence.h). Times are on the agent's
// clock.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "common/base/id.h"
#include "common/base/time.h"

namespace podium {

struct FenceLook {
  // The newest attempt that may run; one more than the newest here where the fence holds another attempt of
  // that number.
  std::int32_t epoch = 0;
  Time read{};            // when the newest look that found it began
  Time since{};           // when the first look that found it was over
  std::string failure;    // of the newest look; what it would have found is then as before
  bool anothers = false;  // the failure is that the folder is another job's, and stays it
};

using FenceLooks = std::map<JobId, FenceLook>;

}  // namespace podium
