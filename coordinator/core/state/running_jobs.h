// The running jobs in one array: the choice of jobs to stop compares all of them, and the jobs themselves are
// scattered over memory.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "common/base/id.h"
#include "common/base/time.h"
#include "coordinator/core/state/free_devices.h"

namespace podium {

struct ClusterState;
struct Job;

// The values by which a policy ranks a job.
struct Standing {
  Time submitted;
  int priority = 0;
  int devices = 0;
  Duration walltime{};
  Duration served{};            // that its ended attempts ran
  Duration attained{};          // device time of these
  std::optional<Time> started;  // all tasks of its attempt ran

  bool operator==(const Standing&) const = default;
};

Standing standing_of(const Job& job);

struct RunningJob {
  JobId job;
  int attempt = 0;
  Standing standing;
  Time created;               // its attempt
  std::optional<Time> saved;  // when the core learnt of its newest checkpoint
  NodeSlices slices;          // allocated to its attempt

  bool operator==(const RunningJob&) const = default;
};

// In no particular order.
class RunningJobs {
 public:
  const RunningJob* find(JobId job) const;
  void put(RunningJob job);
  void remove(JobId job);

  bool empty() const { return jobs_.empty(); }
  std::size_t size() const { return jobs_.size(); }
  auto begin() const { return jobs_.begin(); }
  auto end() const { return jobs_.end(); }

  bool operator==(const RunningJobs& other) const;

 private:
  std::vector<RunningJob> jobs_;
  std::map<JobId, std::size_t> place_;  // in jobs_
};

// Updates `state.indexes.running` after a change of a job.
void follow_running(ClusterState& state, const Job& job);

}  // namespace podium
