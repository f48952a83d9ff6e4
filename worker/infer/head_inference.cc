#include "worker/infer/head_inference.h"

#include <algorithm>
#include <cmath>

#include "worker/tensor/downloaded.h"

namespace podium {

BertSession& HeadInference::computed(std::span<const TextSequence> sequences, const SessionShape& shape) {
  BertSession& bert = sessions_.at(shape);
  bert.set_inputs(pack(sequences, shape, special_));
  bert.run();
  return bert;
}

std::vector<std::vector<float>> HeadInference::span_scores(std::span<const TextSequence> sequences) {
  if (sequences.empty()) return {};
  const SessionShape shape = shape_of(sequences, weights_.spec.max_positions);
  const std::vector<float> all = downloaded(context_, computed(sequences, shape).span_scores());
  std::vector<std::vector<float>> scores;
  for (std::size_t s = 0; s < sequences.size(); ++s) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(2 * s) * shape.length;
    scores.emplace_back(begin, begin + std::ssize(sequences[s].ids) * 2);
  }
  return scores;
}

std::vector<std::vector<float>> HeadInference::class_logits(std::span<const TextSequence> sequences) {
  if (sequences.empty()) return {};
  const SessionShape shape = shape_of(sequences, weights_.spec.max_positions);
  const std::vector<float> all = downloaded(context_, computed(sequences, shape).class_logits());
  const std::ptrdiff_t outputs = std::ssize(all) / shape.sequences;
  std::vector<std::vector<float>> logits;
  for (std::ptrdiff_t s = 0; s < std::ssize(sequences); ++s)
    logits.emplace_back(all.begin() + s * outputs, all.begin() + (s + 1) * outputs);
  return logits;
}

std::vector<double> softmax_of(std::span<const float> logits) {
  const float highest = *std::ranges::max_element(logits);
  std::vector<double> shares;
  double sum = 0;
  for (const float logit : logits) sum += shares.emplace_back(std::exp(static_cast<double>(logit) - highest));
  for (double& share : shares) share /= sum;
  return shares;
}

}  // namespace podium
