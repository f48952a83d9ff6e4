// Models and batches without data, to time inference with: the time does not depend on the values.
#pragma once

#include "worker/infer/bert_session.h"

namespace podium {

// A BERT with its own vocabulary, padded, and positions.
ModelSpec bert_shape(int layers, int hidden, int heads);

// Of two batches of one length the longer begins as the shorter.
InferenceBatch random_batch(const ModelSpec& spec, const SessionShape& shape);

// With the ranges that one random sequence of this length has in fp32 in the context, which is the CPU's: the
// first of random_batch(), so that every position which is computed has been seen.
SourceModel quantised_by_random_text(Context& context, const SourceModel& model,
                                     const InferenceOptions& options, int length);

}  // namespace podium
