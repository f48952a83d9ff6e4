#include "worker/nn/self_attention.h"

namespace podium {
namespace {

// Attention works on the filled rows alone.
TensorView filled(const Step& step, TensorView x) {
  x.shape = x.shape.with(0, step.rows.filled_rows());
  return x;
}
ConstTensorView filled(const Step& step, ConstTensorView x) {
  x.shape = x.shape.with(0, step.rows.filled_rows());
  return x;
}

void clear_filler(const Step& step, TensorView x) {
  const std::size_t used = filled(step, x).bytes();
  step.context.memory.clear(static_cast<std::byte*>(x.address) + used, x.bytes() - used);
}

}  // namespace

SelfAttention::SelfAttention(ParameterStore& store, const TensorGroup& tensor, const ModelSpec& spec,
                             const SelfAttentionNames& names, double output_deviation, std::uint32_t site)
    : head_size_(spec.hidden / spec.heads),
      total_heads_(spec.heads),
      heads_(tensor.share(spec.heads)),
      first_head_(tensor.rank() * heads_),
      causal_(spec.family == ModelFamily::gpt),
      dropout_(spec.attention_dropout),
      site_(site),
      query_key_value_(store, tensor, names.query_key_value, spec.hidden, spec.hidden, BiasGradient::here),
      output_(store, tensor, names.output, spec.hidden, spec.hidden, output_deviation, BiasGradient::behind) {
}

ops::AttentionShape SelfAttention::shape(const Step& step) const {
  return {.sequences = step.pass.batch.sequences,
          .length = step.pass.batch.length,
          .heads = heads_,
          .head_size = head_size_,
          .causal = causal_,
          .first_head = first_head_,
          .total_heads = total_heads_,
          .row_begins = step.inputs.begins(),
          .packed_rows = step.rows.filled_rows()};
}

ops::Dropout SelfAttention::dropout(const Step& step) const {
  return step.attention_dropout(dropout_, site_, total_heads_);
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
  ops::attention_forward(step.context, shape, filled(step, saved.qkv), step.inputs.valid_lengths(),
                         dropout(step), saved.probabilities, filled(step, saved.heads_out));
  clear_filler(step, saved.heads_out);
  output_.forward(step, saved.heads_out, y);
}

void SelfAttention::backward(const Step& step, ConstTensorView x, ConstTensorView dy, TensorView dx,
                             bool accumulate, const Saved& saved) {
  const ArenaScope scope(step.workspace);
  const ops::AttentionShape shape = this->shape(step);
  const TensorView dheads = step.temporary_all(shape.hidden());
  const TensorView dqkv = step.temporary_all(3 * shape.hidden());
  output_.backward(step, saved.heads_out, dy, dheads);
  ops::attention_backward(step.context, shape, filled(step, ConstTensorView(dheads)),
                          filled(step, ConstTensorView(saved.heads_out)),
                          filled(step, ConstTensorView(saved.qkv)), step.inputs.valid_lengths(),
                          saved.probabilities, dropout(step), filled(step, dqkv));
  clear_filler(step, dqkv);
  query_key_value_.backward(step, x, dqkv, dx, accumulate);
}

}  // namespace podium
