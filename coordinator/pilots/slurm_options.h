// Where and how nodes are asked of Slurm. Operators' words alone: no text of a job is among them.
#pragma once

#include <filesystem>
#include <string>

#include "common/base/time.h"

namespace podium {

struct SlurmOptions {
  std::string partition;  // "": no nodes are asked of Slurm
  std::string account;    // of Slurm; "": the user's usual one
  int gpus = 0;           // of each node; 0: its nodes offer CPU slots
  int cpu_slots = 1;
  int nodes = 4;                                 // at a time
  Duration walltime = std::chrono::hours(48);    // of an allocation, at most
  Duration idle = std::chrono::minutes(5);       // until an allocation is given back
  Duration grace = std::chrono::minutes(2);      // from SIGTERM to the end of the walltime
  std::filesystem::path shared, data, home;      // of the agents, on the nodes
  std::filesystem::path token_file;              // of the agents, as the nodes see it
  std::filesystem::path ca_file;                 // "": none
  std::filesystem::path agent = "podium-agent";  // the program, on the nodes
  std::string coordinator;                       // the address that agents use
  std::string job_name;                          // of its jobs: of this cluster alone

  bool on() const { return !partition.empty(); }
};

// Names that stand in options of Slurm's commands. The text completes "… must".
inline constexpr const char* kSlurmNameRule =
    "have 1 to 63 letters, digits, \"-\", \"_\" and \".\", and not begin with \"-\"";
bool is_slurm_name(const std::string& text);

// From the start of an allocation until its agents run tasks, with what Slurm's clock is coarse by.
inline constexpr Duration kPilotStart = std::chrono::minutes(10);
// Slurm sends its signal up to a minute early.
inline constexpr Duration kSignalEarly = std::chrono::minutes(1);

// The longest job that an allocation may run, and how long an allocation is asked for: twice as long as the
// job may take, so that it can start again there, as far as that is allowed.
Duration longest_job(const SlurmOptions& options);
Duration walltime_for(const SlurmOptions& options, Duration job);

}  // namespace podium
