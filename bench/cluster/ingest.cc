// Metric points a second through POST /streams, from HTTP to committed in SQLite; against bare SQLite
// inserting the same points with the same durability and nothing else.
#include <sqlite3.h>

#include <chrono>
#include <future>
#include <stdexcept>

#include "bench/cluster/benchmarks.h"
#include "bench/metric_lines.h"
#include "common/model/stream_chunk.h"
#include "tests/cluster.h"

namespace podium {
namespace {

using Seconds = std::chrono::duration<double>;
using std::chrono::steady_clock;

constexpr int kBatches = 24;
constexpr int kStepsPerBatch = 4000;
constexpr int kMetrics = kMetricsInLine;
constexpr double kPoints = double{kBatches} * kStepsPerBatch * kMetrics;

// A job of one node, and what its agent posts.
struct Sender {
  JobId job;
  std::string node;
  std::vector<std::string> bodies;
};

Sender sender(const Cluster& cluster, int batches) {
  const JobId job = cluster.submit(
      "version: 1\nname: ingest\ncommand: [\"/bin/sleep\", \"600\"]\nresources: {devices: 1, kind: cpu}\n");
  const auto running = cluster.wait_for_state(job, "running");
  Sender sender{job, running.at("attempts").at(0).at("tasks").at(0).at("node"), {}};
  std::int64_t offset = 0;
  for (int batch = 0; batch < batches; ++batch) {
    const std::string lines = metric_lines(batch, kStepsPerBatch);
    append_chunk(sender.bodies.emplace_back(), {{{job, 1}, 0}, StreamKind::events, offset, lines});
    offset += static_cast<std::int64_t>(lines.size());
  }
  return sender;
}

double points_of(const Cluster& cluster, JobId job) {
  const auto answer = cluster.get("/jobs/" + to_string(job) + "/metrics");
  double points = 0;
  for (const auto& metric : answer.at("metrics")) points += metric.at("count").get<double>();
  return points;
}

// As many agents at once, each waiting for the answer to one post before it sends the next.
double podium_points_per_second(int agents) {
  const Cluster cluster(agents);
  std::vector<Sender> senders;
  for (int i = 0; i < agents; ++i) senders.push_back(sender(cluster, kBatches / agents));
  const auto start = steady_clock::now();
  {
    std::vector<std::future<void>> posts;
    for (const Sender& each : senders)
      posts.push_back(std::async(std::launch::async, [&cluster, &each] {
        for (const std::string& body : each.bodies) cluster.post_streams(each.node, body);
      }));
    for (std::future<void>& post : posts) post.get();
  }
  const double seconds = Seconds(steady_clock::now() - start).count();
  double stored = 0;
  for (const Sender& each : senders) stored += points_of(cluster, each.job);
  if (stored != kPoints)
    throw std::runtime_error("ingest: the store holds " + std::to_string(stored) + " points of " +
                             std::to_string(kPoints));
  return kPoints / seconds;
}

void run(sqlite3* database, const char* sql) {
  if (sqlite3_exec(database, sql, nullptr, nullptr, nullptr) != SQLITE_OK)
    throw std::runtime_error(sqlite3_errmsg(database));
}

double sqlite_points_per_second() {
  const TempFolder folder;
  sqlite3* database = nullptr;
  if (sqlite3_open((folder.path() / "points.db").c_str(), &database) != SQLITE_OK)
    throw std::runtime_error("cannot open a database in " + folder.path().string());
  run(database, "PRAGMA journal_mode=WAL");
  run(database, "PRAGMA synchronous=FULL");
  run(database,
      "CREATE TABLE points(series INTEGER, step INTEGER, attempt INTEGER, time_ms INTEGER, value REAL, "
      "PRIMARY KEY(series, step, attempt)) WITHOUT ROWID");
  sqlite3_stmt* insert = nullptr;
  sqlite3_prepare_v2(database, "INSERT INTO points VALUES(?,?,1,?,?)", -1, &insert, nullptr);

  const auto start = steady_clock::now();
  for (int batch = 0; batch < kBatches; ++batch) {
    run(database, "BEGIN");
    for (int i = 0; i < kStepsPerBatch * kMetrics; ++i) {
      sqlite3_bind_int(insert, 1, i % kMetrics);
      sqlite3_bind_int(insert, 2, batch * kStepsPerBatch + i / kMetrics);
      sqlite3_bind_int64(insert, 3, 1767225600000LL + i);
      sqlite3_bind_double(insert, 4, 6.2345678901);
      if (sqlite3_step(insert) != SQLITE_DONE) throw std::runtime_error(sqlite3_errmsg(database));
      sqlite3_reset(insert);
    }
    run(database, "COMMIT");
  }
  const double seconds = Seconds(steady_clock::now() - start).count();
  sqlite3_finalize(insert);
  sqlite3_close(database);
  return kPoints / seconds;
}

}  // namespace

std::vector<Figure> measure_ingest() {
  std::vector<double> several, one, bare;
  for (int round = 0; round < 3; ++round) {
    several.push_back(podium_points_per_second(4));
    one.push_back(podium_points_per_second(1));
    bare.push_back(sqlite_points_per_second());
  }
  const auto figure = [&bare](const std::string& from, const std::vector<double>& ours) {
    return Figure{.name = "metric ingest through HTTP from " + from,
                  .value = median(ours),
                  .unit = "points/s",
                  .peer = "bare SQLite inserts",
                  .peer_value = median(bare),
                  .goal = 2'000'000};
  };
  return {figure("4 agents", several), figure("1 agent", one)};
}

}  // namespace podium
