// Follows a job to its end on the terminal.
#pragma once

#include <cstdint>

#include "cli/session.h"

namespace podium::cli {

// ok when it succeeded, job_failed when it failed or was cancelled, interrupted when the user left it
// running.
Exit follow_job(const Session& session, std::int64_t id);

}  // namespace podium::cli
