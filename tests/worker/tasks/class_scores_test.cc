// Against the examples of scikit-learn's documentation (f1_score, matthews_corrcoef), and against the
// definition of R_K as a correlation of indicator vectors.
#include "worker/tasks/classify/class_scores.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace podium {
namespace {

std::vector<double> counts_of(std::size_t classes, const std::vector<std::int32_t>& labels,
                              const std::vector<std::int32_t>& predicted) {
  std::vector<double> counts(kCountsOfClass * classes, 0.0);
  for (std::size_t i = 0; i < labels.size(); ++i) count_class(counts, labels[i], predicted[i]);
  return counts;
}

TEST(ClassScores, AreThoseOfPublishedExamples) {
  EXPECT_NEAR(f1_of_classes(counts_of(3, {0, 1, 2, 0, 1, 2}, {0, 2, 1, 0, 0, 1})), 0.26666666, 1e-8);
  EXPECT_DOUBLE_EQ(f1_of_classes(counts_of(2, {0, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 0})), 0);
  EXPECT_NEAR(f1_of_classes(counts_of(2, {1, 1, 0, 0, 1}, {1, 0, 1, 0, 1})), 2.0 / 3, 1e-15);
  EXPECT_NEAR(matthews_correlation(counts_of(2, {1, 1, 1, 0}, {1, 0, 1, 1})), -1.0 / 3, 1e-15);
  EXPECT_DOUBLE_EQ(matthews_correlation(counts_of(2, {1, 0, 1}, {1, 1, 1})), 0);
}

// cov(X, Y) / sqrt(cov(X, X) cov(Y, Y)) of the rows' indicators.
double correlation(std::size_t classes, const std::vector<std::int32_t>& labels,
                   const std::vector<std::int32_t>& predicted) {
  const auto covariance = [&](const std::vector<std::int32_t>& a, const std::vector<std::int32_t>& b) {
    double sum = 0;
    for (std::size_t c = 0; c < classes; ++c) {
      const auto is = [c](std::int32_t value) { return value == static_cast<std::int32_t>(c) ? 1.0 : 0.0; };
      double mean_a = 0, mean_b = 0, both = 0;
      for (std::size_t i = 0; i < a.size(); ++i)
        mean_a += is(a[i]), mean_b += is(b[i]), both += is(a[i]) * is(b[i]);
      const auto size = static_cast<double>(a.size());
      sum += both / size - mean_a / size * mean_b / size;
    }
    return sum;
  };
  return covariance(labels, predicted) /
         std::sqrt(covariance(labels, labels) * covariance(predicted, predicted));
}

TEST(ClassScores, TheCorrelationOfManyClassesIsThatOfTheirIndicators) {
  std::mt19937 random(1);
  for (const std::size_t classes : {2U, 3U, 7U}) {
    std::vector<std::int32_t> labels(200), predicted(200);
    for (std::size_t i = 0; i < labels.size(); ++i) {
      labels[i] = static_cast<std::int32_t>(random() % classes);
      predicted[i] = random() % 3 == 0 ? static_cast<std::int32_t>(random() % classes) : labels[i];
    }
    EXPECT_NEAR(matthews_correlation(counts_of(classes, labels, predicted)),
                correlation(classes, labels, predicted), 1e-12);
  }
}

}  // namespace
}  // namespace podium
