#include "worker/nn/gpt_layer.h"

#include <cmath>

namespace podium {
namespace {

std::string prefix(int index) { return "transformer.h." + std::to_string(index); }

SelfAttentionNames attention_names(int index) {
  const std::string attention = prefix(index) + ".attn";
  return {{attention + ".query", attention + ".key", attention + ".value"}, attention + ".c_proj"};
}

// Of the weights whose products are added to the residual stream, 2 a layer: their sum then starts with the
// variance of one.
double residual_deviation(const ModelSpec& spec) { return 1.0 / std::sqrt(2.0 * spec.layers); }

}  // namespace

GptLayer::GptLayer(ParameterStore& store, const TensorGroup& tensor, const ModelSpec& spec, int index)
    : hidden_(spec.hidden),
      dropout_(spec.dropout),
      sites_(layer_dropout_sites(index)),
      attention_norm_(store, prefix(index) + ".ln_1", hidden_, ops::kGptEpsilon, tensor.splits_rows()),
      attention_(store, tensor, spec, attention_names(index), residual_deviation(spec), sites_.attention),
      feed_forward_norm_(store, prefix(index) + ".ln_2", hidden_, ops::kGptEpsilon, tensor.splits_rows()),
      feed_forward_(store, tensor, spec, {prefix(index) + ".mlp.c_fc", prefix(index) + ".mlp.c_proj"},
                    residual_deviation(spec), BiasGradient::here) {}

void GptLayer::forward(const Step& step, ConstTensorView x, TensorView y, Saved& saved) {
  saved.x = x;
  saved.attention_statistics = step.save_statistics();
  saved.attention_x = step.save_own(hidden_);
  saved.sum = step.save_own(hidden_);
  saved.feed_forward_statistics = step.save_statistics();
  saved.feed_forward_x = step.save_own(hidden_);

  ops::layer_norm_forward(step.context, x, attention_norm_.parameters(), saved.attention_x,
                          saved.attention_statistics);
  attention_.forward(step, saved.attention_x, saved.sum, saved.attention);
  ops::add_layer_norm_forward(step.context, saved.sum, x, step.dropout(dropout_, sites_.attention_output),
                              feed_forward_norm_.parameters(), saved.feed_forward_x,
                              saved.feed_forward_statistics);
  feed_forward_.forward(step, saved.feed_forward_x, y, saved.feed_forward);
  ops::add_dropout(step.context, y, saved.sum, step.dropout(dropout_, sites_.feed_forward_output));
}

void GptLayer::backward(const Step& step, TensorView dy, const Saved& saved) {
  const ArenaScope scope(step.workspace);
  const TensorView dbranch = step.temporary_own(hidden_);
  const TensorView dnormal = step.temporary_own(hidden_);
  ops::dropout(step.context, dy, step.dropout(dropout_, sites_.feed_forward_output), dbranch);
  feed_forward_.backward(step, saved.feed_forward_x, dbranch, dnormal, false, saved.feed_forward);
  ops::add_layer_norm_backward(step.context, dnormal, saved.sum, saved.feed_forward_statistics,
                               step.dropout(dropout_, sites_.attention_output),
                               feed_forward_norm_.parameters(), dy, dbranch,
                               feed_forward_norm_.gradients(attention_.output_bias_gradient()), dy);
  attention_.backward(step, saved.attention_x, dbranch, dnormal, false, saved.attention);
  ops::layer_norm_backward(step.context, dnormal, saved.x, saved.attention_statistics,
                           attention_norm_.parameters(), dy, attention_norm_.gradients(), dy);
}

}  // namespace podium
