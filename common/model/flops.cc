#include "common/model/flops.h"

#include <algorithm>
#include <cmath>

namespace podium {
int default_predictions(int sequence_length) {
  return std::max(1, static_cast<int>(std::lround(sequence_length * 20.0 / 128.0)));
}

double layer_flops(const ModelSpec& spec, double length) {
  const double hidden = spec.hidden, inner = spec.intermediate;
  return spec.layers * length * hidden * (8 * hidden + 4 * inner + 4 * length);
}

double language_head_flops(const ModelSpec& spec, double scored) {
  const double hidden = spec.hidden, vocab = spec.vocab;
  return scored * 2 * hidden * (vocab + (spec.family == ModelFamily::bert ? hidden : 0));
}

double sentence_head_flops(const ModelSpec& spec) {
  const double hidden = spec.hidden;
  return spec.family == ModelFamily::bert ? 2 * hidden * (hidden + 2) : 0;
}

std::optional<double> training_flops_of_sequence(const JobSpec& spec) {
  const TrainingSpec& training = spec.training;
  if (!spec.command.empty() || training.task == TrainingTask::classify || spec.model.vocab == 0 ||
      training.unpadded || !training.phases.empty())
    return std::nullopt;
  const int length = training.sequence_length;
  const bool bert = spec.model.family == ModelFamily::bert;
  const int most = training.masking.max_predictions;
  const int scored = bert ? (most > 0 ? most : default_predictions(length)) : length;
  return kTrainingPasses * (layer_flops(spec.model, length) + language_head_flops(spec.model, scored) +
                            sentence_head_flops(spec.model));
}

}  // namespace podium
