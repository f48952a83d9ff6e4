// The two pre-training heads. Each runs forward and, where gradients are wanted, at once backward, adding to
// `dencoded`, the gradient of the encoder's output [rows, hidden].
//
//   masked language model: decode(LayerNorm(gelu(dense(x[masked])))) with the word embeddings as decoder
//   next sentence:         classify(tanh(pool(x[first tokens])))
#pragma once

#include <span>

#include "common/model/spec.h"
#include "worker/nn/layer_norm.h"
#include "worker/nn/linear.h"
#include "worker/nn/step.h"
#include "worker/ops/cross_entropy.h"

namespace podium {

// What backward needs to know; without an address in `dencoded` a head only evaluates.
struct HeadGradient {
  float scale = 0.0F;  // of the loss sum
  TensorView dencoded;

  bool wanted() const { return dencoded.address != nullptr; }
};

class MaskedLanguageHead {
 public:
  MaskedLanguageHead(ParameterStore& store, const ModelSpec& spec, ParameterId word_embeddings);

  ops::CrossEntropySums run(const Step& step, ConstTensorView encoded,
                            std::span<const std::int32_t> positions, std::span<const std::int32_t> labels,
                            const HeadGradient& gradient);

 private:
  std::int64_t hidden_;
  Linear transform_;
  LayerNorm norm_;
  Linear decoder_;
};

class NextSentenceHead {
 public:
  NextSentenceHead(ParameterStore& store, const ModelSpec& spec);

  ops::CrossEntropySums run(const Step& step, ConstTensorView encoded, std::span<const std::int32_t> labels,
                            const HeadGradient& gradient);

 private:
  std::int64_t hidden_;
  Linear pooler_;
  Linear classifier_;
};

}  // namespace podium
