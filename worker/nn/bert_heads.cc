#include "worker/nn/bert_heads.h"

#include <algorithm>
#include <vector>

#include "worker/ops/gelu.h"
#include "worker/ops/rows.h"
#include "worker/ops/tanh.h"

namespace podium {
namespace {

// Masked positions are padded to a multiple of this, so that a run meets few different shapes to compile
// products for.
constexpr std::int64_t kMaskedMultiple = 32;
constexpr std::int32_t kIgnored = -1;

}  // namespace

MaskedLanguageHead::MaskedLanguageHead(ParameterStore& store, const ModelSpec& spec,
                                       ParameterId word_embeddings)
    : hidden_(spec.hidden),
      transform_(store, {"cls.predictions.transform.dense"}, hidden_, hidden_),
      norm_(store, "cls.predictions.transform.LayerNorm", hidden_),
      decoder_(store, word_embeddings, "cls.predictions.bias") {}

ops::CrossEntropySums MaskedLanguageHead::run(const Step& step, ConstTensorView encoded,
                                              std::span<const std::int32_t> positions,
                                              std::span<const std::int32_t> labels,
                                              const HeadGradient& gradient) {
  if (positions.empty()) return {};
  const ArenaScope scope(step.arena);
  const auto masked = static_cast<std::int64_t>(positions.size());
  const std::int64_t rows = (masked + kMaskedMultiple - 1) / kMaskedMultiple * kMaskedMultiple;
  std::vector<std::int32_t> padded_labels(labels.begin(), labels.end());
  padded_labels.resize(static_cast<std::size_t>(rows), kIgnored);

  const TensorView picked = step.activation(rows, hidden_), gelu_slope = step.activation(rows, hidden_);
  const TensorView gelu_y = step.activation(rows, hidden_), normal = step.activation(rows, hidden_);
  const TensorView statistics = step.arena.allocate(DType::f32, Shape{rows, 2});
  const TensorView logits = step.activation(rows, decoder_.out());
  ops::gather_rows(step.context, encoded, positions, picked);
  transform_.forward(step.context, picked, gelu_slope);
  ops::gelu_forward(step.context, gelu_slope, gelu_y);
  ops::layer_norm_forward(step.context, gelu_y, norm_.parameters(), normal, statistics);
  decoder_.forward(step.context, normal, logits);
  if (!gradient.wanted()) return ops::cross_entropy(step.context, logits, padded_labels);

  const auto sums = ops::cross_entropy_backward(step.context, logits, padded_labels, gradient.scale,
                                                decoder_.bias_gradient());
  const TensorView d = step.activation(rows, hidden_), dpicked = step.activation(rows, hidden_);
  decoder_.backward_weight_only(step.context, normal, logits);
  decoder_.backward_input(step.context, logits, d);
  ops::layer_norm_backward(step.context, d, gelu_y, statistics, norm_.parameters(), d, norm_.gradients());
  ops::gelu_backward(step.context, gelu_slope, d);
  transform_.backward_weight(step.context, picked, d);
  transform_.backward_input(step.context, d, dpicked);
  ops::scatter_add_rows(step.context, dpicked, positions, gradient.dencoded);
  return sums;
}

NextSentenceHead::NextSentenceHead(ParameterStore& store, const ModelSpec& spec)
    : hidden_(spec.hidden),
      pooler_(store, {"bert.pooler.dense"}, hidden_, hidden_),
      classifier_(store, {"cls.seq_relationship"}, 2, hidden_) {}

ops::CrossEntropySums NextSentenceHead::run(const Step& step, ConstTensorView encoded,
                                            std::span<const std::int32_t> labels,
                                            const HeadGradient& gradient) {
  const ArenaScope scope(step.arena);
  std::vector<std::int32_t> first_tokens;
  for (std::int64_t i = 0; i < step.sequences; ++i) {
    first_tokens.push_back(static_cast<std::int32_t>(i * step.length));
  }
  const TensorView picked = step.activation(step.sequences, hidden_);
  const TensorView pooled = step.activation(step.sequences, hidden_);
  const TensorView logits = step.activation(step.sequences, classifier_.out());
  ops::gather_rows(step.context, encoded, first_tokens, picked);
  pooler_.forward(step.context, picked, pooled);
  ops::tanh_forward(step.context, pooled);
  classifier_.forward(step.context, pooled, logits);
  if (!gradient.wanted()) return ops::cross_entropy(step.context, logits, labels);

  const auto sums =
      ops::cross_entropy_backward(step.context, logits, labels, gradient.scale, classifier_.bias_gradient());
  const TensorView d = step.activation(step.sequences, hidden_),
                   dpicked = step.activation(step.sequences, hidden_);
  classifier_.backward_weight_only(step.context, pooled, logits);
  classifier_.backward_input(step.context, logits, d);
  ops::tanh_backward(step.context, pooled, d);
  pooler_.backward_weight(step.context, picked, d);
  pooler_.backward_input(step.context, d, dpicked);
  ops::scatter_add_rows(step.context, dpicked, first_tokens, gradient.dencoded);
  return sums;
}

}  // namespace podium
