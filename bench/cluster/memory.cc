// Resident memory of the daemons with 1,000 jobs in the coordinator.
#include <sstream>
#include <stdexcept>

#include "bench/cluster/benchmarks.h"
#include "common/base/file.h"
#include "tests/cluster.h"

namespace podium {
namespace {

double resident_megabytes(pid_t pid) {
  std::istringstream status(read_file("/proc/" + std::to_string(pid) + "/status"));
  for (std::string word; status >> word;) {
    if (word != "VmRSS:") continue;
    double kilobytes = 0;
    status >> kilobytes;
    return kilobytes * 1024 / 1e6;
  }
  throw std::runtime_error("process " + std::to_string(pid) + " reports no VmRSS");
}

}  // namespace

std::vector<Figure> measure_memory() {
  Cluster cluster(1);
  cluster.submit_all(1000, [](int i) {
    return "version: 1\nname: job-" + std::to_string(i) +
           "\ncommand: [\"/bin/sleep\", \"600\"]\nresources: {devices: 1, kind: cpu}\n";
  });
  return {{.name = "coordinator resident, 1,000 jobs",
           .value = resident_megabytes(cluster.coordinator().pid()),
           .unit = "MB",
           .higher_is_better = false,
           .goal = 40},
          {.name = "agent resident",
           .value = resident_megabytes(cluster.agent(1).pid()),
           .unit = "MB",
           .higher_is_better = false,
           .goal = 20}};
}

}  // namespace podium
