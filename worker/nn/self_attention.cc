#include "worker/nn/self_attention.h"

#include "worker/nn/dropout_sites.h"
#include "worker/nn/families/family.h"

namespace podium {
namespace {

std::vector<std::string> query_key_value_names(const ModelSpec& spec, int layer) {
  return {name_in_layer(spec, layer, &FamilyNames::query), name_in_layer(spec, layer, &FamilyNames::key),
          name_in_layer(spec, layer, &FamilyNames::value)};
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
void clear_filler(const Step& step, TensorView x) {
  const std::size_t before = first_rows(x, step.rows.filler_begin()).bytes();
  step.context.memory.clear(static_cast<std::byte*>(x.address) + before, x.bytes() - before);
}

}  // namespace

SelfAttention::SelfAttention(ParameterStore& store, const TensorGroup& tensor, const ModelSpec& spec,
                             int layer)
    : head_size_(spec.hidden / spec.heads),
      total_heads_(spec.heads),
      heads_(tensor.share(spec.heads)),
      first_head_(tensor.rank() * heads_),
      causal_(family_of(spec).causal),
      dropout_(spec.attention_dropout),
      site_(layer_dropout_sites(layer).attention),
      query_key_value_(store, tensor, query_key_value_names(spec, layer), spec.hidden, spec.hidden),
      output_(store, tensor, name_in_layer(spec, layer, &FamilyNames::attention_output), spec.hidden,
              spec.hidden, family_of(spec).residual_deviation(spec), BiasGradient::behind) {}

ops::AttentionShape SelfAttention::shape(const Step& step) const {
  return {.sequences = step.pass.batch.sequences,
          .length = step.pass.batch.length,
          .heads = heads_,
          .head_size = head_size_,
          .causal = causal_,
          .first_head = first_head_,
          .total_heads = total_heads_,
          .row_begins = step.inputs.begins(),
          .packed_rows = step.rows.rows()};
}

ops::Dropout SelfAttention::dropout(const Step& step) const {
  return step.attention_dropout(dropout_, site_);
}

void SelfAttention::forward(const Step& step, ConstTensorView x, TensorView y, Saved& saved) {
  const ops::AttentionShape shape = this->shape(step);
  saved.qkv = step.save_all(3 * shape.hidden());
  saved.heads_out = step.save_all(shape.hidden());
  saved.probabilities = {};
  // What a device keeps is too little to be computed again.
  if (step.keep_probabilities || step.context.device_ops != nullptr) {
    const ops::AttentionSaved kept = ops::attention_saved(step.context, shape, step.compute, dropout(step));
    saved.probabilities = step.saved.allocate(kept.dtype, Shape{kept.count});
  }

  query_key_value_.forward(step, x, saved.qkv);
  clear_filler(step, saved.heads_out);
  ops::attention_forward(step.context, shape, first_rows(saved.qkv, shape.rows()),
                         step.inputs.valid_lengths(), dropout(step), saved.probabilities,
                         first_rows(saved.heads_out, shape.rows()));
  output_.forward(step, saved.heads_out, y);
}

void SelfAttention::backward(const Step& step, ConstTensorView x, ConstTensorView dy, TensorView dx,
                             bool accumulate, const Saved& saved) {
  const ArenaScope scope(step.workspace);
  const ops::AttentionShape shape = this->shape(step);
  const TensorView dheads = step.temporary_all(shape.hidden());
  const TensorView dqkv = step.temporary_all(3 * shape.hidden());
  output_.backward(step, saved.heads_out, dy, dheads);
  clear_filler(step, dqkv);
  ops::attention_backward(step.context, shape, first_rows(ConstTensorView(dheads), shape.rows()),
                          first_rows(ConstTensorView(saved.heads_out), shape.rows()),
                          first_rows(ConstTensorView(saved.qkv), shape.rows()), step.inputs.valid_lengths(),
                          saved.probabilities, dropout(step), first_rows(dqkv, shape.rows()),
                          query_key_value_.bias_gradient());
  query_key_value_.backward(step, x, dqkv, dx, accumulate);
}

}  // namespace podium
