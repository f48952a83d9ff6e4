// Whether what a device computed is what the CPU computes with the same weights and inputs.
#pragma once

#include <vector>

#include "worker/infer/bert_session.h"

namespace podium {

// Of a session's first sequence, which does not depend on the others.
struct FirstResults {
  std::vector<float> hidden, pooled;
};
FirstResults first_results(const Context& context, const BertSession& session);

// By the CPU. `batch` may hold more sequences; the weights are in the context's memory.
FirstResults compute_first(Context& cpu, BertWeights& weights, const InferenceBatch& batch, int length);

// The norm of all differences over the norm of what is expected; infinite where something is not a number.
double relative_distance(const FirstResults& found, const FirstResults& expected);

// What roundings that fall differently may make of it. In a random BERT-Large at 1 x 128 the roundings
// themselves change results in fp16 by 4e-4 of their norm from those in fp32, in bf16 by 3e-3, in fp8 by 3e-2
// and in int8 by 6e-3; word embeddings that differ by half a unit of f16 change those in fp8 by 2e-2 and
// those in int8 by 7e-3.
double distance_tolerance(InferencePrecision precision);

}  // namespace podium
