// The seam between the trainer, which knows steps, layouts, models and checkpoints, and a task, which knows
// data and metrics. A task serves one data rank of the layout in one phase of the training. It brings that
// rank's part of every global batch; all ranks that share a data rank bring the same. The trainer adds the
// parts up, so means are exact on any layout.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/model/spec.h"
#include "common/model/text_identity.h"
#include "worker/data/vocabulary_identity.h"
#include "worker/nn/head.h"
#include "worker/nn/micro_batch.h"

namespace podium {

using Sums = std::vector<double>;
using Metrics = std::vector<std::pair<std::string, double>>;

// A data rank's part of a step or of the held-out text.
struct TaskBatch {
  Sums
      totals;  // known without a model, such as the number of masked tokens; the trainer adds them over ranks
  std::vector<MicroBatch> micro_batches;  // in a step: the same number on every data rank, all of one length
};

// What a pass over the held-out text came to, over all ranks.
struct Evaluation {
  Sums totals;
  LossSums losses;
  Sums scores;
  double seconds = 0;  // that it took rank 0
};

// A file that an evaluation leaves beside the checkpoints, in place of the one before.
struct TaskFile {
  std::string name;
  std::string content;
};

// What is told of an evaluation.
struct Findings {
  Metrics metrics;  // "eval/…"
  std::vector<TaskFile> files;
};

// What the head predicted of a micro-batch (head.h), row-major [rows, columns].
struct Predictions {
  std::int64_t columns = 0;
  std::vector<float> values;
};

class Task {
 public:
  virtual ~Task() = default;

  // The next global batch is `first_batch`. Batches count from 1 within the phase.
  virtual void start(std::int64_t first_batch) = 0;
  // Returns this rank's part of the next global batch. MicroBatch::first_sample counts from the batch's first
  // sequence.
  virtual TaskBatch next() = 0;
  // This rank's share of the held-out text, which never changes. It has no micro-batches if the job does not
  // evaluate.
  virtual const TaskBatch& held_out() const = 0;

  // The factors of the loss sums, from a step's totals over all data ranks.
  virtual LossScales scales(const Sums& totals) const = 0;
  // Makes "train/loss" and its parts of totals and losses over all ranks.
  virtual Metrics training_metrics(const Sums& totals, const LossSums& losses) const = 0;

  // score() adds what the head predicted of a held-out micro-batch to `scores`, which have score_count()
  // elements and add up over ranks. It is never called for a head that returns no predictions.
  virtual std::size_t score_count() const { return 0; }
  virtual void score(const MicroBatch& /*batch*/, const Predictions& /*predictions*/,
                     Sums& /*scores*/) const {}
  virtual Findings findings(const Evaluation& held_out) const = 0;
};

// The text of a job, which is read once, and a function that makes the task of a phase (phases.h) from it.
struct TaskSource {
  int vocabulary = 0;  // token ids are below this; the model's may be larger
  TextIdentity text;   // the text that the job trains on
  HeadPlan head;
  std::function<std::unique_ptr<Task>(const TrainingSpec& phase)> make;
  std::vector<std::string> labels =
      {};  // that the head's outputs stand for, if they have names; checkpoints keep them
  // Which tokens the first so many ids stand for.
  std::function<VocabularyIdentity(std::int64_t count)> tokens = {};
};

}  // namespace podium
