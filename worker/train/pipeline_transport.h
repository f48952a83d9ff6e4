// Carries activations and their gradients between the stages of a pipeline during one run of a schedule.
// Messages between two stages arrive in the order in which they were sent, which is not always the order in
// which they are needed. So receives are posted in the sender's order, which follows from its schedule. Sends
// are copies, which are kept until a message of the receiver shows that it has taken them, so no stage waits
// for another to receive.
#pragma once

#include <cstddef>
#include <deque>
#include <future>
#include <vector>

#include "worker/comm/communicator.h"
#include "worker/tensor/memory_space.h"
#include "worker/tensor/tensor.h"
#include "worker/train/pipeline_schedule.h"

namespace podium {

// The memory of a message, which later messages use again.
struct MessageBuffer {
  AlignedBytes memory;
  std::size_t capacity = 0;
  std::size_t used = 0;

  std::span<std::byte> bytes() { return {memory.get(), used}; }
};

class PipelineTransport {
 public:
  // `pipeline` must outlive the transport. `memory`: where the tensors lie.
  PipelineTransport(Communicator& pipeline, MemorySpace memory);
  ~PipelineTransport();  // waits for messages under way, which use the buffers
  PipelineTransport(const PipelineTransport&) = delete;
  PipelineTransport& operator=(const PipelineTransport&) = delete;

  // Begins a run in which stage `from` sends `messages[from]` here, in that order; micro-batch m's messages
  // have `bytes[m]` bytes. The run before must be finished.
  void begin(std::vector<std::vector<PipelineMessage>> messages, std::vector<std::size_t> bytes);
  // Sends a copy of `values`.
  void send(ConstTensorView values, int to);
  // Waits for what `op` needs from stage `from`.
  MessageBuffer receive(const PipelineOp& op, int from);
  void give_back(MessageBuffer buffer);
  // Waits until everything sent has been taken.
  void finish();

 private:
  struct Incoming {
    PipelineMessage message;
    MessageBuffer buffer;
    std::future<void> arrived;
  };
  struct Outgoing {
    MessageBuffer buffer;
    std::future<void> taken;
  };
  struct Peer {
    std::vector<PipelineMessage> messages;
    std::size_t posted = 0;        // how many of `messages` have a receive posted
    std::deque<Incoming> waiting;  // posted and not yet received
    std::deque<Outgoing> sent;     // and not yet known to be received
    int taken = 0;                 // how many of this run's sends were received
  };

  MessageBuffer take(std::size_t bytes);
  void post_next(Peer& peer, int from);
  void let_go(Peer& peer);

  Communicator& pipeline_;
  MemorySpace memory_;
  std::vector<Peer> peers_;  // by stage
  std::vector<std::size_t> bytes_;
  std::vector<MessageBuffer> free_;
};

}  // namespace podium
