// BERT pre-training: masked language model and next sentence. Data rank r of D brings the r-th part of every
// global batch. The order of samples and their masks do not depend on D.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "worker/data/blend.h"
#include "worker/tasks/data_share.h"
#include "worker/tasks/pretraining/pretraining_text.h"

namespace podium {

class PretrainingTask final : public Task {
 public:
  // The tasks of all phases share the text, and the last of them frees it.
  PretrainingTask(const TrainingSpec& training, const EvaluateSpec& evaluate,
                  std::shared_ptr<const PretrainingText> text, DataRank place);

  void start(std::int64_t first_batch) override { batches_.start(first_batch); }
  TaskBatch next() override { return batches_.next(); }
  const TaskBatch& held_out() const override { return held_out_; }
  LossScales scales(const Sums& totals) const override;
  Metrics training_metrics(const Sums& totals, const LossSums& losses) const override;
  Findings findings(const Evaluation& held_out) const override;

 private:
  TaskBatch make_global_batch(const SampleRange& samples);
  TaskBatch make_held_out(const EvaluateSpec& evaluate, DataRank place) const;
  using Draw = std::function<PretrainingSample(std::int64_t index)>;
  std::vector<MicroBatch> make_batches(const Draw& draw, std::int64_t begin, std::int64_t end) const;

  const TrainingSpec training_;
  const std::shared_ptr<const PretrainingText> text_;
  // Only the prefetching thread uses these two once it runs.
  std::vector<PretrainingDataset> datasets_;
  Blend blend_;
  TaskBatch held_out_;
  GlobalBatches batches_;  // last: it uses the datasets
};

// Reads the job's text once for the tasks of all phases. Throws BadData.
TaskSource pretraining_task_source(const JobSpec& spec, const std::filesystem::path& data_folder,
                                   Reading& reading, int data_rank, int data_size);

}  // namespace podium
