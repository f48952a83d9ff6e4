#include "worker/nn/token_decoder.h"

namespace podium {
TokenDecoder::TokenDecoder(ParameterStore& store, ParameterId word, const std::string& bias_name)
    : first_class_(store[word].slice.begin), linear_(store, word, bias_name) {}

void TokenDecoder::run(const Step& step, ConstTensorView x, std::span<const std::int32_t> labels,
                       const HeadGradient& gradient, ops::CrossEntropySums* sums) {
  const ArenaScope scope(step.workspace);
  const TensorView logits =
      step.workspace.allocate(step.compute, Shape{x.shape[0], linear_.score_columns(step.compute)});
  linear_.forward(step.context, x, logits);
  score(step, logits, labels, gradient, sums);
  if (!gradient.wanted()) return;
  linear_.backward_weight_only(step.context, x, logits);
  linear_.backward_input(step.context, logits, gradient.dx);
  step.tensor.reduce(gradient.dx);
}

// Replaces the logits by their gradient where one is wanted.
void TokenDecoder::score(const Step& step, TensorView logits, std::span<const std::int32_t> labels,
                         const HeadGradient& gradient, ops::CrossEntropySums* sums) {
  const std::int64_t classes = linear_.out();
  if (step.tensor.alone()) {
    if (!gradient.wanted()) return ops::cross_entropy(step.context, logits, labels, sums, classes);
    return ops::cross_entropy_backward(step.context, logits, labels, gradient.scale, linear_.bias_gradient(),
                                       sums, classes);
  }
  const TensorView maxima = step.workspace.allocate(DType::f32, Shape{logits.shape[0]});
  const TensorView row_sums = step.workspace.allocate(DType::f32, Shape{logits.shape[0], 2});
  ops::class_maxima(step.context, logits, maxima, classes);
  step.tensor.reduce(maxima, Reduction::max);
  ops::class_sums(step.context, logits, labels, first_class_, maxima, row_sums, classes);
  step.tensor.reduce(row_sums);
  if (gradient.wanted())
    ops::class_gradients(step.context, logits, labels, first_class_, maxima, row_sums, gradient.scale,
                         linear_.bias_gradient(), classes);
  ops::class_totals(step.context, labels, maxima, row_sums, sums);
}

}  // namespace podium
