// The loss of a head that learns from labels and from a teacher (training.distill): the labels' terms, and
// behind them as many that learn the teacher's scores of the same. Without a teacher it is the labels'.
#pragma once

#include <optional>

#include "common/model/spec.h"
#include "worker/train/task.h"

namespace podium {

// Of what the first so many `terms`, the labels', are scaled by on their own.
LossScales taught_scales(const std::optional<DistillSpec>& distill, LossScales of_labels, std::size_t terms);

// train/loss, and with a teacher its part of it, train/distillation_loss, of the means of both parts.
Metrics taught_loss(const std::optional<DistillSpec>& distill, double of_labels, double of_teacher);

}  // namespace podium
