// The sum of word, position and type embeddings, normalised, then dropped out.
#pragma once

#include "common/model/spec.h"
#include "worker/nn/layer_norm.h"
#include "worker/nn/step.h"
#include "worker/ops/embedding.h"

namespace podium {

class BertEmbeddings {
 public:
  BertEmbeddings(ParameterStore& store, const ModelSpec& spec);

  TensorView forward(const Step& step, const ops::EmbeddingInput& input);            // [tokens, hidden]
  void backward(const Step& step, const ops::EmbeddingInput& input, TensorView dy);  // dy is used up

  ParameterId word() const { return word_; }

 private:
  ParameterStore& store_;
  std::int64_t hidden_;
  double dropout_;
  ParameterId word_, position_, type_;
  LayerNorm norm_;

  TensorView sum_, statistics_;  // of the step in hand
};

}  // namespace podium
