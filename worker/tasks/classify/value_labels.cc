// Totals: the sentences, and their squared distances from the training text's mean. Scores: a prediction for
// each held-out sentence, by its number.
#include <algorithm>

#include "worker/tasks/classify/classify_head.h"
#include "worker/tasks/classify/correlations.h"
#include "worker/tasks/classify/label_kind.h"
#include "worker/tasks/data_share.h"

namespace podium {
namespace {

enum Total : std::size_t { kSentences, kSquares, kTotals };

double mean_value(const LabelledText& text) {
  double sum = 0;
  for (std::int64_t i = 0; i < text.size(); ++i) sum += text.value(i);
  return sum / static_cast<double>(text.size());
}

class ValueLabels final : public LabelKind {
 public:
  ValueLabels(double training_mean, std::vector<double> held_out)
      : training_mean_(training_mean), held_out_(std::move(held_out)) {}

  std::size_t total_count() const override { return kTotals; }
  void count(const LabelledText& text, std::int64_t sample, Sums& totals) const override {
    const double distance = text.value(sample) - training_mean_;
    totals[kSentences] += 1;
    totals[kSquares] += distance * distance;
  }
  double loss_weight(const Sums& totals) const override { return totals[kSentences]; }
  Targets targets(const LabelledText& text, std::span<const std::int64_t> samples,
                  int length) const override {
    std::vector<float> values;
    for (const std::int64_t sample : samples) values.push_back(text.value(sample));
    return sequence_values(std::move(values), length);
  }
  std::size_t score_count() const override { return held_out_.size(); }
  void score(const MicroBatch& batch, const Predictions& predictions, Sums& scores) const override {
    std::ranges::copy(predictions.values, scores.begin() + batch.first_sample);
  }
  Metrics metrics(const Evaluation& held_out) const override {
    return {{"eval/pearson", pearson_correlation(held_out.scores, held_out_)},
            {"eval/spearman", spearman_correlation(held_out.scores, held_out_)},
            {"eval/mean_value_loss", mean(held_out.totals[kSquares], held_out.totals[kSentences])}};
  }

 private:
  double training_mean_;
  std::vector<double> held_out_;
};

}  // namespace

std::unique_ptr<const LabelKind> value_labels(const LabelledText& training, std::vector<double> held_out) {
  return std::make_unique<ValueLabels>(mean_value(training), std::move(held_out));
}

}  // namespace podium
