// From the client's request to the worker process running: the job's command is date, which prints when it
// ran. Against starting date alone from this process.
#include <chrono>
#include <thread>

#include "bench/cluster/benchmarks.h"
#include "common/base/file.h"
#include "tests/cluster.h"

namespace podium {
namespace {

using std::chrono::system_clock;

constexpr int kLaunches = 60;

double now_ms() {
  return std::chrono::duration<double, std::milli>(system_clock::now().time_since_epoch()).count();
}

double printed_ms(const std::filesystem::path& output) { return std::stod(read_file(output)) / 1e6; }

double launch_through_podium(const Cluster& cluster) {
  const double start = now_ms();
  const JobId job = cluster.submit(
      "version: 1\nname: latency\ncommand: [\"/bin/date\", \"+%s%N\"]\nresources: {devices: 1, kind: cpu}\n");
  cluster.wait_for_state(job, "succeeded");
  return printed_ms(cluster.task_folder(1, {{job, 1}, 0}) / "stdout") - start;
}

double launch_directly(const std::filesystem::path& output) {
  std::filesystem::remove(output);
  const double start = now_ms();
  Child({"/bin/date", "+%s%N"}, output).wait();
  return printed_ms(output) - start;
}

}  // namespace

std::vector<Figure> measure_launch_latency() {
  const Cluster cluster(1);
  std::vector<double> ours, direct;
  for (int i = 0; i < kLaunches; ++i) {
    ours.push_back(launch_through_podium(cluster));
    direct.push_back(launch_directly(cluster.folder() / "date"));
  }
  Figure middle{.name = "submit to first worker process, median",
                .value = median(ours),
                .unit = "ms",
                .peer = "posix_spawn alone",
                .peer_value = median(direct),
                .higher_is_better = false,
                .goal = 50};
  Figure tail = middle;
  tail.name = "submit to first worker process, p99";
  tail.value = quantile(ours, 0.99);
  tail.peer_value = quantile(direct, 0.99);
  return {middle, tail};
}

}  // namespace podium
