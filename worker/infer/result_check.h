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

// What roundings that fall differently may make of it. Beside fp32 the roundings themselves make 4e-4 of a
// random BERT-Large's results in fp16, 3e-3 in bf16, 3e-2 in fp8 and 0.3 in int8 with ranges out of thin air.
double distance_tolerance(InferencePrecision precision);

}  // namespace podium
