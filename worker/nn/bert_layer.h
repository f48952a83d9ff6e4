// One encoder layer with the normalisation after each residual, as in the original Transformer:
//
//   a = LayerNorm(x + dropout(W_o attention(x)))        y = LayerNorm(a + dropout(W_2 gelu(W_1 a)))
#pragma once

#include <string>

#include "common/model/spec.h"
#include "worker/nn/layer_norm.h"
#include "worker/nn/linear.h"
#include "worker/nn/step.h"
#include "worker/ops/attention.h"

namespace podium {

class BertLayer {
 public:
  BertLayer(ParameterStore& store, const ModelSpec& spec, int index);

  // x must stay as it is until backward. All tensors are [rows, hidden].
  TensorView forward(const Step& step, ConstTensorView x);
  // dy is replaced by dx.
  void backward(const Step& step, TensorView dy);

 private:
  void forward_attention(const Step& step);
  void forward_feed_forward(const Step& step);
  void backward_feed_forward(const Step& step, TensorView dy);
  void backward_attention(const Step& step, TensorView dy);
  ops::AttentionShape attention_shape(const Step& step) const;
  ops::Dropout attention_dropout(const Step& step) const;
  ops::Dropout attention_output_dropout(const Step& step) const;
  ops::Dropout output_dropout(const Step& step) const;

  std::int64_t hidden_, heads_, intermediate_;
  double dropout_, attention_dropout_;
  std::uint32_t first_site_;
  std::string prefix_;

  Linear query_key_value_;
  Linear attention_output_;
  LayerNorm attention_norm_;
  Linear expand_;
  Linear contract_;
  LayerNorm output_norm_;

  // Of the step in hand.
  ConstTensorView x_;
  TensorView qkv_, probabilities_, heads_out_, attention_sum_, attention_statistics_, attention_y_;
  TensorView gelu_slope_, gelu_y_, output_sum_, output_statistics_, y_;
};

}  // namespace podium
