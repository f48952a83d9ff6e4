#include "worker/nn/flops.h"

#include "common/model/flops.h"

namespace podium {

double training_flops(const ModelSpec& spec, const MicroBatch& batch) {
  double forward = language_head_flops(spec, static_cast<double>(batch.scored_positions.size())) +
                   static_cast<double>(batch.next_sentence_labels.size()) * sentence_head_flops(spec);
  for (int s = 0; s < batch.sequences; ++s)
    forward += layer_flops(
        spec, batch.valid_lengths.empty() ? batch.length : batch.valid_lengths[static_cast<std::size_t>(s)]);
  return kTrainingPasses * forward;
}

}  // namespace podium
