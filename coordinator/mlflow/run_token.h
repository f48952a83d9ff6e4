// The token that a command job gets to log into its own run, "podium-run-<job>-<MAC>". None is kept: whoever
// has the coordinator's key of runs makes it again. The MAC is over the run's id, so a token is of one
// cluster.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/base/id.h"

namespace podium::mlflow {

std::string run_token(JobId job, std::string_view cluster, std::string_view key);

// The job whose token this is; nothing for all else. In constant time, as far as `token` is a token's form.
std::optional<JobId> job_of_token(std::string_view token, std::string_view cluster, std::string_view key);

}  // namespace podium::mlflow
