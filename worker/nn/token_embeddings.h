// The sum of a token's word and position embeddings, and in BERT that of its type. A tensor-parallel rank
// holds its share of the vocabulary.
#pragma once

#include <string>

#include "common/model/spec.h"
#include "worker/nn/step.h"
#include "worker/ops/embedding.h"

namespace podium {

struct TokenEmbeddingsNames {
  std::string word, position;
  std::string type;  // "": the model knows no types
};

// Declares this rank's share of the table, which the language head shares. `tied_copy` as in Parameter.
ParameterId declare_word_embeddings(ParameterStore& store, const TensorGroup& tensor, const ModelSpec& spec,
                                    const std::string& name, bool tied_copy);

class TokenEmbeddings {
 public:
  // The word table must be declared here, so that its gradient is the last to be announced.
  TokenEmbeddings(ParameterStore& store, const TensorGroup& tensor, const ModelSpec& spec,
                  const TokenEmbeddingsNames& names);

  // y and dy [own rows, hidden].
  void forward(const Step& step, TensorView y);
  void backward(const Step& step, ConstTensorView dy);

  ParameterId word() const { return word_; }

 private:
  ops::EmbeddingInput input(const Step& step) const;

  ParameterStore& store_;
  std::int64_t vocabulary_;
  bool typed_;
  ParameterId word_, position_, type_;
};

}  // namespace podium
