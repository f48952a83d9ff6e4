// How the processes of one attempt exchange data. Every rank calls the same operations in the same order; an
// implementation runs them in that order. Sums have the same bits on every rank and in every run of one
// layout.
#pragma once

#include <cstddef>
#include <future>
#include <span>
#include <stdexcept>

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

class Communicator {
 public:
  virtual ~Communicator() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;

  // Replaces `values` by the sum over all ranks. The span must stay valid and untouched until the future is
  // ready.
  virtual std::future<void> all_reduce(std::span<float> values) = 0;
  virtual std::future<void> all_reduce(std::span<double> values) = 0;
  // Copies `bytes` of `root` to every other rank.
  virtual void broadcast(std::span<std::byte> bytes, int root) = 0;
  // Every rank's `own`, in rank order; `all` is size() times as long.
  virtual void all_gather(std::span<const std::byte> own, std::span<std::byte> all) = 0;
  // Returns when every rank has come here.
  virtual void barrier() = 0;
};

}  // namespace podium
