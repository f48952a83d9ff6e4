#include "worker/nn/flops.h"

namespace podium {

double training_flops(const ModelSpec& spec, const MicroBatch& batch) {
  const double hidden = spec.hidden, inner = spec.intermediate, vocab = spec.vocab;
  double layer = 0;
  for (int s = 0; s < batch.sequences; ++s) {
    const double length =
        batch.valid_lengths.empty() ? batch.length : batch.valid_lengths[static_cast<std::size_t>(s)];
    layer += length * hidden * (8 * hidden + 4 * inner + 4 * length);
  }
  const bool bert = spec.family == ModelFamily::bert;
  const double scored = static_cast<double>(batch.scored_positions.size());
  const double language = scored * 2 * hidden * (vocab + (bert ? hidden : 0));
  const double sentences = static_cast<double>(batch.next_sentence_labels.size());
  const double next_sentence = bert ? sentences * 2 * hidden * (hidden + 2) : 0;
  return 3 * (spec.layers * layer + language + next_sentence);
}

}  // namespace podium
