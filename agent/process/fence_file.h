// <home>/fences.json: the highest attempt of each job whose tasks were forgotten, so that none of them can
// start again.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>

#include "agent/process/home_room.h"
#include "common/base/id.h"

namespace podium {

using Fences = std::map<JobId, std::int32_t>;

Fences read_fences(
    const std::filesystem::path& home);  // none where there is no file; throws on one it cannot read

// Raises the fence of `attempt`'s job, drops the oldest jobs beyond a bound, and writes the file durably
// where it changed.
void raise_fence(HomeRoom& room, Fences& fences, AttemptId attempt);

}  // namespace podium
