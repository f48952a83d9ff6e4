// Whether what a device computed is what the CPU computes with the same weights and inputs.
#pragma once

#include <vector>

#include "worker/infer/bert_session.h"

namespace podium {

// Of one of a session's sequences, which does not depend on the others.
struct SequenceResults {
  std::vector<float> hidden, pooled;
};
SequenceResults results_of(const Context& context, const BertSession& session, int sequence);

// By the CPU, of that sequence of a batch alone; the weights are in the context's memory.
SequenceResults compute_alone(Context& cpu, BertWeights& weights, const InferenceBatch& batch, int length,
                              int sequence);

// The norm of all differences over the norm of what is expected; infinite where something is not a number.
double relative_distance(const SequenceResults& found, const SequenceResults& expected);

// What roundings that fall differently may make of it. In a random BERT-Large at 1 x 128 the roundings
// themselves change results in fp16 by 4e-4 of their norm from those in fp32, in bf16 by 3e-3, in fp8 by 3e-2
// and in int8 by 6e-3; word embeddings that differ by half a unit of f16 change those in fp8 by 2e-2 and
// those in int8 by 7e-3.
double distance_tolerance(InferencePrecision precision);

}  // namespace podium
