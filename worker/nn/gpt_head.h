// GPT's head: decode(LayerNorm(x[scored])) with the word embeddings as decoder.
#pragma once

#include "common/model/spec.h"
#include "worker/nn/head.h"
#include "worker/nn/layer_norm.h"
#include "worker/nn/token_decoder.h"

namespace podium {

class GptHead final : public Head {
 public:
  GptHead(ParameterStore& store, const TensorGroup& tensor, const ModelSpec& spec, ParameterId word);

  void prepare(const Step& step) override { decoder_.prepare(step); }
  ConstTensorView run(const Step& step, ConstTensorView x, TensorView dx) override;

 private:
  void run_block(const Step& step, ConstTensorView x, const ScoredRows& block, const HeadGradient& gradient);

  std::int64_t hidden_;
  LayerNorm norm_;
  TokenDecoder decoder_;
};

}  // namespace podium
