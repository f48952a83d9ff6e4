#include "common/model/flops.h"

#include <algorithm>
#include <cmath>

#include "common/model/family.h"

namespace podium {
int default_predictions(int sequence_length) {
  return std::max(1, static_cast<int>(std::lround(sequence_length * 20.0 / 128.0)));
}

double layer_flops(const ModelSpec& spec, double length) {
  const double hidden = spec.hidden, inner = spec.intermediate;
  const double keys_and_values = 2.0 * spec.hidden / spec.heads * spec.key_heads();
  const double feed_forward = traits_of(spec.family).gated ? 3 : 2;  // weights of [hidden, inner]
  return spec.layers * length * hidden *
         (4 * hidden + 2 * keys_and_values + 2 * feed_forward * inner + 4 * length);
}

double language_head_flops(const ModelSpec& spec, double scored) {
  const double hidden = spec.hidden, vocab = spec.vocab;
  return scored * 2 * hidden * (vocab + (traits_of(spec.family).head_transform ? hidden : 0));
}

double sentence_head_flops(const ModelSpec& spec) {
  const double hidden = spec.hidden;
  const int classes = traits_of(spec.family).sentence_classes;
  return classes > 0 ? 2 * hidden * (hidden + classes) : 0;
}

std::optional<double> training_flops_of_sequence(const JobSpec& spec) {
  const TrainingSpec& training = spec.training;
  if (!spec.trains() || training.task == TrainingTask::classify || training.task == TrainingTask::squad ||
      spec.model.vocab == 0 || training.unpadded || !training.phases.empty())
    return std::nullopt;
  const int length = training.sequence_length;
  const int most = training.masking.max_predictions;
  const int masked = most > 0 ? most : default_predictions(length);
  const int scored = traits_of(spec.model.family).masked ? masked : length;
  return kTrainingPasses * (layer_flops(spec.model, length) + language_head_flops(spec.model, scored) +
                            sentence_head_flops(spec.model));
}

}  // namespace podium
