// Metrics lines into the store without HTTP, as fast as it takes them, and the bytes that the points have
// then in the database's file, with everything that belongs to them.

#include <chrono>
#include <ctime>
#include <stdexcept>

#include "bench/metric_lines.h"
#include "bench/store/benchmarks.h"
#include "coordinator/store/sqlite.h"
#include "tests/coordinator/store/store_fixture.h"

namespace podium {
namespace {

constexpr int kBatches = 40, kSteps = 4000, kMetrics = kMetricsInLine;
constexpr double kPoints = double{kBatches} * kSteps * kMetrics;

}  // namespace

std::vector<Figure> measure_writing() {
  std::vector<std::string> bodies;
  std::int64_t offset = 0;
  for (int batch = 0; batch < kBatches; ++batch) {
    const std::string lines = metric_lines(batch, kSteps);
    bodies.push_back(chunk(1, offset, lines));
    offset += std::ssize(lines);
  }
  std::vector<double> wall, processor;
  double bytes = 0;
  for (int round = 0; round < 3; ++round) {
    const TempFolder folder;
    {
      Store store(folder.path(), at_once());
      start_job(store);
      const auto start = std::chrono::steady_clock::now();
      const std::clock_t ticks = std::clock();
      for (const std::string& body : bodies)
        if (!ingest_now(store, body).ok()) throw std::runtime_error("the points were refused");
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
      wall.push_back(kPoints / seconds.count());
      processor.push_back(static_cast<double>(std::clock() - ticks) * 1e9 / CLOCKS_PER_SEC / kPoints);
    }
    Database database(folder.path() / "podium.db", Access::write, 1000);
    database.run("PRAGMA wal_checkpoint(TRUNCATE)");
    bytes = static_cast<double>(std::filesystem::file_size(folder.path() / "podium.db")) / kPoints;
  }
  return {{.name = "metric lines into the store, without HTTP", .value = median(wall), .unit = "points/s"},
          {.name = "metric lines into the store, processor time",
           .value = median(processor),
           .unit = "ns/point",
           .higher_is_better = false},
          {.name = "database file, points with all their digits",
           .value = bytes,
           .unit = "bytes/point",
           .higher_is_better = false,
           .goal = 7}};
}

}  // namespace podium
