#include "worker/nn/token_decoder.h"

#include <algorithm>

namespace podium {
namespace {

constexpr std::int64_t kLogitBytes = std::int64_t{96} << 20;
// A run meets few different block sizes to compile products for.
constexpr std::int64_t kRowMultiple = 32;
constexpr std::int32_t kIgnored = -1;

}  // namespace

TokenDecoder::TokenDecoder(ParameterStore& store, ParameterId word, const std::string& bias_name)
    : first_class_(store[word].slice.begin),
      all_classes_(store[word].full_shape()[0]),
      linear_(store, word, bias_name) {}

std::int64_t TokenDecoder::logit_bytes_a_row(const Step& step) const {
  const std::int64_t ranks = step.tensor.size();
  return (all_classes_ + ranks - 1) / ranks * static_cast<std::int64_t>(size_of(step.compute));
}

void TokenDecoder::run(const Step& step, ConstTensorView x, std::span<const std::int32_t> labels,
                       const HeadGradient& gradient, ops::CrossEntropySums* sums) {
  const ArenaScope scope(step.workspace);
  const TensorView logits = step.workspace.allocate(step.compute, Shape{x.shape[0], linear_.out()});
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
  if (step.tensor.alone()) {
    if (!gradient.wanted()) return ops::cross_entropy(step.context, logits, labels, sums);
    return ops::cross_entropy_backward(step.context, logits, labels, gradient.scale, linear_.bias_gradient(),
                                       sums);
  }
  const TensorView maxima = step.workspace.allocate(DType::f32, Shape{logits.shape[0]});
  const TensorView row_sums = step.workspace.allocate(DType::f32, Shape{logits.shape[0], 2});
  ops::class_maxima(step.context, logits, maxima);
  step.tensor.reduce(maxima, Reduction::max);
  ops::class_sums(step.context, logits, labels, first_class_, maxima, row_sums);
  step.tensor.reduce(row_sums);
  if (gradient.wanted())
    ops::class_gradients(step.context, logits, labels, first_class_, maxima, row_sums, gradient.scale,
                         linear_.bias_gradient());
  ops::class_totals(step.context, labels, maxima, row_sums, sums);
}

std::vector<ScoredBlock> scored_blocks(std::span<const std::int32_t> rows,
                                       std::span<const std::int32_t> labels, std::int64_t logit_bytes_a_row) {
  std::vector<ScoredBlock> blocks;
  const auto total = static_cast<std::int64_t>(rows.size());
  const std::int64_t most = std::max(kRowMultiple, kLogitBytes / logit_bytes_a_row);
  const std::int64_t count = (total + most - 1) / most;
  if (count == 0) return blocks;
  const std::int64_t size = ((total + count - 1) / count + kRowMultiple - 1) / kRowMultiple * kRowMultiple;
  for (std::int64_t begin = 0; begin < total; begin += size) {
    const auto first = static_cast<std::size_t>(begin);
    const auto held = static_cast<std::size_t>(std::min(size, total - begin));
    const auto block_labels = labels.subspan(first, held);
    blocks.push_back({rows.subspan(first, held), {block_labels.begin(), block_labels.end()}});
    blocks.back().labels.resize(static_cast<std::size_t>(size), kIgnored);
  }
  return blocks;
}

}  // namespace podium
