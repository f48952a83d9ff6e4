// How the processes of one attempt exchange data. Every rank of a communicator calls the same collectives in
// the same order; an implementation runs them in that order, apart from the caller, who may compute until it
// needs the result. Reductions have the same bits on every rank and in every run of one layout.
//
// Memory given to an operation must stay valid and, but for its own writing, untouched until the future was
// waited for; every future must be waited for. A lost peer is PeerLost, from the call or from its future.
// Calls come from one thread at a time.
//
// A communicator made for a context with a device takes memory of that device in tensors and in spans of
// bytes and floats, beside the host's; Device::owns tells which it is. An operation on it begins when all
// work is done that was on the context's stream at the call, and waiting for its future does not hold up the
// host but makes the stream wait: work put on it from then on finds the operation done. Doubles, broadcast
// and barrier are of the host's memory always.
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

// Another rank vanished or fell silent: this process cannot go on, and is not to blame.
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

  // Replaces `values` (f32, bf16 or f16) by their sum or maximum over all ranks. Ranks are added in order,
  // wherever an element lies in its buffer; 16-bit values are added in f32 and rounded once. (NCCL has an
  // order of its own: see nccl_communicator.h.)
  virtual std::future<void> all_reduce(TensorView values, Reduction reduction = Reduction::sum) = 0;
  virtual std::future<void> all_reduce(std::span<double> values) = 0;
  std::future<void> all_reduce(std::span<float> values) {
    return all_reduce(view_of(values, {static_cast<std::int64_t>(values.size())}), Reduction::sum);
  }
  // `values` is size() * n elements. Afterwards its part [rank * n, (rank + 1) * n) holds the sum over all
  // ranks, with the bits all_reduce would give it; the rest is unspecified.
  virtual std::future<void> reduce_scatter(TensorView values) = 0;
  // Every rank's `own`, in rank order; `all` is size() times as long. `own` may lie at its place in `all`.
  virtual std::future<void> all_gather(std::span<const std::byte> own, std::span<std::byte> all) = 0;
  // Copies `bytes` of `root` to every other rank.
  virtual void broadcast(std::span<std::byte> bytes, int root) = 0;
  // Returns when every rank has come here.
  virtual void barrier() = 0;

  // From one rank to another, posted at once and never behind a collective. What a rank sends to another
  // arrives in the order of its receives from it; the lengths must agree. A send is done only once its
  // receive was posted, so post receives before waiting for sends.
  virtual std::future<void> send(std::span<const std::byte> bytes, int peer) = 0;
  virtual std::future<void> receive(std::span<std::byte> bytes, int peer) = 0;

  // Collective. Makes a communicator of each group of ranks, with its own order of collectives, and returns
  // the one of the group that holds this rank; its ranks are numbered as they are listed. Every rank names
  // the same groups, in which every rank occurs once. `name` is for error messages.
  virtual std::unique_ptr<Communicator> split(const std::vector<std::vector<int>>& groups,
                                              const std::string& name) = 0;
};

}  // namespace podium
