// Question answering on SQuAD (BERT): the answer is a span of the context (span_head.h). Data rank r of D
// trains on the r-th part of every global batch. An epoch has every feature once, in an order that follows
// from the seed and does not depend on D.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "worker/tasks/data_share.h"
#include "worker/tasks/squad/squad_answers.h"
#include "worker/tasks/squad/squad_score.h"
#include "worker/tasks/squad/squad_text.h"

namespace podium {

// Everything a job reads before it begins. Immutable.
struct SquadJobText {
  // Relative paths begin at `data_folder`. Throws BadData. Warns of questions that are left out, and of
  // held-out files that are also training files.
  SquadJobText(const JobSpec& spec, const std::filesystem::path& data_folder, Reading& reading);

  WordPieceTokenizer tokenizer;
  SquadText training;
  SquadText held_out;       // empty if the spec does not evaluate
  SquadData held_out_data;  // one paragraph of all its questions, without the context
};

FeatureShape feature_shape(const TrainingSpec& training);
AnswerRules answer_rules(const SquadAnswerSpec& spec, bool version2);

// Padded to `length`. Without labels, positions of answers stay open (-1).
MicroBatch squad_batch(const SquadFeatures& features, std::span<const std::int64_t> which, int length,
                       const SpecialTokens& special, bool labels);

// The scores [positions, 2] of each sequence's valid positions, from what the head predicts of `batch`.
std::vector<std::span<const float>> span_scores(const MicroBatch& batch, bool unpadded,
                                                std::span<const float> predictions);

class SquadTask final : public Task {
 public:
  // The tasks of all phases share the text, and the last of them frees it.
  SquadTask(const TrainingSpec& training, const EvaluateSpec& evaluate,
            std::shared_ptr<const SquadJobText> text, DataRank place);

  void start(std::int64_t first_batch) override { batches_.start(first_batch); }
  TaskBatch next() override { return batches_.next(); }
  const TaskBatch& held_out() const override { return held_out_; }
  LossScales scales(const Sums& totals) const override;
  // train/loss, in nats a feature: the mean of both terms (taught_loss.h).
  Metrics training_metrics(const Sums& totals, const LossSums& losses) const override;

  std::size_t score_count() const override;
  void score(const MicroBatch& batch, const Predictions& predictions, Sums& scores) const override;
  // eval/exact_match and eval/f1 in percent, as the official scripts have them, and features a second; of 2.0
  // also those of questions with and without an answer, and the best that a null threshold could give.
  // The files are predictions.json and nbest_predictions.json, and of 2.0 null_odds.json.
  Findings findings(const Evaluation& held_out) const override;

 private:
  TaskBatch make_held_out(const EvaluateSpec& evaluate, DataRank place);
  TaskBatch make_batch(const SquadFeatures& features, std::span<const std::int64_t> which,
                       std::int64_t first_sample, bool labels) const;
  TaskBatch make_global_batch(const SampleRange& samples) const;
  std::int64_t feature_of(std::int64_t sample) const;
  std::vector<SquadAnswers> answers(const Sums& scores) const;
  SquadScores scores_of(const std::vector<SquadAnswers>& answers) const;

  TrainingSpec training_;
  std::shared_ptr<const SquadJobText> text_;
  AnswerRules rules_;
  SquadFeatures features_;
  SquadFeatures held_out_features_;
  SquadData scored_;              // the held-out questions that are scored
  std::vector<std::string> ids_;  // of these
  TaskBatch held_out_;
  GlobalBatches batches_;  // last: it uses the rest
};

// Throws Failure(bad_spec) if a phase's sequences have no room for a context behind a question.
void check_squad(const JobSpec& spec);
TaskSource squad_task_source(const JobSpec& spec, const std::filesystem::path& data_folder, Reading& reading,
                             int data_rank, int data_size);

}  // namespace podium
