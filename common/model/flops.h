// Floating-point operations of a model's forward pass, as papers count them: those of its matrix products, a
// multiplication and an addition each; attention as full matrices, causal or not; heads where they predict.
// Training takes three times as many: backward twice what forward does. Padding, recomputation and everything
// element-wise are not counted.
//
// For GPT training on B sequences takes 72 B s l h^2 (1 + s / 6h + V / 12lh), the formula of Narayanan et al.
// (2021) without recomputation.
#pragma once

#include <optional>

#include "common/model/spec.h"

namespace podium {

inline constexpr double kTrainingPasses = 3;  // forward once, backward twice as much

double layer_flops(const ModelSpec& spec, double length);          // of all layers, on one sequence
double language_head_flops(const ModelSpec& spec, double scored);  // on so many positions
double sentence_head_flops(const ModelSpec& spec);                 // on one sequence

// So many tokens of a sequence BERT's recipe predicts at most: 20 of 128, 80 of 512.
int default_predictions(int sequence_length);

// Of training on one full sequence. Nothing where the spec does not fix it: the size of the vocabulary is the
// tokenizer's, lengths vary, phases differ, classes are counted in the text, or a command trains.
std::optional<double> training_flops_of_sequence(const JobSpec& spec);

}  // namespace podium
