#include "worker/nn/self_attention.h"

#include "common/model/family.h"
#include "worker/nn/dropout_sites.h"
#include "worker/nn/families/family.h"
#include "worker/nn/layer_products.h"
#include "worker/ops/backend.h"

namespace podium {
namespace {

std::vector<LinearPart> query_key_value_parts(const ModelSpec& spec, int layer) {
  const std::int64_t keys = spec.hidden / spec.heads * spec.key_heads();
  return {{name_in_layer(spec, layer, &FamilyNames::query), spec.hidden},
          {name_in_layer(spec, layer, &FamilyNames::key), keys},
          {name_in_layer(spec, layer, &FamilyNames::value), keys}};
}

// Attention reads and writes the sequences' rows alone.
TensorView first_rows(TensorView x, std::int64_t rows) {
  x.shape = x.shape.with(0, rows);
  return x;
}
ConstTensorView first_rows(ConstTensorView x, std::int64_t rows) {
  x.shape = x.shape.with(0, rows);
  return x;
}

// Before attention writes the rows that are not filler.
void clear_filler(const PassContext& pass, TensorView x) {
  const std::size_t before = first_rows(x, pass.rows.filler_begin()).bytes();
  pass.context.memory.clear(static_cast<std::byte*>(x.address) + before, x.bytes() - before);
}

}  // namespace

SelfAttention::SelfAttention(ParameterStore& store, const TensorGroup& tensor, const ModelSpec& spec,
                             int layer)
    : head_size_(spec.hidden / spec.heads),
      total_heads_(spec.heads),
      heads_(tensor.share(spec.heads)),
      key_value_heads_(tensor.share(spec.key_heads())),
      first_head_(tensor.rank() * heads_),
      causal_(family_of(spec).causal),
      rotary_(traits_of(spec.family).rotary),
      dropout_(spec.attention_dropout),
      site_(layer_dropout_sites(layer).attention),
      query_key_value_(store, tensor, query_key_value_parts(spec, layer), spec.hidden, family_of(spec).biases,
                       layer_products(layer).query_key_value),
      output_(store, tensor, name_in_layer(spec, layer, &FamilyNames::attention_output), spec.hidden,
              spec.hidden, family_of(spec).residual_deviation(spec), family_of(spec).biases,
              BiasGradient::behind, layer_products(layer).attention_output) {}

ops::AttentionShape SelfAttention::shape(const PassContext& pass) const {
  return {.sequences = pass.batch.sequences,
          .length = pass.batch.length,
          .heads = heads_,
          .head_size = head_size_,
          .causal = causal_,
          .first_head = first_head_,
          .total_heads = total_heads_,
          .row_begins = pass.inputs.begins(),
          .packed_rows = pass.rows.rows()};
}

ops::RotaryHeads SelfAttention::rotary(const PassContext& pass) const {
  return {.heads = heads_,
          .key_value_heads = key_value_heads_,
          .head_size = head_size_,
          .length = pass.batch.length,
          .positions = pass.inputs.positions(),
          .table = pass.rotary_table};
}

ops::Dropout SelfAttention::dropout(const PassContext& pass) const {
  return pass.attention_dropout(dropout_, site_);
}

void SelfAttention::project(const PassContext& pass, ConstTensorView x, TensorView qkv) {
  if (!rotary_) return query_key_value_.forward(pass, x, qkv);
  const ArenaScope scope(pass.workspace);
  const ops::RotaryHeads rotary = this->rotary(pass);
  const TensorView projected = pass.temporary_all(rotary.projected());
  query_key_value_.forward(pass, x, projected);
  ops::rotary_heads_forward(pass.context, rotary, projected, qkv);
}

void SelfAttention::project_backward(const PassContext& pass, ConstTensorView x, ConstTensorView dqkv,
                                     TensorView dx, bool accumulate) {
  if (!rotary_) return query_key_value_.backward(pass, x, dqkv, dx, accumulate);
  const ArenaScope scope(pass.workspace);
  const ops::RotaryHeads rotary = this->rotary(pass);
  const TensorView dprojected = pass.temporary_all(rotary.projected());
  ops::rotary_heads_backward(pass.context, rotary, dqkv, dprojected);
  query_key_value_.backward(pass, x, dprojected, dx, accumulate);
}

void SelfAttention::forward(const PassContext& pass, ConstTensorView x, TensorView y, Saved& saved) {
  const ops::AttentionShape shape = this->shape(pass);
  saved.qkv = pass.save_all(3 * shape.hidden());
  saved.heads_out = pass.save_all(shape.hidden());
  saved.probabilities = {};
  // What a device keeps is too little to be computed again.
  if (pass.keep_probabilities || !ops::backend(pass.context).keeps_probabilities) {
    const ops::AttentionSaved kept = ops::attention_saved(pass.context, shape, pass.compute, dropout(pass));
    saved.probabilities = pass.saved.allocate(kept.dtype, Shape{kept.count});
  }

  project(pass, x, saved.qkv);
  clear_filler(pass, saved.heads_out);
  ops::attention_forward(pass.context, shape, first_rows(saved.qkv, shape.rows()),
                         pass.inputs.valid_lengths(), dropout(pass), saved.probabilities,
                         first_rows(saved.heads_out, shape.rows()));
  output_.forward(pass, saved.heads_out, y);
}

void SelfAttention::backward(const PassContext& pass, ConstTensorView x, ConstTensorView dy, TensorView dx,
                             bool accumulate, const Saved& saved) {
  const ArenaScope scope(pass.workspace);
  const ops::AttentionShape shape = this->shape(pass);
  const TensorView dheads = pass.temporary_all(shape.hidden());
  const TensorView dqkv = pass.temporary_all(3 * shape.hidden());
  output_.backward(pass, saved.heads_out, dy, dheads);
  clear_filler(pass, dqkv);
  ops::attention_backward(pass.context, shape, first_rows(ConstTensorView(dheads), shape.rows()),
                          first_rows(ConstTensorView(saved.heads_out), shape.rows()),
                          first_rows(ConstTensorView(saved.qkv), shape.rows()), pass.inputs.valid_lengths(),
                          saved.probabilities, dropout(pass), first_rows(dqkv, shape.rows()),
                          query_key_value_.bias_gradient());
  project_backward(pass, x, dqkv, dx, accumulate);
}

}  // namespace podium
