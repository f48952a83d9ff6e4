// What is trained: the seam between the trainer, which knows steps, layouts, models and checkpoints, and a
// task, which knows data and metrics. A task is made for one data rank of the layout and brings that rank's
// part of every global batch; all ranks that share a data rank bring the same. The trainer adds the parts up,
// so that means are exact whatever the layout.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "worker/nn/micro_batch.h"

namespace podium {

using Sums = std::vector<double>;
using Metrics = std::vector<std::pair<std::string, double>>;

// A data rank's part of a step or of the held-out text.
struct TaskBatch {
  Sums
      totals;  // what is known of it without a model, such as the number of masked tokens; adds up over ranks
  std::vector<MicroBatch> micro_batches;  // as many on every data rank of a step, all of the step's length
};

class Task {
 public:
  virtual ~Task() = default;

  // Token ids are below this; the model's vocabulary may be larger.
  virtual int vocabulary() const = 0;

  // Steps follow one another from `first_step`; they count from 1 through all phases (phases.h).
  virtual void start(std::int64_t first_step) = 0;
  // The next step's part. MicroBatch::first_sample counts from the global batch's first sequence.
  virtual TaskBatch next() = 0;
  // This rank's share of the held-out text, in the shape of the phase of the step that `next` brought last,
  // or of `first_step`. Valid until the next call of any function that is not const.
  virtual const TaskBatch& held_out() = 0;

  // What loss sums are multiplied by, from the totals of all data ranks.
  virtual LossScales scales(const Sums& totals) const = 0;
  // "train/loss" and its parts, from totals and losses of all ranks.
  virtual Metrics training_metrics(const Sums& totals, const LossSums& losses) const = 0;
  // "eval/…", from totals and losses of all ranks over the held-out text.
  virtual Metrics evaluation_metrics(const Sums& totals, const LossSums& losses) const = 0;
};

}  // namespace podium
