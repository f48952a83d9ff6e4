// A BERT's weights in the memory and types that inference reads them in; made once.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "worker/infer/layers.h"
#include "worker/infer/precision.h"
#include "worker/infer/source_model.h"

namespace podium {

struct InferenceOptions {
  InferencePrecision precision = InferencePrecision::fp32;
  bool sparse = false;  // prune the encoder's products to 2:4; a quantised model says so itself
};

struct EncoderLayer {
  DenseLayer query_key_value, attention_output, expand, contract;
  NormLayer attention_norm, output_norm;
};

struct PredictionHead {
  DenseLayer transform;
  NormLayer norm;
  DenseLayer decoder;  // the word embeddings
};

struct BertWeights {
  ModelSpec spec;
  DType product;     // of the encoder's products
  DType activation;  // of what lies between them, and of the heads' products
  Tensor word, position, type;
  NormLayer embeddings_norm;
  std::vector<EncoderLayer> layers;
  std::optional<DenseLayer> pooler, next_sentence, span, classifier;
  std::optional<PredictionHead> prediction;
};

// Throws Failure(bad_spec) where model, precision and device do not go together. 8 bits need a quantised
// model.
BertWeights make_bert_weights(Context& context, const SourceModel& model, const InferenceOptions& options);

}  // namespace podium
