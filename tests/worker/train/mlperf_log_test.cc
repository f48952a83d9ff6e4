// The log of a run over its attempts, with a clock that is set.
#include "worker/train/mlperf_log.h"

#include <gmock/gmock.h>

#include <map>

#include "common/mlperf/run_log.h"
#include "tests/temp_folder.h"
#include "worker/data/failure.h"
#include "worker/train/run_clock.h"

namespace podium {
namespace {

using testing::ElementsAre;

class SetClock final : public Clock {
 public:
  Time now() const override { return from_millis(now_ms); }
  std::int64_t now_ms = 1'000'000;
};

JobSpec measured_spec() {
  JobSpec spec;
  spec.training.optimizer = {OptimizerKind::lamb, 4e-4, 0.1, 0.6, 0.7, 1e-7, 1.0};
  spec.training.schedule = {700, 0.1, Decay::poly, 0.5, 0};
  spec.training.batch = {4608, 72};
  spec.training.seed = 7;
  spec.training.sequence_length = 512;
  spec.mlperf.emplace();
  return spec;
}

std::map<std::string, nlohmann::json> header_of(const JobSpec& spec, int copies = 8) {
  const MlperfValues values = mlperf_header(spec, "8 x anvil", copies);
  return {values.begin(), values.end()};
}

std::vector<std::string> keys_in(const std::filesystem::path& folder) {
  std::vector<std::string> keys;
  for (const auto& line : mlperf::read_log(read_file(folder / kMlperfLogName)).lines)
    keys.push_back(line.key);
  return keys;
}

TEST(MlperfHeader, NamesTheHyperparametersAsMlperfDoes) {
  const auto header = header_of(measured_spec());
  const std::map<std::string, nlohmann::json> expected{{"submission_benchmark", "bert"},
                                                       {"submission_org", "unnamed"},
                                                       {"submission_division", "closed"},
                                                       {"submission_status", "onprem"},
                                                       {"submission_platform", "8 x anvil"},
                                                       {"seed", 7},
                                                       {"global_batch_size", 4608},
                                                       {"gradient_accumulation_steps", 8},
                                                       {"max_sequence_length", 512},
                                                       {"opt_base_learning_rate", 4e-4},
                                                       {"opt_lamb_epsilon", 1e-7},
                                                       {"opt_epsilon", 1e-7},
                                                       {"opt_lamb_beta_1", 0.6},
                                                       {"opt_lamb_beta_2", 0.7},
                                                       {"opt_lamb_weight_decay_rate", 0.1},
                                                       {"opt_lamb_learning_rate_decay_poly_power", 0.5},
                                                       {"opt_learning_rate_training_steps", 700},
                                                       {"opt_learning_rate_warmup_steps", 70},
                                                       {"num_warmup_steps", 70},
                                                       {"start_warmup_step", 0}};
  EXPECT_EQ(header, expected);
  JobSpec spec = measured_spec();
  spec.mlperf->platform = "1xanvil";
  spec.training.schedule.warmup = 35;
  EXPECT_EQ(header_of(spec)["submission_platform"], "1xanvil");
  EXPECT_EQ(header_of(spec)["num_warmup_steps"], 35);
}

TEST(MlperfHeader, Gpt3sAreAdams) {
  JobSpec spec = measured_spec();
  spec.mlperf->benchmark = mlperf::Benchmark::gpt3;
  spec.training.schedule = {600, 20, Decay::cosine, 1, 2e-6};
  auto header = header_of(spec);
  EXPECT_EQ(header["opt_name"], "adam");
  EXPECT_EQ(header["opt_end_learning_rate"], 2e-6);
  EXPECT_EQ(header["opt_learning_rate_decay_steps"], 600);
  EXPECT_EQ(header["opt_learning_rate_warmup_steps"], 20);
  EXPECT_EQ(header["opt_learning_rate_decay_schedule"], "cosine with linear warmup");
  EXPECT_EQ(header["opt_adam_beta_1"], 0.6);
  EXPECT_EQ(header["opt_adam_beta_2"], 0.7);
  EXPECT_EQ(header["opt_adam_epsilon"], 1e-7);
  EXPECT_EQ(header["opt_weight_decay"], 0.1);
  EXPECT_EQ(header["opt_gradient_clip_norm"], 1.0);
  EXPECT_FALSE(header.contains("num_warmup_steps"));
  EXPECT_EQ(mlperf_epoch(spec, 10), 5120);
  EXPECT_EQ(mlperf_epoch(measured_spec(), 10), 10);
}

class MlperfLogTest : public testing::Test {
 protected:
  MlperfLog open(bool coordinators = false, std::int64_t steps = 0) {
    return MlperfLog(folder.path(), spec, {clock, coordinators, steps});
  }
  std::filesystem::path path() const { return folder.path() / kMlperfLogName; }
  mlperf::Log told() const { return mlperf::read_log(read_file(path())); }

  const JobSpec spec = measured_spec();
  SetClock clock;
  TempFolder folder;
};

TEST_F(MlperfLogTest, TimesDoNotFallWhereTheClockIsSetBack) {
  MlperfLog log = open();
  EXPECT_FALSE(log.continues());
  log.begin({from_millis(999'000), from_millis(2'000'000)}, {{"seed", 1}}, false, std::nullopt);
  clock.now_ms = 500;
  log.training_starts(0, 0);
  log.evaluation_starts(10);
  const auto lines = mlperf::read_log(read_file(folder.path() / kMlperfLogName)).lines;
  EXPECT_EQ(lines[0].time_ms, 999'000);
  EXPECT_EQ(lines[1].time_ms, 1'000'000);  // another node's clock is ahead
  for (std::size_t i = 2; i < lines.size(); ++i) EXPECT_EQ(lines[i].time_ms, 1'000'000);
  EXPECT_EQ(lines[2].value, false);
}

TEST_F(MlperfLogTest, ALineThatWasCutOffIsLeftOut) {
  {
    MlperfLog log = open();
    log.begin({clock.now()}, {}, true, std::nullopt);
    log.training_starts(0, 0);
    log.evaluation_starts(10);
    log.evaluated(10, 0.5);
  }
  const auto path = folder.path() / kMlperfLogName;
  write_file_atomic(path, read_file(path) + ":::MLLOG {\"namespace\":\"\",\"time_");
  clock.now_ms += 5000;
  MlperfLog log = open();
  EXPECT_TRUE(log.continues());
  log.training_starts(10, 0);
  log.ended(20, true);
  EXPECT_THAT(keys_in(folder.path()),
              ElementsAre("init_start", "cache_clear", "init_stop", "run_start", "epoch_start", "block_start",
                          "eval_start", "eval_stop", "eval_accuracy", "block_stop", "epoch_stop",
                          "train_samples", "eval_samples", "run_stop"));
  EXPECT_EQ(mlperf::read_log(read_file(path)).first("run_stop")->time_ms, clock.now_ms);
}

// An attempt may die between its first line and its last before training.
TEST_F(MlperfLogTest, ARunWhoseClockHasNotStartedBeginsAnew) {
  write_file_atomic(folder.path() / kMlperfLogName,
                    mlperf::line_text({0, 5, mlperf::kStart, "init_start", nullptr}));
  MlperfLog log = open();
  EXPECT_FALSE(log.continues());
  log.begin({clock.now()}, {}, true, std::nullopt);
  EXPECT_THAT(keys_in(folder.path()), ElementsAre("init_start", "cache_clear", "init_stop", "run_start"));
}

// Its attempts before have told a log where nothing of it is here.
TEST_F(MlperfLogTest, ARunThatBeganElsewhereKeepsItsFirstStart) {
  MlperfLog log = open();
  log.begin({from_millis(999'990), from_millis(999'999)}, {{"seed", 1}}, true,
            FirstStart{from_millis(400'000)});
  clock.now_ms += 50;
  log.training_starts(0, 0);
  const auto lines = told();
  EXPECT_EQ(lines.first("run_start")->time_ms, 400'000);
  EXPECT_EQ(lines.first("init_start")->time_ms, 399'990) << "it took as long as it did";
  EXPECT_EQ(lines.first("block_start")->time_ms, 1'000'050);
  log.ended(10, true);
  EXPECT_EQ(told().first("run_stop")->metadata["status"], "success");
}

TEST_F(MlperfLogTest, ARunThatBeganElsewhereByAnotherClockIsNoSuccess) {
  MlperfLog log = open(true, 3);
  log.begin({clock.now()}, {}, true, FirstStart{from_millis(400'000), 2});
  log.training_starts(0, 0);
  log.ended(10, true);
  EXPECT_EQ(told().first("run_stop")->metadata["status"], "aborted");
  EXPECT_EQ(told().first("clock_doubt")->value, "the coordinator's clock was set since the run began");
}

TEST_F(MlperfLogTest, AnAttemptThatEvaluatesNoMoreTellsHowManySequencesAreHeldOut) {
  {
    MlperfLog log = open();
    log.begin({clock.now()}, {}, true, std::nullopt);
    log.training_starts(0, 0);
  }
  MlperfLog log = open();
  log.training_starts(20, 0);
  log.holds_out(77);
  log.ended(20, false);
  EXPECT_EQ(mlperf::read_log(read_file(folder.path() / kMlperfLogName)).first("eval_samples")->value, 77);
}

// What it took is not known, however often it is started again and whatever its clock shows then.
TEST_F(MlperfLogTest, ARunWhoseClockWasSetBackIsNoSuccess) {
  for (const std::int64_t sequences : {0, 20}) {
    std::filesystem::remove(path());
    clock.now_ms = 1'000'000;
    {
      MlperfLog log = open();
      log.begin({clock.now()}, {}, true, std::nullopt);
      log.training_starts(0, 0);
      log.evaluation_starts(10);
      clock.now_ms += 60'000;
      log.evaluated(10, 0.5);
    }
    clock.now_ms -= 50'000;
    open();  // it ends before the training goes on
    EXPECT_EQ(told().first("clock_doubt")->value,
              "the clock stands 50 s before the last line, for it was set back");
    clock.now_ms += 500'000;
    open().training_starts(sequences, 0);
    MlperfLog log = open();
    log.training_starts(sequences, 0);
    log.ended(30, true);
    EXPECT_EQ(told().first("run_stop")->metadata["status"], "aborted");
    EXPECT_EQ(told().all("clock_doubt").size(), 1u);
  }
}

// An agent knows the coordinator's clock but for the time that its answer was on the way, and that clock
// follows its machine's by a thousandth.
TEST_F(MlperfLogTest, AMomentIsNoClockThatWasSetBack) {
  for (const auto& [trained, back, status] :
       {std::tuple(0, 1000, "success"), std::tuple(0, 1001, "aborted"), std::tuple(500'000, 2000, "success"),
        std::tuple(500'000, 2001, "aborted")}) {
    std::filesystem::remove(path());
    {
      MlperfLog log = open();
      log.begin({clock.now()}, {}, true, std::nullopt);
      clock.now_ms += trained;
      log.training_starts(0, 0);
    }
    clock.now_ms -= back;
    MlperfLog log = open();
    log.training_starts(10, 0);
    log.ended(20, true);
    EXPECT_EQ(told().first("run_stop")->metadata["status"], status) << trained << " " << back;
  }
}

TEST_F(MlperfLogTest, TimesByDifferentClocksAreNoResult) {
  struct Case {
    bool before, now;
    std::int64_t steps_before, steps;
    const char* doubt;
  };
  constexpr const char* kSet = "the coordinator's clock was set since the run began";
  for (const Case& one :
       {Case{true, true, 0, 0, ""}, Case{true, true, 2, 2, ""}, Case{false, false, 0, 0, ""},
        Case{false, true, 0, 0,
             "the attempts before told times by another clock, and this one tells the coordinator's"},
        Case{true, false, 0, 0,
             "the attempts before told times by another clock, and this one tells the machine's"},
        Case{true, true, 0, 1, kSet}, Case{true, true, 2, 1, kSet}}) {
    std::filesystem::remove(path());
    {
      MlperfLog log = open(one.before, one.steps_before);
      log.begin({clock.now()}, {}, true, std::nullopt);
      log.training_starts(0, 0);
    }
    MlperfLog log = open(one.now, one.steps);
    log.training_starts(10, 0);
    log.ended(20, true);
    const auto lines = told();
    EXPECT_EQ(lines.first("run_stop")->metadata["status"], *one.doubt == '\0' ? "success" : "aborted");
    const auto* doubt = lines.first("clock_doubt");
    EXPECT_EQ(doubt ? doubt->value.get<std::string>() : "", one.doubt);
  }
}

// Logs of before did not say by which clock they are: it was the machine's.
TEST_F(MlperfLogTest, ALogThatDoesNotSayByWhichClockIsByTheMachines) {
  write_file_atomic(path(), mlperf::line_text({0, 5, mlperf::kStart, "run_start", nullptr}));
  EXPECT_TRUE(open().continues());
  EXPECT_EQ(told().first("clock_doubt"), nullptr);
  open(true);
  EXPECT_NE(told().first("clock_doubt"), nullptr);
}

TEST(RunClock, IsTheCoordinatorsWhereItIsKnownAndSteady) {
  SetClock wall, boot;
  boot.now_ms = 5'000;
  const RunClock told(Duration{70'000}, wall, boot);
  const RunClock alone(std::nullopt, wall, boot);
  wall.now_ms = 1;
  boot.now_ms = 5'250;
  EXPECT_EQ(to_millis(told.now()), 75'250);
  EXPECT_EQ(to_millis(alone.now()), 1'000'250);
}

TEST_F(MlperfLogTest, AFolderThatIsGoneIsAFullDisk) {
  MlperfLog log(folder.path() / "gone", spec, {clock});
  try {
    log.begin({clock.now()}, {}, true, std::nullopt);
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.exit, WorkerExit::disk_full);
    EXPECT_THAT(failure.what(), testing::HasSubstr("cannot keep MLPerf's log"));
  }
}

}  // namespace
}  // namespace podium
