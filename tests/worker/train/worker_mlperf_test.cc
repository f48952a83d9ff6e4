// Whole trainings that are measured as MLPerf measures, and their logs held to its rules.
#include <gmock/gmock.h>

#include <chrono>
#include <csignal>
#include <sstream>
#include <thread>

#include "common/base/boot_clock.h"
#include "common/base/file.h"
#include "common/mlperf/check.h"
#include "tests/worker/train/worker_job.h"

namespace podium {
namespace {

using mlperf::Line;
using mlperf::Log;
using testing::Each;
using testing::ElementsAre;

// A BERT as small as can be, which is evaluated every `every` steps.
JobSpec measured_job(std::int64_t steps, std::int64_t every) {
  JobSpec spec = tiny_job(steps);
  spec.training.optimizer.name = OptimizerKind::lamb;
  spec.evaluate.every = every;
  spec.target = TargetSpec{"eval/mlm_accuracy", 0.0, std::nullopt};
  spec.mlperf.emplace();
  spec.mlperf->organisation = "ACME";
  return spec;
}

Log log_of(const WorkerJob& job) { return mlperf::read_log(read_file(job.checkpoints() / "mlperf.log")); }

std::vector<std::string> rules_broken(const Log& log) {
  std::vector<std::string> rules;
  for (const mlperf::Finding& finding : check(log, mlperf::kUsualRound)) rules.push_back(finding.rule);
  return rules;
}

std::vector<double> evaluated_at(const Log& log) {
  std::vector<double> at;
  for (const Line* line : log.all("eval_accuracy")) at.push_back(line->number_in("epoch_num").value());
  return at;
}

void expect_ascending_times(const Log& log) {
  for (std::size_t i = 1; i < log.lines.size(); ++i)
    EXPECT_LE(log.lines[i - 1].time_ms, log.lines[i].time_ms) << log.lines[i].key;
}

// Of the closed division's rules a small model breaks that of the official target alone.
TEST(WorkerMlperf, ASmallBertKeepsAllRulesButTheTarget) {
  constexpr std::int64_t kBatch = 6144;
  JobSpec spec = measured_job(60, mlperf::evaluation_steps(mlperf::Benchmark::bert, kBatch));
  spec.model.hidden = 16;
  spec.model.heads = 1;
  spec.model.intermediate = 16;
  spec.training.batch = {kBatch, 512};
  spec.training.sequence_length = 8;
  spec.checkpoint.every = 0;
  spec.evaluate.sequences = 100;
  WorkerJob job(spec);
  ASSERT_THAT(job.run(2), Each(0)) << job.errors();
  const Log log = log_of(job);
  EXPECT_THAT(rules_broken(log), ElementsAre("target"));
  EXPECT_THAT(evaluated_at(log), ElementsAre(33 * kBatch));  // of 200,000
  EXPECT_EQ(log.first("eval_samples")->value, 100);
  EXPECT_EQ(log.first("train_samples")->value, 33 * kBatch);
  EXPECT_EQ(log.first("gradient_accumulation_steps")->value, 6);
  EXPECT_EQ(log.first("cache_clear")->value, true);
  EXPECT_EQ(log.all("init_start").size(), 2u);
  EXPECT_EQ(log.first("run_stop")->metadata["status"], "success");
  expect_ascending_times(log);
}

TEST(WorkerMlperf, StandardOutputHasTheLog) {
  WorkerJob job(measured_job(10, 10));
  ASSERT_THAT(job.run(1), Each(0)) << job.errors();
  std::string told;
  std::istringstream output(job.output());
  for (std::string line; std::getline(output, line);)
    if (line.starts_with(":::MLLOG")) told += line + "\n";
  EXPECT_EQ(told, read_file(job.checkpoints() / "mlperf.log"));
}

// What was evaluated behind the checkpoint is told again, and the clock has run on.
TEST(WorkerMlperf, AKilledRunGoesOnWithItsLog) {
  JobSpec spec = measured_job(200, 50);
  spec.checkpoint.every = 75;
  spec.target->at_least = 1.1;  // never
  WorkerJob job(spec);
  job.start(1);
  ASSERT_TRUE(job.wait_for_step(105));
  while (!std::filesystem::exists(job.checkpoints() / "step-00000075"))
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  job.rank(0).signal(SIGKILL);
  job.wait();
  const Log first = log_of(job);
  ASSERT_EQ(first.first("run_stop"), nullptr) << "it was through";
  ASSERT_THAT(job.run(1), Each(0)) << job.errors();
  const Log log = log_of(job);
  EXPECT_THAT(evaluated_at(log), ElementsAre(400, 800, 1200, 1600));
  EXPECT_THAT(rules_broken(log), testing::Not(testing::Contains("order")));
  for (const char* key : {"run_start", "run_stop", "block_start", "submission_org", "cache_clear"})
    EXPECT_EQ(log.all(key).size(), 1u) << key;
  EXPECT_EQ(log.first("run_start")->time_ms, first.first("run_start")->time_ms);
  EXPECT_EQ(log.first("init_start")->time_ms, first.first("init_start")->time_ms);
  EXPECT_EQ(log.all("eval_accuracy")[0]->time_ms, first.all("eval_accuracy")[0]->time_ms);
  EXPECT_GT(log.all("eval_accuracy")[1]->time_ms, first.lines.back().time_ms);
  EXPECT_EQ(log.first("run_stop")->metadata["status"], "aborted");
  expect_ascending_times(log);
}

TEST(WorkerMlperf, ARunThatIsKilledBeforeItsFirstCheckpointKeepsItsClock) {
  JobSpec spec = measured_job(30, 10);
  spec.checkpoint.every = 0;
  spec.target->at_least = 1.1;
  WorkerJob job(spec);
  job.start(1);
  ASSERT_TRUE(job.wait_for_step(14));
  job.rank(0).signal(SIGKILL);
  job.wait();
  const Log first = log_of(job);
  ASSERT_EQ(first.first("run_stop"), nullptr) << "it was through";
  ASSERT_THAT(job.run(1), Each(0)) << job.errors();
  const Log log = log_of(job);
  EXPECT_THAT(evaluated_at(log), ElementsAre(80, 160, 240));
  EXPECT_EQ(log.first("run_start")->time_ms, first.first("run_start")->time_ms);
  EXPECT_GE(log.first("block_start")->time_ms, first.lines.back().time_ms);
}

// The clock is that which the nodes share, and began with the attempts whose log is elsewhere.
TEST(WorkerMlperf, TheClockIsTheCoordinators) {
  const BootClock boot;
  WorkerJob job(measured_job(10, 5));
  const Time coordinators = from_millis(1'000'000'000'000);
  job.clock.ahead = coordinators - boot.now();
  ASSERT_THAT(job.run(1), Each(0)) << job.errors();
  const auto within = [&](const Line* line) {
    const std::int64_t since = line->time_ms - to_millis(coordinators);
    return since >= 0 && since < 600'000;
  };
  for (const char* key : {"init_start", "run_start", "eval_accuracy", "run_stop"})
    EXPECT_TRUE(within(log_of(job).first(key))) << key;

  WorkerJob elsewhere(measured_job(10, 5));
  elsewhere.clock = job.clock;
  elsewhere.clock.first_start = coordinators - std::chrono::hours(1);
  ASSERT_THAT(elsewhere.run(1), Each(0)) << elsewhere.errors();
  EXPECT_EQ(log_of(elsewhere).first("run_start")->time_ms, to_millis(*elsewhere.clock.first_start));
  EXPECT_TRUE(within(log_of(elsewhere).first("run_stop")));
}

TEST(WorkerMlperf, ARunThatIsCutOffBehindItsLastStepTellsWhatIsHeldOut) {
  JobSpec spec = measured_job(10, 5);
  spec.target->at_least = 1.1;  // never
  spec.evaluate.sequences = 24;
  WorkerJob job(spec);
  ASSERT_THAT(job.run(2), Each(0)) << job.errors();
  const auto path = job.checkpoints() / "mlperf.log";
  const std::string whole = read_file(path);
  write_file_atomic(path, whole.substr(0, whole.rfind(":::MLLOG", whole.find("block_stop"))));
  ASSERT_THAT(job.run(2), Each(0)) << job.errors();
  const Log log = log_of(job);
  EXPECT_EQ(log.first("eval_samples")->value, 24);
  EXPECT_EQ(log.first("run_stop")->metadata["status"], "aborted");
}

// Its clock stopped when it reached the target, whatever is done with the job afterwards.
TEST(WorkerMlperf, ARunThatHasEndedSaysNothingMore) {
  WorkerJob job(measured_job(10, 5));
  ASSERT_THAT(job.run(1), Each(0)) << job.errors();
  const std::string ended = read_file(job.checkpoints() / "mlperf.log");
  ASSERT_THAT(job.run(1), Each(0)) << job.errors();
  EXPECT_EQ(read_file(job.checkpoints() / "mlperf.log"), ended);
}

TEST(WorkerMlperf, AGptCountsTokens) {
  JobSpec spec = tiny_gpt_job(10);
  spec.evaluate.every = 5;
  spec.target = TargetSpec{"eval/loss", std::nullopt, 100.0};
  spec.mlperf.emplace();
  spec.mlperf->benchmark = mlperf::Benchmark::gpt3;
  spec.training.schedule.decay = Decay::cosine;
  WorkerJob job(spec);
  ASSERT_THAT(job.run(1), Each(0)) << job.errors();
  const Log log = log_of(job);
  EXPECT_THAT(evaluated_at(log), ElementsAre(5 * 8 * 32));
  EXPECT_EQ(log.first("trained_samples")->value, 5 * 8 * 32);
  EXPECT_EQ(log.first("max_sequence_length")->value, 32);
  EXPECT_EQ(log.first("opt_learning_rate_decay_schedule")->value, "cosine with linear warmup");
  // Those that name GPT-3's own hyperparameters, the interval and the target.
  EXPECT_THAT(rules_broken(log),
              testing::UnorderedElementsAre("max_sequence_length/value", "opt_base_learning_rate/value",
                                            "opt_adam_beta_2/value", "opt_adam_epsilon/value",
                                            "init_checkpoint_step/value", "evaluation-interval", "target"));
}

}  // namespace
}  // namespace podium
