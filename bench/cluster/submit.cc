// Jobs submitted a second, each answered only once it is on disk, from one client and from eight; against the
// disk's own rate of small synced writes, which bounds a client that waits for each answer.
#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <stdexcept>
#include <thread>

#include "bench/cluster/benchmarks.h"
#include "common/base/file.h"
#include "tests/cluster.h"

namespace podium {
namespace {

using Seconds = std::chrono::duration<double>;
using std::chrono::steady_clock;

constexpr int kJobs = 400;

// Devices of this kind are all taken by the first job, so the rest only queue.
std::string spec(int number) {
  return "version: 1\nname: job-" + std::to_string(number) +
         "\ncommand: [\"/bin/sleep\", \"600\"]\nresources: {devices: 1, kind: cpu}\n";
}

double submissions_per_second(int clients) {
  const Cluster cluster(1);
  const auto start = steady_clock::now();
  std::vector<std::jthread> threads;
  for (int client = 0; client < clients; ++client)
    threads.emplace_back([&, client] {
      cluster.submit_all(kJobs / clients, [&](int i) { return spec(client * kJobs + i); });
    });
  threads.clear();
  return kJobs / Seconds(steady_clock::now() - start).count();
}

double synced_writes_per_second() {
  const TempFolder folder;
  const auto path = folder.path() / "log";
  const Fd fd = open_file(path, O_WRONLY | O_CREAT | O_APPEND);
  const std::string page(4096, 'x');
  const auto start = steady_clock::now();
  for (int i = 0; i < kJobs; ++i) {
    write_all(fd.get(), page, path);
    if (::fdatasync(fd.get()) != 0) throw std::runtime_error("cannot sync " + path.string());
  }
  return kJobs / Seconds(steady_clock::now() - start).count();
}

}  // namespace

std::vector<Figure> measure_submissions() {
  std::vector<double> one, eight, disk;
  for (int round = 0; round < 3; ++round) {
    one.push_back(submissions_per_second(1));
    eight.push_back(submissions_per_second(8));
    disk.push_back(synced_writes_per_second());
  }
  Figure figure{.name = "jobs submitted, 1 client",
                .value = median(one),
                .unit = "jobs/s",
                .peer = "synced 4 KiB writes",
                .peer_value = median(disk)};
  Figure shared = figure;
  shared.name = "jobs submitted, 8 clients";
  shared.value = median(eight);
  return {figure, shared};
}

}  // namespace podium
