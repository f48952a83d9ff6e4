// How the processes of one attempt exchange data. Every rank of a communicator calls the same collectives in
// the same order. An implementation runs them in that order, beside the caller, who may compute until it
// needs the result. Reductions have the same bits on every rank and in every run of one layout.
//
// Every future must be waited for. Until then the memory that was given to the operation must stay valid, and
// only the operation may write to it. If a peer is lost, the call or its future throws PeerLost. One thread
// at a time may call.
//
// A communicator that is made for a context with a device also takes memory of that device, in tensors and in
// spans of bytes and floats; Device::owns tells the memories apart. An operation on a device's memory begins
// when all work is done that was on the context's stream at the call. Waiting for its future makes the stream
// wait and not the host: work that is put on the stream afterwards finds the operation done. Doubles,
// broadcast and barrier always use host memory.
#pragma once

#include <cstddef>
#include <future>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "worker/tensor/tensor.h"

namespace podium {

// Another rank vanished or fell silent. This process cannot go on, and is not at fault.
struct PeerLost : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// This process was asked to stop while it waited for the others.
struct StopRequested : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The port rank 0 should listen on is taken.
struct AddressInUse : std::runtime_error {
  using std::runtime_error::runtime_error;
};

enum class Reduction { sum, max };

class Communicator {
 public:
  virtual ~Communicator() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;

  // Replaces `values` (f32, bf16 or f16) by their sum or maximum over all ranks. Every element is added in
  // the order of the ranks, wherever it lies in its buffer; 16-bit values are added in f32 and rounded once.
  // (NCCL adds in another order: see nccl_communicator.h.)
  virtual std::future<void> all_reduce(TensorView values, Reduction reduction = Reduction::sum) = 0;
  virtual std::future<void> all_reduce(std::span<double> values) = 0;
  std::future<void> all_reduce(std::span<float> values) {
    return all_reduce(view_of(values, {static_cast<std::int64_t>(values.size())}), Reduction::sum);
  }
  // `values` is size() * n elements. Afterwards its part [rank * n, (rank + 1) * n) holds the sum over all
  // ranks, with the bits all_reduce would give it; the rest is unspecified.
  virtual std::future<void> reduce_scatter(TensorView values) = 0;
  // Fills `all`, which is size() times as long as `own`, with every rank's `own` in rank order. `own` may lie
  // at its place in `all`.
  virtual std::future<void> all_gather(std::span<const std::byte> own, std::span<std::byte> all) = 0;
  // Copies `bytes` of `root` to every other rank.
  virtual void broadcast(std::span<std::byte> bytes, int root) = 0;
  // Returns when every rank has come here.
  virtual void barrier() = 0;

  // Send bytes from one rank to another, at once and never behind a collective. The messages between two
  // ranks match the receiver's calls in order, and the lengths must agree. A send ends only after its receive
  // was posted, so post receives before you wait for sends.
  virtual std::future<void> send(std::span<const std::byte> bytes, int peer) = 0;
  virtual std::future<void> receive(std::span<std::byte> bytes, int peer) = 0;

  // Collective. Makes a communicator for each group of ranks, with an order of collectives of its own, and
  // returns the one for this rank's group, whose ranks are numbered as they are listed. Every rank passes the
  // same groups, in which every rank occurs once. Error messages use `name`.
  virtual std::unique_ptr<Communicator> split(const std::vector<std::vector<int>>& groups,
                                              const std::string& name) = 0;
};

}  // namespace podium
