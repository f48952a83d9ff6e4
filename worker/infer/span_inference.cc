#include "worker/infer/span_inference.h"

#include "worker/tensor/downloaded.h"

namespace podium {

std::vector<std::vector<float>> SpanInference::run(std::span<const TextSequence> sequences) {
  if (sequences.empty()) return {};
  const SessionShape shape = shape_of(sequences, weights_.spec.max_positions);
  BertSession& bert = sessions_.at(shape);
  bert.set_inputs(pack(sequences, shape, special_));
  bert.run();
  const std::vector<float> all = downloaded(context_, bert.span_scores());
  std::vector<std::vector<float>> scores;
  for (std::size_t s = 0; s < sequences.size(); ++s) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(2 * s) * shape.length;
    scores.emplace_back(begin, begin + std::ssize(sequences[s].ids) * 2);
  }
  return scores;
}

}  // namespace podium
