// One layer of GPT-2 (Radford et al., 2019), with the normalisation in front of each branch:
//
//   s = x + dropout(attention(LayerNorm(x)))        y = s + dropout(feed_forward(LayerNorm(s)))
#pragma once

#include "worker/nn/dropout_sites.h"
#include "worker/nn/feed_forward.h"
#include "worker/nn/layer_norm.h"
#include "worker/nn/self_attention.h"

namespace podium {

class GptLayer {
 public:
  struct Saved {
    ConstTensorView x;
    TensorView attention_statistics, attention_x;
    SelfAttention::Saved attention;
    TensorView sum;
    TensorView feed_forward_statistics, feed_forward_x;
    FeedForward::Saved feed_forward;
  };

  GptLayer(ParameterStore& store, const TensorGroup& tensor, const ModelSpec& spec, int index);

  // Renews all copies of weights, as ops::linear_prepare.
  void prepare(const Step& step) {
    attention_.prepare(step);
    feed_forward_.prepare(step);
  }
  // x must stay as it is until backward. All tensors are [own rows, hidden].
  void forward(const Step& step, ConstTensorView x, TensorView y, Saved& saved);
  // dy is replaced by dx.
  void backward(const Step& step, TensorView dy, const Saved& saved);

 private:
  std::int64_t hidden_;
  double dropout_;
  LayerDropoutSites sites_;
  LayerNorm attention_norm_;
  SelfAttention attention_;
  LayerNorm feed_forward_norm_;
  FeedForward feed_forward_;
};

}  // namespace podium
