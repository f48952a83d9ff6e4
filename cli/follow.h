// Follows a job to its end on the terminal.
#pragma once

#include <cstdint>

#include "cli/session.h"

namespace podium::cli {

// ok when it succeeded, job_failed when it failed or was cancelled, interrupted when the user left it
// running. Of a program of the user's own the output of `rank` is printed as it comes.
Exit follow_job(const Session& session, std::int64_t id, int rank = 0);

}  // namespace podium::cli
