#include "worker/nn/token_embeddings.h"

namespace podium {
namespace {

constexpr std::int64_t kTypes = 2;  // segment A and segment B

}  // namespace

ParameterId declare_word_embeddings(ParameterStore& store, const TensorGroup& tensor, const ModelSpec& spec,
                                    const std::string& name, bool tied_copy) {
  Parameter word{.name = name, .shape = Shape{spec.vocab, spec.hidden}, .tied_copy = tied_copy};
  tensor.cut(word, 0);
  return store.add(std::move(word));
}

TokenEmbeddings::TokenEmbeddings(ParameterStore& store, const TensorGroup& tensor, const ModelSpec& spec,
                                 const TokenEmbeddingsNames& names)
    : store_(store),
      vocabulary_(spec.vocab),
      typed_(!names.type.empty()),
      word_(declare_word_embeddings(store, tensor, spec, names.word, false)),
      position_(store.add({.name = names.position, .shape = Shape{spec.max_positions, spec.hidden}})) {
  if (typed_) type_ = store.add({.name = names.type, .shape = Shape{kTypes, spec.hidden}});
}

ops::EmbeddingInput TokenEmbeddings::input(const Step& step) const {
  const Slice& slice = store_[word_].slice;
  return {.ids = step.inputs.ids(),
          .types = step.inputs.types(),
          .length = step.pass.batch.length,
          .positions = step.inputs.positions(),
          .first_id = slice.begin,
          .vocabulary = slice.axis < 0 ? 0 : vocabulary_,
          .id_order = step.inputs.id_order(),
          .position_order = step.inputs.position_order()};
}

void TokenEmbeddings::forward(const Step& step, TensorView y) {
  ops::EmbeddingTables tables{.word = store_.weight(word_)};
  if (step.tensor.is_lead()) {  // the sum over ranks must hold them once
    tables.position = store_.weight(position_);
    if (typed_) tables.type = store_.weight(type_);
  }
  step.tensor.sum(step.workspace, y,
                  [&](TensorView term) { ops::embedding_forward(step.context, input(step), tables, term); });
}

void TokenEmbeddings::backward(const Step& step, ConstTensorView dy) {
  const ArenaScope scope(step.workspace);
  ops::EmbeddingGradients gradients{.word = store_.gradient(word_), .position = store_.gradient(position_)};
  if (typed_) gradients.type = store_.gradient(type_);
  ops::embedding_backward(step.context, input(step), step.tensor.all_rows(step.workspace, dy), gradients);
}

}  // namespace podium
