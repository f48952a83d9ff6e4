#include "worker/infer/text_inference.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "worker/infer/finite_results.h"
#include "worker/tensor/downloaded.h"
#include "worker/tensor/dtype.h"

namespace podium {
namespace {

// The `top` likeliest by softmax.
std::vector<Candidate> candidates(std::span<const float> logits, int top) {
  const float highest = *std::ranges::max_element(logits);
  double sum = 0;
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit) - highest);
  std::vector<std::int32_t> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  const auto count = std::min<std::ptrdiff_t>(top, std::ssize(order));
  const auto logit_of = [&](std::int32_t token) { return logits[static_cast<std::size_t>(token)]; };
  std::ranges::partial_sort(order, order.begin() + count, std::ranges::greater{}, logit_of);
  std::vector<Candidate> result;
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    const std::int32_t token = order[static_cast<std::size_t>(i)];
    result.push_back({token, std::exp(static_cast<double>(logit_of(token)) - highest) / sum});
  }
  return result;
}

std::vector<float> mean_row(std::span<const float> rows, std::size_t count, std::size_t columns) {
  std::vector<float> mean(columns, 0.0F);
  for (std::size_t row = 0; row < count; ++row)
    for (std::size_t j = 0; j < columns; ++j) mean[j] += rows[row * columns + j] / static_cast<float>(count);
  return mean;
}

}  // namespace

std::vector<TextResult> TextInference::run(std::span<const TextSequence> sequences, int top,
                                           const ProductObserver& observer) {
  return run(sequences, std::vector<int>(sequences.size(), top), observer);
}

std::vector<TextResult> TextInference::run(std::span<const TextSequence> sequences, std::span<const int> tops,
                                           const ProductObserver& observer) {
  if (sequences.empty()) return {};
  const SessionShape shape = shape_of(sequences, weights_.spec.max_positions);
  BertSession& bert = sessions_.at(shape);
  bert.set_inputs(pack(sequences, shape, special_));
  bert.run(observer);
  const std::vector<float> hidden = downloaded(context_, bert.hidden());
  const std::vector<float> pooled = downloaded(context_, bert.pooled());
  const std::vector<float> follows = downloaded(context_, bert.next_sentence_logits());
  const std::vector<float> logits = downloaded(context_, bert.prediction_logits());
  const auto columns = static_cast<std::size_t>(weights_.spec.hidden),
             vocabulary = static_cast<std::size_t>(weights_.spec.vocab),
             stride = static_cast<std::size_t>(shape.length) * columns;
  std::vector<TextResult> results(sequences.size());
  std::size_t mask = 0;
  for (std::size_t s = 0; s < results.size(); ++s) {
    TextResult& result = results[s];
    const TextSequence& sequence = sequences[s];
    result.mean = mean_row(std::span(hidden).subspan(s * stride), sequence.ids.size(), columns);
    if (!pooled.empty()) {
      const auto begin = pooled.begin() + static_cast<std::ptrdiff_t>(s * columns);
      result.pooled.assign(begin, begin + static_cast<std::ptrdiff_t>(columns));
    }
    // Of the two classes the first is that the second sentence follows.
    if (!follows.empty() && sequence.is_pair())
      result.follows = 1 / (1 + std::exp(static_cast<double>(follows[2 * s + 1]) - follows[2 * s]));
    const auto own_logits = std::span(logits).subspan(
        logits.empty() ? 0 : mask * vocabulary, logits.empty() ? 0 : sequence.masked.size() * vocabulary);
    mask += sequence.masked.size();
    result.finite = all_finite(result.mean) && all_finite(result.pooled) && all_finite(own_logits) &&
                    std::isfinite(result.follows.value_or(0));
    if (!result.finite) continue;
    for (std::size_t begin = 0; begin < own_logits.size(); begin += vocabulary)
      result.masks.push_back(candidates(own_logits.subspan(begin, vocabulary), tops[s]));
  }
  return results;
}

}  // namespace podium
