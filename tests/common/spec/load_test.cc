// What load_experiment makes of a spec: defaults, presets, studies, and the form of its errors.
#include "common/spec/load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/file.h"

namespace podium {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string bert(const std::string& model, const std::string& more = "") {
  return "version: 1\nname: t\nmodel: " + model +
         "\ndata: {train: a.txt, tokenizer: {wordpiece: v.txt}}\n"
         "training: {optimizer: {lr: 1e-3}, schedule: {steps: 10}, batch: {global: 8, micro: 2}}\n"
         "resources: {devices: 2}\n" +
         more;
}

std::string gpt(const std::string& model, const std::string& more = "") {
  return "version: 1\nname: t\nmodel: " + model +
         "\ndata: {train: a.txt, tokenizer: {bpe: {vocab: v.json, merges: m.txt}}}\n"
         "training: {optimizer: {lr: 1e-3}, schedule: {steps: 10}, batch: {global: 8, micro: 2}}\n"
         "resources: {devices: 4}\n" +
         more;
}

LoadedExperiment load(const std::string& yaml) {
  auto loaded = load_experiment(yaml, "t.yaml");
  if (!loaded.ok()) throw std::runtime_error(describe(loaded.errors()));
  return std::move(loaded).value();
}

std::string errors_of(const std::string& yaml) { return describe(load_experiment(yaml, "t.yaml").errors()); }

TEST(LoadExperiment, PresetsHaveTheirPublishedShapes) {
  const JobSpec job = load(bert("{preset: bert-large}")).jobs.at(0);
  EXPECT_EQ(job.model.family, ModelFamily::bert);
  EXPECT_EQ(job.model.preset, "bert-large");
  EXPECT_EQ(job.model.layers, 24);
  EXPECT_EQ(job.model.hidden, 1024);
  EXPECT_EQ(job.model.heads, 16);
  EXPECT_EQ(job.model.intermediate, 4096);
  EXPECT_EQ(job.model.max_positions, 512);
  EXPECT_EQ(job.model.vocab, 0);
}

// Nominal sizes by Radford et al. 2019 and Shoeybi et al. 2019, counted with tied embeddings.
TEST(LoadExperiment, GptPresetsHaveTheirNominalSizes) {
  const std::vector<std::pair<std::string, double>> nominal = {{"gpt2-124m", 124e6}, {"gpt2-345m", 345e6},
                                                               {"gpt2-1.2b", 1.2e9}, {"gpt2-2.5b", 2.5e9},
                                                               {"gpt2-4.2b", 4.2e9}, {"gpt2-8.3b", 8.3e9}};
  for (const auto& [preset, parameters] : nominal) {
    const ModelSpec model = load(gpt("{preset: " + preset + "}")).jobs.at(0).model;
    EXPECT_EQ(model.preset, preset);
    EXPECT_EQ(model.max_positions, 1024);
    EXPECT_EQ(model.vocab, preset == "gpt2-124m" ? 0 : 51200);
    const double hidden = model.hidden;
    const double layer =
        hidden * (4 * hidden + 4) + 2 * hidden * model.intermediate + model.intermediate + 5 * hidden;
    const double embeddings = (model.vocab == 0 ? 50257 : model.vocab) + model.max_positions;
    EXPECT_NEAR(model.layers * layer + 2 * hidden + embeddings * hidden, parameters, 0.04 * parameters)
        << preset;
  }
}

TEST(LoadExperiment, AChangedPresetLosesItsName) {
  const JobSpec job = load(bert("{preset: bert-large, layers: 2}")).jobs.at(0);
  EXPECT_EQ(job.model.preset, "");
  EXPECT_EQ(job.model.layers, 2);
  EXPECT_EQ(job.model.hidden, 1024);
  EXPECT_EQ(load(bert("{preset: bert-mini, dropout: 0}")).jobs.at(0).model.preset, "bert-mini");
}

TEST(LoadExperiment, DefaultsAreThoseOfJobSpec) {
  const JobSpec job = load(bert("{preset: bert-tiny}")).jobs.at(0);
  const JobSpec standard;
  EXPECT_EQ(job.training.task, TrainingTask::pretrain);
  EXPECT_EQ(job.training.precision, standard.training.precision);
  EXPECT_EQ(job.training.optimizer.beta2, standard.training.optimizer.beta2);
  EXPECT_EQ(job.training.log_every, standard.training.log_every);
  EXPECT_EQ(job.resources.walltime, standard.resources.walltime);
  EXPECT_EQ(job.checkpoint.keep, standard.checkpoint.keep);
  EXPECT_EQ(job.max_restarts, standard.max_restarts);
  EXPECT_EQ(job.priority, standard.priority);
  EXPECT_FALSE(job.target.has_value());
}

TEST(LoadExperiment, WeakScalingGrowsTheBatchAndFitsPerNode) {
  const auto loaded = load(bert("{preset: bert-tiny}", "scaling: {devices: [1, 4]}\n"));
  ASSERT_EQ(loaded.jobs.size(), 2u);
  EXPECT_EQ(loaded.jobs[0].name, "t-devices=1");
  EXPECT_EQ(loaded.jobs[0].resources.devices, 1);
  EXPECT_EQ(loaded.jobs[0].training.batch.global, 4);
  EXPECT_EQ(loaded.jobs[1].training.batch.global, 16);
  EXPECT_EQ(loaded.normalised["scaling"]["mode"], "weak");
  EXPECT_EQ(loaded.normalised["training"]["batch"]["global"], 8);
}

TEST(LoadExperiment, StrongScalingKeepsTheBatch) {
  const auto loaded = load(bert("{preset: bert-tiny}", "scaling: {devices: [1, 4], mode: strong}\n"));
  ASSERT_EQ(loaded.jobs.size(), 2u);
  EXPECT_EQ(loaded.jobs[0].training.batch.global, 8);
  EXPECT_EQ(loaded.jobs[1].training.batch.global, 8);
}

TEST(LoadExperiment, ASweepIsTheProductOfItsLists) {
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

TEST(LoadExperiment, APhaseInheritsWhatItDoesNotWrite) {
  const auto loaded = load(read_file(PODIUM_SOURCE_DIR "/schemas/cases/good/phases.yaml"));
  const auto& phases = loaded.jobs.at(0).training.phases;
  ASSERT_EQ(phases.size(), 2u);
  EXPECT_EQ(phases[0].schedule.steps, 1563);
  EXPECT_EQ(phases[0].schedule.warmup, 0.128);
  EXPECT_EQ(phases[0].schedule.decay, Decay::poly);
  EXPECT_EQ(phases[0].schedule.power, 0.5);
  EXPECT_EQ(phases[0].lr, 4e-3);
  EXPECT_EQ(phases[0].batch.global, 32768);
  EXPECT_EQ(phases[0].sequence_length, 512);
  EXPECT_EQ(phases[0].max_predictions, 0);
  EXPECT_EQ(phases[1].schedule.steps, 100);
  EXPECT_EQ(phases[1].schedule.warmup, 0);
  EXPECT_EQ(phases[1].lr, 4e-3);
  EXPECT_EQ(phases[1].batch.micro, 8);
  EXPECT_EQ(phases[1].sequence_length, 512);
}

TEST(LoadExperiment, WeakScalingGrowsTheBatchOfEveryPhase) {
  const auto loaded = load(read_file(PODIUM_SOURCE_DIR "/schemas/cases/good/scaling-phases.yaml"));
  ASSERT_EQ(loaded.jobs.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    const TrainingSpec& training = loaded.jobs[i].training;
    const std::int64_t devices = std::int64_t{1} << i;
    EXPECT_EQ(training.batch.global, 32 * devices);
    EXPECT_EQ(training.phases.at(0).batch.global, 8 * devices);
    EXPECT_EQ(training.phases.at(1).batch.global, 8 * devices);
  }
}

TEST(LoadExperiment, ASweepOverLayoutsKeepsEachRule) {
  EXPECT_EQ(load(gpt("{preset: gpt2-124m}", "sweep: {parallel.tensor: [1, 2], parallel.pipeline: [1, 2]}\n"))
                .jobs.size(),
            4u);
  EXPECT_EQ(errors_of(gpt("{preset: gpt2-124m}", "sweep: {parallel.tensor: [1, 8]}\n")),
            "t.yaml:6:22: resources.devices (4) must be a multiple of parallel.tensor × parallel.pipeline "
            "(8 × 1) (in job t-tensor=8)\nt.yaml:7:30: parallel.tensor (8) must divide model.heads (12)");
  EXPECT_EQ(errors_of(gpt("{preset: gpt2-124m}", "sweep: {training.phases: [1]}\n")),
            "t.yaml:7:9: sweep cannot vary \"training.phases\", which is a list");
}

TEST(LoadExperiment, AJobOfAStudyThatCannotRunIsNamedByItsValue) {
  EXPECT_EQ(errors_of(bert("{preset: bert-tiny}", "sweep: {training.sequence_length: [128, 1024]}\n")),
            "t.yaml:7:41: training.sequence_length (1024) must not be above model.max_positions (512)");
  EXPECT_THAT(errors_of(bert("{preset: bert-tiny}", "sweep: {training.batch.micro: [2, 3]}\n")),
              HasSubstr("6 or 12 would do (in job t-micro=3)"));
}

TEST(LoadExperiment, OverridesTakeThePlaceOfTheFilesValues) {
  const auto loaded = load_experiment(bert("{preset: bert-tiny}"), "t.yaml",
                                      {{"model.preset", "bert-mini"},
                                       {"training.schedule.steps", "20"},
                                       {"labels.run", "7"},
                                       {"parallel.sequence", "false"},
                                       {"evaluate.every", "5 steps"},
                                       {"evaluate.data", "h.txt"}});
  ASSERT_TRUE(loaded.ok()) << describe(loaded.errors());
  const JobSpec& job = loaded->jobs.at(0);
  EXPECT_EQ(job.model.layers, 4);
  EXPECT_EQ(job.training.schedule.steps, 20);
  EXPECT_EQ(job.labels.at("run"), "7");
  EXPECT_EQ(job.evaluate.every, 5);
}

TEST(LoadExperiment, ProblemsWithOverridesArePlacedBesideTheFile) {
  const auto errors = [](const std::vector<Override>& overrides) {
    return describe(load_experiment(bert("{preset: bert-tiny}"), "t.yaml", overrides).errors());
  };
  EXPECT_EQ(
      errors({{"training.batch.global", "9"}}),
      "t.yaml, overridden: training.batch.global (9) must be a multiple of 4: 2 sequences a micro batch on "
      "2 data parallel devices; 8 or 12 would do");
  EXPECT_EQ(
      errors({{"training.precision", "bf61"}, {"training.optimiser.lr", "1"}}),
      "t.yaml, overridden: cannot set \"training.optimiser.lr\"; did you mean \"training.optimizer.lr\"?\n"
      "t.yaml, overridden: training.precision cannot be \"bf61\"; did you mean \"bf16\"? It is one of "
      "fp32, bf16, fp16");
  EXPECT_THAT(errors({{"training.steps", "3"}}), HasSubstr("did you mean \"training.schedule.steps\"?"));
  EXPECT_THAT(errors({{"chekpoint.every", "3"}}), HasSubstr("did you mean \"checkpoint.every\"?"));
  EXPECT_EQ(errors({{"training.phases", "[]"}}),
            "t.yaml, overridden: cannot set \"training.phases\", which is a list");
}

TEST(LoadExperiment, HostileOverridesAreRefused) {
  for (const char* path : {"labels.a~b", "labels.-", "labels.0", "name", "", ".", "~", "data.train.x",
                           "training.phases.0.schedule.steps", "version.x"})
    EXPECT_FALSE(load_experiment("version: 1\nlabels: text\n", "t", {{path, "1"}}).ok()) << path;
}

TEST(LoadExperiment, HostilePathsInASweepAreRefused) {
  for (const char* path :
       {"labels.a~b", "data.train.x", "a//b", ".", "", "~", "labels.-", "labels.0", "sweep.x", "name"})
    EXPECT_FALSE(
        load_experiment(bert("{preset: bert-tiny}", std::string("sweep: {\"") + path + "\": [[1]]}\n"), "t")
            .ok())
        << path;
}

TEST(LoadExperiment, ErrorsCarryPlaceAndPointer) {
  const auto loaded = load_experiment(bert("{preset: bert-tiny, heads: 3}"), "dir/t.yaml");
  ASSERT_EQ(loaded.errors().size(), 1u);
  EXPECT_EQ(loaded.errors()[0].where, "dir/t.yaml:3:35");
  EXPECT_EQ(loaded.errors()[0].pointer, "/model/heads");
  EXPECT_EQ(loaded.errors()[0].code, ErrorCode::invalid);
}

TEST(LoadExperiment, TooLongAFileIsNotRead) {
  EXPECT_THAT(errors_of(std::string(kMaxSpecBytes + 1, ' ')), HasSubstr("at most 262144 are read"));
}

TEST(LoadExperiment, MisspeltKeysFindTheirName) {
  EXPECT_THAT(errors_of(bert("{preset: bert-tiny}", "lable: {}\n")),
              HasSubstr("unknown key \"lable\"; did you mean \"labels\"?"));
  EXPECT_THAT(errors_of("training: {optimizer: {lerning_rate: 1}}\n"),
              HasSubstr("unknown key \"lerning_rate\"; did you mean \"lr\"?"));
  EXPECT_THAT(errors_of("training: {learning_rate: 1}\n"),
              HasSubstr("unknown key \"learning_rate\"; did you mean \"training.optimizer.lr\"?"));
}

}  // namespace
}  // namespace podium
