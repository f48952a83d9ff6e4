// GPT's head: decode(LayerNorm(x[scored])) with the word embeddings as decoder, forward and, where gradients
// are wanted, at once backward.
#pragma once

#include "common/model/spec.h"
#include "worker/nn/layer_norm.h"
#include "worker/nn/token_decoder.h"

namespace podium {

class GptHead {
 public:
  GptHead(ParameterStore& store, const TensorGroup& tensor, const ModelSpec& spec, ParameterId word);

  void prepare(const Step& step) { decoder_.prepare(step); }
  // x and dx [all rows, hidden]. Adds to dx, or only evaluates where it has no address.
  void run(const Step& step, ConstTensorView x, TensorView dx);

 private:
  void run_block(const Step& step, ConstTensorView x, const ScoredBlock& block, const HeadGradient& gradient);

  std::int64_t hidden_;
  LayerNorm norm_;
  TokenDecoder decoder_;
};

}  // namespace podium
