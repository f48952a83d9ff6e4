#include "worker/infer/class_inference.h"

#include <algorithm>
#include <cmath>

#include "worker/tensor/downloaded.h"

namespace podium {

std::vector<std::vector<float>> ClassInference::run(std::span<const TextSequence> sequences) {
  if (sequences.empty()) return {};
  const SessionShape shape = shape_of(sequences, weights_.spec.max_positions);
  BertSession& bert = sessions_.at(shape);
  bert.set_inputs(pack(sequences, shape, special_));
  bert.run();
  const std::vector<float> all = downloaded(context_, bert.class_logits());
  const std::ptrdiff_t outputs = std::ssize(all) / shape.sequences;
  std::vector<std::vector<float>> logits;
  for (auto begin = all.begin(); begin != all.end(); begin += outputs)
    logits.emplace_back(begin, begin + outputs);
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
