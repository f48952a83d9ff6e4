// The part of a BERT or GPT that one process computes. A pipeline cuts the model into runs of layers, of
// which a process has one for each of its virtual stages ("chunks"); a tensor-parallel group shares every
// layer. The activations of a micro-batch stay in its slot from forward to backward, so several micro-batches
// may be in flight.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "common/model/spec.h"
#include "worker/nn/head.h"
#include "worker/nn/micro_batch.h"
#include "worker/nn/parameters.h"
#include "worker/tensor/context.h"

namespace podium {

struct ParallelGroups;

struct ModelOptions {
  Precision precision = Precision::fp32;
  bool fp8 = false;  // multiplies in FP8 in the dense layers of all layers; needs a precision of 16 bits
  // bert: rounds weights and inputs of the layers' products as inference in 8 bits does; not with fp8.
  std::optional<QuantiseSpec> quantise = {};
  Recompute recompute = Recompute::none;
  int recompute_layers = 0;  // as in TrainingSpec
  bool unpadded = false;     // compute on valid tokens only
  bool sequence_parallel =
      false;                     // rows outside of attention and feed-forward are split over the tensor group
  int interleave = 1;            // chunks a pipeline rank holds
  std::optional<HeadPlan> head;  // none: the head of the family's pre-training
};

// Backward calls this when gradients()[begin, end) has become final for this micro-batch. Over all chunks, of
// which the last comes first, the ranges go from the end of the buffer to its beginning and cover it once.
using GradientsReady = std::function<void(std::int64_t begin, std::int64_t end)>;

// Bytes that a model holds besides its parameters.
struct ModelMemory {
  std::int64_t activations = 0;  // from forward to backward, of all micro-batches in flight
  std::int64_t workspace = 0;    // temporaries of the layer in hand
};

// One micro-batch on its way through a chunk. The batch must stay as it is until backward.
struct Pass {
  const MicroBatch& batch;
  LossScales scales;
  DropoutKey dropout;
  bool training = false;  // dropout happens and activations are kept for backward
};

class ActivationRanges;

class Model {
 public:
  virtual ~Model() = default;

  // This process's parameters, in the order of its chunks. All zero until initialised or loaded.
  virtual ParameterStore& parameters() = 0;
  virtual int chunks() const = 0;

  // The shape and type of the tensor that passes between stages for this batch: [rows, hidden], under
  // sequence parallelism with this tensor rank's rows only. It is the same on every stage.
  virtual Shape boundary_shape(const MicroBatch& batch) const = 0;
  virtual DType boundary_type() const = 0;

  // `input` has no address if the chunk begins with the embeddings. If the chunk ends with the head, this
  // returns what Head::run returns, take_losses() includes the losses, and in training the head's gradient is
  // already taken. The result stays valid until the slot is used again.
  virtual ConstTensorView forward(int chunk, int slot, const Pass& pass, ConstTensorView input) = 0;
  // Adds to gradients() and returns the gradient of `input`, which has no address if the chunk begins with
  // the embeddings. `doutput` has no address if the chunk ends with the head.
  virtual ConstTensorView backward(int chunk, int slot, const Pass& pass, ConstTensorView doutput,
                                   const GradientsReady& ready) = 0;
  // Begins to copy to the host what take_losses() will return, so that take_losses() waits for no later work.
  virtual void fetch_losses() = 0;
  // The losses of all micro-batches that went through the head since the last call, up to fetch_losses() if
  // that was called, else up to now. Zero on stages without a head.
  virtual LossSums take_losses() = 0;

  // By which inputs are rounded; none where they are not.
  virtual ActivationRanges* ranges() { return nullptr; }

  virtual ModelMemory memory() const = 0;

  // The floating-point operations of forward and backward (3 x forward) of the whole model for one batch.
  // Counts matrix products only, without padding and recomputation.
  virtual double training_flops(const MicroBatch& batch) const = 0;
};

// Throws std::invalid_argument if shape, precision and layout do not go together.
std::unique_ptr<Model> make_model(Context& context, const ModelSpec& spec, const ModelOptions& options,
                                  const ParallelGroups& groups);

}  // namespace podium
