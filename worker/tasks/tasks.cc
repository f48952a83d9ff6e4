#include "worker/tasks/tasks.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "worker/data/failure.h"
#include "worker/tasks/classify/classify_task.h"
#include "worker/tasks/language/language_task.h"
#include "worker/tasks/pretraining/pretraining_task.h"
#include "worker/tasks/squad/squad_task.h"

namespace podium {
namespace {

void needs_wordpiece(const JobSpec& spec) {
  if (spec.data.tokenizer.wordpiece.empty())
    throw Failure(WorkerExit::bad_spec, "BERT needs a WordPiece vocabulary: set data.tokenizer.wordpiece");
}

void refuse_weights(const JobSpec& spec) {
  if (!spec.data.weights.empty())
    refuse_spec(
        fmt::format("data.train is blended by weights for the tasks pretrain and lm alone, not for {}",
                    to_string(spec.training.task)));
}

void needs_classification(const JobSpec& spec) {
  needs_wordpiece(spec);
  refuse_weights(spec);
}

void needs_question_answering(const JobSpec& spec) {
  needs_wordpiece(spec);
  refuse_weights(spec);
  check_squad(spec);
}

void needs_byte_pairs(const JobSpec& spec) {
  const TokenizerSpec& tokenizer = spec.data.tokenizer;
  if (tokenizer.bpe_vocab.empty() || tokenizer.bpe_merges.empty())
    throw Failure(
        WorkerExit::bad_spec,
        fmt::format(
            "{} needs a byte-pair vocabulary: set data.tokenizer.bpe to its vocab.json and merges.txt",
            to_string(spec.model.family)));
}

constexpr TaskKind kTasks[] = {
    {TrainingTask::pretrain, ModelFamily::bert, needs_wordpiece, pretraining_task_source},
    {TrainingTask::classify, ModelFamily::bert, needs_classification, classify_task_source},
    {TrainingTask::squad, ModelFamily::bert, needs_question_answering, squad_task_source},
    {TrainingTask::lm, ModelFamily::gpt, needs_byte_pairs, language_task_source},
    {TrainingTask::lm, ModelFamily::llama, needs_byte_pairs, language_task_source},
};

}  // namespace

const TaskKind& find_task(const JobSpec& spec) {
  const auto* const found = std::ranges::find_if(kTasks, [&](const TaskKind& kind) {
    return kind.task == spec.training.task && kind.family == spec.model.family;
  });
  if (found != std::end(kTasks)) return *found;
  std::string known;
  for (const TaskKind& kind : kTasks)
    known +=
        fmt::format("{}{} for {}", known.empty() ? "" : ", ", to_string(kind.family), to_string(kind.task));
  throw Failure(WorkerExit::bad_spec,
                fmt::format("this build of podium-worker trains {}, not {} for {}", known,
                            to_string(spec.model.family), to_string(spec.training.task)));
}

}  // namespace podium
