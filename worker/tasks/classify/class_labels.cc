// Totals: the sentences of each class, which add up exactly in any order.
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <numeric>

#include "worker/data/failure.h"
#include "worker/tasks/classify/class_scores.h"
#include "worker/tasks/classify/classify_head.h"
#include "worker/tasks/classify/label_kind.h"
#include "worker/tasks/data_share.h"

namespace podium {
namespace {

Sums sentences_by_class(const LabelledText& text) {
  Sums counts(text.classes().size(), 0.0);
  for (std::int64_t i = 0; i < text.size(); ++i) ++counts[static_cast<std::size_t>(text.label(i))];
  return counts;
}

double sum_of(const Sums& counts) { return std::accumulate(counts.begin(), counts.end(), 0.0); }

class ClassLabels final : public LabelKind {
 public:
  ClassLabels(const Sums& training, std::vector<float> weights)
      : classes_(training.size()),
        majority_(static_cast<std::size_t>(std::ranges::max_element(training) - training.begin())),
        weights_(std::move(weights)) {}

  std::size_t total_count() const override { return classes_; }
  void count(const LabelledText& text, std::int64_t sample, Sums& totals) const override {
    ++totals[static_cast<std::size_t>(text.label(sample))];
  }
  double loss_weight(const Sums& totals) const override {
    return weights_.empty() ? sum_of(totals)
                            : std::inner_product(totals.begin(), totals.end(), weights_.begin(), 0.0);
  }
  Targets targets(const LabelledText& text, std::span<const std::int64_t> samples,
                  int length) const override {
    std::vector<std::int32_t> labels;
    for (const std::int64_t sample : samples) labels.push_back(text.label(sample));
    return sequence_targets(std::move(labels), length);
  }
  std::size_t score_count() const override { return kCountsOfClass * classes_; }
  void score(const MicroBatch& batch, const Predictions& predictions, Sums& scores) const override {
    auto logits = predictions.values.begin();
    for (const std::int32_t label : batch.targets[kClassTerm].labels) {
      const auto end = logits + predictions.columns;
      count_class(scores, label, static_cast<std::int32_t>(std::max_element(logits, end) - logits));
      logits = end;
    }
  }
  Metrics metrics(const Evaluation& held_out) const override {
    const double sentences = sum_of(held_out.totals);
    return {{"eval/accuracy", accuracy_of(held_out.scores)},
            {"eval/f1", 100 * f1_of_classes(held_out.scores)},
            {"eval/matthews_correlation", matthews_correlation(held_out.scores)},
            {"eval/majority_accuracy", mean(held_out.totals[majority_], sentences)}};
  }

 private:
  std::size_t classes_, majority_;
  std::vector<float> weights_;
};

}  // namespace

std::vector<float> class_weights(const LabelledText& training, const ClassifySpec& spec) {
  const std::size_t classes = training.classes().size();
  if (!spec.balanced) {
    if (!spec.class_weights.empty() && spec.class_weights.size() != classes)
      refuse_spec(
          fmt::format("training.classify.class_weights has {} weights and the training text {} classes; give "
                      "one for each",
                      spec.class_weights.size(), classes));
    if (!spec.class_weights.empty() && std::ranges::max(spec.class_weights) <= 0)
      refuse_spec("every one of training.classify.class_weights is 0; one must be above it");
    return {spec.class_weights.begin(), spec.class_weights.end()};
  }
  std::vector<float> weights;
  for (const double count : sentences_by_class(training)) {
    const double balanced = static_cast<double>(training.size()) / (static_cast<double>(classes) * count);
    weights.push_back(count > 0 ? static_cast<float>(balanced) : 0.0F);
  }
  return weights;
}

std::unique_ptr<const LabelKind> class_labels(const LabelledText& training, std::vector<float> weights) {
  return std::make_unique<ClassLabels>(sentences_by_class(training), std::move(weights));
}

}  // namespace podium
