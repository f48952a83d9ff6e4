#include "worker/nn/bert_layer.h"

namespace podium {
namespace {

std::string prefix(int index) { return "bert.encoder.layer." + std::to_string(index); }

SelfAttentionNames attention_names(int index) {
  const std::string attention = prefix(index) + ".attention";
  return {{attention + ".self.query", attention + ".self.key", attention + ".self.value"},
          attention + ".output.dense"};
}

}  // namespace

BertLayer::BertLayer(ParameterStore& store, const TensorGroup& tensor, const ModelSpec& spec, int index)
    : hidden_(spec.hidden),
      dropout_(spec.dropout),
      sites_(layer_dropout_sites(index)),
      attention_(store, tensor, spec, attention_names(index), 1.0, sites_.attention),
      attention_norm_(store, prefix(index) + ".attention.output.LayerNorm", hidden_, ops::kBertEpsilon,
                      tensor.splits_rows()),
      feed_forward_(store, tensor, spec,
                    {prefix(index) + ".intermediate.dense", prefix(index) + ".output.dense"}, 1.0,
                    BiasGradient::behind),
      output_norm_(store, prefix(index) + ".output.LayerNorm", hidden_, ops::kBertEpsilon,
                   tensor.splits_rows()) {}

void BertLayer::forward(const Step& step, ConstTensorView x, TensorView y, Saved& saved) {
  saved.x = x;
  saved.attention_sum = step.save_own(hidden_);
  saved.attention_statistics = step.save_statistics();
  saved.attention_y = step.save_own(hidden_);
  saved.output_sum = step.save_own(hidden_);
  saved.output_statistics = step.save_statistics();

  attention_.forward(step, x, saved.attention_sum, saved.attention);
  ops::add_layer_norm_forward(step.context, saved.attention_sum, x,
                              step.dropout(dropout_, sites_.attention_output), attention_norm_.parameters(),
                              saved.attention_y, saved.attention_statistics);
  feed_forward_.forward(step, saved.attention_y, saved.output_sum, saved.feed_forward);
  ops::add_layer_norm_forward(step.context, saved.output_sum, saved.attention_y,
                              step.dropout(dropout_, sites_.feed_forward_output), output_norm_.parameters(),
                              y, saved.output_statistics);
}

void BertLayer::backward(const Step& step, TensorView dy, const Saved& saved) {
  backward_feed_forward(step, dy, saved);
  backward_attention(step, dy, saved);
}

void BertLayer::backward_feed_forward(const Step& step, TensorView dy, const Saved& saved) {
  const ArenaScope scope(step.workspace);
  const TensorView dbranch = step.temporary_own(hidden_);
  ops::add_layer_norm_backward(step.context, dy, saved.output_sum, saved.output_statistics,
                               step.dropout(dropout_, sites_.feed_forward_output), output_norm_.parameters(),
                               dy, dbranch, output_norm_.gradients(feed_forward_.contract_bias_gradient()));
  feed_forward_.backward(step, saved.attention_y, dbranch, dy, true, saved.feed_forward);
}

void BertLayer::backward_attention(const Step& step, TensorView dy, const Saved& saved) {
  const ArenaScope scope(step.workspace);
  const TensorView dbranch = step.temporary_own(hidden_);
  ops::add_layer_norm_backward(step.context, dy, saved.attention_sum, saved.attention_statistics,
                               step.dropout(dropout_, sites_.attention_output), attention_norm_.parameters(),
                               dy, dbranch, attention_norm_.gradients(attention_.output_bias_gradient()));
  attention_.backward(step, saved.x, dbranch, dy, true, saved.attention);
}

}  // namespace podium
