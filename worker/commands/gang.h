// Runs all ranks of a job as processes of this machine: starts them together, passes signals on, and ends all
// when one fails.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace podium {

// Where the ranks find one another: a free port of this machine and a secret that only they know.
struct LocalMeeting {
  int port = 0;
  std::string secret;
};
LocalMeeting choose_local_meeting();

// Starts a process of `program` for each argument list, whose index is the rank. Returns the exit code of the
// rank that failed first, or 0. Passes SIGTERM and SIGINT on to the ranks. Only a program's main thread may
// call it: it blocks those signals and SIGCHLD from then on. Throws std::runtime_error if `program` does not
// start.
int run_gang(const std::filesystem::path& program, const std::vector<std::vector<std::string>>& arguments);

}  // namespace podium
