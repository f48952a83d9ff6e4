// Determined's experiments as specs: files in the forms that its documents and examples have, each of which
// becomes a spec that is valid, and any damage to them, which ends in problems or in a valid spec.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "cli/determined/translate.h"
#include "common/base/file.h"
#include "common/spec/load.h"
#include "tests/paths.h"

namespace podium::cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

std::string text_of(const std::string& name) {
  return read_file(test::source_path("tests/cli/determined/" + name));
}

Translation translated(const std::string& text) {
  const auto translation = translate_determined(text, "e.yaml");
  EXPECT_TRUE(translation.ok()) << describe(translation.errors());
  return *translation;
}

// As podium validate sees the text that is written.
json normalised(const Translation& translation) {
  const auto loaded = load_experiment(spec_text(translation, "e.yaml"), "spec.yaml");
  EXPECT_TRUE(loaded.ok()) << describe(loaded.errors());
  return loaded->normalised;
}

json spec_of(const std::string& name) { return normalised(translated(text_of(name))); }

std::string notes_of(const Translation& translation) {
  std::string text;
  for (const Note& note : translation.notes) text += note_text(note, "e.yaml") + "\n";
  return text;
}

TEST(Determined, AdaptiveSearchBecomesASweepThatEndsLosingTrials) {
  json spec = spec_of("adaptive.yaml");
  EXPECT_EQ(spec["name"], "cifar10-adaptive-search");
  EXPECT_EQ(spec["labels"], json::parse(R"({"workspace":"research","project":"vision/cifar","vision":"yes",
      "description":"a search over learning rates","needs--review":"yes"})"));
  EXPECT_EQ(spec["command"], json({"torchrun", "train.py", "--config", "{{default}}"}));
  EXPECT_EQ(spec["processes"], "node");
  EXPECT_EQ(spec["code"], json({{"folder", "."}}));
  EXPECT_EQ(spec["env"]["NCCL_DEBUG"], "INFO");
  EXPECT_EQ(spec["env"]["GREETING"], "hello {{name}} ${HOME}");
  EXPECT_EQ(json::parse(spec["env"]["DATA_CONFIG"].get<std::string>())["sizes"]["test"][1]["deep"], true);
  EXPECT_EQ(spec["env"].size(), 3u);
  EXPECT_EQ(spec["resources"]["devices"], 4);
  EXPECT_EQ(spec["resources"]["kind"], "gpu");
  EXPECT_EQ(spec["resources"]["nodes"], json({{"resource_pool", "gpu-pool"}}));
  EXPECT_EQ(spec["priority"], 62);
  EXPECT_EQ(spec["restarts"]["max"], 2);
  json sweep = spec["sweep"];
  EXPECT_EQ(sweep["trials"], 16);
  EXPECT_EQ(sweep["seed"], 42);
  EXPECT_EQ(sweep["parameters.optimizer_learning_rate"],
            json({{"from", 1e-5}, {"to", 0.1}, {"scale", "log"}}));
  EXPECT_EQ(sweep["parameters.optimizer_name"], json({"sgd", "adam", 7, "null"}));
  EXPECT_EQ(sweep["parameters.dropout"], json({{"from", 0.2}, {"to", 0.5}, {"scale", "linear"}}));
  EXPECT_EQ(sweep["parameters.layers"],
            json({{"from", 2}, {"to", 8}, {"integer", true}, {"scale", "linear"}}));
  EXPECT_EQ(sweep["asha"], json({{"metric", "validation_error"},
                                 {"goal", "min"},
                                 {"min_steps", 391},  // 32 epochs of 781.25 batches, by 4 three times
                                 {"max_steps", 25000},
                                 {"reduction", 4}}));
}

// They were passed over without a word, and the experiment trained another way.
TEST(Determined, ValuesOfAnotherKindAreNamed) {
  const Translation translation = translated(R"(name: [x]
labels: seven
entrypoint: 7
max_restarts: lots
hyperparameters: {lr: 0.1}
searcher: {name: random, metric: [loss], max_trials: many, smaller_is_better: "no", max_length: long}
resources: {slots_per_trial: two, priority: high, is_single_node: 1}
environment: {environment_variables: 3}
reproducibility: {experiment_seed: 99999999999999999999}
)");
  EXPECT_EQ(notes_of(translation), R"(e.yaml:1: name is left out: must be a text, and is a list
e.yaml:2: labels is left out: must be a list of texts, and is "seven"
e.yaml:3: entrypoint is left out: must be a command or a class, and is 7
e.yaml:3: entrypoint is left out: there is none: the command is python3 train.py
e.yaml:4: max_restarts is left out: must be a whole number, and is "lots"
e.yaml:6: searcher.metric is left out: must be a text, and is a list
e.yaml:6: searcher.smaller_is_better is left out: must be true or false, and is "no"
e.yaml:6: searcher.max_length is left out: must be a length such as {batches: 100}, and is "long"
e.yaml:6: searcher.max_trials is left out: must be a whole number, and is "many"
e.yaml:6: searcher.name: no hyperparameter is searched: one trial here
e.yaml:7: resources.slots_per_trial is left out: must be a whole number, and is "two"
e.yaml:7: resources.priority is left out: must be a whole number, and is "high"
e.yaml:7: resources.is_single_node is left out: must be true or false, and is 1
e.yaml:8: environment.environment_variables is left out: must be a list of NAME=VALUE, and is 3
e.yaml:9: reproducibility.experiment_seed is left out: must be a whole number, and is 1e+20
)");
  EXPECT_EQ(normalised(translation)["name"], "e");
  for (const char* part : {"searcher", "resources", "environment", "reproducibility", "hyperparameters"})
    EXPECT_THAT(notes_of(translated(std::string("entrypoint: x.py\n") + part + ": none\n")),
                HasSubstr(std::string("e.yaml:2: ") + part + " is left out: must be a mapping"));
}

TEST(Determined, VariablesOfAKindAreAList) {
  const Translation translation = translated(R"(entrypoint: python3 x.py
environment: {environment_variables: {gpu: "A=B", cuda: ["C=D"], cpu: 3}}
resources: {priority: -9223372036854775808}
)");
  EXPECT_THAT(notes_of(translation),
              HasSubstr("environment.environment_variables.gpu is left out: must be a list"));
  EXPECT_THAT(notes_of(translation),
              HasSubstr("environment.environment_variables.cpu is left out: must be a list"));
  const json spec = normalised(translation);
  EXPECT_EQ(spec["env"], json({{"C", "D"}}));
  EXPECT_EQ(spec["priority"], 92);
}

TEST(Determined, MoreTrialsThanASweepHasAreAsManyAsItHas) {
  for (const char* trials : {"1001", "9223372036854775808", "1e30"}) {
    const Translation translation =
        translated(std::string("hyperparameters: {lr: {type: double, minval: 0, maxval: 1}}\n"
                               "searcher: {name: random, max_trials: ") +
                   trials + "}\n");
    EXPECT_EQ(normalised(translation)["sweep"]["trials"], 1000) << trials;
    EXPECT_THAT(notes_of(translation),
                HasSubstr("searcher.max_trials: a sweep has 2 to 1,000 trials: 1000 here"));
  }
}

TEST(Determined, HyperparametersAndLengthsBecomeParameters) {
  json parameters = spec_of("adaptive.yaml")["parameters"];
  EXPECT_EQ(parameters["global_batch_size"], 64);
  EXPECT_EQ(parameters["decay"], 1e-6);
  EXPECT_EQ(parameters["milestones"], "[700,800]");
  EXPECT_EQ(parameters["hp_resume"], "") << "{resume} is Podium's own";
  EXPECT_EQ(parameters["max_batches"], 25000);
  EXPECT_EQ(parameters["validation_batches"], 781);
  EXPECT_EQ(parameters["checkpoint_batches"], 100);
  EXPECT_EQ(parameters["records_per_epoch"], 50000);
  EXPECT_EQ(parameters["seed"], 42);
  EXPECT_FALSE(parameters.contains("nothing"));
}

TEST(Determined, WhatIsLeftOutIsToldWithItsLineAndWhatToDo) {
  const std::string notes = notes_of(translated(text_of("adaptive.yaml")));
  for (const char* note :
       {"e.yaml:1: name: is cifar10-adaptive-search",
        "e.yaml:31: hyperparameters.milestones: parameters are numbers, text and booleans: it is there as "
        "JSON text",
        "e.yaml:32: hyperparameters.resume: is the parameter hp_resume: {resume} is Podium's own",
        "e.yaml:33: hyperparameters.nothing is left out: has no value",
        "e.yaml:38: searcher.max_length: 32 epochs are 25000 batches of 64 records",
        "e.yaml:43: searcher.max_concurrent_trials is left out: trials start as devices are free",
        "e.yaml:46: resources.priority: 30 of 1 to 99", "e.yaml:48: resources.shm_size is left out",
        "e.yaml:49: resources.weight is left out: an account's share",
        "e.yaml:58: environment.image is left out: Podium starts programs on the nodes themselves",
        "e.yaml:63: environment.environment_variables.cuda.1 is left out: RANK is set by Podium itself",
        "e.yaml:65: environment.environment_variables.cpu is left out", "e.yaml:67: bind_mounts is left out",
        "e.yaml:71: colour is left out: is no key that is known here"})
    EXPECT_THAT(notes, HasSubstr(note));
  EXPECT_THAT(notes, Not(HasSubstr("global_batch_size"))) << "what is taken as it is needs no word";
  EXPECT_THAT(spec_text(translated(text_of("adaptive.yaml")), "e.yaml"),
              HasSubstr("# e.yaml:71: colour is left out"));
}

TEST(Determined, GridHasTheValuesOfItsPoints) {
  const Translation translation = translated(text_of("grid.yaml"));
  json spec = normalised(translation);
  EXPECT_EQ(spec["sweep"],
            json::parse(R"({"parameters.global_batch_size":[32,64],"parameters.lr":[0.0001,0.001,0.01],
      "parameters.hidden":[1,2,3],"parameters.dropout":[0.25,0.5]})"));
  EXPECT_EQ(spec["parameters"]["momentum"], 0.1);
  EXPECT_EQ(spec["parameters"]["max_epochs"], 2) << "the batch size is searched";
  EXPECT_EQ(spec["command"], json({"torchrun", "train.py", "--deepspeed"}));
  EXPECT_THAT(notes_of(translation),
              HasSubstr("e.yaml:7: hyperparameters.momentum: a grid needs its count: it is 0.1 here"));
  EXPECT_THAT(notes_of(translation), HasSubstr("searcher.max_length: stays in epochs"));
}

TEST(Determined, RandomSearchOnCpus) {
  const Translation translation = translated(text_of("random.yaml"));
  json spec = normalised(translation);
  EXPECT_EQ(spec["name"], "7-random-trials");
  EXPECT_EQ(spec["sweep"]["trials"], 7);
  EXPECT_FALSE(spec["sweep"].contains("asha"));
  EXPECT_EQ(spec["parameters"]["b"], 1) << "a range of one value is no range";
  EXPECT_EQ(spec["resources"]["kind"], "cpu");
  EXPECT_EQ(spec["command"], json({"bash", "-c", "FOO=1 python3 train.py > log.txt"}));
  EXPECT_EQ(spec["env"], json({{"A", "1"}}));
  EXPECT_THAT(notes_of(translation),
              HasSubstr("environment.environment_variables.1 is left out: is no NAME=VALUE"));
  EXPECT_THAT(notes_of(translation), HasSubstr("environment.environment_variables.2 is left out"));
}

TEST(Determined, TrialClassNeedsAScript) {
  const Translation translation = translated(text_of("single.yaml"));
  json spec = normalised(translation);
  EXPECT_FALSE(spec.contains("sweep"));
  EXPECT_EQ(spec["command"], json({"python3", "train.py"}));
  EXPECT_EQ(spec["parameters"]["max_batches"], 15000);
  EXPECT_EQ(spec["parameters"]["validation_batches"], 1000);
  EXPECT_EQ(spec["parameters"]["learning_rate"], 3e-5);
  EXPECT_EQ(spec["restarts"]["max"], 0);
  EXPECT_EQ(spec["env"]["DATA_CONFIG"], R"({"task":"SQuAD1.1"})");
  EXPECT_THAT(notes_of(translation),
              HasSubstr("e.yaml:13: entrypoint is left out: model_def:SquadTrial is a class"));
  EXPECT_THAT(notes_of(translation), HasSubstr("e.yaml:10: searcher.source_trial_id is left out"));
}

TEST(Determined, ScriptStartsAsItStands) {
  json spec = spec_of("script.yaml");
  EXPECT_EQ(spec["command"], json({"./hello.sh", "--all"}));
  EXPECT_FALSE(spec.contains("processes"));
  EXPECT_EQ(spec["parameters"]["max_batches"], 500) << "a plain number is batches";
  EXPECT_EQ(spec["restarts"]["max"], 5) << "Determined's own default";
  EXPECT_EQ(spec["resources"]["devices"], 1);
}

TEST(Determined, HorovodStartsItsOwnProcesses) {
  json spec = spec_of("horovod.yaml");
  EXPECT_EQ(spec["command"], json({"horovodrun", "-np", "{node_devices}", "python3", "train.py"}));
  EXPECT_EQ(spec["processes"], "node");
  EXPECT_EQ(spec["resources"]["within"], "node");
}

json spec_with(const std::string& entrypoint, const std::string& more = "") {
  return normalised(translated("entrypoint: " + entrypoint + "\n" + more));
}

TEST(Determined, ProgramForSeveralDevicesStartsOnceANode) {
  const std::string slots = "resources: {slots_per_trial: 8}\n";
  for (const char* entrypoint : {"python3 train.py", "model_def:Trial", "'./run.sh | cat'", "[./run.sh]"}) {
    EXPECT_EQ(spec_with(entrypoint, slots)["processes"], "node") << entrypoint;
    EXPECT_EQ(spec_with(entrypoint, slots)["resources"]["devices"], 8);
    EXPECT_FALSE(spec_with(entrypoint).contains("processes")) << entrypoint;
  }
}

TEST(Determined, PythonsOwnOptionsStayBeforeTheScript) {
  const std::string launcher = "python3 -m determined.launch.torch_distributed ";
  EXPECT_EQ(spec_with(launcher + "python3 -u train.py --lr 1")["command"],
            json({"torchrun", "--no-python", "python3", "-u", "train.py", "--lr", "1"}));
  EXPECT_EQ(spec_with(launcher + "python3 train.py")["command"], json({"torchrun", "train.py"}));
  EXPECT_EQ(spec_with(launcher + "python3 -m pkg.train")["command"], json({"torchrun", "-m", "pkg.train"}));
  EXPECT_EQ(spec_with(launcher + "./run.sh")["command"], json({"torchrun", "--no-python", "./run.sh"}));
}

TEST(Determined, LaunchersOwnWordsAreTold) {
  const auto notes = [](const std::string& words) {
    return notes_of(translated("entrypoint: python3 -m determined.launch." + words + "\n"));
  };
  const std::string told = "the launcher's own words are not taken over: ";
  EXPECT_THAT(notes("torch_distributed --nproc 3 -- python3 train.py --lr 1"),
              HasSubstr(told + "--nproc 3\n"));
  EXPECT_THAT(notes("horovod --autohorovod --trial model:Trial --last"),
              HasSubstr(told + "--autohorovod --last\n"));
  EXPECT_THAT(notes("torch_distributed ./train"), HasSubstr(told + "./train\n"));
  EXPECT_THAT(notes("torch_distributed python3 train.py"), Not(HasSubstr(told)));
}

TEST(Determined, PriorityOfTheDefaultIsTheDefault) {
  const auto priority = [](int written) {
    return spec_with("./a.sh", "resources: {priority: " + std::to_string(written) + "}\n")["priority"];
  };
  EXPECT_EQ(priority(42), normalised(translated("entrypoint: ./a.sh\n")).value("priority", 50));
  EXPECT_EQ(priority(1), 91);
  EXPECT_EQ(priority(99), 0);
}

// Podium's rungs are min_steps and its multiples by the reduction, as long as they are below max_steps.
TEST(Determined, LaddersHaveTheRungsThatWereAskedFor) {
  for (const int length : {16, 17, 100, 781, 3750, 25000})
    for (const int asked : {2, 3, 4}) {
      const json asha = spec_with("./a.sh",
                                  "hyperparameters: {x: {type: double, minval: 0, maxval: 1}}\n"
                                  "searcher: {name: asha, metric: m, max_trials: 9, max_length: " +
                                      std::to_string(length) + ", num_rungs: " + std::to_string(asked) +
                                      "}\n")["sweep"]["asha"];
      int rungs = 1;
      for (auto at = asha["min_steps"].get<std::int64_t>(); at < length; at *= 4) ++rungs;
      EXPECT_LE(rungs, asked) << length;
      EXPECT_TRUE(rungs == asked || length < 100) << length;
    }
}

TEST(Determined, NotesStayInTheirLines) {
  for (const char* text : {"\\r", "\\n", "\\x85", "\\u2028", "\\u2029", "\\x1b"}) {
    const Translation translation =
        translated("entrypoint: ./a.sh\n\"k" + std::string(text) + "restarts: {max: 77}\": 1\n");
    EXPECT_THAT(notes_of(translation), HasSubstr("restarts: {max: 77} is left out")) << text;
    EXPECT_EQ(normalised(translation)["restarts"]["max"], 5) << text;
    EXPECT_THAT(spec_text(translation, "e.yaml"), HasSubstr("k restarts: {max: 77} is left out")) << text;
  }
}

TEST(Determined, HalvingOfEpochsStaysInEpochs) {
  const Translation translation = translated(text_of("asha.yaml"));
  json spec = normalised(translation);
  EXPECT_EQ(spec["sweep"]["trials"], 3);
  EXPECT_EQ(spec["sweep"]["asha"]["min_steps"], 1);
  EXPECT_EQ(spec["sweep"]["asha"]["max_steps"], 27);
  EXPECT_EQ(spec["sweep"]["asha"]["reduction"], 3);
  EXPECT_EQ(spec["parameters"]["batch"], 16) << "one value is a constant";
  EXPECT_THAT(notes_of(translation), HasSubstr("tells loss with its step in epochs"));
}

TEST(Determined, FewTrialsAreNotStoppedEarly) {
  std::string text = text_of("asha.yaml");
  text.replace(text.find("max_trials: 3"), 13, "max_trials: 1");
  const Translation translation = translated(text);
  json spec = normalised(translation);
  EXPECT_EQ(spec["sweep"]["trials"], 2);
  EXPECT_FALSE(spec["sweep"].contains("asha"));
  EXPECT_THAT(notes_of(translation), HasSubstr("searcher.max_trials: a sweep has 2 to 1,000 trials: 2 here"));
  EXPECT_THAT(notes_of(translation), HasSubstr("searcher.name is left out: stopping trials early needs"));
}

TEST(Determined, OtherSearchesAreOneTrial) {
  const Translation translation = translated(text_of("custom.yaml"));
  json spec = normalised(translation);
  EXPECT_FALSE(spec.contains("sweep"));
  EXPECT_EQ(spec["parameters"]["lr"], 0.001);
  EXPECT_EQ(spec["parameters"]["kind"], "b");
  EXPECT_THAT(notes_of(translation),
              HasSubstr("searcher.name is left out: the search custom has no counterpart"));
  EXPECT_THAT(notes_of(translation), HasSubstr("entrypoint is left out: there is none"));
}

TEST(Determined, LimitsOfASpecAreKept) {
  const Translation translation = translated(text_of("wide.yaml"));
  json spec = normalised(translation);
  EXPECT_EQ(spec["sweep"]["trials"], 1000);
  EXPECT_EQ(spec["parameters"]["j"], 4) << "the ninth";
  EXPECT_EQ(spec["parameters"]["hp_1st_layer"], true);
  EXPECT_EQ(spec["parameters"]["A"], 3);
  EXPECT_FALSE(spec["parameters"].contains("a")) << "the variable of A is the same";
  EXPECT_FALSE(spec["sweep"].contains("asha")) << "3 batches are one rung";
  EXPECT_THAT(notes_of(translation), HasSubstr("hyperparameters.a is left out: another is named a already"));
  EXPECT_THAT(notes_of(translation), HasSubstr("searcher.name is left out: stopping trials early needs"));
}

TEST(Determined, WhatIsNoExperimentIsRefused) {
  const auto refused = [](const std::string& text) {
    return describe(translate_determined(text, "e.yaml").errors());
  };
  EXPECT_THAT(refused("a: [1"), HasSubstr("e.yaml:"));
  EXPECT_THAT(refused("- a\n"), HasSubstr("is no mapping"));
  EXPECT_THAT(refused("model: {preset: bert-mini}\n"), HasSubstr("e.yaml: is no experiment of Determined's"));
}

const char* const kFiles[] = {"adaptive.yaml", "grid.yaml", "random.yaml", "single.yaml", "script.yaml",
                              "horovod.yaml",  "asha.yaml", "custom.yaml", "wide.yaml"};

void expect_problems_of_the_file_or_a_spec(const std::string& text) {
  const auto translation = translate_determined(text, "e.yaml");
  for (const Error& error : translation.errors())
    EXPECT_THAT(error.where, HasSubstr("e.yaml")) << error.message << "\n" << text;
}

TEST(Determined, DamagedFilesGiveProblemsOrAValidSpec) {
  for (const char* name : kFiles) {
    std::string text = text_of(name);
    if (const auto many = text.find("5000}"); many != std::string::npos)
      text.replace(many, 4, "8");  // quickly checked
    for (std::size_t begin = 0; begin < text.size(); begin = text.find('\n', begin) + 1) {
      const std::size_t end = text.find('\n', begin) + 1;
      expect_problems_of_the_file_or_a_spec(text.substr(0, begin) + text.substr(end));
      expect_problems_of_the_file_or_a_spec(text.substr(0, begin));
    }
    const json values = {
        -1, 1e300, "", "x y", json::array(), json::object(), nullptr, true, 9'000'000'000'000'000'000};
    for (std::size_t colon = text.find(": "); colon != std::string::npos;
         colon = text.find(": ", colon + 1)) {
      const std::size_t end = text.find_first_of("\n,}", colon);
      for (const json& value : values)
        expect_problems_of_the_file_or_a_spec(text.substr(0, colon + 2) + value.dump() + text.substr(end));
    }
  }
}

}  // namespace
}  // namespace podium::cli
