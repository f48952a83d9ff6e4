// How well classes were told apart, from three counts a class: sentences that have it, that were predicted to
// have it, and both. Counts of several ranks add up.
#pragma once

#include <cstdint>
#include <span>

namespace podium {

inline constexpr std::size_t kCountsOfClass = 3;

// Adds a sentence's label and prediction to `counts` [classes, kCountsOfClass].
void count_class(std::span<double> counts, std::int32_t label, std::int32_t predicted);

// The share of sentences whose class was predicted.
double accuracy_of(std::span<const double> counts);

// Of two classes the F1 of the second, as GLUE has it where labels are 0 and 1; of more the mean of all
// classes' (macro average). A class that nobody has and nobody predicts has 0.
double f1_of_classes(std::span<const double> counts);

// Matthews' correlation coefficient, of more than two classes R_K (Gorodkin, 2004); 0 where all labels or all
// predictions are one class.
double matthews_correlation(std::span<const double> counts);

}  // namespace podium
