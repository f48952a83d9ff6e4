// BERT pre-training: masked language model and next sentence. Rank r of D trains on the r-th part of every
// global batch; the order of samples, their masks and the dropout masks do not depend on D.
#pragma once

#include <memory>
#include <vector>

#include "worker/data/prefetcher.h"
#include "worker/data/unigram.h"
#include "worker/train/pretraining_text.h"
#include "worker/train/step_task.h"

namespace podium {

class PretrainingTask final : public StepTask {
 public:
  // `text` and `context` must outlive the task. Throws Failure(bad_spec).
  PretrainingTask(const JobSpec& spec, const PretrainingText& text, Context& context, int rank,
                  int world_size);

  ParameterStore& parameters() override { return model_->parameters(); }
  void start(std::int64_t first_step) override;
  Sums begin_step() override;
  Sums forward_backward(const Sums& denominators, const GradientsReady& ready) override;
  Metrics training_metrics(const Sums& denominators, const Sums& losses) const override;
  std::int64_t sequences_per_step() const override { return training_.batch.global; }
  std::int64_t sequence_length() const override { return training_.sequence_length; }
  Sums evaluate() override;
  Metrics evaluation_metrics(const Sums& sums) const override;

 private:
  // This rank's part of one step.
  struct Step {
    std::int64_t number = 0;
    std::vector<BertBatch> batches;
  };

  Step make_step(std::int64_t number);
  void make_held_out(const EvaluateSpec& evaluate, int rank, int world_size);
  std::vector<BertBatch> make_batches(PretrainingDataset& dataset, std::int64_t begin,
                                      std::int64_t end) const;

  TrainingSpec training_;
  const PretrainingText& text_;
  std::int64_t local_sequences_;  // of each step
  std::int64_t first_sequence_;   // of this rank, within the global batch
  std::unique_ptr<BertForPretraining> model_;
  PretrainingDataset dataset_;  // of the prefetching thread once it runs
  UnigramModel unigram_;
  std::vector<BertBatch> held_out_;
  Step step_;
  std::unique_ptr<Prefetcher<Step>> prefetcher_;  // last: it uses the dataset
};

}  // namespace podium
