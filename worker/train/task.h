// What is trained: the seam between the trainer, which knows steps, layouts, models and checkpoints, and a
// task, which knows data and metrics. A task is made for one data rank of the layout and for one phase of the
// training; it brings that rank's part of every global batch, and all ranks that share a data rank bring the
// same. The trainer adds the parts up, so that means are exact whatever the layout.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/model/spec.h"
#include "common/model/text_identity.h"
#include "worker/nn/head.h"
#include "worker/nn/micro_batch.h"

namespace podium {

using Sums = std::vector<double>;
using Metrics = std::vector<std::pair<std::string, double>>;

// A data rank's part of a step or of the held-out text.
struct TaskBatch {
  Sums
      totals;  // what is known of it without a model, such as the number of masked tokens; adds up over ranks
  std::vector<MicroBatch> micro_batches;  // of a step: as many on every data rank, all of one length
};

// Of the held-out text, over all ranks.
struct Evaluation {
  Sums totals;
  LossSums losses;
  Sums scores;
};

// Row-major [targets of the head's first term, columns].
struct Predictions {
  std::int64_t columns = 0;
  std::vector<float> values;
};

class Task {
 public:
  virtual ~Task() = default;

  // Global batches follow one another from `first_batch`; they count from 1 within the phase.
  virtual void start(std::int64_t first_batch) = 0;
  // This rank's part of the next one. MicroBatch::first_sample counts from the global batch's first sequence.
  virtual TaskBatch next() = 0;
  // This rank's share of the held-out text; no micro-batches where the job does not evaluate. It never
  // changes.
  virtual const TaskBatch& held_out() const = 0;

  // What loss sums are multiplied by, from a step's totals over all data ranks.
  virtual LossScales scales(const Sums& totals) const = 0;
  // "train/loss" and its parts, from totals and losses over all ranks.
  virtual Metrics training_metrics(const Sums& totals, const LossSums& losses) const = 0;

  // What the head predicted of a held-out micro-batch, added to `scores`; they have this size and add up over
  // ranks. Of a head that returns no predictions it is never called.
  virtual std::size_t score_count() const { return 0; }
  virtual void score(const MicroBatch& /*batch*/, const Predictions& /*predictions*/,
                     Sums& /*scores*/) const {}
  // "eval/…", of all ranks.
  virtual Metrics evaluation_metrics(const Evaluation& held_out) const = 0;
};

// The text of a job, read once, and what makes of it the task of a phase (phases.h).
struct TaskSource {
  int vocabulary = 0;  // token ids are below this; the model's may be larger
  TextIdentity text;   // that is trained on
  HeadPlan head;
  std::function<std::unique_ptr<Task>(const TrainingSpec& phase)> make;
};

}  // namespace podium
