// Parts of a curve of a million points, thinned to 1,000, from the database's file: with the file in the
// machine's memory, and after the machine has been told to forget it. Beside them the same part read row by
// row from a table, as the store did before it had chunks.
#include <fcntl.h>

#include <chrono>
#include <cmath>
#include <future>
#include <random>
#include <stdexcept>

#include "bench/store/benchmarks.h"
#include "common/base/file.h"
#include "coordinator/store/sqlite.h"
#include "tests/coordinator/store/store_fixture.h"

namespace podium {
namespace {

using std::chrono::steady_clock;

constexpr std::int64_t kPoints = 1'000'000;
constexpr int kAtOnce = 20'000;
constexpr int kWindows = 300, kShown = 1000;

double value_at(std::mt19937_64& random, std::int64_t step) {
  std::normal_distribution<double> noise(0, 0.05);
  return 2 + 9 * std::exp(-static_cast<double>(step) / 2e5) + noise(random);
}

void fill(const std::filesystem::path& home, Database& rows) {
  Store store(home, at_once());
  start_job(store);
  rows.run(
      "CREATE TABLE points (series INTEGER NOT NULL, step INTEGER NOT NULL, attempt INTEGER NOT NULL,"
      " time_ms INTEGER NOT NULL, value REAL, PRIMARY KEY (series, step)) WITHOUT ROWID");
  Statement insert(rows, "INSERT INTO points VALUES (1, ?1, 1, ?2, ?3)");
  std::mt19937_64 random(1);
  std::int64_t offset = 0;
  for (std::int64_t step = 0; step < kPoints;) {
    std::string text;
    Transaction transaction(rows);
    for (int i = 0; i < kAtOnce; ++i, ++step) {
      const double value = value_at(random, step);
      const std::int64_t time = 1'767'225'600'000 + 60 * step + static_cast<std::int64_t>(random() % 8);
      text += R"({"type":"metrics","t":)" + std::to_string(time) + R"(,"step":)" + std::to_string(step) +
              R"(,"values":{"train/loss":)" + nlohmann::json(value).dump() + "}}\n";
      insert.run(step, time, value);
    }
    transaction.commit();
    if (!ingest_now(store, chunk(1, offset, text)).ok()) throw std::runtime_error("the points were refused");
    offset += std::ssize(text);
  }
  rows.run("PRAGMA wal_checkpoint(TRUNCATE)");
}

void forget(const std::filesystem::path& path) {
  const Fd file = open_file(path, O_RDONLY);
  ::posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED);
}

Series from_rows(Database& database, const StepRange& range) {
  Statement count(database, "SELECT count(*) FROM points WHERE series = 1 AND step BETWEEN ?1 AND ?2");
  count.start(range.first, range.last).next();
  Thinner thinner(static_cast<std::size_t>(count.integer(0)), kShown);
  Statement read(database,
                 "SELECT step, time_ms, value FROM points WHERE series = 1 AND step BETWEEN ?1 AND ?2");
  for (read.start(range.first, range.last); read.next();)
    thinner.add(SeriesPoint{read.integer(0), from_millis(read.integer(1)), read.real(2)});
  return std::move(thinner).finish();
}

double milliseconds(const std::function<std::size_t()>& read) {
  const auto start = steady_clock::now();
  if (read() < 2) throw std::runtime_error("a part of the curve is empty");
  return std::chrono::duration<double, std::milli>(steady_clock::now() - start).count();
}

StepRange any_range(std::mt19937_64& random, int i) {
  if (i % 10 == 0) return {0, kPoints};
  // Every size alike, from 1,000 steps to all.
  const auto size = static_cast<std::int64_t>(
      std::exp(std::uniform_real_distribution(std::log(1e3), std::log(1e6))(random)));
  const auto first = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(kPoints - size + 1));
  return {first, first + size};
}

Figure figure(const std::string& name, const std::vector<double>& ours, const std::vector<double>& rows,
              double q) {
  return {.name = "part of a curve of 1,000,000 points at 1,000, " + name,
          .value = quantile(ours, q),
          .unit = "ms",
          .peer = "from rows",
          .peer_value = quantile(rows, q),
          .higher_is_better = false,
          .goal = 5};
}

}  // namespace

std::vector<Figure> measure_windows() {
  const TempFolder folder;
  const auto rows_path = folder.path() / "rows.db";
  Database rows(rows_path, Access::write, 1024);
  fill(folder.path(), rows);
  std::vector<Figure> figures;
  for (const bool cold : {false, true}) {
    std::vector<double> ours, by_rows;
    std::mt19937_64 random(2);
    for (int i = 0; i < kWindows; ++i) {
      const StepRange range = any_range(random, i);
      Reader reader(folder.path());
      reader.metrics({1});  // readers stay open: they know the schema
      Database old(rows_path, Access::read, 1024);
      Statement(old, "SELECT count(*) FROM points WHERE series = 0").start().next();
      if (cold) forget(folder.path() / "podium.db"), forget(rows_path);
      ours.push_back(
          milliseconds([&] { return reader.series({1}, "train/loss", kShown, range).points.size(); }));
      by_rows.push_back(milliseconds([&] { return from_rows(old, range).size(); }));
    }
    const std::string from = cold ? "from disk" : "from memory";
    figures.push_back(figure(from + ", median", ours, by_rows, 0.5));
    figures.push_back(figure(from + ", p99", ours, by_rows, 0.99));
  }
  return figures;
}

}  // namespace podium
