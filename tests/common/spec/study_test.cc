// The jobs that load_experiment makes of a study: repetitions, scaling, sweeps, random trials and halving.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "common/base/file.h"
#include "common/spec/load.h"
#include "tests/common/spec/specs.h"
#include "tests/paths.h"

namespace podium {
namespace {

using test::bert;
using test::errors_of;
using test::gpt;
using test::list_of;
using test::load;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(LoadStudy, WeakScalingGrowsTheBatchAndFitsPerNode) {
  const auto loaded = load(bert("{preset: bert-tiny}", "scaling: {devices: [1, 4]}\n"));
  ASSERT_EQ(loaded.jobs.size(), 2u);
  EXPECT_EQ(loaded.jobs[0].name, "t-devices=1");
  EXPECT_EQ(loaded.jobs[0].resources.devices, 1);
  EXPECT_EQ(loaded.jobs[0].training.batch.global, 4);
  EXPECT_EQ(loaded.jobs[1].training.batch.global, 16);
  EXPECT_EQ(loaded.normalised["scaling"],
            (nlohmann::json{{"devices", {1, 4}}, {"mode", "weak"}, {"repeat", 1}, {"together", true}}));
  EXPECT_FALSE(loaded.in_turn);
  EXPECT_EQ(loaded.normalised["training"]["batch"]["global"], 8);
}

TEST(LoadStudy, RepeatingGivesEachJobASeedOfItsOwn) {
  const auto loaded = load(read_file(test::source_path("schemas/cases/good/scaling-repeat.yaml")));
  EXPECT_TRUE(loaded.in_turn);
  std::vector<std::string> names;
  std::vector<std::uint64_t> seeds;
  std::vector<int> devices;
  for (const JobSpec& job : loaded.jobs) {
    names.push_back(job.name);
    seeds.push_back(job.training.seed);
    devices.push_back(job.resources.devices);
  }
  EXPECT_EQ(devices, (std::vector<int>{1, 1, 4, 4})) << "the smallest first, for they run in turn";
  EXPECT_EQ(seeds, (std::vector<std::uint64_t>{41, 42, 41, 42}));
  EXPECT_EQ(names, (std::vector<std::string>{"seeds-devices=1-seed=41", "seeds-devices=1-seed=42",
                                             "seeds-devices=4-seed=41", "seeds-devices=4-seed=42"}));
  EXPECT_EQ(load(bert("{preset: bert-tiny}", "scaling: {devices: [1], repeat: 2}\n")).jobs[1].training.seed,
            2u);
}

TEST(LoadStudy, RefusesMoreJobsInTurnThanMayWaitForEachOther) {
  EXPECT_THAT(
      errors_of(bert("{preset: bert-tiny}", "scaling: {devices: [1, 2], repeat: 51, together: false}\n")),
      HasSubstr("the study has 102 jobs, and at most 100 can run one at a time"));
}

TEST(LoadStudy, RepeatingACommandCountsItsParameter) {
  const auto loaded = load(
      "version: 1\nname: t\ncommand: [train, \"{seed}\"]\nparameters: {seed: -1}\n"
      "resources: {devices: 1}\nscaling: {devices: [2, 1], repeat: 3}\n");
  ASSERT_EQ(loaded.jobs.size(), 6u);
  EXPECT_EQ(loaded.jobs[0].resources.devices, 2) << "together: in the order of the list";
  EXPECT_EQ(loaded.jobs[2].parameters.at("seed"), 1);
}

TEST(LoadStudy, ASeedBeyondTheLargestIsAProblemOfRepeat) {
  std::string text = bert("{preset: bert-tiny}", "scaling: {devices: [1], repeat: 2}\n");
  text.replace(text.find("schedule:"), 0, "seed: 9223372036854775807, ");
  EXPECT_THAT(errors_of(text),
              HasSubstr("training.seed is too large for scaling.repeat to count on from it"));
}

TEST(LoadStudy, StrongScalingKeepsTheBatch) {
  const auto loaded = load(bert("{preset: bert-tiny}", "scaling: {devices: [1, 4], mode: strong}\n"));
  ASSERT_EQ(loaded.jobs.size(), 2u);
  EXPECT_EQ(loaded.jobs[0].training.batch.global, 8);
  EXPECT_EQ(loaded.jobs[1].training.batch.global, 8);
}

TEST(LoadStudy, ASweepIsTheProductOfItsLists) {
  const auto loaded = load(bert(
      "{preset: bert-tiny}", "sweep: {training.seed: [1, 2], model.dropout: [0, 0.1], labels.run: [a]}\n"));
  std::vector<std::string> names;
  for (const JobSpec& job : loaded.jobs) names.push_back(job.name);
  EXPECT_THAT(names, ElementsAre("t-run=a-dropout=0-seed=1", "t-run=a-dropout=0-seed=2",
                                 "t-run=a-dropout=0.1-seed=1", "t-run=a-dropout=0.1-seed=2"));
  EXPECT_EQ(loaded.jobs[3].training.seed, 2u);
  EXPECT_EQ(loaded.jobs[3].model.dropout, 0.1);
  EXPECT_EQ(loaded.jobs[3].labels.at("run"), "a");
}

TEST(LoadStudy, WeakScalingGrowsTheBatchOfEveryPhase) {
  const auto loaded = load(read_file(test::source_path("schemas/cases/good/scaling-phases.yaml")));
  ASSERT_EQ(loaded.jobs.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    const TrainingSpec& training = loaded.jobs[i].training;
    const std::int64_t devices = std::int64_t{1} << i;
    EXPECT_EQ(training.batch.global, 32 * devices);
    EXPECT_EQ(training.phases.at(0).batch.global, 8 * devices);
    EXPECT_EQ(training.phases.at(1).batch.global, 8 * devices);
  }
}

std::string random_sweep(const std::string& trials, const std::string& seed) {
  return "sweep: {trials: " + trials + ", seed: " + seed +
         ", training.optimizer.lr: {from: 1.0e-5, to: 1.0e-2, scale: log}, model.layers: {from: 2, to: 9},"
         " training.schedule.warmup: {from: 0.1, to: 0.3}, training.schedule.decay: [linear, poly]}\n";
}

TEST(LoadStudy, RandomTrialsAreTheSameForASeedAndStayWhenThereAreMore) {
  const auto names = [](const std::string& trials, const std::string& seed) {
    std::vector<std::string> found;
    for (const JobSpec& job : load(bert("{preset: bert-tiny}", random_sweep(trials, seed))).jobs)
      found.push_back(job.name);
    return found;
  };
  const auto eight = names("8", "3");
  EXPECT_EQ(names("8", "3"), eight);
  EXPECT_NE(names("8", "4"), eight);
  const auto twenty = names("20", "3");
  EXPECT_TRUE(std::equal(eight.begin(), eight.end(), twenty.begin()));
}

TEST(LoadStudy, RandomTrialsFillTheirRangesEvenlyOnTheirScale) {
  const auto jobs = load(bert("{preset: bert-tiny}", random_sweep("1000", "1"))).jobs;
  ASSERT_EQ(jobs.size(), 1000u);
  std::map<int, int> decades, layers;
  int linear = 0, low = 0;
  for (const JobSpec& job : jobs) {
    const double lr = job.training.optimizer.lr;
    ASSERT_TRUE(lr >= 1e-5 && lr <= 1e-2) << lr;
    ++decades[std::min(static_cast<int>(std::floor(std::log10(lr))), -3)];
    ++layers[job.model.layers];
    linear += job.training.schedule.decay == Decay::linear;
    low += job.training.schedule.warmup < 0.2;
  }
  // Four deviations of the binomial distribution.
  const auto near = [](int count, double share) {
    return std::abs(count - 1000 * share) < 4 * std::sqrt(1000 * share * (1 - share));
  };
  ASSERT_EQ(decades.size(), 3u);
  for (const auto& [decade, count] : decades) EXPECT_TRUE(near(count, 1.0 / 3)) << decade << " " << count;
  ASSERT_EQ(layers.size(), 8u);
  for (const auto& [layer, count] : layers) EXPECT_TRUE(near(count, 1.0 / 8)) << layer << " " << count;
  EXPECT_TRUE(near(linear, 0.5)) << linear;
  EXPECT_TRUE(near(low, 0.5)) << low;
}

TEST(LoadStudy, RandomTrialsAreAllDifferent) {
  const auto loaded =
      load(bert("{preset: bert-tiny}",
                "sweep: {trials: 6, model.layers: {from: 2, to: 4}, model.dropout: [0, 0.1]}\n"));
  std::set<std::string> names;
  for (const JobSpec& job : loaded.jobs) names.insert(job.name);
  EXPECT_EQ(names.size(), 6u) << "all combinations that there are";
}

TEST(LoadStudy, AHalvingTakesFromTheSpecWhatItDoesNotSay) {
  const std::string sweep =
      "sweep: {training.optimizer.lr: [1.0e-3, 2.0e-3, 3.0e-3, 4.0e-3], asha: {min_steps: 2";
  const std::string evaluated = "evaluate: {every: 2 steps, data: held.txt}\n";
  const auto own = load(bert("{preset: bert-tiny}", evaluated + sweep + ", metric: eval/mlm_accuracy}}\n"));
  ASSERT_TRUE(own.asha);
  EXPECT_EQ(*own.asha,
            (Asha{"eval/mlm_accuracy", Goal::max, 2, own.jobs.front().training.schedule.steps, 4}));
  const auto targeted =
      load(bert("{preset: bert-tiny}",
                evaluated + "target: {metric: eval/mlm_loss, at_most: 4}\n" + sweep + ", reduction: 2}}\n"));
  EXPECT_EQ(targeted.asha->metric, "eval/mlm_loss");
  EXPECT_EQ(targeted.asha->goal, Goal::min);
  EXPECT_EQ(targeted.asha->reduction, 2);
  EXPECT_FALSE(load(bert("{preset: bert-tiny}", "sweep: {training.seed: [1, 2]}\n")).asha);
}

TEST(LoadStudy, ASweepOverLayoutsKeepsEachRule) {
  EXPECT_EQ(load(gpt("{preset: gpt2-124m}", "sweep: {parallel.tensor: [1, 2], parallel.pipeline: [1, 2]}\n"))
                .jobs.size(),
            4u);
  EXPECT_EQ(errors_of(gpt("{preset: gpt2-124m}", "sweep: {parallel.tensor: [1, 8]}\n")),
            "t.yaml:6:22: resources.devices (4) must be a multiple of parallel.tensor × parallel.pipeline "
            "(8 × 1) (in job t-tensor=8)\nt.yaml:7:30: parallel.tensor (8) must divide model.heads (12)");
  EXPECT_EQ(errors_of(gpt("{preset: gpt2-124m}", "sweep: {training.phases: [1]}\n")),
            "t.yaml:7:9: sweep cannot vary \"training.phases\", which is a list");
}

TEST(LoadStudy, AJobOfAStudyThatCannotRunIsNamedByItsValue) {
  EXPECT_EQ(errors_of(bert("{preset: bert-tiny}", "sweep: {training.sequence_length: [128, 1024]}\n")),
            "t.yaml:7:41: training.sequence_length (1024) must not be above model.max_positions (512)");
  EXPECT_THAT(errors_of(bert("{preset: bert-tiny}", "sweep: {training.batch.micro: [2, 3]}\n")),
              HasSubstr("6 or 12 would do (in job t-micro=3)"));
}

TEST(LoadStudy, HostilePathsInASweepAreRefused) {
  for (const char* path : {"labels.a~b", "data.train.x", "a//b", ".", "", "~", "labels.-", "labels.0",
                           "labels.", "parameters..x", "sweep.x", "name"})
    EXPECT_FALSE(
        load_experiment(bert("{preset: bert-tiny}", std::string("sweep: {\"") + path + "\": [[1]]}\n"), "t")
            .ok())
        << path;
}

TEST(LoadStudy, RefusesATooLargeStudyBeforeItMakesItsJobs) {
  const std::string seeds = list_of(998, ",");
  EXPECT_THAT(
      errors_of(bert("{preset: bert-tiny}", "sweep: {training.seed: " + seeds + ", model.layers: [1, 2]}\n")),
      HasSubstr("the study has more than 1000 jobs"));
  EXPECT_THAT(errors_of(bert("{preset: bert-tiny}", "scaling: {devices: [1, 2], repeat: 501}\n")),
              HasSubstr("the study has more than 1000 jobs"));
  const std::string long_list = "[" + std::string(2'000, 'a') + ", " + std::string(3'000, 'b') + ", " +
                                std::string(3'000, 'c') + ", " + std::string(3'000, 'd') + "]";
  EXPECT_THAT(
      errors_of("version: 1\nname: t\ncommand: " + long_list + "\nresources: {devices: 1}\n" +
                "sweep: {priority: " + list_of(99, ",") + ", restarts.max: " + list_of(9, ",") + "}\n"),
      HasSubstr("together they may have 8388608 bytes"));
}

TEST(LoadStudy, ASweptMappingOfParametersIsToldHowToWriteIt) {
  EXPECT_THAT(errors_of("version: 1\nname: t\ncommand: [a]\nparameters: {lr: 1}\n"
                        "sweep: {parameters: {lr: [1, 2]}}\nresources: {devices: 1}\n"),
              HasSubstr("sweep cannot vary \"parameters\"; write the path of one, as in parameters.lr"));
}

}  // namespace
}  // namespace podium
