#include "worker/nn/embeddings.h"

#include "worker/nn/dropout_sites.h"
#include "worker/nn/families/family.h"

namespace podium {

ParameterId declare_word_embeddings(ParameterStore& store, const TensorGroup& tensor, const ModelSpec& spec,
                                    bool tied_copy) {
  Parameter word{.name = std::string(family_of(spec).names.word),
                 .shape = Shape{spec.vocab, spec.hidden},
                 .tied = ties_embeddings(spec),
                 .tied_copy = tied_copy};
  tensor.cut(word, 0);
  return store.add(std::move(word));
}

Embeddings::Embeddings(ParameterStore& store, const TensorGroup& tensor, const ModelSpec& spec)
    : store_(store),
      vocabulary_(spec.vocab),
      dropout_(spec.dropout),
      word_(declare_word_embeddings(store, tensor, spec, false)) {
  const Family& family = family_of(spec);
  const auto add_table = [&](std::string_view name, std::int64_t rows) -> std::optional<ParameterId> {
    if (name.empty()) return std::nullopt;
    return store.add({.name = std::string(name), .shape = Shape{rows, spec.hidden}});
  };
  position_ = add_table(family.names.position, spec.max_positions);
  type_ = add_table(family.names.type, kTokenTypes);
  if (!family.names.embedding_norm.empty())
    norm_.emplace(store, std::string(family.names.embedding_norm), spec, tensor.splits_rows());
}

void Embeddings::forward(const PassContext& pass, TensorView y, Saved& saved) {
  if (norm_) {
    saved = {pass.save_own(y.shape[1]), norm_->allocate_statistics(pass.saved, y.shape[0])};
    sum_tables(pass, saved.sum);
    norm_->forward(pass.context, saved.sum, y, saved.statistics);
  } else {
    sum_tables(pass, y);
  }
  ops::dropout(pass.context, y, pass.dropout(dropout_, kEmbeddingDropoutSite), y);
}

void Embeddings::backward(const PassContext& pass, TensorView dy, const Saved& saved) {
  ops::dropout(pass.context, dy, pass.dropout(dropout_, kEmbeddingDropoutSite), dy);
  if (norm_) norm_->backward(pass.context, dy, saved.sum, saved.statistics, dy);
  const ArenaScope scope(pass.workspace);
  ops::EmbeddingGradients gradients{.word = store_.gradient(word_)};
  if (position_) gradients.position = store_.gradient(*position_);
  if (type_) gradients.type = store_.gradient(*type_);
  ops::embedding_backward(pass.context, input(pass), pass.tensor.all_rows(pass.workspace, dy), gradients);
}

ops::EmbeddingInput Embeddings::input(const PassContext& pass) const {
  const Slice& slice = store_[word_].slice;
  return {.ids = pass.inputs.ids(),
          .types = pass.inputs.types(),
          .length = pass.batch.length,
          .positions = pass.inputs.positions(),
          .first_id = slice.begin,
          .vocabulary = slice.axis < 0 ? 0 : vocabulary_,
          .id_order = pass.inputs.id_order(),
          .position_order = pass.inputs.position_order()};
}

void Embeddings::sum_tables(const PassContext& pass, TensorView y) {
  ops::EmbeddingTables tables{.word = store_.weight(word_)};
  if (pass.tensor.is_lead()) {  // the sum over ranks must hold them once
    if (position_) tables.position = store_.weight(*position_);
    if (type_) tables.type = store_.weight(*type_);
  }
  pass.tensor.sum(pass.workspace, y,
                  [&](TensorView term) { ops::embedding_forward(pass.context, input(pass), tables, term); });
}

}  // namespace podium
