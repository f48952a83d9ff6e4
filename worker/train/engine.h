// Runs a data rank's micro-batches through the model: by the pipeline's schedule if the model is cut into
// stages, else one after another. The engine announces gradients as final when this rank's last micro-batch
// has added to them and they are summed over the ranks that hold the same parameter of one model copy. The
// caller sums over data ranks.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "worker/comm/parallel.h"
#include "worker/nn/model.h"
#include "worker/tensor/context.h"
#include "worker/train/pipeline_schedule.h"
#include "worker/train/pipeline_transport.h"

namespace podium {

// Gets what the head returned for a micro-batch, which is valid during the call.
using OnPredictions = std::function<void(const MicroBatch&, ConstTensorView)>;

class Engine {
 public:
  // All must outlive the engine.
  Engine(const Context& context, Model& model, const ParallelGroups& groups);

  // Adds up the gradients of all micro-batches. Calls `ready` with ranges that are final, from the end of the
  // buffer to its beginning. A device may still be computing on return. Collective over the ranks of one
  // model copy.
  void train(std::span<const MicroBatch> batches, const LossScales& scales, const DropoutKey& dropout,
             const GradientsReady& ready);
  // The losses of the last train(), for which this waits. They are zero except on tensor rank 0 of the last
  // stage, so the sum over all ranks is right.
  LossSums take_losses();
  // Evaluates and returns the losses, as take_losses() does. Calls `predicted` on the rank that has losses,
  // for each micro-batch for which the head returns predictions.
  LossSums evaluate(std::span<const MicroBatch> batches, const OnPredictions& predicted = nullptr);

 private:
  // One pass of micro-batches over all chunks.
  struct Run {
    std::span<const MicroBatch> batches;
    LossScales scales;
    DropoutKey dropout;
    bool training = false;
    const GradientsReady& ready;
    const OnPredictions& predicted;

    const MicroBatch& batch(const PipelineOp& op) const {
      return batches[static_cast<std::size_t>(op.micro_batch)];
    }
    Pass pass(const PipelineOp& op) const { return {batch(op), scales, dropout, training}; }
  };

  std::vector<PipelineOp> schedule_of(int stage, const Run& run) const;
  void execute(const Run& run);
  void expect_messages(const Run& run);
  void forward(const PipelineOp& op, const Run& run);
  void backward(const PipelineOp& op, const Run& run);
  MessageBuffer receive(const PipelineOp& op, int from);
  ConstTensorView received(const MessageBuffer& buffer, const MicroBatch& batch) const;

  bool shares_embeddings() const {
    return groups_.ends->size() > 1 && model_.parameters().begins_with_tied();
  }
  void announce(std::int64_t begin, std::int64_t end, const GradientsReady& ready);
  void sum_partial(std::int64_t begin, std::int64_t end);
  void sum_embeddings();

  const Context& context_;
  Model& model_;
  const ParallelGroups& groups_;
  PipelineShape shape_;
  int stage_;
  PipelineTransport transport_;
  std::vector<MessageBuffer> inputs_;  // by slot, from forward to backward
  Arena partial_;                      // partial gradients of the range to be summed, side by side
  std::int64_t shared_end_ = 0;        // end of the range that begins with the shared embeddings
};

}  // namespace podium
