// Classification of sentences and of pairs (BERT), or regression. Data rank r of D trains on the r-th part of
// every global batch. An epoch has every sample once, in an order that follows from the seed and does not
// depend on D.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "worker/tasks/classify/label_kind.h"
#include "worker/tasks/classify/labelled_text.h"
#include "worker/tasks/data_share.h"
#include "worker/tokenizer/wordpiece.h"

namespace podium {

// Everything a classification reads before it begins. Immutable.
struct ClassifyText {
  // Relative paths begin at `data_folder`. Throws BadData. Warns of sentences that are cut, and of held-out
  // files that are also training files.
  ClassifyText(const JobSpec& spec, const std::filesystem::path& data_folder, Reading& reading);

  WordPieceTokenizer tokenizer;
  LabelledText training;
  std::optional<LabelledText> held_out;  // if the spec evaluates
  std::shared_ptr<const LabelKind> labels;
  std::vector<float> class_weights;
};

class ClassifyTask final : public Task {
 public:
  // The tasks of all phases share the text, and the last of them frees it.
  ClassifyTask(const TrainingSpec& training, const EvaluateSpec& evaluate,
               std::shared_ptr<const ClassifyText> text, DataRank place);

  void start(std::int64_t first_batch) override { batches_.start(first_batch); }
  TaskBatch next() override { return batches_.next(); }
  const TaskBatch& held_out() const override { return held_out_; }
  LossScales scales(const Sums& totals) const override;
  // train/loss, in nats a sentence, or squared (taught_loss.h); nothing where no sentence weighs anything.
  Metrics training_metrics(const Sums& totals, const LossSums& losses) const override;
  std::size_t score_count() const override { return text_->labels->score_count(); }
  void score(const MicroBatch& batch, const Predictions& predictions, Sums& scores) const override {
    text_->labels->score(batch, predictions, scores);
  }
  // eval/loss, and the metrics of the labels' kind (label_kind.h).
  Findings findings(const Evaluation& held_out) const override;

 private:
  TaskBatch make_held_out(const EvaluateSpec& evaluate, DataRank place) const;
  TaskBatch make_global_batch(const SampleRange& range) const;
  // Puts these samples of `text` into micro-batches, numbered from `first_sample`.
  TaskBatch make_batch(const LabelledText& text, const std::vector<std::int64_t>& samples,
                       std::int64_t first_sample) const;
  MicroBatch collate(const LabelledText& text, std::span<const std::int64_t> samples) const;
  std::int64_t shuffled(std::int64_t sample) const;

  TrainingSpec training_;
  std::shared_ptr<const ClassifyText> text_;
  TaskBatch held_out_;
  GlobalBatches batches_;  // last: it uses the rest
};

TaskSource classify_task_source(const JobSpec& spec, const std::filesystem::path& data_folder,
                                Reading& reading, int data_rank, int data_size);

}  // namespace podium
