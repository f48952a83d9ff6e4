// What load_experiment makes of a spec: defaults, presets, overrides, and the form of its errors.
#include "common/spec/load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/file.h"
#include "common/spec/warnings.h"
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

TEST(LoadExperiment, ANulThatYamlEscapesIsRefusedInItsPlace) {
  EXPECT_THAT(errors_of("version: 1\nname: t\ncommand: [\"tr\\0ue\"]\nresources: {devices: 1}\n"),
              HasSubstr("t.yaml:3:"));
}

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

// Nominal sizes by Touvron et al. 2023 and Grattafiori et al. 2024; their heads are not tied.
TEST(LoadExperiment, LlamaPresetsHaveTheirNominalSizes) {
  const std::vector<std::tuple<std::string, double, int, double>> nominal = {
      {"llama2-7b", 6.7e9, 4096, 1e4}, {"llama2-70b", 69e9, 4096, 1e4}, {"llama3-8b", 8.0e9, 8192, 5e5}};
  for (const auto& [preset, parameters, positions, theta] : nominal) {
    const ModelSpec model = load(gpt("{preset: " + preset + "}")).jobs.at(0).model;
    EXPECT_EQ(model.preset, preset);
    EXPECT_EQ(model.max_positions, positions);
    EXPECT_EQ(model.rope_theta, theta);
    EXPECT_EQ(model.dropout, 0);
    const double hidden = model.hidden, keys = hidden / model.heads * model.key_value_heads;
    const double layer = 2 * hidden * (hidden + keys) + 3 * hidden * model.intermediate;
    EXPECT_NEAR(model.layers * layer + 2 * hidden * model.vocab, parameters, 0.01 * parameters) << preset;
  }
}

TEST(LoadExperiment, ALlamaHasTheUsualWidthAndAsManyKeysAsQueries) {
  const ModelSpec model = load(gpt("{family: llama, layers: 2, hidden: 512, heads: 8}")).jobs.at(0).model;
  EXPECT_EQ(model.intermediate, 1536) << "8/3 of hidden, in multiples of 256";
  EXPECT_EQ(model.key_value_heads, 8);
  EXPECT_EQ(model.rope_theta, 10000);
  EXPECT_EQ(model.max_positions, 4096);
  const ModelSpec narrow = load(gpt("{preset: llama3-8b, hidden: 512, heads: 8}")).jobs.at(0).model;
  EXPECT_EQ(narrow.preset, "");
  EXPECT_EQ(narrow.intermediate, 1536) << "what a preset is wide is of its own hidden";
  EXPECT_EQ(narrow.key_value_heads, 8);
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

// Of apex's FusedAdam, with which Megatron-LM trained; BERT's recipes have 1e-6, and so has LAMB.
TEST(LoadExperiment, AdamsEpsilonIsThatOfTheModelsRecipe) {
  const auto epsilon_of = [](const std::string& yaml) {
    return load(yaml).jobs.at(0).training.optimizer.epsilon;
  };
  EXPECT_EQ(epsilon_of(gpt("{preset: gpt2-124m}")), 1e-8);
  EXPECT_EQ(epsilon_of(gpt("{preset: gpt2-124m}", "sweep: {training.optimizer.name: [lamb]}\n")), 1e-6);
  EXPECT_EQ(epsilon_of(gpt("{preset: gpt2-124m}", "sweep: {training.optimizer.epsilon: [1e-7]}\n")), 1e-7);
  EXPECT_EQ(epsilon_of(bert("{preset: bert-tiny}")), 1e-6);
}

TEST(LoadExperiment, TheRecordConfigOfMegatronHasItsEpsilon) {
  EXPECT_EQ(
      load(read_file(test::source_path("configs/megatron-8.3b.yaml"))).jobs.at(0).training.optimizer.epsilon,
      1e-8);
}

TEST(LoadExperiment, APhaseInheritsWhatItDoesNotWrite) {
  const auto loaded = load(read_file(test::source_path("schemas/cases/good/phases.yaml")));
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

TEST(LoadExperiment, Fp8ColumnsOfEachTensorRankAreAMultipleOf16) {
  const auto errors = [](const std::string& intermediate) {
    const std::string model =
        "{family: bert, layers: 2, hidden: 64, heads: 2, intermediate: " + intermediate + "}";
    return describe(
        load_experiment(bert(model), "t.yaml",
                        {{"training.precision", "bf16"}, {"training.fp8", "true"}, {"parallel.tensor", "2"}})
            .errors());
  };
  EXPECT_THAT(
      errors("48"),
      HasSubstr("training.fp8 needs model.intermediate (48) to be a multiple of 16 × parallel.tensor (2)"));
  EXPECT_EQ(errors("64"), "");
}

TEST(LoadExperiment, AWalltimeHasAMostThatTimesCanBear) {
  const auto errors = [](const std::string& walltime) {
    return errors_of("version: 1\nname: t\ncommand: [a]\nresources: {devices: 1, walltime: " + walltime +
                     "}\n");
  };
  EXPECT_EQ(errors("3650d"), "");
  EXPECT_THAT(errors("3650d1s"), HasSubstr("resources.walltime must be at most 3650d, not 3650d1s"));
  for (const char* absurd : {"106751991167d", "99999999999999999999h", "9223372036854775807ms"})
    EXPECT_THAT(errors(absurd), HasSubstr("must be at most 3650d, not")) << absurd;
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

// Each of these took seconds, and sixteen at once stopped the coordinator. Too slow shows as the test's
// time-out.
TEST(LoadExperiment, RefusesLongListsBeforeItLooksAtTheirItems) {
  for (const char* separator : {",", ",\n  ", ", "}) {
    EXPECT_THAT(errors_of("command: " + list_of(21'000, separator)), HasSubstr("more than 20000 values"))
        << separator;
    EXPECT_THAT(errors_of(bert("{preset: bert-tiny}", "after: " + list_of(15'000, separator))),
                HasSubstr("after may list at most 100 items, not 15001"));
    EXPECT_THAT(
        errors_of(bert("{preset: bert-tiny}", "scaling: {devices: " + list_of(10'000, separator) + "}\n")),
        HasSubstr("scaling.devices may list at most 100 items, not 10001"));
    EXPECT_THAT(
        errors_of(bert("{preset: bert-tiny}", "sweep: {training.seed: " + list_of(9'000, separator) +
                                                  ", model.layers: " + list_of(9'000, separator) + "}\n")),
        HasSubstr("may list at most 1000 items, not 9001"));
  }
}

TEST(LoadExperiment, AliasesDoNotMakeMoreValuesThanAFileMayHave) {
  std::string text = "a: &a [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n";
  for (char c = 'b'; c < 'g'; ++c) {
    text += std::string(1, c) + ": &" + c + " [";
    for (int i = 0; i < 10; ++i) text += std::string(i ? ", *" : "*") + static_cast<char>(c - 1);
    text += "]\n";
  }
  EXPECT_THAT(errors_of(text), HasSubstr("aliases make the spec too large here"));
}

TEST(LoadExperiment, TellsTwinsOfAListWithoutComparingEveryPair) {
  EXPECT_THAT(errors_of(bert("{preset: bert-tiny}", "sweep: {training.seed: [1, 2, 1]}\n")),
              HasSubstr("lists 1 twice; keep one"));
  std::string same = "[7";
  for (int i = 1; i < 1000; ++i) same += ", 7";
  EXPECT_THAT(errors_of(bert("{preset: bert-tiny}", "sweep: {training.seed: " + same + "]}\n")),
              HasSubstr("lists 7 twice; keep one"));
}

TEST(LoadExperiment, TellsTheFirstOfVeryManyUnknownKeys) {
  std::string text;
  for (int i = 0; i < 9'000; ++i) text += "lable" + std::to_string(i) + ": 1\n";
  EXPECT_THAT(errors_of(text), HasSubstr("the spec has 8980 more unknown keys"));
}

TEST(LoadExperiment, PlacesInALongLineCountCharacters) {
  std::string names = "é";
  for (int i = 0; i < 500; ++i) names += ", é";
  EXPECT_THAT(
      errors_of(bert("{preset: bert-tiny}", "x: [" + names + ", \"" + std::string(5000, 'x') + "\"]\n")),
      HasSubstr("t.yaml:7:1508: this text has 5000 bytes"));
}

TEST(LoadExperiment, MisspeltKeysFindTheirName) {
  EXPECT_THAT(errors_of(bert("{preset: bert-tiny}", "lable: {}\n")),
              HasSubstr("unknown key \"lable\"; did you mean \"labels\"?"));
  EXPECT_THAT(errors_of("training: {optimizer: {lerning_rate: 1}}\n"),
              HasSubstr("unknown key \"lerning_rate\"; did you mean \"lr\"?"));
  EXPECT_THAT(errors_of("training: {learning_rate: 1}\n"),
              HasSubstr("unknown key \"learning_rate\"; did you mean \"training.optimizer.lr\"?"));
}

// README's own spec trained on its held-out text, and nobody said so.
TEST(Warnings, HeldOutTextThatATrainingPatternFindsIsNamed) {
  const auto warnings = [](const std::string& train, const std::string& held_out) {
    std::string spec = bert("{preset: bert-mini}", "evaluate: {every: 10 steps, data: " + held_out + "}\n");
    spec.replace(spec.find("a.txt"), 5, train);
    return warnings_of(load(spec).jobs);
  };
  for (const char* train :
       {"\"corpus/*.txt\"", "\"*/held*\"", "./corpus/heldout.txt", "[a.txt, corpus/heldout.txt]"})
    EXPECT_THAT(warnings(train, "corpus/heldout.txt"),
                ElementsAre(::testing::AllOf(HasSubstr("corpus/heldout.txt"), HasSubstr("data.train"))))
        << train;
  for (const char* train : {"\"*.txt\"", "\"corpus/train-*.txt\"", "corpus", "\"corpus/*/heldout.txt\""})
    EXPECT_THAT(warnings(train, "corpus/heldout.txt"), ElementsAre()) << train;
}

}  // namespace
}  // namespace podium
