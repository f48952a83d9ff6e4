#include "worker/tasks/classify/class_scores.h"

#include <cmath>

namespace podium {
namespace {

enum Count : std::size_t { kLabelled, kPredicted, kBoth };

double f1_of(std::span<const double> counts, std::size_t class_number) {
  const std::span<const double> of_class = counts.subspan(kCountsOfClass * class_number, kCountsOfClass);
  const double all = of_class[kLabelled] + of_class[kPredicted];
  return all > 0 ? 2 * of_class[kBoth] / all : 0;
}

}  // namespace

void count_class(std::span<double> counts, std::int32_t label, std::int32_t predicted) {
  const auto count = [&](std::int32_t class_number, Count which) {
    ++counts[kCountsOfClass * static_cast<std::size_t>(class_number) + which];
  };
  count(label, kLabelled);
  count(predicted, kPredicted);
  if (label == predicted) count(label, kBoth);
}

double accuracy_of(std::span<const double> counts) {
  double sentences = 0, correct = 0;
  for (std::size_t at = 0; at < counts.size(); at += kCountsOfClass) {
    sentences += counts[at + kLabelled];
    correct += counts[at + kBoth];
  }
  return sentences > 0 ? correct / sentences : 0;
}

double f1_of_classes(std::span<const double> counts) {
  const std::size_t classes = counts.size() / kCountsOfClass;
  if (classes == 2) return f1_of(counts, 1);
  double sum = 0;
  for (std::size_t c = 0; c < classes; ++c) sum += f1_of(counts, c);
  return sum / static_cast<double>(classes);
}

double matthews_correlation(std::span<const double> counts) {
  double sentences = 0, correct = 0, products = 0, labelled = 0,
         predicted = 0;  // the last two: sums of squares
  for (std::size_t at = 0; at < counts.size(); at += kCountsOfClass) {
    sentences += counts[at + kLabelled];
    correct += counts[at + kBoth];
    products += counts[at + kLabelled] * counts[at + kPredicted];
    labelled += counts[at + kLabelled] * counts[at + kLabelled];
    predicted += counts[at + kPredicted] * counts[at + kPredicted];
  }
  const double all = sentences * sentences, spread = (all - labelled) * (all - predicted);
  return spread > 0 ? (correct * sentences - products) / std::sqrt(spread) : 0;
}

}  // namespace podium
