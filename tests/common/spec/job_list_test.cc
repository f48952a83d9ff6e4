// Specs that list their jobs: what each becomes, how they name one another, and where mistakes are told.
#include <gmock/gmock.h>

#include "common/base/file.h"
#include "common/spec/load.h"
#include "tests/paths.h"

namespace podium {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kCommon[] = R"(version: 1
name: chain
labels: {team: nlp}
model: {preset: bert-tiny}
data: {train: [a.txt, b.txt], tokenizer: {wordpiece: vocab.txt}}
training:
  optimizer: {lr: 1e-3}
  schedule: {steps: 10, warmup: 0.5}
  batch: {global: 8, micro: 4}
resources: {devices: {min: 1, max: 2}}
target: {metric: eval/mlm_loss, at_most: 2}
checkpoint: {every: 5 steps, best: eval/mlm_loss}
evaluate: {every: 5 steps, data: heldout.txt}
)";

Result<LoadedExperiment> loaded(const std::string& jobs, const std::vector<Override>& overrides = {}) {
  return load_experiment(kCommon + jobs, "spec.yaml", overrides);
}

LoadedExperiment good(const std::string& jobs, const std::vector<Override>& overrides = {}) {
  const auto read = loaded(jobs, overrides);
  EXPECT_TRUE(read.ok()) << describe(read.errors());
  return read.ok() ? *read : LoadedExperiment{};
}

TEST(JobList, EachJobIsTheDocumentWithItsEntryLaidOverIt) {
  const LoadedExperiment list = good(R"(jobs:
  - name: first
  - name: second
    labels: {phase: "2"}
    data: {train: c.txt}
    training: {schedule: {steps: 20}, batch: {micro: 2}}
    resources: {devices: 1}
    target: {metric: eval/mlm_accuracy, at_least: 0.5}
    checkpoint: {best: eval/mlm_accuracy}
)");
  ASSERT_EQ(list.jobs.size(), 2u);
  const JobSpec &first = list.jobs[0], &second = list.jobs[1];
  EXPECT_EQ(list.name, "chain");
  EXPECT_EQ(first.name, "chain-first");
  EXPECT_EQ(second.name, "chain-second");
  EXPECT_THAT(first.data.train, ElementsAre("a.txt", "b.txt"));
  EXPECT_THAT(second.data.train, ElementsAre("c.txt")) << "a list is one value";
  EXPECT_EQ(second.data.tokenizer.wordpiece, "vocab.txt");
  EXPECT_EQ(second.labels, (std::map<std::string, std::string>{{"team", "nlp"}, {"phase", "2"}}));
  EXPECT_EQ(second.training.schedule.steps, 20);
  EXPECT_EQ(second.training.schedule.warmup, 0.5);
  EXPECT_EQ(second.training.batch.global, 8);
  EXPECT_EQ(second.training.batch.micro, 2);
  EXPECT_EQ(first.resources.max_devices, 2);
  EXPECT_EQ(second.resources.max_devices, 0);
  EXPECT_EQ(second.target->at_least, 0.5);
  EXPECT_EQ(second.target->at_most, std::nullopt) << "a target is one value";
  EXPECT_EQ(first.checkpoint.best, "eval/mlm_loss");
  EXPECT_EQ(second.checkpoint.best, "eval/mlm_accuracy");
  EXPECT_TRUE(list.listed());
}

TEST(JobList, ATokenizerAndTheFirstWeightsAreOneValueEach) {
  const LoadedExperiment list = good(R"(jobs:
  - name: bert
    model: {init: bert-base}
  - name: other
    after: [{job: bert}]
    model: {init: {job: bert, checkpoint: newest}}
  - name: gpt
    model: {preset: gpt2-124m}
    data: {tokenizer: {bpe: {vocab: vocab.json, merges: merges.txt}}}
    training: {task: lm}
    target: {metric: eval/loss, at_most: 2}
    checkpoint: {best: eval/loss}
)");
  ASSERT_EQ(list.jobs.size(), 3u);
  EXPECT_EQ(list.jobs[1].model.init, "");
  EXPECT_EQ(list.jobs[1].model.init_job->choice, CheckpointChoice::newest);
  EXPECT_EQ(list.jobs[2].data.tokenizer.wordpiece, "");
  EXPECT_EQ(list.jobs[2].data.tokenizer.bpe_vocab, "vocab.json");
}

TEST(JobList, JobsNameThoseAboveThem) {
  const LoadedExperiment list = good(R"(jobs:
  - name: first
  - name: second
    after: [{job: 7}, {job: first, when: any}]
    resume: {job: first}
    training: {schedule: {steps: 20}}
  - name: third
    after: [{job: first}, {job: second}]
    model: {init: {job: second, checkpoint: best}}
)");
  ASSERT_EQ(list.links.size(), 3u);
  EXPECT_FALSE(list.links[0].any());
  JobSpec second = list.jobs[1], third = list.jobs[2];
  EXPECT_THAT(second.after, ElementsAre(Dependency{{7}, When::ok}));
  EXPECT_EQ(second.resume, std::nullopt) << "it has no number yet";
  link(second, list.links[1], JobId{40});
  EXPECT_THAT(second.after, ElementsAre(Dependency{{7}, When::ok}, Dependency{{40}, When::any}));
  EXPECT_EQ(second.resume, JobId{40});
  link(third, list.links[2], JobId{40});
  EXPECT_THAT(third.after, ElementsAre(Dependency{{40}, When::ok}, Dependency{{41}, When::ok}));
  EXPECT_EQ(third.model.init_job, (JobCheckpoint{{41}, CheckpointChoice::best}));
  JobRequest request;
  link(request, list.links[2], JobId{40});
  EXPECT_EQ(request.after, third.after);
  EXPECT_EQ(request.init, JobId{41});
  link(request, list.links[1], JobId{40});
  EXPECT_EQ(request.resume, JobId{40});
}

TEST(JobList, WeightsOfAStepThatAJobAboveWillNotHaveAreRefused) {
  const auto answer = [](const std::string& checkpoint) {
    return describe(loaded(R"(jobs:
  - name: first
  - name: second
    after: [{job: first}]
    model: {init: {job: first, checkpoint: )" +
                           checkpoint + "}}\n")
                        .errors());
  };
  EXPECT_THAT(answer("1000"), HasSubstr("cannot take the first weights from first: it takes 10 steps alone"));
  EXPECT_THAT(answer("0"), HasSubstr("checkpoint"));
  EXPECT_EQ(answer("10"), "");
}

TEST(JobList, AProgramLeavesOutWhatTrainingsHaveAndTheOtherWayRound) {
  const LoadedExperiment list = good(R"(env: {A: "1"}
code: {folder: tools}
jobs:
  - name: training
  - name: program
    after: [{job: training}]
    resume: {job: training}
    command: [./measure, "{resume}"]
    target: {metric: eval/score, at_least: 1}
)");
  ASSERT_EQ(list.jobs.size(), 2u);
  EXPECT_TRUE(list.jobs[0].env.empty());
  EXPECT_FALSE(list.jobs[0].code);
  EXPECT_THAT(list.jobs[1].command, ElementsAre("./measure", "{resume}"));
  EXPECT_EQ(list.jobs[1].env.at("A"), "1");
  EXPECT_EQ(code_of(list)->folder, "tools");
  EXPECT_EQ(list.normalised["code"], (json{{"folder", "tools"}}));
  EXPECT_FALSE(list.normalised["jobs"][1].contains("code"));
}

TEST(JobList, WhatTheCommandLineSetsCountsForEveryJob) {
  const LoadedExperiment list =
      good(R"(jobs:
  - name: first
    training: {schedule: {steps: 30}}
  - name: second
    after: [{job: first}]
    model: {init: {job: first}}
)",
           {{"training.schedule.steps", "5"}, {"model.init", "/checkpoints/step-1"}});
  ASSERT_EQ(list.jobs.size(), 2u);
  for (const JobSpec& job : list.jobs) {
    EXPECT_EQ(job.training.schedule.steps, 5);
    EXPECT_EQ(job.model.init, "/checkpoints/step-1");
  }
  EXPECT_EQ(list.links[1].init, std::nullopt);
  EXPECT_THAT(list.links[1].after, testing::SizeIs(1));
}

// A mapping that is one value: what is set in it counts wherever such a mapping is written.
TEST(JobList, APartOfAMappingThatIsOneValueIsSetInEachOfThem) {
  const std::string jobs = R"(jobs:
  - name: first
  - name: second
    after: [{job: first}]
    model: {init: {job: first, checkpoint: best}}
    target: {metric: eval/mlm_accuracy, at_least: 0.5}
    resources: {devices: 1}
  - name: third
    after: [{job: first}]
    model: {init: {job: first}}
  - name: fourth
    model: {init: bert-base}
)";
  const LoadedExperiment list = good(jobs, {{"model.init.checkpoint", "newest"}});
  ASSERT_EQ(list.jobs.size(), 4u);
  EXPECT_FALSE(list.jobs[0].model.init_job) << "it draws its weights";
  EXPECT_EQ(list.jobs[1].model.init_job->choice, CheckpointChoice::newest);
  EXPECT_EQ(list.jobs[2].model.init_job->choice, CheckpointChoice::newest);
  EXPECT_EQ(list.links[2].init, 0u);
  EXPECT_EQ(list.jobs[3].model.init, "bert-base");

  const LoadedExperiment wide = good(jobs, {{"resources.devices.max", "4"}});
  ASSERT_EQ(wide.jobs.size(), 4u);
  EXPECT_EQ(wide.jobs[0].resources.max_devices, 4) << "the common mapping is one of them";
  EXPECT_EQ(wide.jobs[1].resources.max_devices, 0) << "it has none";

  const std::vector<Override> higher{{"target.at_least", "0.7"}};
  EXPECT_THAT(describe(loaded(jobs, higher).errors()), HasSubstr("target has both at_least and at_most"));
  std::string common = kCommon;
  common.erase(common.find("target:"), common.find("checkpoint:") - common.find("target:"));
  const auto aimed = load_experiment(common + jobs, "spec.yaml", higher);
  ASSERT_TRUE(aimed.ok()) << describe(aimed.errors());
  EXPECT_FALSE(aimed->jobs[0].target) << "no other job is given one";
  EXPECT_EQ(aimed->jobs[1].target->at_least, 0.7);

  const auto both = load_experiment(common + jobs, "spec.yaml",
                                    {{"target.metric", "eval/nsp_accuracy"}, {"target.at_least", "0.7"}});
  ASSERT_TRUE(both.ok()) << describe(both.errors());
  EXPECT_EQ(both->jobs[1].target->metric, "eval/nsp_accuracy");
  EXPECT_EQ(both->jobs[1].target->at_least, 0.7) << "the second of two in one mapping";

  std::string begun = common;
  begun.replace(begun.find("model: {"), 8, "model: {init: bert-base, ");
  const auto kept = load_experiment(begun + jobs, "spec.yaml", {{"model.init.checkpoint", "newest"}});
  ASSERT_TRUE(kept.ok()) << describe(kept.errors());
  EXPECT_EQ(kept->jobs[0].model.init, "bert-base") << "the common value is no such mapping";

  const auto wrong = load_experiment(common + jobs, "spec.yaml", {{"target.at_least", "-1e400"}});
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.errors()[0].where, "spec.yaml, overridden");
}

TEST(JobList, AProblemOfAnEntryIsToldThereAndOneOfAllJobsOnce) {
  const auto read = loaded(R"(parallel: {tensor: 3}
jobs:
  - name: first
  - name: second
    training: {batch: {micro: 3}}
)");
  ASSERT_FALSE(read.ok());
  std::vector<std::string> micro, tensor;
  for (const Error& error : read.errors()) {
    if (error.pointer.find("micro") != std::string::npos || error.where == "spec.yaml:18:30")
      micro.push_back(error.where);
    if (error.pointer == "/parallel/tensor") tensor.push_back(error.message);
  }
  EXPECT_THAT(tensor, ElementsAre(HasSubstr("(in job first)"))) << describe(read.errors());
}

TEST(JobList, MoreJobsThanAListMayHaveAreRefused) {
  std::string jobs = "jobs:\n";
  for (int i = 0; i < 101; ++i) jobs += "  - name: job-" + std::to_string(i) + "\n";
  EXPECT_EQ(describe(loaded(jobs).errors()), "spec.yaml:15:3: jobs may list at most 100 items, not 101");
}

TEST(JobList, AListThatIsLargeAsAWholeIsRefused) {
  std::string jobs = "jobs:\n";
  for (int i = 0; i < 100; ++i) jobs += "  - name: job-" + std::to_string(i) + "\n";
  std::string labels = "env: {";
  for (int i = 0; i < 30; ++i) labels += "V" + std::to_string(i) + ": \"" + std::string(3000, 'x') + "\", ";
  EXPECT_THAT(describe(loaded(labels + "LAST: \"1\"}\n" + jobs).errors()),
              HasSubstr("too many; together they may"));
}

TEST(JobList, WhatIsNoListIsToldAndNothingElse) {
  EXPECT_THAT(describe(loaded("jobs: phase1\n").errors()), HasSubstr("jobs must be a list, not \"phase1\""));
  EXPECT_THAT(describe(loaded("jobs: []\n").errors()), HasSubstr("jobs needs at least one item"));
  EXPECT_THAT(describe(loaded("jobs: [phase1]\n").errors()), HasSubstr("jobs.0 must be a mapping"));
}

}  // namespace
}  // namespace podium
