#include "worker/nn/transformer_layer.h"

#include "worker/nn/families/family.h"

namespace podium {
namespace {

// Nothing where the family has no such norm.
std::optional<Norm> make_norm(ParameterStore& store, const TensorGroup& tensor, const ModelSpec& spec,
                              int layer, std::string_view FamilyNames::*name) {
  if ((family_of(spec).names.*name).empty()) return std::nullopt;
  return Norm(store, name_in_layer(spec, layer, name), spec, tensor.splits_rows());
}

TensorView save_statistics(const PassContext& pass, const Norm& norm) {
  return norm.allocate_statistics(pass.saved, pass.rows.own_rows());
}

}  // namespace

TransformerLayer::TransformerLayer(ParameterStore& store, const TensorGroup& tensor, const ModelSpec& spec,
                                   int index)
    : hidden_(spec.hidden),
      dropout_(spec.dropout),
      sites_(layer_dropout_sites(index)),
      first_norm_(make_norm(store, tensor, spec, index, &FamilyNames::first_norm)),
      attention_(store, tensor, spec, index),
      middle_norm_(*make_norm(store, tensor, spec, index, &FamilyNames::middle_norm)),
      feed_forward_(store, tensor, spec, index),
      last_norm_(make_norm(store, tensor, spec, index, &FamilyNames::last_norm)) {
  PODIUM_CHECK(first_norm_.has_value() != last_norm_.has_value(),
               "norms stand in front of attention and feed-forward or behind them");
}

void TransformerLayer::forward(const PassContext& pass, ConstTensorView x, TensorView y, Saved& saved) {
  saved.x = saved.attention_x = x;
  if (first_norm_) {
    const TensorView normal = pass.save_own(hidden_);
    saved.outer_statistics = save_statistics(pass, *first_norm_);
    first_norm_->forward(pass.context, x, normal, saved.outer_statistics);
    saved.attention_x = normal;
  }
  saved.attention_sum = pass.save_own(hidden_);
  saved.middle_statistics = save_statistics(pass, middle_norm_);
  saved.feed_forward_x = pass.save_own(hidden_);
  attention_.forward(pass, saved.attention_x, saved.attention_sum, saved.attention);
  middle_norm_.add_forward(pass.context, saved.attention_sum, x, attention_dropout(pass),
                           saved.feed_forward_x, saved.middle_statistics);

  if (!last_norm_) {
    feed_forward_.forward(pass, saved.feed_forward_x, y, saved.feed_forward);
    ops::add_dropout(pass.context, y, saved.attention_sum, feed_forward_dropout(pass));
    return;
  }
  saved.output_sum = pass.save_own(hidden_);
  saved.outer_statistics = save_statistics(pass, *last_norm_);
  feed_forward_.forward(pass, saved.feed_forward_x, saved.output_sum, saved.feed_forward);
  last_norm_->add_forward(pass.context, saved.output_sum, saved.feed_forward_x, feed_forward_dropout(pass), y,
                          saved.outer_statistics);
}

void TransformerLayer::backward(const PassContext& pass, TensorView dy, const Saved& saved) {
  const ArenaScope scope(pass.workspace);
  const bool norms_behind = last_norm_.has_value();
  const TensorView dbranch = pass.temporary_own(hidden_);
  // Of what a branch read: where that is also what the residual connection takes on, the two are added up.
  const TensorView dbranch_x = norms_behind ? dy : pass.temporary_own(hidden_);

  if (last_norm_)
    last_norm_->add_backward(pass.context, dy, saved.output_sum, saved.outer_statistics,
                             feed_forward_dropout(pass), dy, dbranch, feed_forward_.contract_bias_gradient(),
                             {});
  else
    ops::dropout(pass.context, dy, feed_forward_dropout(pass), dbranch);
  feed_forward_.backward(pass, saved.feed_forward_x, dbranch, dbranch_x, norms_behind, saved.feed_forward);

  middle_norm_.add_backward(pass.context, dbranch_x, saved.attention_sum, saved.middle_statistics,
                            attention_dropout(pass), dy, dbranch, attention_.output_bias_gradient(),
                            norms_behind ? ConstTensorView() : ConstTensorView(dy));
  attention_.backward(pass, saved.attention_x, dbranch, dbranch_x, norms_behind, saved.attention);
  if (first_norm_) first_norm_->backward(pass.context, dbranch_x, saved.x, saved.outer_statistics, dy, dy);
}

}  // namespace podium
