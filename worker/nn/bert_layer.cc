#include "worker/nn/bert_layer.h"

#include "worker/ops/gelu.h"

namespace podium {
namespace {

constexpr std::uint32_t kSitesPerLayer = 16;  // dropout sites; the embeddings use those before layer 0's

}  // namespace

BertLayer::BertLayer(ParameterStore& store, const ModelSpec& spec, int index)
    : hidden_(spec.hidden),
      heads_(spec.heads),
      intermediate_(spec.intermediate),
      dropout_(spec.dropout),
      attention_dropout_(spec.attention_dropout),
      first_site_(kSitesPerLayer * static_cast<std::uint32_t>(index + 1)),
      prefix_("bert.encoder.layer." + std::to_string(index)),
      query_key_value_(store,
                       {prefix_ + ".attention.self.query", prefix_ + ".attention.self.key",
                        prefix_ + ".attention.self.value"},
                       hidden_, hidden_),
      attention_output_(store, {prefix_ + ".attention.output.dense"}, hidden_, hidden_),
      attention_norm_(store, prefix_ + ".attention.output.LayerNorm", hidden_),
      expand_(store, {prefix_ + ".intermediate.dense"}, intermediate_, hidden_),
      contract_(store, {prefix_ + ".output.dense"}, hidden_, intermediate_),
      output_norm_(store, prefix_ + ".output.LayerNorm", hidden_) {}

ops::AttentionShape BertLayer::attention_shape(const Step& step) const {
  return {.sequences = step.sequences,
          .length = step.length,
          .heads = heads_,
          .head_size = hidden_ / heads_};
}
ops::Dropout BertLayer::attention_dropout(const Step& step) const {
  return step.dropout(attention_dropout_, first_site_, heads_ * step.length);
}
ops::Dropout BertLayer::attention_output_dropout(const Step& step) const {
  return step.dropout(dropout_, first_site_ + 1, step.length);
}
ops::Dropout BertLayer::output_dropout(const Step& step) const {
  return step.dropout(dropout_, first_site_ + 2, step.length);
}

TensorView BertLayer::forward(const Step& step, ConstTensorView x) {
  x_ = x;
  forward_attention(step);
  forward_feed_forward(step);
  return y_;
}

void BertLayer::forward_attention(const Step& step) {
  const std::int64_t rows = step.rows();
  qkv_ = step.activation(rows, 3 * hidden_);
  probabilities_ =
      step.arena.allocate(step.compute, Shape{ops::attention_probabilities(attention_shape(step))});
  heads_out_ = step.activation(rows, hidden_);
  attention_sum_ = step.activation(rows, hidden_);
  attention_statistics_ = step.arena.allocate(DType::f32, Shape{rows, 2});
  attention_y_ = step.activation(rows, hidden_);

  query_key_value_.forward(step.context, x_, qkv_);
  ops::attention_forward(step.context, attention_shape(step), qkv_, step.valid_lengths,
                         attention_dropout(step), probabilities_, heads_out_);
  attention_output_.forward(step.context, heads_out_, attention_sum_);
  ops::add_layer_norm_forward(step.context, attention_sum_, x_, attention_output_dropout(step),
                              attention_norm_.parameters(), attention_y_, attention_statistics_);
}

void BertLayer::forward_feed_forward(const Step& step) {
  const std::int64_t rows = step.rows();
  gelu_slope_ = step.activation(rows, intermediate_);
  gelu_y_ = step.activation(rows, intermediate_);
  output_sum_ = step.activation(rows, hidden_);
  output_statistics_ = step.arena.allocate(DType::f32, Shape{rows, 2});
  y_ = step.activation(rows, hidden_);

  expand_.forward(step.context, attention_y_, gelu_slope_);
  ops::gelu_forward(step.context, gelu_slope_, gelu_y_);
  contract_.forward(step.context, gelu_y_, output_sum_);
  ops::add_layer_norm_forward(step.context, output_sum_, attention_y_, output_dropout(step),
                              output_norm_.parameters(), y_, output_statistics_);
}

void BertLayer::backward(const Step& step, TensorView dy) {
  backward_feed_forward(step, dy);
  backward_attention(step, dy);
}

void BertLayer::backward_feed_forward(const Step& step, TensorView dy) {
  const ArenaScope scope(step.arena);
  const TensorView dbranch = step.activation(step.rows(), hidden_);
  const TensorView dexpanded = step.activation(step.rows(), intermediate_);
  ops::add_layer_norm_backward(step.context, dy, output_sum_, output_statistics_, output_dropout(step),
                               output_norm_.parameters(), dy, dbranch, output_norm_.gradients());
  contract_.backward_weight(step.context, gelu_y_, dbranch);
  contract_.backward_input(step.context, dbranch, dexpanded, {.multiply_by = gelu_slope_});
  expand_.backward_weight(step.context, attention_y_, dexpanded);
  expand_.backward_input(step.context, dexpanded, dy, {.accumulate = true});
}

void BertLayer::backward_attention(const Step& step, TensorView dy) {
  const ArenaScope scope(step.arena);
  const TensorView dbranch = step.activation(step.rows(), hidden_);
  const TensorView dheads = step.activation(step.rows(), hidden_);
  const TensorView dqkv = step.activation(step.rows(), 3 * hidden_);
  ops::add_layer_norm_backward(step.context, dy, attention_sum_, attention_statistics_,
                               attention_output_dropout(step), attention_norm_.parameters(), dy, dbranch,
                               attention_norm_.gradients());
  attention_output_.backward_weight(step.context, heads_out_, dbranch);
  attention_output_.backward_input(step.context, dbranch, dheads);
  ops::attention_backward(step.context, attention_shape(step), dheads, qkv_, step.valid_lengths,
                          probabilities_, attention_dropout(step), dqkv);
  query_key_value_.backward_weight(step.context, x_, dqkv);
  query_key_value_.backward_input(step.context, dqkv, dy, {.accumulate = true});
}

}  // namespace podium
