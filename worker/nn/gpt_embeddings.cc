#include "worker/nn/gpt_embeddings.h"

#include "worker/nn/dropout_sites.h"

namespace podium {

GptEmbeddings::GptEmbeddings(ParameterStore& store, const TensorGroup& tensor, const ModelSpec& spec)
    : dropout_(spec.dropout), tokens_(store, tensor, spec, {kWordName, "transformer.wpe.weight", ""}) {}

void GptEmbeddings::forward(const Step& step, TensorView y, Saved&) {
  tokens_.forward(step, y);
  ops::dropout(step.context, y, step.dropout(dropout_, kEmbeddingDropoutSite));
}

void GptEmbeddings::backward(const Step& step, TensorView dy, const Saved&) {
  ops::dropout(step.context, dy, step.dropout(dropout_, kEmbeddingDropoutSite));
  tokens_.backward(step, dy);
}

}  // namespace podium
