// One encoder layer of BERT, with the normalisation after each residual as in the original Transformer:
//
//   a = LayerNorm(x + dropout(attention(x)))        y = LayerNorm(a + dropout(feed_forward(a)))
#pragma once

#include "worker/nn/dropout_sites.h"
#include "worker/nn/feed_forward.h"
#include "worker/nn/layer_norm.h"
#include "worker/nn/self_attention.h"

namespace podium {

class BertLayer {
 public:
  struct Saved {
    ConstTensorView x;
    SelfAttention::Saved attention;
    TensorView attention_sum, attention_statistics, attention_y;
    FeedForward::Saved feed_forward;
    TensorView output_sum, output_statistics;
  };

  BertLayer(ParameterStore& store, const TensorGroup& tensor, const ModelSpec& spec, int index);

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
  void backward_feed_forward(const Step& step, TensorView dy, const Saved& saved);
  void backward_attention(const Step& step, TensorView dy, const Saved& saved);

  std::int64_t hidden_;
  double dropout_;
  LayerDropoutSites sites_;
  SelfAttention attention_;
  LayerNorm attention_norm_;
  FeedForward feed_forward_;
  LayerNorm output_norm_;
};

}  // namespace podium
