// BERT's input: the sum of word, position and type embeddings, normalised, then dropped out.
#pragma once

#include "worker/nn/layer_norm.h"
#include "worker/nn/token_embeddings.h"

namespace podium {

class BertEmbeddings {
 public:
  static constexpr const char* kWordName = "bert.embeddings.word_embeddings.weight";

  struct Saved {
    TensorView sum, statistics;
  };

  BertEmbeddings(ParameterStore& store, const TensorGroup& tensor, const ModelSpec& spec);

  // y [own rows, hidden].
  void forward(const Step& step, TensorView y, Saved& saved);
  void backward(const Step& step, TensorView dy, const Saved& saved);  // dy is used up

  ParameterId word() const { return tokens_.word(); }

 private:
  double dropout_;
  TokenEmbeddings tokens_;
  LayerNorm norm_;
};

}  // namespace podium
