// The ledger of a real training that was killed once: where its time went, against what its attempts say.
#include <gtest/gtest.h>
#include <signal.h>

#include <map>

#include "tests/cluster.h"
#include "tests/faults/observed_job.h"
#include "tests/faults/training_job.h"

namespace podium {
namespace {

using nlohmann::json;

constexpr int kDevices = 2;
constexpr int kSteps = 110;

// Device milliseconds by kind.
std::map<std::string, std::int64_t> totals_of(const json& totals) {
  std::map<std::string, std::int64_t> sums;
  for (const json& total : totals) sums[total.at("kind")] += total.at("device_ms").get<std::int64_t>();
  return sums;
}

std::int64_t sum_of(const std::map<std::string, std::int64_t>& sums) {
  std::int64_t all = 0;
  for (const auto& [kind, device_ms] : sums) all += device_ms;
  return all;
}

// Waits until rank 0 of the last attempt has been heard to the end.
json whole_ledger(const Cluster& cluster, JobId job) {
  for (int tries = 0;; ++tries) {
    json ledger = cluster.get("/jobs/" + to_string(job) + "/ledger");
    if (ledger.at("pieces").back().at("kind") == "stopping" || tries == 100) return ledger;
    usleep(100'000);
  }
}

void check_pieces(const json& ledger, const json& job) {
  std::int64_t at = job.at("submitted_ms"), device_ms = 0;
  for (const json& piece : ledger.at("pieces")) {
    EXPECT_EQ(piece.at("from_ms"), at) << "without a gap";
    at = piece.at("to_ms");
    device_ms += (at - piece.at("from_ms").get<std::int64_t>()) * piece.at("devices").get<std::int64_t>();
  }
  EXPECT_EQ(at, job.at("ended_ms"));
  EXPECT_EQ(device_ms,
            kDevices * (job.at("ended_ms").get<std::int64_t>() - job.at("submitted_ms").get<std::int64_t>()));
  EXPECT_EQ(sum_of(totals_of(ledger.at("totals"))), device_ms);
}

// Steps that count are all steps, each once; those taken again lie beyond the checkpoint gone back to.
void check_steps(const json& ledger, std::int64_t gone_back_to) {
  std::int64_t counted = 0;
  for (const json& piece : ledger.at("pieces")) {
    if (piece.at("kind") == "lost") {
      EXPECT_GE(piece.at("first_step"), gone_back_to);
      EXPECT_EQ(piece.at("attempt"), 1);
    }
    if (piece.at("kind") != "stepping") continue;
    EXPECT_EQ(piece.at("first_step"), counted) << piece;
    counted = piece.at("last_step");
  }
  EXPECT_EQ(counted, kSteps);
}

TEST(Ledger, OfATrainingThatWasKilledSumsUpAndTellsWhatWasLost) {
  Cluster cluster(kDevices);
  write_training_data(cluster.data());
  const JobId job = cluster.submit(training_spec("ledger", kSteps));
  const json running = wait_for_step(cluster, job, 70);
  ASSERT_EQ(::kill(workers(running).at(1), SIGKILL), 0);
  const json ended = cluster.wait_for_state(job, "succeeded");
  ASSERT_EQ(ended.at("attempts").size(), 2u) << ended.dump(1);
  const json ledger = whole_ledger(cluster, job);
  SCOPED_TRACE(ledger.dump(1));
  check_pieces(ledger, ended);
  check_steps(ledger, ended.at("attempts").at(1).at("first_step"));

  const std::map<std::string, std::int64_t> sums = totals_of(ledger.at("totals"));
  for (const char* kind :
       {"rendezvous", "loading", "stepping", "lost", "evaluating", "checkpointing", "stopping"})
    EXPECT_TRUE(sums.contains(kind)) << kind;
  EXPECT_FALSE(sums.contains("running") || sums.contains("unknown"));
  const json& killed = ended.at("attempts").at(0);
  const auto ran = killed.at("ended_ms").get<std::int64_t>() - killed.at("created_ms").get<std::int64_t>();
  EXPECT_LT(sums.at("lost"), kDevices * ran / 2) << "at most 20 of 70 steps were beyond a checkpoint";
  EXPECT_NEAR(ledger.at("goodput"),
              static_cast<double>(sums.at("stepping")) / ledger.at("held_device_ms").get<double>(), 1e-9);

  const json table = cluster.get("/ledger?by=account");
  EXPECT_EQ(totals_of(table.at("rows").at(0).at("totals")), sums);
}

}  // namespace
}  // namespace podium
