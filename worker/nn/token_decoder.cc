#include "worker/nn/token_decoder.h"

namespace podium {
TokenDecoder::TokenDecoder(ParameterStore& store, ParameterId word, const std::string& bias_name)
    : first_class_(store[word].slice.begin), linear_(store, word, bias_name) {}

void TokenDecoder::run(const PassContext& pass, ConstTensorView x, std::span<const std::int32_t> labels,
                       const HeadGradient& gradient, ops::CrossEntropySums* sums) {
  const ArenaScope scope(pass.workspace);
  const TensorView logits =
      pass.workspace.allocate(pass.compute, Shape{x.shape[0], linear_.score_columns(pass.compute)});
  linear_.forward(pass.context, x, logits);
  score(pass, logits, labels, gradient, sums);
  if (!gradient.wanted()) return;
  linear_.backward_weight_only(pass.context, x, logits);
  linear_.backward_input(pass.context, logits, gradient.dx);
  pass.tensor.reduce(gradient.dx);
}

// Replaces the logits by their gradient where one is wanted.
void TokenDecoder::score(const PassContext& pass, TensorView logits, std::span<const std::int32_t> labels,
                         const HeadGradient& gradient, ops::CrossEntropySums* sums) {
  const std::int64_t classes = linear_.out();
  if (pass.tensor.alone()) {
    if (!gradient.wanted()) return ops::cross_entropy(pass.context, logits, labels, sums, classes);
    return ops::cross_entropy_backward(pass.context, logits, labels, gradient.scale, linear_.bias_gradient(),
                                       sums, classes);
  }
  const TensorView maxima = pass.workspace.allocate(DType::f32, Shape{logits.shape[0]});
  const TensorView row_sums = pass.workspace.allocate(DType::f32, Shape{logits.shape[0], 2});
  ops::class_maxima(pass.context, logits, maxima, classes);
  pass.tensor.reduce(maxima, Reduction::max);
  ops::class_sums(pass.context, logits, labels, first_class_, maxima, row_sums, classes);
  pass.tensor.reduce(row_sums);
  if (gradient.wanted())
    ops::class_gradients(pass.context, logits, labels, first_class_, maxima, row_sums, gradient.scale,
                         linear_.bias_gradient(), classes);
  ops::class_totals(pass.context, labels, maxima, row_sums, sums);
}

}  // namespace podium
