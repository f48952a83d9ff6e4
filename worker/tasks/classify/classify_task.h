// Classification of single sentences (BERT). Data rank r of D trains on the r-th part of every global batch;
// an epoch has every sentence once, in an order that follows from the seed and does not depend on D.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "worker/data/prefetcher.h"
#include "worker/tasks/classify/labelled_text.h"
#include "worker/train/task.h"

namespace podium {

// Everything a classification reads before it begins. Immutable.
struct ClassifyText {
  // Relative paths begin at `data_folder`. Throws BadData. Warns of sentences that are cut and of held-out
  // text that is trained on.
  ClassifyText(const JobSpec& spec, const std::filesystem::path& data_folder, Reading& reading);

  WordPieceTokenizer tokenizer;
  LabelledText training;
  std::optional<LabelledText> held_out;  // where the spec evaluates
};

class ClassifyTask final : public Task {
 public:
  // The tasks of all phases share the text, and the last of them frees it.
  ClassifyTask(const TrainingSpec& training, const EvaluateSpec& evaluate,
               std::shared_ptr<const ClassifyText> text, int data_rank, int data_size);

  void start(std::int64_t first_batch) override;
  TaskBatch next() override { return prefetcher_->next(); }
  const TaskBatch& held_out() const override { return held_out_; }
  LossScales scales(const Sums& totals) const override;
  // train/loss, in nats a sentence.
  Metrics training_metrics(const Sums& totals, const LossSums& losses) const override;
  // eval/loss, eval/accuracy, and eval/majority_accuracy: that of always saying what most of the training
  // text is.
  Metrics evaluation_metrics(const Evaluation& held_out) const override;

 private:
  TaskBatch make_held_out(const EvaluateSpec& evaluate, int data_rank, int data_size) const;
  // These sentences of `text` in micro-batches, numbered from `first_sample`.
  TaskBatch make_batch(const LabelledText& text, const std::vector<std::int64_t>& sentences,
                       std::int64_t first_sample) const;
  MicroBatch collate(const LabelledText& text, std::span<const std::int64_t> sentences) const;
  std::int64_t sentence_of(std::int64_t sample) const;

  TrainingSpec training_;
  std::shared_ptr<const ClassifyText> text_;
  std::int32_t majority_;         // class
  std::int64_t local_sequences_;  // of each step
  std::int64_t first_sequence_;   // of this data rank, within the global batch
  TaskBatch held_out_;
  std::unique_ptr<Prefetcher<TaskBatch>> prefetcher_;  // last: it uses the rest
};

TaskSource classify_task_source(const JobSpec& spec, const std::filesystem::path& data_folder,
                                Reading& reading, int data_rank, int data_size);

}  // namespace podium
