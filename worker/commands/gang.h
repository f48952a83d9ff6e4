// Runs all ranks of one piece of work as processes of this machine: starts them together, passes signals on,
// and takes all down when one fails.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace podium {

// Where the ranks find each other: a free port of this machine and a secret that only they know.
struct LocalMeeting {
  int port = 0;
  std::string secret;
};
LocalMeeting choose_local_meeting();

// One process of `program` for each argument list; an entry's index is its rank. Returns the exit code of the
// rank that failed first, or 0. SIGTERM and SIGINT are passed on to the ranks. For a program's main thread:
// it blocks those signals and SIGCHLD from then on. Throws std::runtime_error where `program` does not start.
int run_gang(const std::filesystem::path& program, const std::vector<std::vector<std::string>>& arguments);

}  // namespace podium
