#include "worker/tasks/tasks.h"

#include <gmock/gmock.h>

#include "worker/data/failure.h"

namespace podium {
namespace {

using testing::HasSubstr;

JobSpec spec_of(ModelFamily family, TrainingTask task) {
  JobSpec spec;
  spec.model.family = family;
  spec.training.task = task;
  return spec;
}

std::string refusal(const JobSpec& spec) {
  try {
    find_task(spec).check(spec);
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.exit, WorkerExit::bad_spec);
    return failure.what();
  }
  return "";
}

TEST(Tasks, ASpecMeansTheTaskOfItsName) {
  for (const auto& [family, task] : {std::pair(ModelFamily::bert, TrainingTask::pretrain),
                                     {ModelFamily::bert, TrainingTask::classify},
                                     {ModelFamily::bert, TrainingTask::squad},
                                     {ModelFamily::gpt, TrainingTask::lm},
                                     {ModelFamily::llama, TrainingTask::lm}}) {
    const TaskKind& kind = find_task(spec_of(family, task));
    EXPECT_EQ(kind.family, family);
    EXPECT_EQ(kind.task, task);
  }
}

TEST(Tasks, WhatIsNotTrainedIsRefusedWithWhatIs) {
  for (const auto& [family, task] :
       {std::pair(ModelFamily::gpt, TrainingTask::squad), {ModelFamily::gpt, TrainingTask::classify}})
    EXPECT_THAT(
        refusal(spec_of(family, task)),
        HasSubstr(
            "trains bert for pretrain, bert for classify, bert for squad, gpt for lm, llama for lm, not "));
}

TEST(Tasks, ATaskSaysWhichVocabularyItMisses) {
  for (const TrainingTask task : {TrainingTask::pretrain, TrainingTask::classify, TrainingTask::squad}) {
    JobSpec spec = spec_of(ModelFamily::bert, task);
    EXPECT_THAT(refusal(spec), HasSubstr("data.tokenizer.wordpiece"));
    spec.data.tokenizer.wordpiece = "vocab.txt";
    EXPECT_EQ(refusal(spec), "");
  }
  JobSpec spec = spec_of(ModelFamily::gpt, TrainingTask::lm);
  spec.data.tokenizer.bpe_vocab = "vocab.json";
  EXPECT_THAT(refusal(spec), HasSubstr("data.tokenizer.bpe"));
  spec.data.tokenizer.bpe_merges = "merges.txt";
  EXPECT_EQ(refusal(spec), "");
}

TEST(Tasks, OnlyTextWithoutLabelsIsBlendedByWeights) {
  for (const TrainingTask task : {TrainingTask::pretrain, TrainingTask::classify, TrainingTask::squad}) {
    JobSpec spec = spec_of(ModelFamily::bert, task);
    spec.data = {{"a", "b"}, {"vocab.txt", true, "", ""}, {1, 2}};
    EXPECT_THAT(
        refusal(spec),
        HasSubstr(task == TrainingTask::pretrain ? "" : "by weights for the tasks pretrain and lm alone"));
    EXPECT_EQ(refusal(spec).empty(), task == TrainingTask::pretrain);
  }
}

}  // namespace
}  // namespace podium
