// What the training loop does for a model that inference computes in 8 bits or with pruned weights
// (training.quantise, training.sparse). All of it follows from the weights and the ranges, which checkpoints
// keep; without those two settings it does nothing.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "worker/checkpoint/manifest.h"
#include "worker/comm/communicator.h"
#include "worker/nn/model.h"
#include "worker/tensor/context.h"
#include "worker/train/engine.h"

namespace podium {

class Compression {
 public:
  // All must outlive it.
  Compression(const JobSpec& spec, Context& context, Communicator& world, Model& model)
      : spec_(spec), context_(context), world_(world), model_(model) {}

  // Of a run that begins with the weights that the model has: prunes them. `first_ranges`: by product, or
  // none, for those of the first batch; rank 0 reads them for all. Collective.
  void begin(const std::function<std::vector<float>()>& first_ranges);
  // Throws Failure(bad_data) where a range is missing.
  void resume(const CheckpointState& state);
  void keep_in(CheckpointState& state) const;

  // Before the first step the ranges are those of its batch, as the model computes it without rounding
  // inputs. Collective.
  void prepare(Engine& engine, std::span<const MicroBatch> batches);
  void gradients_summed();
  void step_taken();  // collective
  void batch_left();  // with which no step is taken

 private:
  const JobSpec& spec_;
  Context& context_;
  Communicator& world_;
  Model& model_;
};

}  // namespace podium
