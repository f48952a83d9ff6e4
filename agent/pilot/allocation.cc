#include "agent/pilot/allocation.h"

#include <chrono>

#include "common/model/node.h"

namespace podium {

Result<Pilot> find_pilot(const Environment& environment, Time now, std::optional<Duration> lent_for) {
  const std::string job = environment("SLURM_JOB_ID").value_or("");
  const std::string machine = environment("SLURMD_NODENAME").value_or("");
  if (job.empty() || machine.empty())
    return Error{ErrorCode::invalid,
                 "SLURM_JOB_ID or SLURMD_NODENAME is not set: start it with srun in an allocation of Slurm",
                 "--join"};
  Pilot pilot;
  pilot.name = machine + "-" + job;
  if (!is_node_name(pilot.name))
    return Error{ErrorCode::invalid, "\"" + pilot.name + "\" " + std::string(kNodeNameRule), "--join"};
  pilot.labels = {{"slurm-job", job}, {"slurm-node", machine}};
  const std::string partition = environment("SLURM_JOB_PARTITION").value_or("");
  if (is_label_text(partition)) pilot.labels["slurm-partition"] = partition;
  if (lent_for) {
    const auto ends = std::chrono::floor<std::chrono::seconds>(now + *lent_for);
    pilot.labels["loan-ends"] = std::to_string(ends.time_since_epoch().count());
  }
  return pilot;
}

}  // namespace podium
