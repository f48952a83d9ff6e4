// A model's input: the sum of a token's word and position embeddings; of a family whose positions turn
// queries and keys the word embeddings alone. BERT also adds the embedding of the token's type and normalises
// the sum. Dropout comes last. A tensor-parallel rank holds its share of the vocabulary.
#pragma once

#include <optional>

#include "common/model/spec.h"
#include "worker/nn/norm.h"
#include "worker/nn/pass_context.h"
#include "worker/ops/embedding.h"

namespace podium {

// Declares this rank's share of the table, which the language head shares unless it has a decoder of its own.
// `tied_copy` as in Parameter.
ParameterId declare_word_embeddings(ParameterStore& store, const TensorGroup& tensor, const ModelSpec& spec,
                                    bool tied_copy);

class Embeddings {
 public:
  // What the norm read; empty without a norm.
  struct Saved {
    TensorView sum, statistics;
  };

  // Declares the word table first, so that its gradient is announced last.
  Embeddings(ParameterStore& store, const TensorGroup& tensor, const ModelSpec& spec);

  // y [own rows, hidden].
  void forward(const PassContext& pass, TensorView y, Saved& saved);
  void backward(const PassContext& pass, TensorView dy, const Saved& saved);  // dy is used up

  ParameterId word() const { return word_; }

 private:
  ops::EmbeddingInput input(const PassContext& pass) const;
  void sum_tables(const PassContext& pass, TensorView y);

  ParameterStore& store_;
  std::int64_t vocabulary_;
  double dropout_;
  ParameterId word_;
  std::optional<ParameterId> position_, type_;
  std::optional<Norm> norm_;
};

}  // namespace podium
