// BERT's pre-training head, of two parts, each with a term.
//
//   masked language model: decode(LayerNorm(gelu(dense(x[masked])))) with the word embeddings as decoder
//   next sentence:         sequence_head.h
#pragma once

#include "common/model/spec.h"
#include "worker/nn/head.h"
#include "worker/nn/layer_norm.h"
#include "worker/nn/pretraining_head.h"
#include "worker/nn/sequence_head.h"
#include "worker/nn/token_decoder.h"

namespace podium {

class MaskedLanguageHead {
 public:
  MaskedLanguageHead(ParameterStore& store, const TensorGroup& tensor, const ModelSpec& spec,
                     ParameterId word);

  void prepare(const Step& step) {
    transform_.prepare(step.context, step.compute);
    decoder_.prepare(step);
  }
  // encoded and gradient.dx [all rows, hidden].
  void run(const Step& step, ConstTensorView encoded, const HeadGradient& gradient);

 private:
  void run_block(const Step& step, ConstTensorView encoded, const ScoredRows& block,
                 const HeadGradient& gradient);

  std::int64_t hidden_;
  Linear transform_;
  LayerNorm norm_;
  TokenDecoder decoder_;
};

class BertHead final : public Head {
 public:
  BertHead(ParameterStore& store, const TensorGroup& tensor, const ModelSpec& spec, ParameterId word)
      : masked_(store, tensor, spec, word),
        next_sentence_(store, tensor, spec.hidden, "cls.seq_relationship", 2, kNextSentenceTerm) {}

  void prepare(const Step& step) override {
    masked_.prepare(step);
    next_sentence_.prepare(step);
  }
  ConstTensorView run(const Step& step, ConstTensorView encoded, TensorView dencoded) override;

 private:
  MaskedLanguageHead masked_;
  SequenceHead next_sentence_;
};

}  // namespace podium
