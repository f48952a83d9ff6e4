// One layer of a transformer: attention and feed-forward, each a branch beside a residual connection. Norms
// stand behind each residual sum, as in BERT and the original Transformer, or in front of each branch, as in
// GPT-2:
//
//   behind:    a = Norm(x + dropout(attention(x)))          y = Norm(a + dropout(feed_forward(a)))
//   in front:  s = x + dropout(attention(Norm(x)))          y = s + dropout(feed_forward(Norm(s)))
//
// Either way one norm reads the sum behind attention. The other norm is the layer's last op or its first.
#pragma once

#include <optional>

#include "worker/nn/dropout_sites.h"
#include "worker/nn/feed_forward.h"
#include "worker/nn/norm.h"
#include "worker/nn/self_attention.h"

namespace podium {

class TransformerLayer {
 public:
  struct Saved {
    ConstTensorView x;
    ConstTensorView attention_x;  // what attention read: x, or its norm
    SelfAttention::Saved attention;
    TensorView attention_sum, middle_statistics;  // x + dropout(attention), which the middle norm read
    TensorView feed_forward_x;                    // that norm's result
    FeedForward::Saved feed_forward;
    TensorView output_sum;        // what the last norm read, if there is one
    TensorView outer_statistics;  // of the first or last norm
  };

  TransformerLayer(ParameterStore& store, const TensorGroup& tensor, const ModelSpec& spec, int index);

  // x must not change until backward. All tensors are [own rows, hidden].
  void forward(const PassContext& pass, ConstTensorView x, TensorView y, Saved& saved);
  // dy is replaced by dx.
  void backward(const PassContext& pass, TensorView dy, const Saved& saved);

 private:
  ops::Dropout attention_dropout(const PassContext& pass) const {
    return pass.dropout(dropout_, sites_.attention_output);
  }
  ops::Dropout feed_forward_dropout(const PassContext& pass) const {
    return pass.dropout(dropout_, sites_.feed_forward_output);
  }

  std::int64_t hidden_;
  double dropout_;
  LayerDropoutSites sites_;
  // In the order of their parameters in the store. A layer has either the first or the last norm.
  std::optional<Norm> first_norm_;
  SelfAttention attention_;
  Norm middle_norm_;
  FeedForward feed_forward_;
  std::optional<Norm> last_norm_;
};

}  // namespace podium
