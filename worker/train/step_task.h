// What is trained: the seam between the trainer, which knows steps, ranks, optimizers and checkpoints, and a
// task, which knows data, model and metrics. Every sum a task returns is this rank's part; the trainer adds
// the parts of all ranks, so that means are exact whatever the layout.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "worker/nn/bert.h"
#include "worker/nn/parameters.h"

namespace podium {

using Sums = std::vector<double>;
using Metrics = std::vector<std::pair<std::string, double>>;

class StepTask {
 public:
  virtual ~StepTask() = default;

  virtual ParameterStore& parameters() = 0;

  // Steps follow one another from `first_step` (they count from 1).
  virtual void start(std::int64_t first_step) = 0;
  // Fetches this rank's part of the next step and tells the denominators of its losses, such as masked
  // tokens.
  virtual Sums begin_step() = 0;
  // Adds the step's gradients, under the denominators of all ranks; `ready` learns which are final. Returns
  // loss sums.
  virtual Sums forward_backward(const Sums& denominators, const GradientsReady& ready) = 0;
  // "train/loss" and its parts.
  virtual Metrics training_metrics(const Sums& denominators, const Sums& losses) const = 0;
  // Sequences of one step over all ranks, and the length of each.
  virtual std::int64_t sequences_per_step() const = 0;
  virtual std::int64_t sequence_length() const = 0;

  // This rank's share of the held-out text.
  virtual Sums evaluate() = 0;
  virtual Metrics evaluation_metrics(const Sums& sums) const = 0;
};

}  // namespace podium
