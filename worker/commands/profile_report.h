// A profile for people and for programs. Pure.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/model/spec.h"
#include "worker/commands/profile_run.h"

namespace podium {

// Tells rank 0's time by phase and by op and its memory, and has a line for each other rank. Lists the `most`
// most expensive ops.
std::string profile_text(const JobSpec& spec, const std::vector<RankProfile>& ranks, std::size_t most);

nlohmann::json profile_json(const JobSpec& spec, const std::vector<RankProfile>& ranks);

}  // namespace podium
