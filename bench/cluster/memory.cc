// Resident memory of the daemons with 1,000 jobs in the coordinator.
#include "bench/cluster/benchmarks.h"
#include "tests/cluster.h"

namespace podium {

std::vector<Figure> measure_memory() {
  Cluster cluster(1);
  cluster.submit_all(1000, [](int i) {
    return "version: 1\nname: job-" + std::to_string(i) +
           "\ncommand: [\"/bin/sleep\", \"600\"]\nresources: {devices: 1, kind: cpu}\n";
  });
  return {{.name = "coordinator resident, 1,000 jobs",
           .value = resident_bytes(cluster.coordinator().pid()) / 1e6,
           .unit = "MB",
           .higher_is_better = false,
           .goal = 40},
          {.name = "agent resident",
           .value = resident_bytes(cluster.agent(1).pid()) / 1e6,
           .unit = "MB",
           .higher_is_better = false,
           .goal = 20}};
}

}  // namespace podium
