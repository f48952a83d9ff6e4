// A language model's weights, GPT's or Llama's, in the memory and types that generation reads them in; made
// once.
#pragma once

#include <vector>

#include "worker/infer/layers.h"
#include "worker/infer/precision.h"
#include "worker/infer/source_model.h"

namespace podium {

struct DecoderLayer {
  NormLayer first_norm;
  DenseLayer query_key_value, attention_output;
  NormLayer middle_norm;
  DenseLayer expand, contract;  // a gate's weight in front of expand's, where the family has one
};

struct LanguageWeights {
  ModelSpec spec;
  DType type;             // of products and of what lies between them
  Tensor word, position;  // f32 tables; Llama has none of positions
  std::vector<DecoderLayer> layers;
  NormLayer last_norm;
  DenseLayer decoder;
};

// Whether text can be generated with it, which may have no tensors yet. Throws BadData where the model
// predicts no next tokens, Failure(bad_spec) where model, precision and device do not go together.
void check_language_model(const Context& context, const SourceModel& model, InferencePrecision precision);

// Gives up each of the model's tensors when it is placed, so that no more than one is in memory twice. Throws
// as check_language_model() does, and BadData where the model lacks weights.
LanguageWeights make_language_weights(const Context& context, SourceModel model,
                                      InferencePrecision precision);

}  // namespace podium
