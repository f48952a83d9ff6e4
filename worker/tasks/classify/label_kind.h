// What the labels of a text are, classes or values: what is counted of them, what the head shall predict, and
// the metrics of what it did.
#pragma once

#include <memory>
#include <span>

#include "worker/tasks/classify/labelled_text.h"
#include "worker/train/task.h"

namespace podium {

class LabelKind {
 public:
  virtual ~LabelKind() = default;

  // Totals of a batch (TaskBatch).
  virtual std::size_t total_count() const = 0;
  virtual void count(const LabelledText& text, std::int64_t sample, Sums& totals) const = 0;
  // What the loss sum is divided by, so that it becomes a mean.
  virtual double loss_weight(const Sums& totals) const = 0;

  virtual Targets targets(const LabelledText& text, std::span<const std::int64_t> samples,
                          int length) const = 0;
  virtual std::size_t score_count() const = 0;  // as in Task, and so is:
  virtual void score(const MicroBatch& batch, const Predictions& predictions, Sums& scores) const = 0;
  // "eval/…" beside the loss.
  virtual Metrics metrics(const Evaluation& held_out) const = 0;
};

// What a sentence of each class weighs in the loss; none where all weigh the same. Throws Failure(bad_spec)
// where the spec gives weights to another number of classes.
std::vector<float> class_weights(const LabelledText& training, const ClassifySpec& spec);

// eval/accuracy, eval/f1, eval/matthews_correlation (class_scores.h), and eval/majority_accuracy, which
// always predicting the training text's most frequent class gives.
std::unique_ptr<const LabelKind> class_labels(const LabelledText& training, std::vector<float> weights);

// eval/pearson, eval/spearman (correlations.h), and eval/mean_value_loss, which always predicting the mean of
// the training text's values gives. `held_out`: the values that are scored.
std::unique_ptr<const LabelKind> value_labels(const LabelledText& training, std::vector<double> held_out);

}  // namespace podium
