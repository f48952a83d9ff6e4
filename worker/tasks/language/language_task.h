// Next-token prediction (GPT). Data rank r of D trains on the r-th part of every global batch; which windows
// of the text a batch holds does not depend on D.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "worker/data/language_dataset.h"
#include "worker/data/token_stream.h"
#include "worker/data/unigram.h"
#include "worker/tasks/data_share.h"
#include "worker/tokenizer/bpe_tokenizer.h"

namespace podium {

// Everything a language-model job reads before it begins. Immutable.
struct LanguageText {
  // Relative paths begin at `data_folder`. Throws BadData. Warns of held-out files that are also training
  // files.
  LanguageText(const JobSpec& spec, const std::filesystem::path& data_folder, Reading& reading);

  BpeTokenizer tokenizer;
  TokenStream training;
  std::optional<TokenStream> held_out;  // these two if the spec evaluates
  std::optional<UnigramModel> unigram;
};

class LanguageTask final : public Task {
 public:
  // The tasks of all phases share the text, and the last of them frees it.
  LanguageTask(const TrainingSpec& training, const EvaluateSpec& evaluate,
               std::shared_ptr<const LanguageText> text, DataRank place);

  void start(std::int64_t first_batch) override { batches_.start(first_batch); }
  TaskBatch next() override { return batches_.next(); }
  const TaskBatch& held_out() const override { return held_out_; }
  LossScales scales(const Sums& totals) const override;
  // train/loss, in nats a token.
  Metrics training_metrics(const Sums& totals, const LossSums& losses) const override;
  // eval/loss, eval/perplexity (its exponential), eval/accuracy (the likeliest token is the right one),
  // eval/unigram_loss (what guessing by frequency would cost), eval/gain_over_unigram.
  Metrics evaluation_metrics(const Evaluation& held_out) const override;

 private:
  TaskBatch make_held_out(const EvaluateSpec& evaluate, DataRank place) const;
  TaskBatch make_batch(const LanguageDataset& dataset, SampleRange samples) const;
  MicroBatch collate(const LanguageDataset& dataset, std::int64_t begin, std::int64_t end) const;

  BatchSpec batch_;
  int sequence_length_;
  std::shared_ptr<const LanguageText> text_;
  LanguageDataset dataset_;
  TaskBatch held_out_;
  GlobalBatches batches_;  // last: it uses the rest
};

// Reads the job's text once for the tasks of all phases. Throws BadData.
TaskSource language_task_source(const JobSpec& spec, const std::filesystem::path& data_folder,
                                Reading& reading, int data_rank, int data_size);

}  // namespace podium
