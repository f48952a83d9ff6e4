// What one process computes of BERT or GPT: of a model cut into pipeline stages, its run of layers for each
// virtual stage ("chunk"); of a tensor-parallel group, its share of every layer. Activations of a micro-batch
// stay in its slot from forward to backward, so several may be in flight.
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
  bool fp8 = false;  // the products of dense layers within the layers; needs a precision of 16 bits
  Recompute recompute = Recompute::none;
  int recompute_layers = 0;  // as in TrainingSpec
  bool unpadded = false;     // compute on valid tokens only
  bool sequence_parallel =
      false;                     // rows outside of attention and feed-forward are split over the tensor group
  int interleave = 1;            // chunks a pipeline rank holds
  std::optional<HeadPlan> head;  // nothing: that of the family's pre-training
};

// Called during backward when gradients()[begin, end) has become final for this micro-batch; over the chunks,
// last one first, ranges come from the end of the buffer towards its beginning and together cover it once.
using GradientsReady = std::function<void(std::int64_t begin, std::int64_t end)>;

// Bytes a model holds beside its parameters.
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

class Model {
 public:
  virtual ~Model() = default;

  // This process's parameters, in the order of its chunks. All zero until initialised or loaded.
  virtual ParameterStore& parameters() = 0;
  virtual int chunks() const = 0;

  // Shape and type of what passes between stages for this batch: [rows, hidden], or this tensor rank's part
  // of the rows where sequence parallel. Every stage computes the same answer.
  virtual Shape boundary_shape(const MicroBatch& batch) const = 0;
  virtual DType boundary_type() const = 0;

  // `input` without an address where the chunk begins with the embeddings. Where it ends with the head, the
  // result is what Head::run returns; `take_losses` then tells of its losses and, when training, its gradient
  // is already taken. The result stays valid until the slot is used again.
  virtual ConstTensorView forward(int chunk, int slot, const Pass& pass, ConstTensorView input) = 0;
  // Adds to gradients(). `doutput` without an address where the chunk ends with the head; the result, the
  // gradient of `input`, without an address where it begins with the embeddings.
  virtual ConstTensorView backward(int chunk, int slot, const Pass& pass, ConstTensorView doutput,
                                   const GradientsReady& ready) = 0;
  // Begins to bring to the host what take_losses() will return: the call then waits for no later work.
  virtual void fetch_losses() = 0;
  // Of the micro-batches that went through the head before fetch_losses() was called, or else before this,
  // and after the time before; zero on stages without one.
  virtual LossSums take_losses() = 0;

  virtual ModelMemory memory() const = 0;

  // Floating-point operations of forward and backward of the whole model for one batch, matrix products only
  // (3 x forward), padding and recomputation not counted.
  virtual double training_flops(const MicroBatch& batch) const = 0;
};

// Throws std::invalid_argument where shape, precision and layout do not go together.
std::unique_ptr<Model> make_model(Context& context, const ModelSpec& spec, const ModelOptions& options,
                                  const ParallelGroups& groups);

}  // namespace podium
