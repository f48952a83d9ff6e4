// The command lines of Slurm's programs, the script of an allocation, and what the programs print. Pure. No
// shell reads an argument; in the script, each word of the operator's is quoted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/id.h"
#include "coordinator/pilots/slurm_options.h"

namespace podium {

// An allocation that is wanted for an attempt of a job.
struct Ask {
  JobId job;
  int attempt = 1;
  int nodes = 1;
  Duration walltime{};  // of the allocation

  bool operator==(const Ask&) const = default;
};

// A job of Slurm that makes nodes of this cluster: an allocation.
struct SlurmJob {
  std::int64_t id = 0;
  std::string state;  // as squeue names it: PENDING, RUNNING, …
  int nodes = 0;
  JobId job;  // for which it was asked
  int attempt = 0;
  std::string reason;  // why it is pending, in Slurm's words

  bool pending() const { return state == "PENDING"; }
  // Whether it may still have nodes, or get some.
  bool lives() const;
  // Whether it has ended and everything on its nodes was seen to end: of a node that failed nobody knows.
  bool over() const;
  bool operator==(const SlurmJob&) const = default;
};

std::vector<std::string> sbatch_command(const SlurmOptions& options, const Ask& ask);
// What sbatch reads: srun starts an agent on each node.
std::string allocation_script(const SlurmOptions& options, const Ask& ask);
std::vector<std::string> squeue_command(const SlurmOptions& options, unsigned user);
std::vector<std::string> scancel_command(std::int64_t allocation);

// The number of the job that sbatch --parsable names.
std::optional<std::int64_t> read_sbatch(std::string_view text);
// Rows of other jobs, and those that cannot be read, are left out.
std::vector<SlurmJob> read_squeue(std::string_view text);

}  // namespace podium
