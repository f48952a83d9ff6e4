// GPT's input: the sum of word and position embeddings, dropped out.
#pragma once

#include "worker/nn/token_embeddings.h"

namespace podium {

class GptEmbeddings {
 public:
  static constexpr const char* kWordName = "transformer.wte.weight";

  struct Saved {};  // backward needs nothing of forward

  GptEmbeddings(ParameterStore& store, const TensorGroup& tensor, const ModelSpec& spec);

  // y [own rows, hidden].
  void forward(const Step& step, TensorView y, Saved&);
  void backward(const Step& step, TensorView dy, const Saved&);  // dy is used up

  ParameterId word() const { return tokens_.word(); }

 private:
  double dropout_;
  TokenEmbeddings tokens_;
};

}  // namespace podium
