// Floating-point operations of a model's forward pass, as papers count them: the multiplications and
// additions of its matrix products, with attention as full matrices, causal or not, and heads at the
// positions that they predict. Training takes three times as many, because backward takes twice as many as
// forward. Padding, recomputation and element-wise operations are not counted.
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

// The most tokens that BERT's recipe predicts in a sequence: 20 of 128, 80 of 512.
int default_predictions(int sequence_length);

// Operations of training on one full sequence. Nothing where the spec does not determine them: the tokenizer
// sets the vocabulary, lengths vary (as of contexts with questions), phases differ, the text has the classes, or the job runs a command.
std::optional<double> training_flops_of_sequence(const JobSpec& spec);

}  // namespace podium
