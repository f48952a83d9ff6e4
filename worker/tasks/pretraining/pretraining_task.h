// BERT pre-training: masked language model and next sentence. Data rank r of D brings the r-th part of every
// global batch; the order of samples and their masks do not depend on D.
#pragma once

#include <memory>
#include <vector>

#include "worker/data/prefetcher.h"
#include "worker/tasks/pretraining/pretraining_text.h"
#include "worker/train/task.h"

namespace podium {

class PretrainingTask final : public Task {
 public:
  // The tasks of all phases share the text, and the last of them frees it.
  PretrainingTask(const TrainingSpec& training, const EvaluateSpec& evaluate,
                  std::shared_ptr<const PretrainingText> text, int data_rank, int data_size);

  void start(std::int64_t first_batch) override;
  TaskBatch next() override { return prefetcher_->next(); }
  const TaskBatch& held_out() const override { return held_out_; }
  LossScales scales(const Sums& totals) const override;
  Metrics training_metrics(const Sums& totals, const LossSums& losses) const override;
  Metrics evaluation_metrics(const Evaluation& held_out) const override;

 private:
  TaskBatch make_global_batch(std::int64_t number);
  TaskBatch make_held_out(const EvaluateSpec& evaluate, int data_rank, int data_size) const;
  std::vector<MicroBatch> make_batches(PretrainingDataset& dataset, std::int64_t begin,
                                       std::int64_t end) const;

  const TrainingSpec training_;
  const std::shared_ptr<const PretrainingText> text_;
  const std::int64_t local_sequences_;  // of each step
  const std::int64_t first_sequence_;   // of this rank, within the global batch
  PretrainingDataset dataset_;          // of the prefetching thread once it runs
  TaskBatch held_out_;
  std::unique_ptr<Prefetcher<TaskBatch>> prefetcher_;  // last: it uses the dataset
};

// Reads the job's text once for the tasks of all phases. Throws BadData.
TaskSource pretraining_task_source(const JobSpec& spec, const std::filesystem::path& data_folder,
                                   Reading& reading, int data_rank, int data_size);

}  // namespace podium
