// Next-token prediction (GPT). Data rank r of D trains on the r-th part of every global batch; which windows
// of the text a batch holds does not depend on D.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "worker/data/blend.h"
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
  std::vector<TokenStream> training;    // several where the spec blends them
  std::vector<double> weights;          // of each
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
  Findings findings(const Evaluation& held_out) const override;

 private:
  TaskBatch make_held_out(const EvaluateSpec& evaluate, DataRank place) const;
  using Draw = std::function<std::vector<std::int32_t>(std::int64_t index)>;
  TaskBatch make_batch(const Draw& draw, SampleRange samples) const;
  MicroBatch collate(const Draw& draw, std::int64_t begin, std::int64_t end) const;

  BatchSpec batch_;
  int sequence_length_;
  std::shared_ptr<const LanguageText> text_;
  std::vector<LanguageDataset> datasets_;
  Blend blend_;  // only the prefetching thread uses it once that runs
  TaskBatch held_out_;
  GlobalBatches batches_;  // last: it uses the rest
};

// Reads the job's text once for the tasks of all phases. Throws BadData.
TaskSource language_task_source(const JobSpec& spec, const std::filesystem::path& data_folder,
                                Reading& reading, int data_rank, int data_size);

}  // namespace podium
