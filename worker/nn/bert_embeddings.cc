#include "worker/nn/bert_embeddings.h"

namespace podium {
namespace {

constexpr std::int64_t kTypes = 2;         // segment A and segment B
constexpr std::uint32_t kDropoutSite = 0;  // layers number theirs from 16 on

}  // namespace

BertEmbeddings::BertEmbeddings(ParameterStore& store, const ModelSpec& spec)
    : store_(store),
      hidden_(spec.hidden),
      dropout_(spec.dropout),
      word_(store.add("bert.embeddings.word_embeddings.weight", Shape{spec.vocab, spec.hidden},
                      Initializer::normal, true)),
      position_(store.add("bert.embeddings.position_embeddings.weight",
                          Shape{spec.max_positions, spec.hidden}, Initializer::normal, true)),
      type_(store.add("bert.embeddings.token_type_embeddings.weight", Shape{kTypes, spec.hidden},
                      Initializer::normal, true)),
      norm_(store, "bert.embeddings.LayerNorm", spec.hidden) {}

TensorView BertEmbeddings::forward(const Step& step, const ops::EmbeddingInput& input) {
  sum_ = step.activation(step.rows(), hidden_);
  statistics_ = step.arena.allocate(DType::f32, Shape{step.rows(), 2});
  const TensorView y = step.activation(step.rows(), hidden_);
  ops::embedding_forward(step.context, input,
                         {store_.weight(word_), store_.weight(position_), store_.weight(type_)}, sum_);
  ops::layer_norm_forward(step.context, sum_, norm_.parameters(), y, statistics_);
  ops::dropout(step.context, y, step.dropout(dropout_, kDropoutSite, step.length));
  return y;
}

void BertEmbeddings::backward(const Step& step, const ops::EmbeddingInput& input, TensorView dy) {
  ops::dropout(step.context, dy, step.dropout(dropout_, kDropoutSite, step.length));
  ops::layer_norm_backward(step.context, dy, sum_, statistics_, norm_.parameters(), dy, norm_.gradients());
  ops::embedding_backward(step.context, input, dy,
                          {store_.gradient(word_), store_.gradient(position_), store_.gradient(type_)});
}

}  // namespace podium
