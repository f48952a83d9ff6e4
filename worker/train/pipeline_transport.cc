#include "worker/train/pipeline_transport.h"

#include <algorithm>

#include "common/base/check.h"

namespace podium {

PipelineTransport::PipelineTransport(Communicator& pipeline, MemorySpace memory)
    : pipeline_(pipeline), memory_(memory), peers_(static_cast<std::size_t>(pipeline.size())) {}

PipelineTransport::~PipelineTransport() {
  for (const Peer& peer : peers_) {
    for (const Outgoing& out : peer.sent) out.taken.wait();
    for (const Incoming& in : peer.waiting) in.arrived.wait();
  }
}

void PipelineTransport::begin(std::vector<std::vector<PipelineMessage>> messages,
                              std::vector<std::size_t> bytes) {
  PODIUM_CHECK(messages.size() == peers_.size(), "one list of messages a stage");
  bytes_ = std::move(bytes);
  for (std::size_t stage = 0; stage < peers_.size(); ++stage) {
    Peer& peer = peers_[stage];
    PODIUM_CHECK(peer.posted == peer.messages.size() && peer.waiting.empty() && peer.sent.empty(),
                 "a run begins after the one before");
    peer.messages = std::move(messages[stage]);
    peer.posted = 0;
    peer.taken = 0;
  }
}

void PipelineTransport::send(ConstTensorView values, int to) {
  MessageBuffer buffer = take(values.bytes());
  memory_.copy(buffer.memory.get(), values.address, values.bytes());
  std::future<void> taken = pipeline_.send(buffer.bytes(), to);
  peers_[static_cast<std::size_t>(to)].sent.push_back({std::move(buffer), std::move(taken)});
}

// Posts one message more than the one asked for, so that it can travel while this stage computes.
MessageBuffer PipelineTransport::receive(const PipelineOp& op, int from) {
  Peer& peer = peers_[static_cast<std::size_t>(from)];
  const auto here = [&] {
    return std::ranges::find_if(peer.waiting, [&](const Incoming& in) { return in.message.is_for(op); });
  };
  while (here() == peer.waiting.end()) post_next(peer, from);
  if (peer.posted < peer.messages.size()) post_next(peer, from);

  const auto found = here();
  found->arrived.get();
  MessageBuffer buffer = std::move(found->buffer);
  for (const int taken = found->message.taken; peer.taken < taken;) let_go(peer);
  peer.waiting.erase(found);
  return buffer;
}

void PipelineTransport::give_back(MessageBuffer buffer) { free_.push_back(std::move(buffer)); }

void PipelineTransport::finish() {
  for (Peer& peer : peers_)
    while (!peer.sent.empty()) let_go(peer);
}

void PipelineTransport::let_go(Peer& peer) {
  Outgoing oldest = std::move(peer.sent.front());
  peer.sent.pop_front();
  ++peer.taken;
  oldest.taken.get();
  give_back(std::move(oldest.buffer));
}

MessageBuffer PipelineTransport::take(std::size_t bytes) {
  const auto fits =
      std::ranges::find_if(free_, [&](const MessageBuffer& buffer) { return buffer.capacity >= bytes; });
  if (fits == free_.end()) return {allocate_aligned(bytes, memory_.device), bytes, bytes};
  MessageBuffer buffer = std::move(*fits);
  free_.erase(fits);
  buffer.used = bytes;
  return buffer;
}

void PipelineTransport::post_next(Peer& peer, int from) {
  PODIUM_CHECK(peer.posted < peer.messages.size(), "a stage waits only for what another sends");
  const PipelineMessage& message = peer.messages[peer.posted++];
  MessageBuffer buffer = take(bytes_[static_cast<std::size_t>(message.micro_batch)]);
  std::future<void> arrived = pipeline_.receive(buffer.bytes(), from);
  peer.waiting.push_back({message, std::move(buffer), std::move(arrived)});
}

}  // namespace podium
