// What attempts drew, beside the sum of all that was measured.
#include "coordinator/store/energy_rows.h"

#include <map>
#include <random>

#include "coordinator/store/migrations.h"
#include "tests/coordinator/store/store_fixture.h"

namespace podium {
namespace {

constexpr std::int64_t kMinute = 60'000;
constexpr std::int64_t kStart = 1'700'000'040'000;  // the beginning of a minute

class EnergyRowsTest : public testing::Test {
 protected:
  EnergyRowsTest() {
    database_.run(R"sql(
      INSERT INTO experiments (id, name, created_ms) VALUES (1, 'x', 0);
      INSERT INTO jobs (id, experiment, name, state, kind, devices, per_node, walltime_ms, priority, max_restarts,
                        command, submitted_ms) VALUES (1, 1, 'x', 'running', 'cpu', 1, 0, 1, 1, 1, 1, 0))sql");
  }

  // Two nodes report every few seconds, each of its own time, now and then with a gap.
  void measure(int attempt, std::int64_t from, int minutes) {
    database_.run("INSERT INTO attempts (job, number, created_ms, ended_ms) VALUES (1, " +
                  std::to_string(attempt) + ", 0, 1)");
    Transaction transaction(database_);
    std::int64_t told[2] = {from, from};
    while (told[0] < from + minutes * kMinute || told[1] < from + minutes * kMinute) {
      std::int64_t& at = told[random_() % 2];
      const auto length = static_cast<std::int64_t>(1 + random_() % 60'000);
      if (random_() % 20 > 0)
        add({{{1}, attempt},
             from_millis(at),
             from_millis(at + length),
             static_cast<double>(random_() % 1000) / 8,
             2 * length,
             static_cast<std::int64_t>(random_() % 3) * length});
      at += length;
    }
    transaction.commit();
  }

  void add(const DrawnEnergy& drawn) {
    rows_.add(drawn);
    DrawnEnergy& minute = minutes_[{drawn.attempt.number, to_millis(drawn.from) / kMinute}];
    const bool first = minute.covered_ms == 0;
    minute.from = first ? drawn.from : std::min(minute.from, drawn.from);
    minute.to = first ? drawn.to : std::max(minute.to, drawn.to);
    minute.joules += drawn.joules;
    minute.covered_ms += drawn.covered_ms;
    minute.shared_ms += drawn.shared_ms;
  }

  void expect_right(std::optional<Time> until) {
    std::vector<DrawnEnergy> all;
    for (const auto& [key, drawn] : minutes_) all.push_back(drawn);
    const EnergySum expected = sum_of(all, until), got = Reader(home_.path()).energy({1}, until);
    EXPECT_NEAR(got.joules, expected.joules, 1e-6);
    EXPECT_EQ(got.covered_ms, expected.covered_ms);
    EXPECT_EQ(got.shared_ms, expected.shared_ms);
  }

  void end_job(std::optional<std::int64_t> reached_ms) {
    Statement end(database_, "UPDATE jobs SET ended_ms = ?1, target_reached_ms = ?2 WHERE id = 1");
    end.run(kStart + 5000 * kMinute, reached_ms);
  }

  std::int64_t count() {
    Statement rows(database_, "SELECT count(*) FROM energy");
    rows.start().next();
    return rows.integer(0);
  }

  int thin(Duration after) {
    int pieces = 0;
    while (rows_.thin(from_millis(kStart + 5000 * kMinute) + after)) ++pieces;
    return pieces;
  }

  static Database migrated(const std::filesystem::path& path) {
    Database database(path, Access::write, 1000);
    migrate(database);
    return database;
  }

  TempFolder home_;
  Database database_ = migrated(home_.path() / "podium.db");
  EnergyRows rows_{database_};
  std::mt19937_64 random_{7};
  std::map<std::pair<int, std::int64_t>, DrawnEnergy> minutes_;
};

TEST_F(EnergyRowsTest, SumsAreThoseOfAllThatWasMeasuredUpToAnyMoment) {
  EXPECT_FALSE(Reader(home_.path()).has_energy({1}));
  measure(1, kStart, 40);
  measure(2, kStart + 60 * kMinute, 40);
  EXPECT_TRUE(Reader(home_.path()).has_energy({1}));
  expect_right(std::nullopt);
  for (int i = 0; i < 300; ++i)
    expect_right(from_millis(kStart - kMinute + static_cast<std::int64_t>(random_() % (110 * kMinute))));
  for (std::int64_t minute = 0; minute < 110; ++minute) expect_right(from_millis(kStart + minute * kMinute));
}

TEST_F(EnergyRowsTest, OfJobsThatEndedAWeekAgoAFewMinutesStayAndSayTheSame) {
  const std::int64_t reached = kStart + 1700 * kMinute + 30'500;
  measure(1, kStart, 1500);
  measure(2, kStart + 1600 * kMinute, 1500);
  end_job(reached);
  const std::int64_t before = count();
  EXPECT_EQ(thin(std::chrono::days(7) - Duration(1)), 0) << "a target may yet be told of";
  EXPECT_EQ(count(), before);
  EXPECT_GT(thin(std::chrono::days(7)), 2) << "in pieces";
  EXPECT_LE(count(), 8);
  expect_right(std::nullopt);
  expect_right(from_millis(reached));
}

TEST_F(EnergyRowsTest, WithoutATargetTheEndSays) {
  measure(1, kStart, 1500);
  end_job(std::nullopt);
  thin(std::chrono::days(8));
  EXPECT_EQ(count(), kMinutesAround);
  expect_right(std::nullopt);
}

TEST_F(EnergyRowsTest, OfADatabaseOfBeforeTheSumsAreMade) {
  const TempFolder home;
  Database old(home.path() / "podium.db", Access::write, 1000);
  migrate(old, 18);
  old.run(
      R"sql(INSERT INTO energy VALUES (1, 1, 10, 600000, 650000, 5, 100, 7), (1, 1, 11, 660000, 700000, 6, 200, 0),
                                          (1, 2, 20, 1200000, 1250000, 8, 400, 1))sql");
  migrate(old);
  Reader reader(home.path());
  EXPECT_EQ(reader.energy({1}, {}), (EnergySum{19, 700, 8}));
  EXPECT_EQ(reader.energy({1}, from_millis(680'000)), (EnergySum{8, 200, 7}));
  EXPECT_EQ(reader.energy({2}, {}), EnergySum{});
}

}  // namespace
}  // namespace podium
