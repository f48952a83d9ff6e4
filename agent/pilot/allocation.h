// A pilot: an agent that Slurm starts in an allocation, on a machine that is lent. Pure.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "common/base/error.h"
#include "common/base/time.h"

namespace podium {

struct Pilot {
  std::string name;                           // of its node: no two allocations' are equal
  std::map<std::string, std::string> labels;  // slurm-job, slurm-node, slurm-partition, loan-ends
};

// The value of an environment variable; nothing where there is none.
using Environment = std::function<std::optional<std::string>(const std::string&)>;

// From what srun tells each of its tasks. `lent_for`: from now on.
Result<Pilot> find_pilot(const Environment& environment, Time now, std::optional<Duration> lent_for);

}  // namespace podium
