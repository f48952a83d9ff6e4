// The order in which one pipeline stage computes the micro-batches of a step: 1F1B, or the interleaved 1F1B
// if stages have several chunks of layers (Narayanan et al., 2021, "Efficient Large-Scale Language Model
// Training on GPU Clusters Using Megatron-LM"). Pure: every stage knows the order of every other stage, and
// so which message comes next.
#pragma once

#include <vector>

namespace podium {

// Chunk c of stage s holds the (c * stages + s)-th run of layers, so data goes through all stages once for
// each chunk.
struct PipelineShape {
  int stages = 1;
  int chunks = 1;  // on each stage; several only on several stages
};

enum class Direction { forward, backward };

struct PipelineOp {
  Direction direction = Direction::forward;
  int chunk = 0;
  int micro_batch = 0;
  int slot = 0;  // keeps activations from forward to backward; never in use twice at once

  bool operator==(const PipelineOp&) const = default;
};

// The forward and backward ops of `stage`: every micro-batch goes through each of its chunks, in order both
// ways. With one chunk at most stages - stage micro-batches are in flight.
std::vector<PipelineOp> training_schedule(const PipelineShape& shape, int stage, int micro_batches);
// Forward ops only, all in slot 0.
std::vector<PipelineOp> evaluation_schedule(const PipelineShape& shape, int micro_batches);

// The input of `chunk` (forward) or the gradient of its output (backward), at the stage that receives it.
struct PipelineMessage {
  Direction direction = Direction::forward;
  int chunk = 0;
  int micro_batch = 0;
  // How many of the receiver's messages the sender has taken when it sends this. It takes them in order.
  int taken = 0;

  bool is_for(const PipelineOp& op) const {
    return direction == op.direction && chunk == op.chunk && micro_batch == op.micro_batch;
  }
};

// The messages from stage `from`, which follows `schedule`, to stage `to`, in the order of sending.
std::vector<PipelineMessage> messages_between(const PipelineShape& shape,
                                              const std::vector<PipelineOp>& schedule, int from, int to);

// Whether the model begins or ends with this chunk of this stage.
bool is_model_begin(int stage, int chunk);
bool is_model_end(const PipelineShape& shape, int stage, int chunk);

}  // namespace podium
