// Runs all ranks of a job as processes of this machine, without a coordinator or an agent.
#pragma once

#include <filesystem>
#include <vector>

#include "common/model/spec.h"
#include "worker/commands/gang.h"

namespace podium {

struct LocalRun {
  JobSpec spec;                       // runs on resources.devices processes
  int threads = 0;                    // of each process; 0: all of the machine's, shared
  std::filesystem::path data_folder;  // where relative data paths begin
  std::filesystem::path out_folder;   // gets rank-<r>/{launch.json,events.jsonl} and checkpoints/
  std::filesystem::path program;      // this executable
};

// Writes launch.json of every rank and returns the paths, rank 0 first.
std::vector<std::filesystem::path> write_launches(const LocalRun& run, const LocalMeeting& meeting);

// Prints the address of a service's replica. Returns the exit code of the rank that failed first, or 0.
// Passes SIGTERM and SIGINT on to the ranks.
int run_locally(const LocalRun& run);

}  // namespace podium
