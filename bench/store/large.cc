// A database of 200,000,000 points, 1,000 jobs of 20 series of 10,000 steps: how large it is, and how long
// the longest of each kind of query takes.
#include <spdlog/fmt/fmt.h>

#include <chrono>
#include <functional>
#include <random>
#include <stdexcept>

#include "bench/store/benchmarks.h"
#include "coordinator/store/chunk_closer.h"
#include "coordinator/store/sqlite.h"
#include "tests/coordinator/store/store_fixture.h"

namespace podium {
namespace {

using std::chrono::steady_clock;

constexpr int kJobs = 1000, kSeries = 20, kSteps = 10'000, kRounds = 20, kJobsAtOnce = 100;
constexpr double kPoints = double{kJobs} * kSeries * kSteps;

std::string key_of(int series) { return fmt::format("train/loss_{:02}", series); }

// Of one job, with all the digits that a training tells; each job tells the same.
std::string lines() {
  std::mt19937_64 random(1);
  std::normal_distribution<double> noise(0, 0.05);
  std::string text;
  for (int step = 1; step <= kSteps; ++step) {
    text += fmt::format(R"({{"step":{},"t":{},"type":"metrics","values":{{)", step,
                        1'767'225'600'000 + std::int64_t{step} * 60 + static_cast<int>(random() % 8));
    for (int series = 0; series < kSeries; ++series)
      text += fmt::format(R"({}"{}":{})", series ? "," : "", key_of(series), 2 + series + noise(random));
    text += "}}\n";
  }
  return text;
}

void start(Store& store, int id) {
  const std::string number = std::to_string(id);
  Commit turn{queued_job(id, "run-" + number),
              ExperimentText{{id}, "name: run", "run.yaml", "", "key-" + number, {target_spec()}},
              {},
              {}};
  if (id == 1) turn.events.push_back({at_second(0), NodeJoined{one_slot_node()}});
  const Events started = started_attempt(id, 1, 10);
  turn.events.insert(turn.events.end(), started.begin(), started.end());
  turn.secrets.push_back({{{id}, 1}, "secret"});
  commit_now(store, std::move(turn));
}

// A hundred jobs after the other; of those that ended the coordinator closes the open chunks when it is idle.
void fill(const std::filesystem::path& home) {
  const std::string text = lines();
  for (int id = 1; id <= kJobs;) {
    {
      Store store(home, at_once());
      for (const int end = id + kJobsAtOnce; id < end; ++id) {
        start(store, id);
        std::string body;
        append_chunk(body, {{{{id}, 1}, 0}, StreamKind::events, 0, text});
        if (!ingest_now(store, std::move(body)).ok()) throw std::runtime_error("the points were refused");
        const JobStateChanged ended{{id}, JobState::running, JobState::succeeded, ""};
        commit_now(store, {{{at_second(99), ended}}, {}, {}, {}});
      }
    }
    Database database(home / "podium.db", Access::write, 1000);
    ChunkCloser closer(database);
    while (closer.walk_on()) {
    }
  }
}

double longest(const std::function<void(int round)>& query) {
  double most = 0;
  for (int round = 0; round < kRounds; ++round) {
    const auto start = steady_clock::now();
    query(round);
    most = std::max(most, std::chrono::duration<double, std::milli>(steady_clock::now() - start).count());
  }
  return most;
}

Figure query_figure(const std::string& name, const std::function<void(int round)>& query) {
  return {.name = "200,000,000 points: " + name + ", the longest of 20",
          .value = longest(query),
          .unit = "ms",
          .higher_is_better = false,
          .goal = 100};
}

void expect(bool holds) {
  if (!holds) throw std::runtime_error("a query does not find what is there");
}

std::vector<Figure> queries(Reader& reader) {
  const auto jobs = [&reader](JobFilter filter, std::int64_t total) {
    expect(reader.jobs(filter).total == total);
  };
  const auto twenty = [&reader](int round, const std::function<void(const JobView&)>& each) {
    for (int i = 1; i <= 20; ++i) each(reader.job({(round * 37 + i * 41) % kJobs + 1}).value());
  };
  return {
      query_figure("100 jobs of the list", [&](int) { jobs({}, kJobs); }),
      query_figure("the list sorted by loss", [&](int) { jobs({.sort = {JobSortKey::loss}}, kJobs); }),
      query_figure("jobs of a label, sorted by throughput",
                   [&](int) {
                     jobs({.label_key = "team", .label_value = "nlp", .sort = {JobSortKey::throughput}},
                          kJobs);
                   }),
      query_figure("jobs that a search finds", [&](int) { jobs({.search = "run-99"}, 11); }),
      query_figure("20 jobs compared by their metrics",
                   [&](int round) {
                     twenty(round, [&](const JobView& job) {
                       expect(reader.compared(job, {{"train/*"}, at_second(99)}).metrics.size() == kSeries);
                     });
                   }),
      query_figure("a curve of each of 20 jobs at 1,000",
                   [&](int round) {
                     twenty(round, [&](const JobView& job) {
                       expect(reader.series(job.id, key_of(round % kSeries), 1000).points.size() > 500);
                     });
                   }),
      query_figure("all metrics of a job",
                   [&](int round) { expect(reader.metrics({round + 1}).size() == kSeries); }),
      query_figure("the ledger of all jobs",
                   [&](int) { expect(reader.ledger_table({}, at_second(99)).rows.size() == kJobs); })};
}

}  // namespace

std::vector<Figure> measure_large() {
  const TempFolder folder;
  const auto begin = steady_clock::now();
  fill(folder.path());
  const std::chrono::duration<double> seconds = steady_clock::now() - begin;
  Database(folder.path() / "podium.db", Access::write, 1000).run("PRAGMA wal_checkpoint(TRUNCATE)");
  const auto size = static_cast<double>(std::filesystem::file_size(folder.path() / "podium.db"));
  std::vector<Figure> figures{
      {.name = "200,000,000 points: written", .value = kPoints / seconds.count(), .unit = "points/s"},
      {.name = "200,000,000 points: database",
       .value = size / 1e9,
       .unit = "GB",
       .higher_is_better = false,
       .goal = 1.6}};
  Reader reader(folder.path());
  for (Figure& figure : queries(reader)) figures.push_back(std::move(figure));
  return figures;
}

}  // namespace podium
