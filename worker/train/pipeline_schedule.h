// The order in which one pipeline stage computes the micro-batches of a step: 1F1B, or with several chunks of
// layers a stage the interleaved 1F1B (Narayanan et al., 2021, "Efficient Large-Scale Language Model Training
// on GPU Clusters Using Megatron-LM"). Pure: every stage knows the order of every other, and so which message
// comes next.
#pragma once

#include <vector>

namespace podium {

// Chunk c of stage s holds the (c * stages + s)-th run of layers, so data goes through all stages once for
// each chunk.
struct PipelineShape {
  int stages = 1;
  int chunks = 1;  // of each stage; more than 1 only with more than 1 stage
};

enum class Direction { forward, backward };

struct PipelineOp {
  Direction direction = Direction::forward;
  int chunk = 0;
  int micro_batch = 0;
  int slot = 0;  // where activations stay from forward to backward; never in use twice at once

  bool operator==(const PipelineOp&) const = default;
};

// Forward and backward of every micro-batch through every chunk of `stage`; a chunk takes the micro-batches
// in order, both ways. With one chunk at most stages - stage micro-batches are in flight.
std::vector<PipelineOp> training_schedule(const PipelineShape& shape, int stage, int micro_batches);
// Forward only, all in slot 0.
std::vector<PipelineOp> evaluation_schedule(const PipelineShape& shape, int micro_batches);

// The input of `chunk` (forward) or the gradient of its output (backward), at the stage that receives it.
struct PipelineMessage {
  Direction direction = Direction::forward;
  int chunk = 0;
  int micro_batch = 0;
  // How many messages of the receiver the sender has taken when it sends this: the first so many of them.
  int taken = 0;

  bool is_for(const PipelineOp& op) const {
    return direction == op.direction && chunk == op.chunk && micro_batch == op.micro_batch;
  }
};

// What stage `from`, following `schedule`, sends to stage `to`, in its order.
std::vector<PipelineMessage> messages_between(const PipelineShape& shape,
                                              const std::vector<PipelineOp>& schedule, int from, int to);

// Whether the model begins or ends with this chunk of this stage.
bool is_model_begin(int stage, int chunk);
bool is_model_end(const PipelineShape& shape, int stage, int chunk);

}  // namespace podium
