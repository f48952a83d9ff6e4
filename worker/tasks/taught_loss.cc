#include "worker/tasks/taught_loss.h"

namespace podium {

LossScales taught_scales(const std::optional<DistillSpec>& distill, LossScales of_labels, std::size_t terms) {
  if (!distill) return of_labels;
  LossScales scales = of_labels;
  for (std::size_t term = 0; term < terms; ++term) {
    scales[term] = static_cast<float>((1 - distill->weight) * of_labels[term]);
    scales[terms + term] = static_cast<float>(distill->weight * of_labels[term]);
  }
  return scales;
}

Metrics taught_loss(const std::optional<DistillSpec>& distill, double of_labels, double of_teacher) {
  if (!distill) return {{"train/loss", of_labels}};
  return {{"train/loss", (1 - distill->weight) * of_labels + distill->weight * of_teacher},
          {"train/distillation_loss", of_teacher}};
}

}  // namespace podium
